"""Which question lends another the vectors of its answer: a seeded choice, the same in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyculture.instruments.probe.questions import OpenQuestion, question_key


@dataclass(frozen=True)
class Lenders:
    """The questions in one language whose answers' vectors may stand in for those of another question."""

    dataset: str
    questions: Sequence[OpenQuestion]
    seed: int

    def lender(self, one: OpenQuestion) -> OpenQuestion | None:
        """A question of the same topic about another culture; None: there is none.

        The same one in every run. A question without a topic lends nothing and is lent nothing.
        """
        if one.topic is None:
            return None
        found = self._candidates(one.topic, one.culture)
        chance = np.random.default_rng([self.seed, int(question_key(self.dataset, one)[:12], 16)])
        return found[int(chance.integers(len(found)))] if found else None

    def _candidates(self, topic: str, culture: str) -> Sequence[OpenQuestion]:
        key = topic, culture
        if key not in self._known:
            self._known[key] = [
                one
                for _, one in sorted(zip(self._keys, self.questions, strict=True), key=lambda pair: pair[0])
                if one.topic == topic and one.culture != culture
            ]
        return self._known[key]

    @cached_property
    def _keys(self) -> list[str]:
        return [question_key(self.dataset, one) for one in self.questions]

    @cached_property
    def _known(self) -> dict[tuple[str, str], list[OpenQuestion]]:
        return {}
