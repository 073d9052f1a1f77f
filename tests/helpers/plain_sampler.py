"""The field's chain in the plainest Python, one row and one token at a time: what the batched sampler must equal.

Candidates are (token id, score), best first; each filter takes some away.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from pagedesk.engine.batch import SampleSpec
from pagedesk.engine.sampling.uniform import uniform
from pagedesk.protocol import SamplingParams

Candidates = list[tuple[int, float]]


def plain_choice(row: Sequence[float], spec: SampleSpec, allowed: Sequence[bool] | None = None) -> int:
    """The token that a row of scores gives."""
    params = spec.params
    scores = adjusted(row, spec, allowed)
    candidates = [(token, score) for token, score in enumerate(scores) if score > -math.inf]
    candidates.sort(key=lambda candidate: (-candidate[1], candidate[0]))
    candidates = top_n_sigma(candidates, params.top_n_sigma)
    candidates = candidates[: params.top_k or None]
    candidates = typical(candidates, params.typical_p)
    candidates = top_p(candidates, params.top_p)
    candidates = min_p(candidates, params.min_p)
    if uniform(spec.seed, spec.draw_index, 1) < params.xtc_probability:
        candidates = xtc(candidates, params.xtc_threshold)
    if params.temperature == 0:
        return candidates[0][0]
    best = candidates[0][1]
    heated = [math.exp((score - best) / params.temperature) for _, score in candidates]
    target = uniform(spec.seed, spec.draw_index) * sum(heated)
    for (token, _), weight in zip(candidates, heated, strict=True):
        target -= weight
        if target < 0:
            return token
    return candidates[-1][0]


def adjusted(row: Sequence[float], spec: SampleSpec, allowed: Sequence[bool] | None = None) -> list[float]:
    """Mask, logit bias, penalties, DRY, in single precision."""
    params = spec.params
    scores = [score if allowed is None or allowed[token] else -math.inf for token, score in enumerate(row)]
    for token, bias in params.logit_bias:
        scores[token] = _single(scores[token] + _single(bias))
    if spec.repetition is None:
        return scores
    factor, presence, frequency = map(
        _single, (params.repetition_penalty, params.presence_penalty, params.frequency_penalty)
    )
    for token, count in spec.repetition.counts:
        score = scores[token]
        score = _single(score / factor if score > 0 else score * factor)
        scores[token] = _single(_single(score - presence) - _single(count * frequency))
    for token, run in spec.repetition.runs:
        penalty = params.dry_multiplier * params.dry_base ** (run - params.dry_allowed_length)
        scores[token] = _single(scores[token] - _single(penalty))
    return scores


def _single(value: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def counts(history: Sequence[int], size: int | None) -> dict[int, int]:
    """How often each token is among the last ones."""
    window = list(history if size is None else history[max(0, len(history) - size) :])
    return {token: window.count(token) for token in set(window)}


def runs(history: Sequence[int], params: SamplingParams, table: Sequence[bytes], max_run: int) -> dict[int, int]:
    """By token, the longest run that it would go on repeating: every pair of places is compared."""
    size = params.dry_penalty_last_n
    begin = 0 if size is None else max(0, len(history) - size)
    limit = min(_since_break(history, params.dry_sequence_breakers, table), max_run)
    found: dict[int, int] = {}
    for end in range(begin, len(history) - 1):
        length = 0
        while length < min(limit, end - begin + 1) and history[end - length] == history[-1 - length]:
            length += 1
        found[history[end + 1]] = max(length, found.get(history[end + 1], 0))
    texts = {token: table[token] for token in found}
    breaks = {
        t for t, text in texts.items() if not text or any(b.encode() in text for b in params.dry_sequence_breakers)
    }
    return {t: run for t, run in found.items() if run >= params.dry_allowed_length and t not in breaks}


def _since_break(history: Sequence[int], breakers: Sequence[str], table: Sequence[bytes]) -> int:
    """Tokens after the last one in which a breaker ends, looked for in the whole text before each."""
    for num_after in range(len(history)):
        before = b"".join(table[token] or b"\xff" for token in history[: len(history) - num_after - 1])
        text = table[history[-1 - num_after]]
        spelled = before + text
        if not text or any(spelled.find(b.encode(), max(0, len(before) - len(b.encode()) + 1)) >= 0 for b in breakers):
            return num_after
    return len(history)


def probabilities(candidates: Candidates) -> list[float]:
    """Of the candidates, among themselves."""
    weights = _weights(candidates)
    return [weight / sum(weights) for weight in weights]


def top_n_sigma(candidates: Candidates, limit: float) -> Candidates:
    """At most `limit` standard deviations below the best."""
    if limit == 0:
        return candidates
    mean = math.fsum(score for _, score in candidates) / len(candidates)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for _, score in candidates) / len(candidates))
    return [candidate for candidate in candidates if candidate[1] >= candidates[0][1] - limit * deviation]


def typical(candidates: Candidates, share: float) -> Candidates:
    """The nearest to the expected surprise, until they have this share."""
    if share >= 1:
        return candidates
    chances = probabilities(candidates)
    expected = -sum(chance * math.log(chance) for chance in chances if chance)
    nearness = [abs(-math.log(chance) - expected) if chance else math.inf for chance in chances]
    kept = _until(sorted(range(len(chances)), key=nearness.__getitem__), _weights(candidates), share)
    return [candidate for index, candidate in enumerate(candidates) if index in kept]


def top_p(candidates: Candidates, share: float) -> Candidates:
    """The likeliest, until they have this share."""
    if share >= 1:
        return candidates
    kept = _until(range(len(candidates)), _weights(candidates), share)
    return [candidate for index, candidate in enumerate(candidates) if index in kept]


def min_p(candidates: Candidates, share: float) -> Candidates:
    """At least this share of the likeliest."""
    chances = probabilities(candidates)
    return [candidate for candidate, chance in zip(candidates, chances, strict=True) if chance >= share * max(chances)]


def xtc(candidates: Candidates, threshold: float) -> Candidates:
    """Without the choices above the threshold but the last."""
    num_choices = sum(chance >= threshold for chance in probabilities(candidates))
    return candidates[max(0, num_choices - 1) :]


def _weights(candidates: Candidates) -> list[float]:
    best = max(score for _, score in candidates)
    return [math.exp(score - best) for _, score in candidates]


def _until(order: Sequence[int], weights: Sequence[float], share: float) -> set[int]:
    wanted = share * sum(weights)
    kept: set[int] = set()
    total = 0.0
    for index in order:
        if kept and total >= wanted:
            break
        kept.add(index)
        total += weights[index]
    return kept
