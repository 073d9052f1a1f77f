"""The caller of the command line: what it asks for is the engine's to refuse."""

from __future__ import annotations

import pytest

from pagedesk.commands.client import EngineClient
from pagedesk.system.errors import UserError
from tests.helpers.engines import submit


@pytest.mark.parametrize("num_answers", [-1, 0, 10**15])
def test_any_number_of_answers_may_be_asked_for_and_refused(num_answers: int) -> None:
    with EngineClient() as client, pytest.raises(UserError, match="No model is loaded"):
        client.ask(submit(answers=num_answers), lambda _delta: None)
