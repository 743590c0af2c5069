"""What was found, in sentences: the comparisons that stand out of all that the report makes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from pydantic import BaseModel, ConfigDict

from polyculture.metrics.comparison.effect import FEWEST_BLOCKS
from polyculture.metrics.comparison.selection import RATE
from polyculture.reports.comparisons import open_sign
from polyculture.reports.names import Names
from polyculture.reports.numbers import count, decimal, difference, known, probability

Row = Mapping[str, Any]


class _Claim(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    more: str
    less: str = ""


class _Texts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    where: Mapping[str, str]
    claims: Mapping[str, Mapping[str, _Claim]]
    family: Mapping[str, str]
    why: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
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
    """A sentence with its numbers, what speaks against it, and where its sentences stand."""

    says: str
    above: str  # of the two numbers
    below: str
    effect: str
    interval: str
    prompts: str
    notes: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """What the opening shows: findings, or none, and what is to be said of the family that they are from."""

    shown: tuple[Finding, ...]
    family: str


def findings(frame: pd.DataFrame, names: Names) -> Findings:
    """The findings of `comparison_frame`, the clearest first."""
    rows = [{str(key): known(value) for key, value in row.items()} for row in frame.to_dict("records")]
    picked = sorted((row for row in rows if row["finding"]), key=lambda row: row["finding"])
    return Findings(tuple(_finding(row, names) for row in picked), _family(rows, picked))


def wanted(frame: pd.DataFrame) -> dict[str, str]:
    """Of the first finding: the model whose text illustrates it, and the prompt's condition and country."""
    first = frame[frame["finding"] == 1].to_dict("records")
    found = {str(key): known(value) for row in first for key, value in row.items()}
    model = (found.get("a") if (found.get("difference") or 0) > 0 else found.get("b")) if _of_models(found) else None
    axes = {"model": model or found.get("model"), "condition": found.get("condition"), "country": found.get("country")}
    return {axis: str(code) for axis, code in axes.items() if code}


def _of_models(row: Row) -> bool:
    return row.get("family") == "models"


def _finding(row: Row, names: Names) -> Finding:
    metric, turned = row["metric"], _of_models(row) and row["difference"] < 0
    a, b = (row["b"], row["a"]) if turned else (row["a"], row["b"])
    sign = -1 if turned else 1
    limits = sorted((sign * row["finding_low"], sign * row["finding_high"]))
    means = (row["mean_b"], row["mean_a"]) if turned else (row["mean_a"], row["mean_b"])
    claim = _texts().claims[row["family"]][metric]
    model, country = row["model"] or "", row["country"] or ""
    condition = row["condition"] or ""
    said = (claim.less if row["difference"] < 0 and not turned else claim.more).format(
        a=names.model(a),
        b=names.model(b),
        model=names.model(model),
        country=names.country(country),
        where=_texts().where.get(condition, f", under prompts of the kind {condition!r}") if condition else "",
    )
    blocks = count(row["blocks"])
    return Finding(
        said,
        decimal(means[0], metric),
        decimal(means[1], metric),
        difference(sign * row["difference"], metric),
        " to ".join(difference(limit, metric) for limit in limits),
        f"{blocks} prompts",
        ", ".join(open_sign(row)),
        _places(row, (a, b), names),
    )


def _places(row: Row, models: tuple[str, str], names: Names) -> tuple[Place, ...]:
    condition, country = row["condition"] or "", row["country"] or ""
    if _of_models(row):
        return tuple(Place(names.model(code), code, "", condition, "") for code in models)
    if country:
        return (Place(names.country(country), "", "", condition, country),)
    return (Place(names.model(row["model"]), row["model"], "", condition, ""),)


def _family(rows: Sequence[Row], picked: Sequence[Row]) -> str:
    q_values = [row["q_report"] for row in rows if row["q_report"] is not None]
    if not q_values:
        why = _texts().why["few" if any(row["pairs"] for row in rows) else "nothing"]
        return _texts().family["empty"].format(why=why.format(fewest=FEWEST_BLOCKS))
    surviving = sum(q < RATE for q in q_values)
    shown = "only" if len(q_values) == 1 else "one" if len(picked) == 1 else "some"
    key = shown if picked else "picked" if surviving else "none"
    return (
        _texts()
        .family[key]
        .format(
            family=count(len(q_values)),
            comparisons="comparison" if len(q_values) == 1 else "comparisons",
            surviving=count(surviving),
            survive="survives" if surviving == 1 else "survive",
            smallest=probability(min(q_values)),
            level=_level(picked[0]["finding_level"]) if picked else "",
        )
    )


def _level(level: float) -> str:
    """'99.93 %': as many digits as set it apart from 100 %."""
    digits = next(digits for digits in range(1, 9) if round(100 * (1 - level), digits) > 0)
    return f"{100 * level:.{digits + 1}f}\u00a0%"


@cache
def _texts() -> _Texts:
    file = Path(__file__).with_name("findings.toml")
    return _Texts.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
