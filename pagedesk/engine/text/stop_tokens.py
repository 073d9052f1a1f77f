"""Which tokens end a reply: the union of what a model's files name and of what the field spells so.

A pure function of plain values: the sources may be keys of a GGUF file or of the JSON files beside a model's weights.
No single source can be trusted alone: many files name only the token that ends a text, not the one that ends a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

_RETURN, _CALL, _END, _STRIKE, _TOOL_RESPONSE = "<|return|>", "<|call|>", "<|end|>", "</s>", "<|tool_response>"
_WELL_KNOWN = frozenset(
    (
        *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|EOT|>", "<EOT>", "[EOT]", "<end_of_turn>", "<turn|>"),
        *("<|endoftext|>", "<|end_of_text|>", "<eos>", "[EOS]", "<end_of_utterance>", "<|END_OF_TURN_TOKEN|>"),
        *(_RETURN, _CALL, _END, _STRIKE),
        "<\N{FULLWIDTH VERTICAL LINE}end\u2581of\u2581sentence\N{FULLWIDTH VERTICAL LINE}>",
    )
)


def _never(_token_id: int) -> bool:
    return False


def stop_token_ids(
    spellings: Sequence[str], *sources: object, is_text: Callable[[int], bool] = _never
) -> frozenset[int]:
    """The tokens that end a reply.

    Two spellings mean something else in some models. In the harmony format (gpt-oss, which has `<|return|>` and
    `<|call|>`) `<|end|>` ends a message and the reply goes on, whatever a file says; in Phi-3 it ends the reply. And
    `</s>` ends struck text where the vocabulary holds HTML (Gemma): there it counts only if a source names it.

    Args:
        spellings: All tokens by id.
        sources: Values of `eos_token_id` and the like: an id, a list of ids, or None. What is no id of the vocabulary
            is passed over.
        is_text: Whether a token is part of what is shown to the reader.
    """
    known = {spelling: token_id for token_id, spelling in enumerate(spellings) if spelling in _WELL_KNOWN}
    stops = set(known.values())
    if _STRIKE in known and (is_text(known[_STRIKE]) or _TOOL_RESPONSE in spellings):
        stops.remove(known[_STRIKE])
    stops |= {token_id for source in sources for token_id in _ids_in(source) if 0 <= token_id < len(spellings)}
    if {_RETURN, _CALL, _END} <= known.keys():
        stops.remove(known[_END])
    return frozenset(stops)


def _ids_in(source: object) -> Iterator[int]:
    values = source if isinstance(source, list | tuple) else (source,)
    return (value for value in values if isinstance(value, int) and not isinstance(value, bool))
