"""The papers' findings as hypotheses on this run: each holds, fails, or is undecided."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema.measured import EVERY, WITHOUT, Difference
from polyculture.metrics import MEASURE
from polyculture.metrics.claims.claim import PAPERS, Claim, read_claims
from polyculture.metrics.claims.parts import ClaimedRun
from polyculture.metrics.claims.verdict import Verdict, judge
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.stored import LEVELS, facet_of
from polyculture.metrics.limits import disqualified
from polyculture.reports.comparisons import told_rows
from polyculture.reports.headline import totals
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, count, difference, probability
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.sections import CLAIMS, SAID
from polyculture.reports.table_section import Column, PageTable, TextCell, plain_table
from polyculture.reports.texts import section_texts, texts

# What instruments measured, with all that a claim's `where` may name.
_MEASURED = """
WITH measured AS (
    SELECT measure, metric, {facets}, facets FROM numbers UNION ALL
    SELECT measure, metric, {facets}, facets FROM differences
)
SELECT count(*) > 0 FROM measured WHERE measure = $measure AND metric = $metric{where}
"""
_FACETS = ("model", "dataset", "language", "country", "topic", "condition", "wording", "method", "reader")
_METRICS = "SELECT DISTINCT measure, metric FROM numbers UNION SELECT DISTINCT measure, metric FROM differences"
COLUMNS = (
    "claim", "says", "source", "result", "measure", "metric", "where", "target", "expect", "bound",
    "dimension", "a", "b", "place", "difference", "low", "high", "p", "p_holm", "comparisons", "tested",
    "unit", "units", "cells", "why",
)  # fmt: skip


def build(data: ReportData) -> PageTable | None:
    """The table of the section; None where nothing was measured that a paper says something of."""
    found = data.frame(CLAIMS)
    return None if found.empty else claims(found, data.names)


def claims_frame(data: ReportData) -> pd.DataFrame:
    """A row per claim of the papers about what the run measured; p is adjusted over those of a paper."""
    run = ComparedRun(data.reading.store, data.manifest.deterministic)
    pairs = data.names.catalog.native_pairs(data.manifest.languages)
    linked = data.about_texts and bool(totals(data.reading.rows(SQL / "health.sql")).get("linked"))
    measured = set(run.store.execute(_METRICS).fetchall())
    rows: list[dict[str, Any]] = []
    for file in PAPERS.values():
        stated = [claim for claim in read_claims(file) if _is_measured(run, measured, claim, linked=linked)]
        rows += claim_rows(run, pairs, data.manifest, stated)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _is_measured(run: ComparedRun, measured: Collection[tuple[str, str]], claim: Claim, *, linked: bool) -> bool:
    """Whether the run has what a claim is about: its metric, of what its `where` says. Its sides may be lacking.
    `measured` are the measures and metrics of the run."""
    if claim.measure == MEASURE.name:
        return linked and all(value in run.values.get(name, (value,)) for name, value in claim.where.items())
    if (claim.measure, claim.metric) not in measured:
        return False
    columns = [name if name in _FACETS else f"coalesce(facets[${name}_], '-')" for name in claim.where]
    where = "".join(f" AND {column} = ${name}" for column, name in zip(columns, claim.where, strict=True))
    names = {f"{name}_": name for name in claim.where if name not in _FACETS}
    query = _MEASURED.format(facets=", ".join(_FACETS), where=where)
    given = {"measure": claim.measure, "metric": claim.metric, **claim.where, **names}
    [(found,)] = run.store.execute(query, given).fetchall()
    return bool(found)


def claim_rows(
    run: ComparedRun, native: tuple[tuple[str, str], ...], manifest: Manifest, stated: Sequence[Claim]
) -> list[dict[str, Any]]:
    """A row per claim with the columns `COLUMNS`; `native` has languages with the countries that they are native in."""
    rows = map(_row, judge(ClaimedRun(run, native, disqualified(manifest)), stated))
    return [{name: row[name] for name in COLUMNS} for row in rows]


def claims(frame: pd.DataFrame, names: Names) -> PageTable:
    """The table of the rows of `claims_frame`."""
    columns = (
        Column("Result", lambda row: TextCell(row["result"], row["why"] or ""), is_number=False),
        Column("Turns on", lambda row: _turns_on(row, names), is_number=False),
        Column("Difference", _difference),
        Column("p (Holm)", lambda row: "" if row["p_holm"] is None else probability(row["p_holm"])),
        Column("Rests on", lambda row: f"{count(row['units'])} {row['unit']}" if row["units"] else "", is_size=True),
        Column("Tested", _tested, is_size=True),
    )
    return plain_table(
        told_rows(frame), columns, title=section_texts(SAID, "claims").words["caption"], line_head="Claim",
        label=lambda row: row["says"], note=_source, style="compared claims",
    )  # fmt: skip


def _row(verdict: Verdict) -> dict[str, Any]:
    claim, told = verdict.claim, verdict.row.difference if verdict.row else None
    shown = ("dimension", "a", "b", "difference", "low", "high", "unit", "units", "cells")
    stays = f"not so in: {', '.join(verdict.not_in)}" if verdict.not_in else ""
    return {
        "claim": claim.name,
        "says": claim.says,
        "source": claim.source,
        "result": str(verdict.result),
        "measure": claim.measure,
        "metric": claim.metric,
        "where": ", ".join(f"{name} {value}" for name, value in claim.where.items()) or None,
        "target": claim.target,
        "expect": claim.expect,
        "bound": claim.bound,
        "p": verdict.p,
        "p_holm": verdict.adjusted,
        "comparisons": verdict.parts,
        "tested": verdict.tested,
        "why": verdict.why or stays,
        "place": (_place(told, claim) if told else "") or None,
        **{name: getattr(told, name, None) for name in shown},
    }


def _place(told: Difference, claim: Claim) -> str:
    """What a comparison is of beside what its claim names: 'openai:gpt-4, ja'."""
    found = (facet_of(told, name) for name in (*LEVELS, *told.facets) if name not in claim.where)
    return ", ".join(value for value in found if value not in (EVERY, WITHOUT, told.a))


def _source(row: Mapping[str, Any]) -> str:
    """'MAKIEval, section 5.2: Granularity, higher by 0.05': where it is said, and what is expected."""
    metric = row["metric"]
    bound = difference(row["bound"], metric).lstrip("+") if row["bound"] else ""
    within = {"same": f"within ±{bound}", "different": f"by more than {bound}"}.get(row["expect"], f"by {bound}")
    name = texts().metrics[metric].name if metric in texts().metrics else f"{row['measure']} {metric}".replace("_", " ")
    return f"{row['source'] or ''}: {name}, {row['expect']}{' ' + within if bound else ''}"


def _turns_on(row: Mapping[str, Any], names: Names) -> str:
    """The comparison that is shown: 'Japan minus the rest (smollm2)'."""
    sides = f"{_named(row, 'a', names)} minus {_named(row, 'b', names)}" if row["a"] else ""
    return f"{sides} ({row['place']})" if sides and row["place"] else sides


def _difference(row: Mapping[str, Any]) -> FormattedEstimate | str:
    if row["difference"] is None:
        return ""
    limits = [difference(row[end], row["metric"]) for end in ("low", "high") if row[end] is not None]
    return FormattedEstimate(difference(row["difference"], row["metric"]), " to ".join(limits) or None, None)


def _tested(row: Mapping[str, Any]) -> str:
    return f"{count(row['tested'])} of {count(row['comparisons'])}" if row["comparisons"] else ""


def _named(row: Mapping[str, Any], side: str, names: Names) -> str:
    """A side for people; what is no code is its own name."""
    name = {"model": names.model, "language": names.language, "country": names.country}.get(row["dimension"] or "")
    code: str = row[side]
    return name(code) if name and code in (*names.models, *names.catalog.languages, *names.catalog.countries) else code
