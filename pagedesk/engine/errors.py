"""The errors of the engine; each carries a sentence and a next step for the user."""

from __future__ import annotations

from pagedesk.system.errors import UserError


class EngineError(UserError):
    """Anything that the engine refuses or fails at."""


class ModelFileError(EngineError):
    """A file that cannot be used as a model: missing, damaged, foreign or of an unknown kind."""


class OutOfBudgetError(EngineError):
    """The model does not fit the memory that PageDesk may use."""


class TemplateError(EngineError):
    """A chat template that raises, never ends or yields nothing."""


class InvalidRequestError(EngineError):
    """A request with values out of range, or longer than the model or the pool can take."""
