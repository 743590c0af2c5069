"""Bias by multiple choice as an instrument: `polyculture bbq kobbq exp.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.instruments.bbq.options import BbqOptions
from polyculture.instruments.bbq.table_option import check_table, listed
from polyculture.instruments.bbq.treatments import arm
from polyculture.instruments.choices.needs import needs_of
from polyculture.instruments.contract import Asked, Command, Demo, Listing, Shown, Study, Validity

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability
    from polyculture.instruments.bbq.opened import Opened
    from polyculture.instruments.bbq.prompts import AskingPrompt
    from polyculture.reports.section import Section

_OWN = Path(__file__).parent


def study(asked: Asked, options: BbqOptions) -> Study:
    """Asks the questions, or takes answers from files, and reads them. Raises `DataSetError` without any question."""
    from polyculture.instruments.bbq.jobs import Asking, called, readers
    from polyculture.instruments.bbq.opened import house_line, some_templates, tell_remarks
    from polyculture.instruments.bbq.question_rows import present_questions
    from polyculture.instruments.bbq.reading import reading_row
    from polyculture.instruments.bbq.rows import BBQ_ANSWERS, BBQ_READINGS
    from polyculture.instruments.choices.reading_step import ReadingStep

    if listing := checked(options):
        return Study(listing=lambda: listing)
    opened = _open(options)
    tell_remarks(opened, asked.say)
    questions = some_templates(opened.questions, options.templates, options.seed)
    prompts, tokens = _treated(asked, options, opened)
    opened = replace(opened, name=arm(opened.name, options.treatment))
    if options.table:
        check_table(options.table, opened)
    asking = Asking(asked, options, opened, questions, prompts, tokens)
    line = None if options.answers else house_line(opened, prompts)
    if line:
        asked.say(line)
    models = [called(options)] if options.answers else list(asked.models)
    parts = asking.of_files() if options.answers else asking.of_models()
    reading = readers(options, opened.language)

    def derive() -> None:
        from polyculture.instruments.bbq.numbers import measure_bbq

        measure_bbq(asked.run)

    return Study(
        [*parts.steps, ReadingStep(asked.run, BBQ_ANSWERS, BBQ_READINGS, reading, reading_row)],
        Validity(
            parts.setups,
            parts.ids,
            partial(present_questions, asked.run, opened.name, opened.language, opened.questions),
            f"data set {opened.name!r}: not all that was asked is in {opened.folder}",
            {f"{reader.name} {opened.language}": reader.reader_id for reader in reading},
        ),
        derive,
        (Shown(_OWN / "multiple_choice.sql", {"dataset": opened.name, "model": models}),),
        view="bbq_answers",
        listing=partial(listed, asked, options, opened, models) if options.table else None,
    )


def _treated(asked: Asked, options: BbqOptions, opened: Opened) -> tuple[Sequence[AskingPrompt], int]:
    """The prompts that are asked, and how many tokens an answer to them has at most."""
    from polyculture.instruments.bbq.opened import chosen_prompts
    from polyculture.instruments.bbq.treatments import treated

    prompts = chosen_prompts(opened, options.prompts)
    if options.treatment is None:
        return prompts, options.max_tokens
    made = treated(prompts, options.treatment, opened.language, options.method)
    if made.line:
        asked.say(made.line)
    return made.prompts, max(options.max_tokens, made.tokens)


def checked(options: BbqOptions) -> Listing | None:
    """What a folder of KoBBQ holds, with --check or --table counts. Raises `DataSetError` for another data set."""
    from polyculture.cache.errors import DataSetError
    from polyculture.instruments.bbq import kobbq
    from polyculture.instruments.bbq.check import check
    from polyculture.instruments.bbq.opened import templates_folder
    from polyculture.instruments.bbq.paper_tables import count_table

    if not options.check and options.table != "counts":
        return None
    if options.data != kobbq.NAME:
        raise DataSetError(f"no counts of {options.data!r} are published here", remedy=f"Check {kobbq.NAME}.")
    if not options.check:
        return count_table(templates_folder(_folder(options)))
    rows = [
        (row.part, row.category, row.found, row.paper, row.difference, row.note)
        for row in check(templates_folder(_folder(options)))
    ]
    return Listing(("what", "category", "found", "paper", "difference", "note"), rows)


def _folder(options: BbqOptions) -> Path:
    from polyculture.instruments.datasets.opened import data_folder

    return options.folder or data_folder(options.data.replace(":", "-"))


def _open(options: BbqOptions) -> Opened:
    from polyculture.instruments.bbq.opened import open_questions
    from polyculture.instruments.datasets.fetch import check_as_received

    folder = _folder(options)
    check_as_received(folder)
    return open_questions(options.data, folder, options.set)


def _needs(options: BbqOptions) -> tuple[Capability[Any], ...]:
    """Nothing where answers stand in files, or where only counts are listed."""
    return () if options.answers or options.check or options.table == "counts" else needs_of(options.method)


class Bbq:
    """What models choose among three answers, one of which a stereotype expects."""

    name = "bbq"
    commands: Mapping[str, Command] = {
        "bbq": Command(
            BbqOptions,
            study,
            "polyculture bbq kobbq exp.toml --templates 40 --prompts 1",
            Demo(
                _OWN / "demo" / "bbq_demo.toml",
                "bbq-demo",
                "The embedded model, questions of our own; in bbq-demo/.",
                {"data": "own:demo:en", "folder": _OWN / "demo"},
                ("data", "folder", "set"),
            ),
            argument="data",
            alone=checked,
            lists=lambda options: options.check or options.table is not None,
            sources=(_OWN / "sources" / "kobbq.toml", _OWN / "sources" / "bbq.toml"),
            needs=_needs,
        ),
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.bbq.section import SECTIONS

        return SECTIONS


INSTRUMENT = Bbq()
