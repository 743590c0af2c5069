"""The papers' commands: `polyculture camellia` and `polyculture camel`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from polyculture.instruments.contract import Asked, Command, Idle, Listing, Study
from polyculture.instruments.papers.parts import (
    TRANSLATED,
    CamelliaOptions,
    CamelOptions,
    PaperOptions,
    check_choice,
    paper_parts,
    read_cultures,
    read_languages,
)
from polyculture.instruments.papers.report_paper import report_paper

if TYPE_CHECKING:
    from polyculture.reports.section import Section


def study(paper: str, asked: Asked, options: PaperOptions) -> Study:
    """Checks that there is what the options choose; or lists the ledger. Raises `DataSetError`."""
    from polyculture.instruments.datasets.opened import open_data_set

    dataset = open_data_set(options.data, options.folder)
    check_choice(options, dataset)
    if not options.ledger:
        return Study()

    def listing() -> Listing:
        from polyculture.instruments.papers.ledger import COLUMNS, ledger_listing
        from polyculture.instruments.papers.paper import ours, papers
        from polyculture.instruments.papers.scored import Choice

        places = read_languages(options, dataset), read_cultures(options)
        choice = Choice(dataset.name, options.model, *places, options.types)
        return Listing(COLUMNS, ledger_listing(asked.run, papers()[paper], ours(), choice, asked.seed))

    return Study(listing=listing)


def _without(*commands: str) -> Callable[[PaperOptions], bool]:
    """Are there parts, and none of these?"""
    return lambda options: bool(options.parts) and not set(commands).intersection(options.parts)


_IDLE = (
    Idle(("contexts", "entities", "parts", "form", "protocol"), lambda o: o.ledger, "asks, and --ledger asks nothing"),
    Idle(("form",), _without("cbs"), "is of the part cbs, which --parts leaves out"),
    Idle(("native_only",), _without(*TRANSLATED), f"is of the parts {', '.join(TRANSLATED)}, which --parts leaves out"),
    Idle(
        ("protocol",),
        _without(*TRANSLATED, "tokens"),
        f"is of the parts {', '.join(TRANSLATED)} and tokens, which --parts leaves out",
    ),
    Idle(
        ("cultures", "types", "contexts", "entities"),
        lambda o: set(o.parts) == {"tokens"},
        "says nothing of the part tokens, the only one",
    ),
)


class Papers:
    """All that a paper measured, on an experiment's models."""

    name = "papers"
    commands: Mapping[str, Command] = {
        "camellia": Command(
            CamelliaOptions,
            partial(study, "camellia"),
            "polyculture camellia exp.toml --languages zh,ja,ko --contexts 4 --entities 10",
            parts=partial(paper_parts, "camellia"),
            lists=lambda options: options.ledger,
            idle=_IDLE,
            paper=partial(report_paper, "camellia"),
        ),
        "camel": Command(
            CamelOptions,
            partial(study, "camel"),
            "polyculture camel exp.toml --parts cbs,sentiment; polyculture camel exp.toml --ledger --format csv",
            parts=partial(paper_parts, "camel"),
            lists=lambda options: options.ledger,
            idle=_IDLE,
            paper=partial(report_paper, "camel"),
        ),
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.papers.section import SECTIONS

        return SECTIONS


INSTRUMENT = Papers()
