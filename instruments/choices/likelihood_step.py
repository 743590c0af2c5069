"""The step that asks by likelihood: how probable each choice's sign, or its text, is after the question.

Two log-probabilities a choice: after the whole question, and after the prompt's last line alone ('Answer:'), which a
choice that is probable anyhow is corrected by (Brown et al. 2020, section 2.4). All are kept; readers weigh them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from polyculture.cache.layout import Table
from polyculture.cache.worker import Done, Kept, Load, Work
from polyculture.generate.engines import SCORING, Scored, ScoreRequest
from polyculture.generate.engines.models import Models
from polyculture.instruments.choices.asking import A, Outcome, Read, ScoredJob
from polyculture.instruments.choices.step import ChoiceStep

_ASKED, _ALONE = "asked ", "alone "


class ScoreReading(Protocol):
    """Weighs scores as they come."""

    @property
    def name(self) -> str: ...

    @property
    def reader_id(self) -> str: ...

    def read(self, scores: Sequence[float], tokens: Sequence[float], unconditional: Sequence[float]) -> Read: ...


@dataclass
class _Waiting(Generic[A]):
    """The scores of a question that have come, by their place: the choices after the question, then alone."""

    ask: A
    choices: int
    found: dict[int, Scored] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return len(self.found) == 2 * self.choices


class LikelihoodStep(ChoiceStep[A]):
    """Scores the choices of questions by models that give log-probabilities."""

    def __init__(self, method: str, table: Table[Any], jobs: Sequence[ScoredJob[A]], reader: ScoreReading) -> None:
        """`method` tells what is scored; `reader` weighs it."""
        super().__init__(f"score {method}", table, jobs)
        self._reader = reader
        self._scored = {one.job: one for one in jobs}

    def ask(self, work: Work[A], items: Iterator[A], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per question, once all its scores are there."""
        asked = self._scored[work.job]
        waiting: dict[str, _Waiting[A]] = {}
        for scored in models.open(SCORING).score(_requests(asked, items, waiting)):
            kind, key = scored.request_id[: len(_ASKED)], scored.request_id[len(_ASKED) :]
            one = waiting[key]
            one.found[scored.index + (0 if kind == _ASKED else one.choices)] = scored
            if one.whole:
                del waiting[key]
                yield Done((asked.row(one.ask, self._outcome(one)),))

    def load(self, item: A) -> Load:
        """What is read for one choice; two scores a choice are made, and nothing is written."""
        scoring = next(iter(self._scored.values())).scoring(item)
        return Load(f"{item.text} {max(scoring.continuations, key=len)}", 0, len(scoring.continuations))

    def _outcome(self, one: _Waiting[A]) -> Outcome:
        found, reader = [one.found[place] for place in range(2 * one.choices)], self._reader
        paid: dict[str, Any] = {
            "prompt_tokens": _sum([scored.prompt_tokens for scored in found]),
            "completion_tokens": _sum([scored.completion_tokens for scored in found]),
            "model_version": found[0].model_version,
            "purchase": found[0].purchase,
            "note": "; ".join(dict.fromkeys(scored.note for scored in found if scored.note)) or None,
        }
        failed = next((scored for scored in found if scored.total is None), None)
        if failed is not None:
            why = failed.error or "no score"
            return Outcome("failed", reader.name, error=why, retryable=failed.retryable, **paid)
        totals = [scored.total for scored in found if scored.total is not None]
        scores, alone = totals[: one.choices], totals[one.choices :]
        tokens = [float(len(scored.tokens)) for scored in found[: one.choices]]
        read = reader.read(scores, tokens, alone)
        return Outcome(
            "ok", reader.name, scores=scores, tokens=tokens, unconditional=alone, reading=read.reading,
            ground=read.ground, reader_id=reader.reader_id, **paid,
        )  # fmt: skip


def _requests(asked: ScoredJob[A], items: Iterator[A], waiting: dict[str, _Waiting[A]]) -> Iterator[ScoreRequest]:
    for ask in items:
        scoring = asked.scoring(ask)
        waiting[ask.answer_id] = _Waiting(ask, len(scoring.continuations))
        yield ScoreRequest(f"{_ASKED}{ask.answer_id}", scoring.asked, scoring.continuations)
        yield ScoreRequest(f"{_ALONE}{ask.answer_id}", scoring.alone, scoring.continuations)


def _sum(counts: Sequence[int | None]) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if told else None
