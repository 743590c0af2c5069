"""Which question lends another the vectors of its answer: a seeded choice, the same in every run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from polyculture.instruments.probe.questions import OpenQuestion, question_key


class Lenders:
    """The questions in one language whose answers' vectors may stand in for those of another question."""

    def __init__(self, dataset: str, questions: Sequence[OpenQuestion], seed: int) -> None:
        self._dataset, self._seed = dataset, seed
        self._by_topic: dict[str | None, list[OpenQuestion]] = defaultdict(list)
        for one in sorted(questions, key=lambda one: question_key(dataset, one)):
            self._by_topic[one.topic].append(one)

    def lender(self, one: OpenQuestion) -> OpenQuestion | None:
        """A question of the same topic about another culture; None: there is none.

        The same one in every run. A question without a topic lends nothing and is lent nothing.
        """
        found = [other for other in self._by_topic[one.topic] if other.culture != one.culture] if one.topic else []
        chance = np.random.default_rng([self._seed, int(question_key(self._dataset, one)[:12], 16)])
        return found[int(chance.integers(len(found)))] if found else None
