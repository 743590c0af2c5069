"""The texts of a side that a paper's protocol makes of the data set, beside the number that the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from polyculture.instruments.datasets.presets import OURS, parts_of, read_preset
from polyculture.instruments.swaps.selection import SwapJob
from polyculture.published.cells import NONE, PublishedCell, published

if TYPE_CHECKING:
    from polyculture.instruments.swaps.options import SwapOptions


def size_lines(jobs: Sequence[SwapJob], options: SwapOptions) -> Iterator[str]:
    """A line per language: contexts x entities; where all of a protocol is asked, also what the paper prints."""
    of_one = [job for job in jobs if job.job.model == jobs[0].job.model]
    whole = _is_whole(options)
    for language in sorted({job.job.language for job in of_one}):
        contexts = [context for job in of_one if job.job.language == language for context, _ in job.asked]
        size = len(contexts) * options.entities
        told = f"{options.task} {language}: {len(contexts):,} contexts x {options.entities} = {size:,} texts a side"
        settings = sorted({context.setting for context in contexts})
        cells = _printed(options.preset, language, settings) if whole else []
        yield f"{told} in each draw{''.join(_beside(cell, size) for cell in cells)}"


def _is_whole(options: SwapOptions) -> bool:
    """Is all of a paper's protocol asked?"""
    if options.preset == OURS:
        return False
    choices, values = read_preset(options.preset).choices(options.task), options.said
    changed = any(values[name] != choices[name].value for name in ("data", "entities", "as_published"))
    return not changed and not set(parts_of(choices, values)) - {"language", "culture"}


def _printed(paper: str, language: str, settings: Sequence[str]) -> list[PublishedCell]:
    """What the paper prints of the texts in these settings."""
    condition = ", ".join(settings)
    cells = (cell for cell in published(paper) if cell.metric == "texts" and cell.language == language)
    return [cell for cell in cells if cell.condition == condition]


def _beside(cell: PublishedCell, size: int) -> str:
    gap = int(cell.value) - size
    if not gap:
        return f", as Table {cell.table} prints"
    note = "" if cell.note == NONE else f"; {cell.note}"
    return f"; Table {cell.table} prints {int(cell.value):,}, {abs(gap):,} {'more' if gap > 0 else 'fewer'}{note}"
