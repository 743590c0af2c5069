"""Relevance as an instrument: `polyculture relevance exp.toml`, after `polyculture probe` asked the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polyculture.cache.layout import Layout
from polyculture.instruments.choices.needs import needs_of
from polyculture.instruments.contract import Asked, Command, Study
from polyculture.instruments.relevance.layout import RELEVANCE
from polyculture.instruments.relevance.options import RelevanceOptions

if TYPE_CHECKING:
    from polyculture.reports.section import Section


def study(asked: Asked, options: RelevanceOptions) -> Study:
    """Asks under all conditions. Raises `DataSetError` without any question, and for a table that cannot be used."""
    from polyculture.instruments.relevance.study import made

    return made(asked, options)


class Relevance:
    """Whether what the probe reads out helps."""

    name = "relevance"
    layout: Layout = RELEVANCE
    commands: Mapping[str, Command] = {
        "relevance": Command(
            RelevanceOptions,
            study,
            "polyculture relevance exp.toml --sheets mcq_hard-negatives --questions 20",
            lists=True,
            needs=lambda options: needs_of(options.method),
        )
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.relevance.section import SECTIONS

        return SECTIONS


INSTRUMENT = Relevance()
