"""The counts that numbers are computed from: `question_tally` and its companions, as arrays of one study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polyculture.cache.store.store import Store
from polyculture.instruments.questions.model import UNKNOWN
from polyculture.instruments.questions.numbers.likeness import likeness_rows
from polyculture.metrics.inference.arrays import Floats

NOT_READ = "-"  # the reader of what did not come
# Facets whose values are studies of their own: what stands under one is never added to what stands under another.
APART = ("condition", "type")
# Facets that say what a question is for its numbers, which version of its unit it is, or what stands in it: there is no
# number of each. Of any other there is one of each value if it puts several units together; `_GROUPS` always have one.
_WITHIN = (
    *("context", "polarity", "template", "stereotype", "version", "countries", "groups"),
    *("levels", "model"),
)
_GROUPS = ("category", "topic", "country", "label", "level", "region", "also_given", "direction")
Mask = NDArray[np.bool_]
_STUDY = "dataset, language, model, method, reader"


class TallyGroup(NamedTuple):
    """What is counted together."""

    dataset: str
    language: str
    model: str
    method: str
    reader: str
    apart: tuple[tuple[str, str], ...] = ()  # facets of `APART` with their values


class FacetValue(NamedTuple):
    """Which questions a number is of: those with this value of a facet; with '' all."""

    facet: str = ""
    value: str = ""


@dataclass(frozen=True)
class Tally:
    """Rows of counts of one study. `columns` are those of `question_tally` that are no facets, `facets` theirs.

    `unit` and `wording` are numbers of their places in the tables that `count` returns, of the shape (units, prompts).
    Of what a row lacks its text is '', and its number 0; `right` is NaN where a question has no right option.
    """

    columns: Mapping[str, NDArray[Any]]
    facets: Mapping[str, NDArray[Any]]
    prompts: tuple[str, ...]
    units: int

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def facet(self, name: str) -> NDArray[Any]:
        """The value of each row; '' where it has none."""
        return self.facets.get(name, np.full(len(self["unit"]), ""))

    def count(self, rows: Mask, what: str = "n") -> Floats:
        """The sum of a column over some rows: (units, prompts)."""
        places = self["unit"][rows] * len(self.prompts) + self["wording"][rows]
        sums = np.bincount(places, self[what][rows], self.units * len(self.prompts))
        return np.asarray(sums.reshape(self.units, len(self.prompts)))

    @property
    def is_graded(self) -> bool:
        """Does a text match an accepted answer in part, or has an item a score between the ends?"""
        return bool((self["matched"] % 1 > 0).any())

    def where(self, rows: Mask) -> Tally:
        """Some of the rows, under the same prompts and of the units that these have."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        used, columns["unit"] = np.unique(columns["unit"], return_inverse=True)
        return Tally(columns, {name: values[rows] for name, values in self.facets.items()}, self.prompts, len(used))

    def with_unknown(self) -> Tally:
        """The same, had every unread answer that names no option picked 'unknown': right in an ambiguous context."""
        lost = self["unnamed"] > 0
        columns = {name: np.concatenate([values, values[lost]]) for name, values in self.columns.items()}
        added = slice(len(lost), None)
        columns["n"][: len(lost)] -= self["unnamed"]
        columns["n"][added] = self["unnamed"][lost]
        for name in ("outcome", "role"):
            columns[name] = columns[name].astype(object)
        columns["outcome"][added], columns["role"][added] = "picked", UNKNOWN
        columns["right"][added] = self.facet("context")[lost] == "ambiguous"
        columns |= {name: columns[name].astype(str) for name in ("outcome", "role")}
        facets = {name: np.concatenate([values, values[lost]]) for name, values in self.facets.items()}
        return Tally(columns, facets, self.prompts, self.units)

    def parts(self) -> Iterator[tuple[FacetValue, Tally]]:
        """All rows, then those of each value of each facet that groups questions."""
        yield FacetValue(), self
        for name, values in self.facets.items():
            if name in _GROUPS or (name not in (*_WITHIN, *APART) and self._joins_units(values)):
                there = sorted(set(values.tolist()) - {""})
                yield from ((FacetValue(name, value), self.where(values == value)) for value in there)

    def _joins_units(self, values: NDArray[Any]) -> bool:
        """Does a facet have several units under one of its values?"""
        named = values != ""
        pairs = np.unique(np.char.add(values[named], np.char.add("\n", self["unit"][named].astype(str))))
        return len(pairs) > len(np.unique(values[named]))


def count_answers(store: Store) -> None:
    """The temporary tables `question_counts`, of answers, questions and right candidates, and `question_kinds`.

    A kind is a unit and facets, numbered from 0: questions of one kind are counted together.
    """
    others = ("question_orders", "question_ranks", "question_likeness")
    store.register("question_likeness", likeness_rows(store))
    columns = " ".join(f"UNION ALL BY NAME (FROM {view} LIMIT 0)" for view in others)
    store.execute(f"CREATE OR REPLACE TEMP TABLE question_counts AS FROM question_tally {columns}")
    for view in others:  # one after another: together they need three times the memory
        store.execute(f"INSERT INTO question_counts BY NAME FROM {view}")
    store.execute(
        "CREATE OR REPLACE TEMP TABLE question_kinds AS SELECT row_number() OVER () - 1 AS kind, * "
        "FROM (SELECT DISTINCT unit, facets FROM question_counts)"
    )


def kinds_of(store: Store) -> list[tuple[str, Mapping[str, str]]]:
    """The unit and facets of each kind."""
    return store.sql("SELECT unit, facets FROM question_kinds ORDER BY kind").fetchall()


def studies(store: Store) -> Iterator[tuple[TallyGroup, Tally]]:
    """The tally of every study, from the tables of `count_answers`."""
    kinds = kinds_of(store)
    for study in stored_studies(store):
        yield from apart_studies(study, tally_of(store.execute(_ROWS, list(study[:-1])).fetchnumpy(), kinds))


def stored_studies(store: Store) -> list[TallyGroup]:
    """All studies that have answers. What did not come is of its readers; without any it is a study of its own."""
    found = store.sql(f"SELECT DISTINCT {_STUDY} FROM question_counts ORDER BY ALL").fetchall()  # noqa: S608
    read = {one[:-1] for one in found if one[-1] != NOT_READ}
    return [TallyGroup(*one) for one in found if one[-1] != NOT_READ or one[:-1] not in read]


# Of answers, of questions, of right candidates of gaps.
_COUNTS = (
    "n", "unnamed", "matched", "chance", "questions", "reordered", "flipped", "golds", "golds_found", "pairs_samples",
    "likeness_samples", "pairs_questions", "likeness_questions",
)  # fmt: skip
_ROWS = f"""
SELECT
    wording, kind, coalesce(undirected, false) AS undirected, coalesce(role, '') AS role, coalesce(place, -1) AS place,
    "right"::DOUBLE AS "right", coalesce(outcome, '') AS outcome,
    coalesce(COLUMNS({list(_COUNTS)}), 0)::DOUBLE
FROM question_counts
INNER JOIN question_kinds USING (unit, facets)
WHERE (dataset, language, model, method) = ($1, $2, $3, $4) AND reader IN ($5, '-')
ORDER BY ALL
"""  # noqa: S608, our own names


def tally_of(rows: Mapping[str, Any], kinds: Sequence[tuple[str, Mapping[str, str]]]) -> Tally:
    """Rows of counts by `kind`; `kinds` has the unit and facets of each. A count that the rows lack is 0."""
    size = len(rows["kind"])
    plain = {name: np.zeros(size) for name in _COUNTS}
    plain |= {
        name: np.ma.filled(values, np.nan) if name.startswith("right") else np.ma.filled(values)
        for name, values in rows.items()
    }
    used, place = np.unique(plain["kind"], return_inverse=True)
    of_kinds = [kinds[number] for number in used]
    names = dict.fromkeys(name for _, facets in of_kinds for name in facets)
    units = {unit: number for number, unit in enumerate(dict.fromkeys(sorted(unit for unit, _ in of_kinds)))}
    prompts, wording = np.unique(plain["wording"].astype(str), return_inverse=True)
    columns = {name: values.astype(str) if values.dtype == object else values for name, values in plain.items()}
    columns |= {"unit": np.array([units[unit] for unit, _ in of_kinds], int)[place], "wording": wording}
    facets = {name: np.array([own.get(name, "") for _, own in of_kinds])[place] for name in sorted(names)}
    return Tally(columns, facets, tuple(prompts.tolist()), len(units))


def apart_studies(study: TallyGroup, tally: Tally) -> Iterator[tuple[TallyGroup, Tally]]:
    """The studies that facets of `APART` make of one."""
    names = [name for name in APART if name in tally.facets]
    keys = list(zip(*(tally.facets[name].tolist() for name in names), strict=True)) if names else []
    if not keys:
        yield study, tally
    for values in sorted(set(keys)):
        rows = np.all([tally.facets[name] == value for name, value in zip(names, values, strict=True)], axis=0)
        apart = tuple((name, value) for name, value in zip(names, values, strict=True) if value)
        yield study._replace(apart=apart), tally.where(rows)
