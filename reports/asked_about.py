"""Asked about a country, answered from where: the picture of the first page, and the sentence that is its title.

A line is a country that prompts name. Its numbers are of the cells (language, topic, wording) in which all models have
a linked item: each is a share of the linked items, each counted once per response, the mean over these cells. An item
that belongs to the country and to others is of the country.

The sentence is written only where it is told apart for every model, of all texts and of those alone that answer in the
prompt's language: q < 0.05 over all that could have been said, after a p-value has been multiplied by the number of
countries, or pairs of countries, that it was the most extreme of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any

import numpy as np

from polyculture.cache.manifest import Manifest
from polyculture.metrics.inference.crossed import satterthwaite
from polyculture.metrics.inference.family import RATE, adjusted
from polyculture.metrics.inference.jackknife import mean_share, share_of
from polyculture.metrics.inference.limits import Contrast, Estimate
from polyculture.metrics.means import FEWEST_RESPONSES, MOST_UNKNOWN
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, count, probability, share
from polyculture.reports.reading import SQL, Reading, statements
from polyculture.reports.texts import texts

Row = Mapping[str, Any]
_SQL = statements(SQL / "asked_about.sql")
_LOST = 0.1  # of what was asked: refused or missing. With more, the others may differ
_UNEQUAL = 0.05  # how many fewer texts a model may have than another
_IN_COMMON = 0.5  # of a country's cells: with fewer in common, the others may differ


@dataclass(frozen=True, slots=True)
class ModelShare:
    """What a model answers about a country: the shares of the country and of `CountryLine.other`."""

    here: Estimate
    elsewhere: Estimate
    contrast: Contrast  # elsewhere less here
    items: int  # linked items, each once per response
    nowhere: int  # those of them of which no country is known
    responses: int  # with a linked item


@dataclass(frozen=True, slots=True)
class CountryLine:
    """A country that was asked about. `withheld` is the reason why no sentence may be about it; empty where one may."""

    country: str
    other: str | None  # the other country that most of what is named belongs to; None where several are first
    others: int  # how many other countries come up
    models: Mapping[str, ModelShare]
    answering: Mapping[str, ModelShare]  # the same of texts that do not refuse, and are in the prompt's language
    things: tuple[str, ...]  # names of the three commonest items
    cells: int  # of each model
    withheld: str
    languages: tuple[str, ...] = ()  # of these cells
    topics: tuple[str, ...] = ()
    condition: str = "explicit"  # how it was asked about
    repeating: frozenset[str] = frozenset()  # models most of whose texts repeat one another: no share has an interval


@dataclass(frozen=True, slots=True)
class Sentence:
    """The title of the picture. `told`: is it a finding? `rests` is what it rests on, or why there is none."""

    says: str
    told: bool
    rests: str


def country_lines(reading: Reading, manifest: Manifest, names: Names) -> tuple[CountryLine, ...]:
    """The lines in the order of regions; none where no prompt names a country, or no model has a linked item."""
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
    lines = []
    for country in names.by_region(ordered(manifest.countries, by_model)):
        rows = by_model[country]
        models = ordered(manifest.models, rows)
        shares = {model: _model_share(rows[model]) for model in models}
        sure = {model: [row for row in rows[model] if not row["doubtful"]] for model in models}
        answering = {model: _model_share(own) for model, own in sure.items() if own}
        first = next(iter(rows.values()))[0]
        withheld = _withheld(answers[country], shares, answering, deterministic=manifest.deterministic)
        lines.append(
            CountryLine(
                country=country,
                other=first["other"],
                others=first["others"],
                models=shares,
                answering=answering,
                things=tuple(things.get(country, ())),
                cells=answers[country][0]["places"],
                condition=answers[country][0]["condition"],
                withheld=withheld,
                repeating=frozenset(row["model"] for row in answers[country] if _repeats(row)),
                languages=tuple(answers[country][0]["languages"]),
                topics=tuple(answers[country][0]["topics"]),
            )
        )
    return tuple(lines)


def _model_share(rows: Sequence[Row]) -> ModelShare:
    """The means over the cells of a model, from the rows `responses` of a country."""
    parts: dict[str, list[Estimate]] = {"here": [], "elsewhere": [], "apart": []}
    for _, found in groupby(rows, key=lambda row: row["place"]):
        own = list(found)
        times = [row["responses"] for row in own]
        here, elsewhere, items = (
            np.repeat(np.array([row[name] for row in own], dtype=float), times)
            for name in ("here", "elsewhere", "items")
        )
        for name, numerators in (("here", here), ("elsewhere", elsewhere), ("apart", elsewhere - here)):
            one = share_of(numerators, items)
            if one is not None:
                parts[name].append(one)
    here_mean, elsewhere_mean, apart = (mean_share(some) for some in parts.values())
    return ModelShare(
        here_mean,
        elsewhere_mean,
        Contrast(elsewhere_mean, here_mean, apart.variance, apart.freedom),
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
) -> str:
    """The key of the reason in `texts().figures["asked_about"].panels`."""
    texts_of = [row["answered"] for row in answers]
    if deterministic:
        return "deterministic"
    if answers[0]["places"] < _IN_COMMON * answers[0]["places_asked"]:
        return "in_common"
    if _few(shares):
        return "few"
    if len(answering) < len(shares) or _few(answering):
        return "few_answering"
    if any(_repeats(row) for row in answers):
        return "repeated"
    if any(row["asked"] - row["answered"] + row["refused"] > _LOST * row["asked"] for row in answers):
        return "lost"
    return "unequal" if min(texts_of) < (1 - _UNEQUAL) * max(texts_of) else ""


def _repeats(answers: Row) -> bool:
    """Whether a model's texts about a country are no independent samples: the rule of `metrics.means`."""
    return bool(answers["repeating"] > MOST_UNKNOWN * answers["places"])


def _few(shares: Mapping[str, ModelShare]) -> bool:
    return any(one.items < FEWEST or one.responses < FEWEST_RESPONSES for one in shares.values())


def sentence(lines: Sequence[CountryLine], names: Names, copies: Mapping[str, str] = MappingProxyType({})) -> Sentence:
    """The title: of another country that comes up more than the one asked about, else of the two that differ most.

    `copies` are models that count as no further ones, each with the one that it is like.
    """
    said = texts().figures["asked_about"].panels
    testable = [_without(copies, line) for line in lines if not line.withheld]
    uncounted = _uncounted(lines, names, copies)
    candidates = [*_elsewhere(testable), *_extremes(testable)]
    q_values = iter(adjusted([p for one in candidates for p in one.p_values]))
    worst = [max((q for q in islice(q_values, len(one.p_values)) if q is not None), default=1.0) for one in candidates]
    told = [(one, q) for one, q in zip(candidates, worst, strict=True) if q < RATE and min(one.effects) > 0]
    if not told:
        reason = said["none_told"] if candidates else said["none_testable"]
        smallest = probability(min(worst)) if worst else ""
        return Sentence(texts().figures["asked_about"].title, told=False, rests=reason.format(q=smallest) + uncounted)
    kind = min(one.kind for one, _ in told)  # 'elsewhere' before 'extremes'
    best, q = max((pair for pair in told if pair[0].kind == kind), key=lambda pair: sum(pair[0].effects))
    return Sentence(_says(best, names), told=True, rests=_rests(best, q) + uncounted)


def _without(copies: Mapping[str, str], line: CountryLine) -> CountryLine:
    def counted(shares: Mapping[str, ModelShare]) -> Mapping[str, ModelShare]:
        return {model: one for model, one in shares.items() if copies.get(model) not in line.models}

    return replace(line, models=counted(line.models), answering=counted(line.answering))


def _uncounted(lines: Sequence[CountryLine], names: Names, copies: Mapping[str, str]) -> str:
    """A sentence on the models that no sentence is of: those without an item, and those that are like another."""
    said = texts().figures["asked_about"].panels
    drawn = {model for line in lines for model in line.models}
    alike = {model: first for model, first in copies.items() if {model, first} <= drawn}
    models = [said["same"].format(model=names.model(one), first=names.model(two)) for one, two in alike.items()]
    models += [said["empty"].format(model=names.model(model)) for model in names.models if model not in drawn]
    return f" {said['uncounted'].format(models=', '.join(models))}" if models else ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What could be said: `kind` is 'elsewhere' or 'extremes'; p-values and effects are by model."""

    kind: str
    lines: tuple[CountryLine, ...]
    p_values: tuple[float, ...]
    effects: tuple[float, ...]


def _elsewhere(lines: Sequence[CountryLine]) -> Iterator[_Candidate]:
    for line in lines:
        if line.other is not None:
            contrasts = [(line.models[model].contrast, line.answering[model].contrast) for model in line.models]
            yield _candidate("elsewhere", (line,), contrasts, line.others)


def _extremes(lines: Sequence[CountryLine]) -> Iterator[_Candidate]:
    if len(lines) < 2:
        return
    ranked = sorted(lines, key=lambda line: sum(one.here.value for one in line.models.values()))
    low, high = ranked[0], ranked[-1]
    pairs = len(lines) * (len(lines) - 1) / 2
    contrasts = [
        (
            _apart(high.models[model].here, low.models[model].here),
            _apart(high.answering[model].here, low.answering[model].here),
        )
        for model in high.models
    ]
    yield _candidate("extremes", (high, low), contrasts, pairs)


def _candidate(
    kind: str, lines: tuple[CountryLine, ...], contrasts: Sequence[tuple[Contrast, Contrast]], chosen_of: float
) -> _Candidate:
    """Of all texts and of those that answer, the weaker result counts."""
    p_values = tuple(min(1.0, max(one.p(), other.p()) * chosen_of) for one, other in contrasts)
    return _Candidate(kind, lines, p_values, tuple(min(one.value, other.value) for one, other in contrasts))


def _apart(a: Estimate, b: Estimate) -> Contrast:
    """The difference of the shares of two countries, which no response has in common."""
    variance = a.variance + b.variance
    return Contrast(a, b, variance, satterthwaite(variance, [(a.variance, a.freedom), (b.variance, b.freedom)]))


def _says(found: _Candidate, names: Names) -> str:
    said = texts().figures["asked_about"].panels
    first, last = found.lines[0], found.lines[-1]
    models = list(first.models)
    of = len(names.models)
    many = said["most"] if len(models) < of else said["both"] if of == 2 else said["all"]
    who = names.model(models[0]) if len(models) == 1 else many.format(models=len(models), of=of)
    shares = {
        "here": _range([one.here.value for one in first.models.values()]),
        "elsewhere": _range([one.elsewhere.value for one in first.models.values()]),
        "low": _range([one.here.value for one in last.models.values()]),
    }
    other = names.country(first.other) if first.other else ""
    key = f"{found.kind}_one" if len(models) == 1 else found.kind
    return said[key].format(
        who=who,
        country=names.country(first.country),
        last=names.country(last.country),
        other=other,
        **shares,
    )


def _rests(found: _Candidate, q: float) -> str:
    shares = [one for line in found.lines for one in line.models.values()]
    items, nowhere = sum(one.items for one in shares), sum(one.nowhere for one in shares)
    return texts().figures["asked_about"].panels["rests"].format(
        q=probability(q) if q < 0.001 else f"= {probability(q)}",
        items=count(items),
        responses=count(sum(one.responses for one in shares)),
        cells=" and ".join(count(line.cells) for line in found.lines),
        nowhere=share(nowhere, items),
    )  # fmt: skip


def _range(values: Sequence[float]) -> str:
    """'34 %', or '34 to 41 %' of several models."""
    low, high = (share(value, 1.0) or "" for value in (min(values), max(values)))
    return low if low == high else f"{low[:-2]} to {high}"  # less its percent sign
