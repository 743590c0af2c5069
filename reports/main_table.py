"""Writes the main table of a paper with two columns: models by metrics with their intervals, 8.5 cm wide, in LaTeX."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.layout import Layout
from polyculture.cache.manifest import UNSTATED, Manifest
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.sanitize import replace_control_chars
from polyculture.metrics import METRICS as STORE
from polyculture.metrics.limits import disqualified
from polyculture.reports.building import open_report
from polyculture.reports.escaping import latex_text
from polyculture.reports.headline import shared_note, shown_metrics
from polyculture.reports.latex import end_of
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, decimal, known, rests_on
from polyculture.reports.reading import SQL
from polyculture.reports.texts import texts

WIDTH = "8.5cm"  # of the table: one of a paper's two columns
_NAME = "2.7cm"  # of the models' names, which break into lines
_RUN = 12  # letters of a name after which it may break where it has no sign to break at
_PREAMBLE = (
    "% Needs booktabs, array and graphicx. Letters beyond Latin ones: LuaLaTeX or XeLaTeX with a font that has them."
)

Row = Mapping[str, Any]


def write_main_table(run: RunFolder, file: Path, catalog: Catalog | None = None, layout: Layout = STORE) -> int:
    """Writes the table to `file` and returns how many models it has. Raises `StoreError` where there is no run."""
    with open_report(run, catalog, layout, ()) as data:
        rows = data.reading.rows(SQL / "headline.sql")
        manifest, names = data.manifest, data.names
    whole = [row for row in rows if row["language"] is None]
    shown = ordered(manifest.models, [row["model"] for row in whole])
    with replacing(file) as temporary:
        temporary.write_text(main_table(whole, shown, manifest, names), encoding="utf-8", newline="")
    return len(shown)


def main_table(rows: Sequence[Row], models: Sequence[str], manifest: Manifest, names: Names) -> str:
    """A `table` of `models`, two lines each: the numbers, and their intervals; `rows` are those of `sql/headline.sql`.

    A metric without any number has no column; one that the run's sources fix stands last, with a dagger. Wider than
    `WIDTH` the table is made smaller as a whole, since fonts differ.
    """
    found = {(row["model"], row["metric"]): row for row in rows if known(row["estimate"]) is not None}
    metrics = [metric for metric in shown_metrics(manifest) if any((model, metric) in found for model in models)]
    fixed = disqualified(manifest)
    heads = [_words()["heads"][metric] + (r"$^{\dagger}$" if metric in fixed else "") for metric in metrics]
    lines = [line for model in models for line in _lines(names.model(model), [found.get((model, m)) for m in metrics])]
    told = [row for row in found.values() if row["metric"] in metrics]
    notes = [
        *([_words()["star"].format(fewest=FEWEST)] if any(map(_is_thin, told)) else []),
        *([_words()["dagger"]] if fixed.keys() & set(metrics) else []),
        *([_words()["shared"]] if shared_note(told) else []),
        *([_words()[UNSTATED]] if any(row["condition"] == UNSTATED for row in told) else []),
    ]
    return "\n".join(
        [
            _PREAMBLE,
            r"\begin{table}",
            r"\centering\scriptsize\setlength{\tabcolsep}{2pt}",
            rf"\caption{{{_caption(metrics, notes)}}}",
            r"\label{tab:main}",
            r"\sbox0{%",
            rf"\begin{{tabular}}{{@{{}}>{{\raggedright\arraybackslash}}p{{{_NAME}}}{'c' * len(metrics)}@{{}}}}",
            r"\toprule",
            _row(["Model", *heads]),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\ifdim\wd0>{WIDTH}\resizebox{{{WIDTH}}}{{!}}{{\usebox0}}\else\usebox0\fi",
            r"\end{table}",
            "",
        ]
    )


def _lines(name: str, numbers: Sequence[Row | None]) -> tuple[str, str]:
    return (
        _row([_breakable(name), *(_number(row) if row else "--" for row in numbers)], r"\\*[-1pt]"),
        _row(["", *(rf"{{\tiny {_interval(row)}}}" if row else "" for row in numbers)], r"\\[1pt]"),
    )


def _row(cells: Iterable[str], end: str = r"\\") -> str:
    return f"{' & '.join(cells)} {end}"


def _number(row: Row) -> str:
    return _short(row["estimate"], row["metric"]) + ("$^{*}$" if _is_thin(row) else "")


def _interval(row: Row) -> str:
    """'[.55, .67]', or the reason why there is none."""
    low, high = known(row["low"]), known(row["high"])
    if low is None or high is None:
        return "no interval"
    return f"[{_short(low, row['metric'])}, {_short(high, row['metric'])}]"


def _short(value: float, metric: str) -> str:
    """A number without the 0 before its point, and with LaTeX's minus."""
    written = decimal(value, metric).replace("\u2212", "$-$")
    return written.replace("0.", ".", 1) if abs(value) < 1 and "0." in written and metric != "diversity" else written


def _is_thin(row: Row) -> bool:
    return row["metric"] != "diversity" and rests_on(row["incidences"]) is not None


def _caption(metrics: Sequence[str], notes: Sequence[str]) -> str:
    said = _words()
    heads = "; ".join(
        f"{said['heads'][metric]}: {latex_text(texts().metrics[metric].name.lower())}" for metric in metrics
    )
    return ". ".join([said["caption"], heads, *notes])


def _breakable(name: str) -> str:
    """A name as text, which may break after its signs, after each letter of East Asia, and in a long run of letters."""
    plain = end_of(" ".join(replace_control_chars(name).split()))
    parts, run = [], 0
    for sign in plain:
        parts.append(latex_text(sign))
        run += 1
        if sign in "-_/.:" or ord(sign) >= 0x2E80 or run == _RUN:
            parts.append(r"\allowbreak{}")
            run = 0
    return "".join(parts)


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("main_table.toml").read_text(encoding="utf-8"))
