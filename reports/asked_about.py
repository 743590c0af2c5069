"""Asked about a country, answered from where: the picture of the first page, and the sentence that is its title.

A line is a country that prompts name. Its numbers are of the cells (language, topic, wording) in which all models have
a linked item: each is a share of the linked items, each counted once per response, the mean over these cells. An item
that belongs to the country and to others is of the country.

The sentence is about two models within one country, never about two countries: how much of what is named Wikidata knows
the country of differs between countries, and with the snapshot. Within a country it is the same for both models. It is
written only where the models are told apart in all texts and in those alone that answer, whole and in the prompt's
language: q < 0.05 over all pairs of models in all countries, and with the same sign under every snapshot that the run
was linked with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from polyculture.cache.store.linked import SnapshotItems
from polyculture.metrics.inference.crossed import weighted_variance
from polyculture.metrics.inference.family import RATE, adjusted
from polyculture.metrics.inference.jackknife import mean_share, share_of
from polyculture.metrics.inference.limits import Contrast, Estimate
from polyculture.metrics.means import FEWEST_RESPONSES
from polyculture.metrics.text_selections import TextSelections
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, Row, count, probability, share
from polyculture.reports.reading import RUN_FACTS, SQL, statements
from polyculture.reports.snapshot_items import too_few
from polyculture.reports.texts import texts

if TYPE_CHECKING:
    import pandas as pd

    from polyculture.reports.section import ReportData

_SQL = statements(SQL / "asked_about.sql")
_ALL_TEXTS = TextSelections()
_LOST = 0.1  # of what was asked: refused or missing. With more, the others may differ
_UNEQUAL = 0.05  # how many fewer texts a model may have than another
_PER_CELL = 2  # responses: a share of fewer has no interval
_COLUMNS = [
    *("country", "model", "share", "low", "high", "items", "responses", "no_country"),
    *("other", "other_share", "things", "cells"),
]
_IN_COMMON = 0.5  # of a country's cells: with fewer in common, the others may differ


@dataclass(frozen=True, slots=True)
class ModelShare:
    """What a model answers about a country: the shares of the country and of `CountryLine.other`."""

    here: Estimate
    elsewhere: Estimate
    items: int  # linked items, each once per response
    nowhere: int  # those of them of which no country is known
    responses: int  # with a linked item


@dataclass(frozen=True, slots=True)
class CountryLine:
    """A country that was asked about. `withheld` is the reason why no sentence may be about it; empty where one may."""

    country: str
    other: str | None  # the other country that most of what is named belongs to; None where several are first
    models: Mapping[str, ModelShare]
    answering: Mapping[str, ModelShare]  # the same of texts that do not refuse, are whole and in the prompt's language
    things: tuple[str, ...]  # names of the three commonest items
    cells: int  # of each model
    withheld: str
    languages: tuple[str, ...] = ()  # of these cells
    topics: tuple[str, ...] = ()
    condition: str = "explicit"  # how it was asked about
    # By a further snapshot and model: the shares of the country and of no country with its links.
    snapshots: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    def interval(self, model: str) -> tuple[float, float] | None:
        """The 95 % interval of a model's share of the country; None where nothing was sampled or too little."""
        found = self.models[model]
        unsure = self.withheld == "deterministic" or found.responses < _PER_CELL * self.cells
        return None if unsure else found.here.interval()

    @property
    def nowhere(self) -> float:
        """The share of all models' linked items of which no country is known."""
        items = sum(one.items for one in self.models.values())
        return sum(one.nowhere for one in self.models.values()) / items if items else 0.0


@dataclass(frozen=True, slots=True)
class PictureTitle:
    """The title of the picture. `told`: is it a finding? `rests` is what it rests on, or why there is none."""

    says: str
    told: bool
    rests: str
    country: str = ""  # that it is about


def country_lines(data: ReportData) -> tuple[CountryLine, ...]:
    """The lines in the order of regions; none where no prompt names a country, or no model has a linked item."""
    reading, manifest, names = data.reading, data.manifest, data.names
    for name in ("shared", "items", "elsewhere"):
        reading.run(_SQL[name])
    things: dict[str, list[str]] = {}
    for row in reading.lines(_SQL["things"]):
        things.setdefault(row["country"], []).append(row["label"])
    answers = {
        country: list(rows) for country, rows in groupby(reading.rows(_SQL["answers"]), key=lambda row: row["country"])
    }
    by_model: dict[str, dict[str, list[Row]]] = {}
    for row in reading.rows(_SQL["responses"]):
        by_model.setdefault(row["country"], {}).setdefault(row["model"], []).append(row)
    linked: dict[str, dict[str, dict[str, tuple[float, float]]]] = {}
    for row in reading.rows(_SQL["snapshots"]):
        of_snapshot = linked.setdefault(row["country"], {}).setdefault(row["snapshot"], {})
        of_snapshot[row["model"]] = (row["here"], row["nowhere"])
    held = [SnapshotItems(**row) for row in reading.rows(RUN_FACTS["snapshot_items"])]
    of_topics = too_few(held, manifest.topics, manifest.countries).items()
    few = {(country, topic) for topic, some in of_topics for country, _ in some}
    lines = []
    for country in names.by_region(ordered(manifest.countries, by_model)):
        rows = by_model[country]
        models = ordered(manifest.models, rows)
        shares = {model: _model_share(rows[model]) for model in models}
        sure = {model: [row for row in rows[model] if not row["doubtful"]] for model in models}
        answering = {model: _model_share(own) for model, own in sure.items() if own}
        first = next(iter(rows.values()))[0]
        scarce = any((country, topic) in few for topic in answers[country][0]["topics"])
        withheld = _withheld(answers[country], shares, answering, deterministic=manifest.deterministic, scarce=scarce)
        lines.append(
            CountryLine(
                country=country,
                other=first["other"],
                models=shares,
                answering=answering,
                things=tuple(things.get(country, ())),
                cells=answers[country][0]["places"],
                condition=answers[country][0]["condition"],
                withheld=withheld,
                snapshots=linked.get(country, {}),
                languages=tuple(answers[country][0]["languages"]),
                topics=tuple(answers[country][0]["topics"]),
            )
        )
    return tuple(lines)


def countries_frame(data: ReportData) -> pd.DataFrame:
    """The table of the picture: a row for each country and model, as `sql/asked_about_countries.sql` explains."""
    import pandas as pd

    rows = [
        {
            "country": line.country,
            "model": model,
            "share": found.here.value,
            **dict(zip(("low", "high"), line.interval(model) or (None, None), strict=True)),
            "items": found.items,
            "responses": found.responses,
            "no_country": found.nowhere / found.items if found.items else None,
            "other": line.other,
            "other_share": found.elsewhere.value if line.other else None,
            "things": ", ".join(line.things),
            "cells": line.cells,
        }
        for line in data.once(country_lines)
        for model, found in line.models.items()
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _model_share(rows: Sequence[Row]) -> ModelShare:
    """The means over the cells of a model, from the rows `responses` of a country."""
    parts: dict[str, list[Estimate]] = {"here": [], "elsewhere": []}
    for _, found in groupby(rows, key=lambda row: row["place"]):
        own = list(found)
        times = [row["responses"] for row in own]
        here, elsewhere, items = (
            np.repeat(np.array([row[name] for row in own], dtype=float), times)
            for name in ("here", "elsewhere", "items")
        )
        for name, numerators in (("here", here), ("elsewhere", elsewhere)):
            one = share_of(numerators, items)
            if one is not None:
                parts[name].append(one)
    here_mean, elsewhere_mean = (mean_share(some) for some in parts.values())
    return ModelShare(
        here_mean,
        elsewhere_mean,
        sum(row["items"] * row["responses"] for row in rows),
        sum(row["nowhere"] for row in rows),
        sum(row["responses"] for row in rows),
    )


def _withheld(
    answers: Sequence[Row],
    shares: Mapping[str, ModelShare],
    answering: Mapping[str, ModelShare],
    *,
    deterministic: bool,
    scarce: bool,
) -> str:
    """The key of the reason in `texts().figures["asked_about"].panels`."""
    texts_of = [row["answered"] for row in answers]
    if deterministic:
        return "deterministic"
    if answers[0]["places"] < _IN_COMMON * answers[0]["places_asked"]:
        return "in_common"
    if scarce:
        return "scarce"
    if _few(shares):
        return "few"
    if len(answering) < len(shares) or _few(answering):
        return "few_answering"
    if any(row["asked"] - row["answered"] + row["refused"] > _LOST * row["asked"] for row in answers):
        return "lost"
    return "unequal" if min(texts_of) < (1 - _UNEQUAL) * max(texts_of) else ""


def _few(shares: Mapping[str, ModelShare]) -> bool:
    return any(one.items < FEWEST or one.responses < FEWEST_RESPONSES for one in shares.values())


def sentence(
    lines: Sequence[CountryLine],
    names: Names,
    copies: Mapping[str, str] = MappingProxyType({}),
    selections: TextSelections = _ALL_TEXTS,
) -> PictureTitle:
    """The title: the two models that differ most in what they name from one country.

    `copies` are models that count as no further ones, each with the one that it is like; `selections` says what
    `CountryLine.answering` leaves out.
    """
    said = texts().figures["asked_about"].panels
    uncounted = _uncounted(lines, names, copies)
    pairs = [pair for line in lines if not line.withheld for pair in _pairs(line, copies)]
    q_values = adjusted([pair.p for pair in pairs])
    told = [(pair, q) for pair, q in zip(pairs, q_values, strict=True) if q is not None and q < RATE and pair.is_robust]
    if not told:
        several = len({model for line in lines for model in line.models}) > 1
        reason = said["none_told" if pairs else "none_testable" if several else "one_model"]
        smallest = probability(min(q for q in q_values if q is not None)) if pairs else ""
        return PictureTitle(
            texts().figures["asked_about"].title, told=False, rests=reason.format(q=smallest) + uncounted
        )
    best, q = max(told, key=lambda one: one[0].effect)
    rests = " ".join((_rests(best, q, selections), *selections.unknown))
    return PictureTitle(_says(best, names), told=True, rests=rests + uncounted, country=best.line.country)


def _uncounted(lines: Sequence[CountryLine], names: Names, copies: Mapping[str, str]) -> str:
    """A sentence on the models that no sentence is of: those without an item, and those that are like another."""
    said = texts().figures["asked_about"].panels
    drawn = {model for line in lines for model in line.models}
    alike = {model: first for model, first in copies.items() if {model, first} <= drawn}
    models = [said["same"].format(model=names.model(one), first=names.model(two)) for one, two in alike.items()]
    models += [said["empty"].format(model=names.model(model)) for model in names.models if model not in drawn]
    return f" {said['uncounted'].format(models=', '.join(models))}" if models else ""


@dataclass(frozen=True, slots=True)
class _ModelPair:
    """Two models that were asked about a country, the one that names more from it first."""

    line: CountryLine
    more: str
    less: str

    @property
    def contrasts(self) -> tuple[Contrast, Contrast]:
        """Their difference in all texts, and in those that answer."""
        shares = (self.line.models, self.line.answering)
        all_texts, answering = (_apart(of[self.more].here, of[self.less].here) for of in shares)
        return all_texts, answering

    @property
    def p(self) -> float:
        """The weaker result counts."""
        return max(one.p() for one in self.contrasts)

    @property
    def effect(self) -> float:
        return min(one.value for one in self.contrasts)

    @property
    def is_robust(self) -> bool:
        """Whether the sign is the same in both, and under every further snapshot."""
        others = (
            of[self.more][0] - of[self.less][0]
            for of in self.line.snapshots.values()
            if {self.more, self.less} <= {*of}
        )
        return self.effect > 0 and all(value > 0 for value in others)


def _pairs(line: CountryLine, copies: Mapping[str, str]) -> Iterator[_ModelPair]:
    counted = [model for model in line.models if copies.get(model) not in line.models]
    for two in combinations(counted, 2):
        less, more = sorted(two, key=lambda model: line.models[model].here.value)
        yield _ModelPair(line, more, less)


def _apart(a: Estimate, b: Estimate) -> Contrast:
    """The difference of the shares of two models, which no response has in common."""
    return Contrast(a, b, *weighted_variance((1.0, one.variance, one.freedom) for one in (a, b)))


def _says(pair: _ModelPair, names: Names) -> str:
    more, less = (pair.line.models[model].here.value for model in (pair.more, pair.less))
    return texts().figures["asked_about"].panels["says"].format(
        country=names.country(pair.line.country), more=names.model(pair.more), less=names.model(pair.less),
        of_more=share(more, 1.0), of_less=share(less, 1.0),
    )  # fmt: skip


def _rests(pair: _ModelPair, q: float, selections: TextSelections) -> str:
    said = texts().figures["asked_about"].panels
    shares = [pair.line.models[model] for model in (pair.more, pair.less)]
    low, high = pair.contrasts[0].interval()
    words = said["rests"].format(
        q=probability(q) if q < 0.001 else f"= {probability(q)}",
        low=share(low, 1.0), high=share(high, 1.0),
        items=count(sum(one.items for one in shares)),
        responses=count(sum(one.responses for one in shares)),
        cells="1 cell" if pair.line.cells == 1 else f"{count(pair.line.cells)} cells",
        nowhere=share(sum(one.nowhere for one in shares), sum(one.items for one in shares)),
        also=said["also"].format(left_out=selections.joined("and")) if selections.left_out else "",
    )  # fmt: skip
    for snapshot, of in pair.line.snapshots.items():
        if {pair.more, pair.less} <= {*of}:
            values = {"of_more": share(of[pair.more][0], 1.0), "of_less": share(of[pair.less][0], 1.0)}
            words += f" {said['rests_snapshot'].format(snapshot=snapshot, **values)}"
    return words
