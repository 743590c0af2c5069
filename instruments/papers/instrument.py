"""`polyculture paper`: what a paper measured, and its tables with one's own models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.instruments.contract import AskedExperiment, Command, Study, Subject
from polyculture.instruments.papers.options import PaperOptions

if TYPE_CHECKING:
    from polyculture.generate.engines.options import Use


class PaperCommand(Command[PaperOptions]):
    """The tables of a paper, which are printed once its parts have asked: these are commands themselves
    (`PaperOptions.commands`)."""

    def study(self, asked: AskedExperiment, options: PaperOptions) -> Study:
        """The tables. Raises `DataSetError` of a choice that the data set lacks."""
        from polyculture.instruments.papers.study import paper_study

        return paper_study(asked, options)

    def uses_of(self, options: PaperOptions) -> Sequence[Use]:  # noqa: ARG002, only the parts ask models
        """As of each command."""
        return ()


PAPER = PaperCommand(
    PaperOptions,
    "polyculture paper kobbq --model ollama:qwen2.5:7b; polyculture paper camellia exp.toml --language ja",
    subject=Subject("name", lambda options: options.preset),
)
COMMANDS: Mapping[str, Command[Any]] = {"paper": PAPER}
