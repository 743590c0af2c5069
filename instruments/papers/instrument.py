"""`polyculture paper`: what a paper measured, and its tables with one's own models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.instruments.contract import AskedExperiment, Command, CommandPart, Study, Subject
from polyculture.instruments.papers.options import PaperOptions, paper_parts

if TYPE_CHECKING:
    from polyculture.generate.engines.options import Use


class PaperCommand(Command[PaperOptions]):
    """A command of several parts, whose tables are printed once all have asked."""

    def study(self, asked: AskedExperiment, options: PaperOptions) -> Study:
        """The tables. Raises `DataSetError` of a choice that the data set lacks."""
        from polyculture.instruments.papers.study import paper_study

        return paper_study(asked, options)

    def uses_of(self, options: PaperOptions) -> Sequence[Use]:  # noqa: ARG002, only the parts ask models
        """As of each command."""
        return ()

    def parts_of(self, options: PaperOptions) -> Sequence[CommandPart]:
        """As of each command."""
        return paper_parts(options)

    def experiment_lines(self, options: PaperOptions) -> str:
        """As of each command."""
        return options.preset.experiment_text


PAPER = PaperCommand(
    PaperOptions,
    "polyculture paper kobbq --model ollama:qwen2.5:7b; polyculture paper camellia exp.toml --language ja",
    subject=Subject("name", lambda options: options.preset),
)
COMMANDS: Mapping[str, Command[Any]] = {"paper": PAPER}
