"""Relevance as an instrument: `polyculture relevance exp.toml`, after `polyculture probe` asked the same questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.instruments.choices.needs import needs_of
from polyculture.instruments.contract import Asked, Command, Study
from polyculture.instruments.relevance.options import RelevanceOptions

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability
    from polyculture.reports.section import Section


def study(asked: Asked, options: RelevanceOptions) -> Study:
    """Asks under all conditions. Raises `DataSetError` without any question, and for a table that cannot be used."""
    from polyculture.instruments.relevance.study import made

    return made(asked, options)


def _needs(options: RelevanceOptions) -> tuple[Capability[Any], ...]:
    """What the methods take. That the probe took more was seen there."""
    return needs_of(options.method)


class Relevance:
    """Whether what the probe reads out helps."""

    name = "relevance"
    commands: Mapping[str, Command] = {
        "relevance": Command(
            RelevanceOptions,
            study,
            "polyculture relevance exp.toml --sheets mcq_hard-negatives --questions 20",
            tables=(Path(__file__).with_name("relevance_contexts.sql"),),
            needs=_needs,
        )
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.relevance.section import SECTIONS

        return SECTIONS


INSTRUMENT = Relevance()
