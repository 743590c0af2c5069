"""The papers' commands: `polyculture camellia` and `polyculture camel`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from polyculture.instruments.contract import Asked, Command, Idle, Study
from polyculture.instruments.papers.parts import (
    TRANSLATED,
    CamelliaOptions,
    CamelOptions,
    PaperOptions,
    check_choice,
    paper_parts,
)
from polyculture.instruments.papers.report_paper import report_paper

if TYPE_CHECKING:
    from polyculture.reports.section import Section


def study(_asked: Asked, options: PaperOptions) -> Study:
    """Checks that there is what the options choose: the parts ask. Raises `DataSetError`."""
    from polyculture.instruments.datasets.opened import open_data_set

    check_choice(options, open_data_set(options.data, options.folder))
    return Study()


def _without(*commands: str) -> Callable[[PaperOptions], bool]:
    """Are there parts, and none of these?"""
    return lambda options: bool(options.parts) and not set(commands).intersection(options.parts)


_IDLE = (
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
            study,
            "polyculture camellia exp.toml --languages zh,ja,ko --contexts 4 --entities 10",
            parts=partial(paper_parts, "camellia"),
            idle=_IDLE,
            paper=partial(report_paper, "camellia"),
        ),
        "camel": Command(
            CamelOptions,
            study,
            "polyculture camel exp.toml --parts cbs,sentiment",
            parts=partial(paper_parts, "camel"),
            idle=_IDLE,
            paper=partial(report_paper, "camel"),
        ),
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.papers.section import SECTIONS

        return SECTIONS


INSTRUMENT = Papers()
