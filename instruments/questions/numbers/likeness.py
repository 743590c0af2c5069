"""How alike the answers to questions without a reference are: token F1 of pairs of answers of one unit.

Answers to the same question (several samples) and to different questions of the unit (the same one about several
countries, say) are counted apart. Only answers of one model, language, reader and prompt are compared, and only texts:
neither refusals nor empty answers. F1 is that of the readers of open answers, over words, or characters where no spaces
set words apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Any

import pyarrow as pa

from polyculture.cache.store.store import Store
from polyculture.generate.engines.answer import text_in
from polyculture.instruments.questions.reading.languages import language_of
from polyculture.instruments.questions.reading.open_answers import token_f1, units_of

MOST_PAIRS = 1_000  # of a unit under a prompt: of more, every second, third, ... pair is compared
_STUDY = ("dataset", "language", "model", "method", "reader", "wording", "unit")
_TEXTS = f"""
SELECT {", ".join(f"r.{name}" for name in _STUDY)}, r.question_id, map_entries(r.facets) AS facets, a.raw
FROM question_readings AS r
INNER JOIN answers AS a USING (answer_id)
INNER JOIN questions AS q ON q.question_id = r.question_id
WHERE list_contains(q.numbers, 'texts') AND r.ground = 'text'
ORDER BY {", ".join(f"r.{name}" for name in _STUDY)}, r.name, a."order", r.sample, a.answer_id
"""  # noqa: S608, our own names
_COUNTED = {True: ("pairs_samples", "likeness_samples"), False: ("pairs_questions", "likeness_questions")}


def likeness_rows(store: Store) -> pa.Table:
    """A row per study, prompt and unit with its pairs, and how alike they are in sum.

    The facets are those that all questions of the unit share: a pair belongs to no country where it is of two.
    """
    found = store.execute(_TEXTS)
    names = [column[0] for column in found.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    made = [
        {
            **dict(zip(_STUDY, key, strict=True)),
            "facets": _shared(some),
            "undirected": False,
            **_sums(some),
        }
        for key, some in _groups(rows)
    ]
    return pa.Table.from_pylist(made, _SCHEMA)


_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _STUDY),
        ("facets", pa.map_(pa.string(), pa.string())),
        ("undirected", pa.bool_()),
        *((name, pa.float64()) for names in _COUNTED.values() for name in names),
    ]
)


def _groups(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[tuple[str, ...], Sequence[dict[str, Any]]]]:
    for key, some in groupby(rows, key=lambda row: tuple(row[name] for name in _STUDY)):
        yield key, list(some)


def _shared(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The facets that all questions have, with the same value."""
    every = [{(one["key"], one["value"]) for one in row["facets"]} for row in rows]
    return sorted(set.intersection(*every))


def _sums(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    """The pairs of a unit, and how alike they are in sum; of answers to the same question, and to different ones."""
    texts = [(row["question_id"], _units(row["raw"], row["language"])) for row in rows]
    pairs: dict[bool, list[tuple[Counter[str], Counter[str]]]] = defaultdict(list)
    for (question, one), (other_question, other) in combinations(texts, 2):
        pairs[question == other_question].append((one, other))
    sums: dict[str, float] = {}
    for same, (number, likeness) in _COUNTED.items():
        some = pairs[same][:: -(-len(pairs[same]) // MOST_PAIRS) or 1]
        sums |= {number: float(len(some)), likeness: sum(token_f1(*pair) for pair in some)}
    return sums


def _units(raw: str, language: str) -> Counter[str]:
    return Counter(units_of(text_in(raw) or "", language_of(language)))
