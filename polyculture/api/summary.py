"""What a notebook shows of a run: a small table of what was asked, escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_MOST = 12  # values of a line; more are counted


def summary_lines(name: str, asked: Mapping[str, tuple[str, ...]], samples: int) -> dict[str, str]:
    """A line per part of an experiment: its values, or the first of them and how many there are."""
    lines = {"run": name}
    for part, values in asked.items():
        more = f", … ({len(values)} in all)" if len(values) > _MOST else ""
        lines[part] = f"{', '.join(values[:_MOST])}{more}"
    return {**lines, "samples per prompt": str(samples)}


def as_html(lines: Mapping[str, str]) -> str:
    """The lines as a table. Names of models and experiments are text, whatever they hold."""
    rows = (f"<tr><th>{escape(part)}</th><td>{escape(value)}</td></tr>" for part, value in lines.items())
    return f"<table>{''.join(rows)}</table>"
