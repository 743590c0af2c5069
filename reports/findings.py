"""What was found, in sentences, and what could not be tested: what the first page says of the table `differences`.

A sentence is written only from a difference that is shown under every selection of the texts, of sides that name ten
linked items or more. It is about the same prompts, and says what is known of new prompts like these: the difference is
shown there, too; it is not shown, and how large one would have been found; or it cannot be seen, and why.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd

from polyculture.cache.validation import ClosedModel
from polyculture.metrics.comparison.sides import REST
from polyculture.metrics.comparison.table import explained, with_remedy
from polyculture.metrics.declared import METRICS, is_count
from polyculture.metrics.inference.family import HIGHER, LOWER, NEW_PROMPTS, SAME_PROMPTS
from polyculture.metrics.inference.limits import found_with_power
from polyculture.metrics.text_selections import TextSelections
from polyculture.reports.comparisons import CONDITIONS, LANGUAGES, MODELS, holds, is_told, side, tipping, told_rows
from polyculture.reports.names import Names
from polyculture.reports.numbers import FEWEST, Row, count, decimal, difference, more_decimals, probability
from polyculture.reports.texts import texts

_ALL_TEXTS = TextSelections()
FIRST = 3  # sentences that the first screen shows; the others are in a fold
# What readers ask about comes first. That naming a country leads to its things is what the prompts were made for.
_ORDER = ("model", "native by model", "native by country", "language", "condition")


class _FindingWords(ClosedModel):
    more: str
    less: str = ""


class _FindingTexts(ClosedModel):
    where: Mapping[str, str]
    prompts: Mapping[str, str]
    about: Mapping[str, str]
    new: Mapping[str, str]
    alone: Mapping[str, str]
    rests: Mapping[str, str]
    claims: Mapping[str, Mapping[str, _FindingWords]]
    titles: Mapping[str, str]
    family: Mapping[str, str]
    targets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EvidenceFilters:
    """A part of the evidence: codes by axis, as the page's script reads them, and the address that leads there."""

    label: str
    model: str
    language: str
    condition: str
    country: str

    @property
    def address(self) -> str:
        """The evidence under these filters, behind the page's own address."""
        axes = {"model": self.model, "language": self.language, "condition": self.condition, "country": self.country}
        return f"#evidence&{urlencode({axis: code for axis, code in axes.items() if code})}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence with its numbers, what it rests on, and where its sentences stand."""

    says: str
    above: str  # of the two numbers
    below: str
    effect: str
    interval: str
    rests: tuple[str, ...]
    places: tuple[EvidenceFilters, ...]


@dataclass(frozen=True, slots=True)
class UntestedComparisons:
    """Comparisons that could not be tested, or on these prompts alone: how many, and why, with the remedy."""

    count: str
    why: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What the opening shows: findings, or none, what is to be said of all comparisons, and what was not tested."""

    title: str
    shown: tuple[Finding, ...]
    family: str
    untested: tuple[UntestedComparisons, ...]


def findings(
    frame: pd.DataFrame, names: Names, selections: TextSelections = _ALL_TEXTS, *, within: bool = False
) -> Findings:
    """The findings from the rows of `sql/comparisons.sql`: models, native languages, languages, conditions.

    `within`: the page has a sentence on a difference within a country beside them.
    """
    rows = told_rows(frame)
    picked = _picked(rows)
    shown = tuple(_finding(row, names, selections) for row in picked)
    family = " ".join((_family(rows, picked, selections), *(selections.unknown if rows else ())))
    return Findings(_texts().titles[_title(rows, picked, within)], shown, family, _untested(rows))


def _title(rows: Sequence[Row], picked: Sequence[Row], within: bool) -> str:
    """The key of the title. Nothing is called no difference where one is shown, or exact, for the same prompts."""
    if picked:
        return "found"
    told = [row for row in rows if row["verdict"] in (HIGHER, LOWER)]
    if told:
        return "unsaid" if any(is_told(row) for row in told) else "turned"
    if any(row["same_is_exact"] and row["difference"] for row in rows):
        return "exact"
    tested = [row["q"] is not None for row in rows]
    if not any(tested):
        return "untested"
    if within:
        return "together"
    return "none" if all(tested) else "partly"


def target_lines(rows: Sequence[Row]) -> tuple[str, ...]:
    """What each target can tell, in a sentence: the rows of `sql/targets.sql`."""
    said = _texts().targets
    return tuple(
        said["exact" if row["exact"] else row["target"]].format(
            **{name: count(row[name]) for name in ("comparisons", "tested", "told", "exact")}
        )
        for row in rows
    )


def _picked(rows: Sequence[Row]) -> list[Row]:
    """The clearest row of each family and metric: by family, then what is shown for new prompts, too, then by p."""
    told = sorted(
        (row for row in rows if is_told(row) and not _is_unsaid(row, rows)),
        key=lambda row: (
            _ORDER.index(row["family"]),
            not _is_shown_for_new(row),
            row["p"],
            -abs(row["difference"]),
        ),
    )
    clearest: dict[tuple[str, str], Row] = {}
    for row in told:
        clearest.setdefault((row["family"], row["metric"]), row)
    return list(clearest.values())


def _is_shown_for_new(row: Row) -> bool:
    """Whether new prompts like these show the difference, with the same sign."""
    return bool(row["target"] == NEW_PROMPTS or row["new_verdict"] == row["verdict"])


def _is_unsaid(row: Row, rows: Sequence[Row]) -> bool:
    """Whether no sentence is made of a difference: a side names nothing, or too little."""
    few = any(row[f"{one}_items"] is not None and row[f"{one}_items"] < FEWEST for one in "ab")
    return few or _rests_on_nothing(row, rows)


def _rests_on_nothing(row: Row, rows: Sequence[Row]) -> bool:
    """Whether the difference is that of a side in which no mention was linked: its texts may name things all the same.

    The source of links may have no names in a language, or a model may have written nothing of use. What such a side
    shares with others is 0, too; and where a language is one, so is the mean of other languages lower.
    """
    silent = {one["family"] for one in rows if is_count(one["metric"]) and 0 in (one["a_estimate"], one["b_estimate"])}
    compared = LANGUAGES if row["family"].startswith("native") else row["family"]
    return not METRICS[row["metric"]].is_sum and bool({row["family"], compared} & silent)


def _finding(row: Row, names: Names, selections: TextSelections) -> Finding:
    metric = row["metric"]
    is_turned = row["family"] == MODELS and row["difference"] < 0 and row["b"] != REST
    a, b = (row["b"], row["a"]) if is_turned else (row["a"], row["b"])
    sign = -1 if is_turned else 1
    more = more_decimals(metric, row["difference"], row["low"], row["high"])
    means = (row["b_estimate"], row["a_estimate"]) if is_turned else (row["a_estimate"], row["b_estimate"])
    claims, condition = _texts().claims[row["family"]], row["condition"] or ""
    claim = claims.get(metric, claims["other"])
    return Finding(
        (claim.less if row["difference"] < 0 and not is_turned else claim.more).format(
            a=_named(row, a, names),
            b=_named(row, b, names),
            model=names.model(row["model"] or ""),
            country=names.country(row["country"] or ""),
            metric=texts().metrics[metric].name,
            where=_texts().where.get(condition, f", under prompts of the kind {condition!r}") if condition else "",
        )
        + "".join(_alone(row, names))
        + _texts().about["both" if row["target"] == SAME_PROMPTS and _is_shown_for_new(row) else row["target"]],
        decimal(means[0], metric, more),
        decimal(means[1], metric, more),
        difference(sign * row["difference"], metric, more),
        " to ".join(difference(limit, metric, more) for limit in sorted((sign * row["low"], sign * row["high"]))),
        tuple(_rests(row, sign, selections)),
        _places(row, (a, b), names),
    )


def _named(row: Row, code: str, names: Names) -> str:
    if row["family"] == CONDITIONS:
        return _texts().prompts.get(code, f"Prompts of the kind {code!r}")
    return side(row, code, names) if row["family"] in (MODELS, LANGUAGES) else code


def _alone(row: Row, names: Names) -> Iterator[str]:
    """Of which model or language alone a claim is told, where the run has several."""
    said = _texts().alone
    for facet, name in ((MODELS, names.model), (LANGUAGES, names.language)):
        a, b = row[f"a_{facet}"], row[f"b_{facet}"]
        if a and a == b:
            yield said[facet].format(name=name(a))
            continue
        if a and row["family"] == "native by model":  # a country has its own language
            yield said["own_language"].format(name=name(a))
        if b:
            yield said[f"other_{facet}"].format(name=name(b))


def _rests(row: Row, sign: int, selections: TextSelections) -> list[str]:
    """What a finding rests on: of which prompts, how many units, where it holds, and what would turn it."""
    said = _texts().rests
    units = {"units": count(row["units"]), "naming": "" if row["naming"] is None else count(row["naming"])}
    unit = "naming" if row["unit"] == "response" and row["naming"] is not None else row["unit"]
    parts = [said[unit].format(**units), *([_of_new(row, sign)] if row["target"] == SAME_PROMPTS else [])]
    if row["left_out"]:
        parts.append(said["left_out"].format(cells=count(row["cells"]), left_out=count(row["left_out"])))
    if where := holds(row):
        parts.append(said["holds"].format(holds=where))
    if row["without_largest"] is not None:
        without = difference(sign * row["without_largest"], row["metric"])
        parts.append(said["without_largest"].format(difference=without))
    if left_out := selections.joined("or"):
        parts.append(said["stays"].format(left_out=left_out))
    turns = tipping(row)
    return [*parts, *([said["turns"].format(share=turns)] if turns else [])]


def _of_new(row: Row, sign: int) -> str:
    """What is known of new prompts like these: shown, not shown though it would have been found, or not to be seen."""
    said = _texts().new
    if row["new_low"] is None:
        return said["unseen"].format(why=explained(row["lacking"])) if row["lacking"] else said["unmeasured"]
    low, high = sorted((sign * row["new_low"], sign * row["new_high"]))
    least = found_with_power((high - low) / 2, row["new_freedom"])
    interval = " to ".join(difference(limit, row["metric"]) for limit in (low, high))
    key = "shown" if _is_shown_for_new(row) else "not_shown"
    return said[key].format(interval=interval, least=decimal(least, row["metric"]))


def _places(row: Row, sides: tuple[str, str], names: Names) -> tuple[EvidenceFilters, ...]:
    model, language = (one if (one := row[f"a_{of}"]) == row[f"b_{of}"] else None for of in (MODELS, LANGUAGES))
    axes = {"model": row["model"] or model or "", "language": language or "", "condition": row["condition"] or ""}
    axes["country"] = row["country"] or ""
    if row["family"] in (MODELS, LANGUAGES, CONDITIONS):
        return tuple(
            EvidenceFilters(side(row, code, names), **{**axes, row["family"]: code}) for code in sides if code != REST
        )
    label = names.country(axes["country"]) if axes["country"] else names.model(axes["model"])
    return (EvidenceFilters(label, **axes),)


def _family(rows: Sequence[Row], picked: Sequence[Row], selections: TextSelections) -> str:
    """What is to be said of all comparisons of the page, which are one family of tests."""
    said = _texts().family
    tested = [row for row in rows if row["q"] is not None]
    if not tested:
        return said["empty"] if rows else said["nothing"]
    told = sum(is_told(row) for row in rows)
    unsaid = any(is_told(row) and _is_unsaid(row, rows) for row in rows)
    turned = sum(row["verdict"] in (HIGHER, LOWER) and not is_told(row) for row in rows)
    left_out = selections.joined("or")
    more = "".join(
        f" {said[key].format(turned=count(turned), left_out=left_out)}"
        for key, is_so in (("unlinked", unsaid), ("turned", turned))
        if is_so
    )
    key = "some" if picked else "unsaid" if told else "none"
    return (
        said[key].format(
            tested=count(len(tested)),
            comparisons=count(len(rows)),
            told=count(told),
            shown=count(len(picked)),
            smallest=probability(min(row["q"] for row in tested)),
            also=said["also"].format(left_out=left_out) if left_out else "",
        )
        + more
    )


def _untested(rows: Sequence[Row]) -> tuple[UntestedComparisons, ...]:
    """By what is lacking: comparisons without any test, and those of these prompts alone."""
    none = Counter(row["reason"] for row in rows if row["q"] is None)
    narrow = Counter(row["lacking"] for row in rows if row["q"] is not None and row["lacking"])
    said = _texts().family
    return tuple(
        UntestedComparisons(said[key].format(count=count(number), all=count(len(rows))), with_remedy(reason))
        for key, counted in (("untested", none), ("these_alone", narrow))
        for reason, number in counted.most_common()
    )


@cache
def _texts() -> _FindingTexts:
    file = Path(__file__).with_name("findings.toml")
    return _FindingTexts.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
