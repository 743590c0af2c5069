"""What numbers are of: places and their levels, the cells of a run, and what each response contributes to them.

Responses are read one model at a time, as arrays.

reader = ResponseReader(store)
for model in reader.models:
    cells = CellMetrics(reader.read(model))      # `cell_changes`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyculture.cache.store.schema.measured import EVERY, UNNAMED, WITHOUT
from polyculture.cache.store.store import Store
from polyculture.metrics.declared import DECLARED, is_overlap, is_per_country
from polyculture.metrics.inference.arrays import Floats, Integers
from polyculture.metrics.inference.jackknife import Clusters, PromptsOfResponses
from polyculture.metrics.inference.named_items import Incidences, incidences

Level = tuple[str, ...]

OF_MODEL: tuple[Level, ...] = ((), ("condition",), ("topic",), ("topic", "condition"))
OF_LANGUAGE: tuple[Level, ...] = tuple(("language", *level) for level in OF_MODEL)
OF_PAIR: tuple[Level, ...] = tuple(("language", "other_language", *level) for level in OF_MODEL)
OF_COUNTRY: tuple[Level, ...] = (("language", "condition", "country"),)
OF_WORDINGS: tuple[Level, ...] = (("language", "topic", "condition", "country"),)  # all that cells have but the wording
PAIR_OF_WORDINGS: tuple[Level, ...] = (("language", "other_language", "topic", "condition", "country"),)

FEWEST_OF_COUNT = 5  # responses a prompt: with fewer, intervals of counts cover 83 to 91 %
ALL, ANSWERED, RIGHT_LANGUAGE, COMPLETE = "all", "answered", "right language", "complete"
# Which texts do not count: rows of `read_texts`, which the view `text_selections` counts.
SELECTIONS = {ALL: "false", ANSWERED: "refused", RIGHT_LANGUAGE: "off_language", COMPLETE: "cut"}
_COUNTED = "(SELECT cell, prompt, response FROM read_texts WHERE model = $model AND NOT {left_out}) AS c"
_SIZES = f"SELECT cell, prompt, count(*) AS n FROM {_COUNTED} GROUP BY ALL ORDER BY prompt"  # noqa: S608  our own names
_ITEMS = f"""
SELECT response, item, prompt_of(response) AS prompt
FROM named_items SEMI JOIN {_COUNTED} USING (response)
ORDER BY ALL
"""  # noqa: S608
# What each response contributes to the shares of a view: in its cell, or of a country in it.
_CONTRIBUTIONS = f"""
SELECT
    {{place}} AS place, response, prompt_of(response) AS prompt, numerator::DOUBLE AS numerator,
    denominator::DOUBLE AS denominator
FROM {{rows}} SEMI JOIN {_COUNTED} USING (response)
ORDER BY response, place
"""  # noqa: S608
# Of each prompt of which a text was read: are its items known, as those of a cell are (`cell_sizes`)?
_KNOWN = f"""
SELECT looked_up(p.n, coalesce(m.mentions, 0), coalesce(m.awaiting, 0)) AS known
FROM ({_SIZES}) AS p
LEFT JOIN (
    SELECT prompt, count(*) AS mentions, count(*) FILTER (status IS NULL) AS awaiting
    FROM numbered_mentions LEFT JOIN (SELECT query, status FROM links) USING (query)
    WHERE counts
    GROUP BY prompt
) AS m USING (prompt)
ORDER BY p.prompt
"""  # noqa: S608
_CLUSTERS = f"""
SELECT d.kind, d.cluster, d.prompt, d.response
FROM dependent_responses AS d SEMI JOIN {_COUNTED} USING (response)
WHERE d.model = $model
ORDER BY ALL
"""  # noqa: S608
_CELLS = """
SELECT cell, model, language, topic, condition, country, wording, responses, known FROM cell_sizes ORDER BY cell
"""


class DataSlice(NamedTuple):
    """What a number is of: a cell, or what is left of one after averaging. `other_language` is that of consensus."""

    model: str
    language: str
    other_language: str
    topic: str
    condition: str
    country: str
    wording: str

    @property
    def named_country(self) -> str | None:
        """The country that its prompts name."""
        return None if self.country == UNNAMED else self.country


def levels_of(metric: str) -> tuple[Level, ...]:
    """The levels of a metric's means; of consensus without those that keep one language (`OF_LANGUAGE`)."""
    if is_overlap(metric):
        return OF_MODEL + OF_PAIR + PAIR_OF_WORDINGS
    every = OF_MODEL + OF_LANGUAGE + OF_COUNTRY + OF_WORDINGS
    return tuple(level for level in every if "condition" in level) if is_per_country(metric) else every


def kept(place: DataSlice, level: Level) -> DataSlice:
    """What a level keeps of a cell."""
    model, language, other, topic, condition, country, wording = place
    return DataSlice(
        model,
        language if "language" in level else EVERY,
        other if "other_language" in level or other == WITHOUT else EVERY,
        topic if "topic" in level else EVERY,
        condition if "condition" in level else EVERY,
        country if "country" in level else EVERY,
        wording if "wording" in level else EVERY,
    )


def level_name(level: Level) -> str:
    """'model, language'"""
    return ", ".join(("model", *level))


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell under its number: are the items that its responses name `known`?"""

    number: int
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    wording: str
    responses: int
    known: bool

    @property
    def place(self) -> DataSlice:
        """What its own numbers are of."""
        return DataSlice(
            self.model, self.language, WITHOUT, self.topic, self.condition, self.country or UNNAMED, self.wording
        )


@dataclass(frozen=True, slots=True)
class Groups:
    """Responses of a cell in groups that depend on one another; most are alone in theirs."""

    of_response: Integers  # R: the number of its group
    found: Incidences  # what each group names

    def share_out(self, own: csr_array, of_group: csr_array) -> csr_array:
        """Changes without each response (R x C) that sum to those without each group, whose rest all share equally."""
        size = np.bincount(self.of_response)
        rows = np.arange(len(self.of_response))
        group = csr_array((np.ones(len(rows)), (rows, self.of_response)), shape=(len(rows), len(size)))
        several = csr_array((np.where(size > 1, 1 / np.maximum(size, 1), 0.0), (np.arange(len(size)),) * 2))
        return csr_array(own + group @ (several @ (of_group - group.T @ own)))


@dataclass(frozen=True, slots=True)
class Contributions:
    """What responses contribute to shares: K rows, each of a response and a place."""

    places: Sequence[DataSlice]
    cell: Integers  # of each place: its cell in `ModelResponses.cells`
    place: Integers  # K
    response: Integers  # K: its row among the R
    numerators: Floats  # K
    denominators: Floats  # K


@dataclass(frozen=True)
class ModelResponses:
    """What one model's responses contribute to its metrics. Of R responses that contribute anything, each is known by
    its place.

    Arrays of pairs have a row for each pair of a response and an item that it names.
    """

    cells: Sequence[Cell]
    names: Integers  # R, sorted: the response's number in the run
    prompts: PromptsOfResponses  # P, of these responses; sizes count all that were read
    cell_of_prompt: Integers  # P: the place of the prompt's cell in `cells`
    response: Integers  # per pair
    item: Integers  # per pair
    shares: Mapping[str, Contributions]  # by the view that has them
    countries: Sequence[str] = ()  # of the experiment; shares of others, of neutral responses, are for gains alone

    @cached_property
    def of_cell(self) -> Integers:
        """R: the place of the response's cell in `cells`."""
        return self.cell_of_prompt[self.prompts.of_response]

    @cached_property
    def sizes(self) -> Integers:
        """Per cell: responses that were read."""
        return np.bincount(self.cell_of_prompt, self.prompts.sizes, len(self.cells)).astype(np.int64)

    @cached_property
    def fewest(self) -> Integers:
        """Per cell: the responses of the prompt that has the fewest."""
        found = np.full(len(self.cells), np.iinfo(np.int64).max)
        np.minimum.at(found, self.cell_of_prompt, self.prompts.sizes)
        return found

    def by_prompt(self, known: NDArray[np.bool_]) -> ModelResponses:
        """The same responses, each prompt in place of its cell, which may hold several; P: are its items known?

        Countries are those that prompts name: neutral prompts have no shares of countries.
        """
        cells = [
            replace(self.cells[cell], responses=size, known=its)
            for cell, size, its in zip(
                self.cell_of_prompt.tolist(), self.prompts.sizes.tolist(), known.tolist(), strict=True
            )
        ]
        prompts = np.arange(len(cells))
        shares = {view: self._of_prompts(one, cells) for view, one in self.shares.items()}
        return replace(self, cells=cells, cell_of_prompt=prompts, shares=shares)

    def _of_prompts(self, of: Contributions, cells: Sequence[Cell]) -> Contributions:
        own = np.array(
            [place.named_country == self.cells[cell].country for place, cell in zip(of.places, of.cell, strict=True)],
            dtype=bool,
        )
        rows = own[of.place]
        prompt = self.prompts.of_response[of.response[rows]]
        return Contributions(
            [cell.place for cell in cells],
            np.arange(len(cells)),
            prompt,
            of.response[rows],
            of.numerators[rows],
            of.denominators[rows],
        )

    @property
    def single(self) -> NDArray[np.bool_]:
        """Per cell: does a prompt have one response? Then nothing is known of how its shares vary."""
        return np.asarray(self.fewest == 1)

    @property
    def few(self) -> NDArray[np.bool_]:
        """Per cell: does a prompt have fewer responses than tell how a count of its items varies?"""
        return np.asarray(self.fewest < FEWEST_OF_COUNT)

    @property
    def responses(self) -> int:
        return len(self.of_cell)

    @cached_property
    def naming(self) -> Integers:
        """Per cell: the responses that name an item."""
        return np.bincount(self.of_cell[np.unique(self.response)], minlength=len(self.cells))

    @cached_property
    def named(self) -> Integers:
        """Per cell: the items that responses name, each once a response."""
        return np.bincount(self.of_cell[self.response], minlength=len(self.cells))

    @cached_property
    def incidences(self) -> Incidences:
        """The items that the responses of each cell name."""
        return incidences(self.sizes, self.of_cell, self.response, self.item)

    @cached_property
    def groups(self) -> Groups:
        """The items that the responses of each cell name, by groups of responses that depend on one another.

        A group is left out at once.
        """
        group, key = np.arange(self.responses), self.responses
        for clusters in self.prompts.clusters:
            told = (clusters.response >= 0) & (clusters.units(self.prompts.sizes) > 1)[clusters.prompt]
            told[told] = group[clusters.response[told]] < self.responses  # in no group yet
            member = clusters.response[told]
            _, cluster = np.unique(clusters.cluster[told], return_inverse=True)
            group[member] = key + cluster * len(self.cells) + self.of_cell[member]
            key += len(clusters.cluster) * len(self.cells)
        _, first, of_response = np.unique(group, return_index=True, return_inverse=True)
        found = incidences(self.sizes, self.of_cell[first], of_response[self.response], self.item)
        return Groups(of_response, found)


class ResponseReader:
    """Copies a store's views into arrays. It reads the same views for each model and selection: `KEPT` has them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        rows = store.execute(_CELLS).fetchall()
        self.cells = [Cell(*row) for row in rows]
        self.models: list[str] = sorted({cell.model for cell in self.cells})
        self.countries: list[str] = [row[0] for row in store.execute("FROM countries ORDER BY country").fetchall()]
        self.uncovered = frozenset(store.execute("SELECT topic, country FROM uncovered_countries").fetchall())
        self._asked = store.execute(
            "SELECT place, cell, country, covered FROM asked_countries ORDER BY place"
        ).fetchall()
        self._shares = {metric.contributions: metric.per_country for metric in DECLARED if metric.is_sum}

    @cached_property
    def selections(self) -> tuple[str, ...]:
        """`ALL`, and the selections that leave a text out: numbers of others would be those of all texts."""
        found = self._store.execute("SELECT selection FROM text_selections WHERE left_out > 0").fetchall()
        return tuple(name for name in SELECTIONS if name == ALL or (name,) in found)

    def asked_countries(self, model: str) -> list[DataSlice]:
        """The cells of a model, each with every country that it is held against, covered by the source or not."""
        cells = {cell.number: cell.place for cell in self.cells if cell.model == model}
        return [cells[cell]._replace(country=country) for _, cell, country, _ in self._asked if cell in cells]

    def read(self, model: str, selection: str = ALL) -> ModelResponses:
        """What a model's responses name, of those texts that the selection takes."""
        cells = [cell for cell in self.cells if cell.model == model]
        place = {cell.number: at for at, cell in enumerate(cells)}
        sizes, items = (self._numbers(query, model, selection) for query in (_SIZES, _ITEMS))
        shares = {
            view: self._numbers(
                _CONTRIBUTIONS,
                model,
                selection,
                rows=f"{view} INNER JOIN asked_countries USING (cell, country)" if per_country else view,
                place="place" if per_country else "cell",
            )
            for view, per_country in self._shares.items()
        }
        contributing = (items, *shares.values())
        names, first = np.unique(np.concatenate([rows["response"] for rows in contributing]), return_index=True)
        prompt = np.searchsorted(sizes["prompt"], np.concatenate([rows["prompt"] for rows in contributing])[first])
        return ModelResponses(
            cells,
            names,
            PromptsOfResponses(
                prompt, sizes["n"].astype(np.int64), self._clusters(model, selection, sizes["prompt"], names)
            ),
            np.array([place[int(number)] for number in sizes["cell"]], dtype=np.int64),
            np.searchsorted(names, items["response"]),
            items["item"],
            {view: self._contributions(cells, names, rows, self._shares[view]) for view, rows in shares.items()},
            self.countries,
        )

    def read_prompts(self, model: str) -> ModelResponses:
        """What a model's responses name, each prompt in place of its cell."""
        known = self._numbers(_KNOWN, model, ALL)["known"]
        return self.read(model).by_prompt(known.astype(bool))

    def _contributions(
        self, cells: Sequence[Cell], names: Integers, rows: Mapping[str, NDArray[Any]], per_country: bool
    ) -> Contributions:
        numbers = {cell.number: at for at, cell in enumerate(cells)}
        known = [
            (place, numbers[cell], country)
            for place, cell, country, covered in self._asked
            if covered and cell in numbers
        ]
        if not per_country:
            known = [(cell.number, at, None) for at, cell in enumerate(cells)]
        places = [
            cells[at].place if country is None else cells[at].place._replace(country=country)
            for _, at, country in known
        ]
        return Contributions(
            places,
            np.array([at for _, at, _ in known], dtype=np.int64),
            np.searchsorted([number for number, *_ in known], rows["place"]),
            np.searchsorted(names, rows["response"]),
            rows["numerator"],
            rows["denominator"],
        )

    def _clusters(self, model: str, selection: str, prompts: Integers, names: Integers) -> tuple[Clusters, ...]:
        """The responses of a model that depend on one another over prompts; `names` are those that name an item."""
        rows = self._numbers(_CLUSTERS, model, selection)
        found = []
        for kind in np.unique(rows["kind"]):
            own = {name: column[rows["kind"] == kind] for name, column in rows.items()}
            at = np.minimum(np.searchsorted(names, own["response"]), max(len(names) - 1, 0))
            row = np.where(names[at] == own["response"], at, -1) if len(names) else np.full(len(at), -1)
            found.append(Clusters(own["cluster"], np.searchsorted(prompts, own["prompt"]), row))
        return tuple(found)

    def _numbers(self, query: str, model: str, selection: str, **names: str) -> dict[str, NDArray[Any]]:
        """The columns of a query of the texts that the selection takes; `names` are those of its tables."""
        asked = query.format(left_out=SELECTIONS[selection], **names)
        columns = self._store.execute(asked, {"model": model}).fetchnumpy()
        return {name: np.asarray(np.ma.filled(column, 0)) for name, column in columns.items()}
