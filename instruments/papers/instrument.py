"""`polyculture paper`: what a paper measured, and its tables with one's own models."""

from __future__ import annotations

from collections.abc import Mapping

from polyculture.instruments.contract import AskedExperiment, Command, Study, Subject
from polyculture.instruments.papers.options import PaperOptions, paper_parts


def study(asked: AskedExperiment, options: PaperOptions) -> Study:
    """The parts ask; afterwards the tables are printed. Raises `DataSetError` of a choice that the data set lacks."""
    from polyculture.instruments.papers.study import paper_study

    return paper_study(asked, options)


COMMANDS: Mapping[str, Command] = {
    "paper": Command(
        PaperOptions,
        study,
        "polyculture paper kobbq --model ollama:qwen2.5:7b; polyculture paper camellia exp.toml --language ja",
        subject=Subject("name", lambda options: options.preset, lambda options: options.preset.experiment_text),
        parts=paper_parts,
    ),
}
