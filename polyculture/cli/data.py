"""`polyculture data`: published data sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import is_folder_name, store_faults
from polyculture.cli.options import Format, OutputFile, OutputFormat
from polyculture.cli.tables import WIDTH, print_table, write_values
from polyculture.console import say
from polyculture.instruments.datasets.check import COLUMNS as PUBLISHED_COLUMNS
from polyculture.instruments.datasets.check import CheckRow, check_rows, findings, published_rows
from polyculture.instruments.datasets.opened import open_data_set
from polyculture.instruments.datasets.rules import HEAD, ContextBlock, DatasetRules, EntityBlock, rules_of
from polyculture.instruments.datasets.rules import SHELF as DATA_SHELF
from polyculture.instruments.questions.rules.model import QuestionBlock, head_of
from polyculture.instruments.questions.rules.opened import SHELF, open_set, source_of
from polyculture.sources.fetch import data_folder, fetched_commit
from polyculture.sources.fetch import fetch as get
from polyculture.sources.template import rules_template

if TYPE_CHECKING:
    from polyculture.sources.left_out import LeftOut
    from polyculture.sources.places import Source


AnyName = Annotated[str, typer.Argument(metavar="NAME", help="One of `data list`, or a rules file of yours.")]
Folder = Annotated[Path | None, typer.Option(help="The folder of its files, if not that of `data fetch`.")]

app = typer.Typer(
    no_args_is_help=True,
    help="Data sets: list and fetch them; check what is read of them.",
    epilog="polyculture data fetch camellia",
)


@app.command("list", epilog="polyculture data list")
def list_() -> None:
    """List the data sets with their licence and folder."""
    sources = [*DATA_SHELF.known.values(), *SHELF.known.values()]
    print_table(("name", "title", "licence", "published", "folder", "fetched at"), list_rows(sources))


@app.command(epilog="polyculture data fetch camellia --commit 0123456789abcdef0123456789abcdef01234567")
def fetch(
    name: AnyName,
    folder: Folder = None,
    commit: Annotated[str | None, typer.Option(help="Another commit than the pinned one, 40 digits.")] = None,
    repository: Annotated[str | None, typer.Option(help="A mirror: an https address, or a folder.")] = None,
) -> None:
    """Get a data set from its publisher, at one commit."""
    source = source_of(name)
    target = folder or data_folder(source.name)
    got = get(source, target, commit, repository)
    say(f"{source.title}: {repository or source.repository} at {got}, in {target}")
    say(f"Licence: {source.licence}." + (f" Please cite: {source.citation}" if source.citation else ""))
    if got == source.commit and source.pinned:
        say(f"The pinned commit is {source.pinned}")
    elif source.commit and got != source.commit:
        say(f"It is not the pinned commit, {source.commit}, which counts in the documentation are of")


class RulesKind(StrEnum):
    """What a rules file is about: entities with contexts, or questions of a kind."""

    ENTITIES = "entities"
    CHOICE = "choice"
    PAIR = "pair"
    GAP = "gap"
    OPEN = "open"


@app.command(epilog="polyculture data new soups.toml --of choice")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it; its name is the data set's.")],
    of: Annotated[
        RulesKind, typer.Option(help="Entities and contexts, or questions of this kind.")
    ] = RulesKind.ENTITIES,
) -> None:
    """Write a rules file to start from. It names every field; those that you may leave out are comments."""
    if file.suffix != ".toml" or not is_folder_name(file.stem):
        remedy = "Call it NAME.toml, of letters, digits, '.', '_' and '-'."
        raise DataSetError("is no name of a rules file", where=file, remedy=remedy)
    if file.exists():
        raise DataSetError("is there already", where=file, remedy="Choose another name, or remove it first.")
    blocks = (EntityBlock, ContextBlock) if of is RulesKind.ENTITIES else (QuestionBlock,)
    head = HEAD if of is RulesKind.ENTITIES else head_of(of.value)
    with store_faults(file):
        file.write_text(rules_template(file.stem, head, blocks, of.value), encoding="utf-8")
    say(f"Wrote {file}. Name your files and columns in it, then see what is read: polyculture data check {file}")


@app.command(epilog="polyculture data check camellia --format csv -o left-out.csv")
def check(
    name: AnyName,
    folder: Folder = None,
    english: Annotated[bool, typer.Option("--english", help="The publisher's English translation.")] = False,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="Keep repeated rows, names on both sides, contexts that begin with their gap."
        ),
    ] = False,
    published: Annotated[
        bool, typer.Option(help="Instead, show the paper's own counts of the data next to what was read.")
    ] = False,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Count what is read of a data set, and what is left out or changed, by reason. With --format csv or -o, print a
    line for each row that is left out or changed instead: file, sheet, row, reason.

    Of a question set, or a selection of one (NAME:SELECTION), the published numbers are shown next to these counts, and
    the first questions as they will be asked.
    """
    named, _, selection = name.partition(":")
    if not isinstance(source_of(named), DatasetRules):
        from polyculture.instruments.questions.rules import check as of_questions

        questions = open_set(named, folder, selection or None)
        if published:
            _write_published(name, of_questions.published_rows(questions), format, output)
            return
        _write_check(of_questions.check_rows(questions), questions.remarks, format, output)
        for text in of_questions.asked_texts(questions):
            say(text)
        return
    # The paper counts rows as they stand in the files.
    dataset = open_data_set(name, folder, english=english, as_published=as_published or published)
    if published:
        _write_published(name, published_rows(dataset, rules_of(name)), format, output)
        return
    _write_check(check_rows(dataset), (*findings(dataset), *dataset.left_out), format, output)


def _write_check(counts: Iterable[CheckRow], lines: Sequence[LeftOut], format: Format, output: Path | None) -> None:
    """The counts as a table; in any other form a line for each row that is left out or changed."""
    if format is Format.TABLE and output is None:
        print_table(CheckRow._fields, [list(map(_count, row)) for row in counts])
        if lines:
            say(f"{len(lines):,} rows were left out or changed: --format csv prints each")
    else:
        write_values(("file", "sheet", "row", "reason", "text", "languages"), left_out_rows(lines), format, output)
        say(f"{len(lines):,} lines about rows that were left out or changed")


def _write_published(name: str, rows: Sequence[tuple[Any, ...]], format: Format, output: Path | None) -> None:
    if not rows:
        raise DataSetError(f"{name}: no paper whose tables come along counts it", remedy="See docs/papers.md.")
    if format is not Format.TABLE or output is not None:
        write_values(PUBLISHED_COLUMNS, rows, format, output)
        return
    # A line a count: what it is of stands in one column, and why it differs below the table.
    notes: dict[str, int] = {}
    lines = []
    for row in rows:
        values = dict(zip(PUBLISHED_COLUMNS, row, strict=True))
        named = ", ".join(str(values[part]) for part in _NAMES if values[part])
        why = f"[{notes.setdefault(values['why'], len(notes) + 1)}]" if values["why"] else ""
        lines.append([named, *(_count(values[number]) for number in _NUMBERS), values["where"], why])
    print_table(["count", *_NUMBERS, "where", "why"], lines)
    for why, number in notes.items():
        typer.echo(fill(f"[{number}] {why}", WIDTH, subsequent_indent=" " * 4))


_NAMES, _NUMBERS = ("what", "type", "culture", "of"), ("read", "published", "difference")


def _count(value: Any) -> Any:
    """With separators, and as many places as it was printed with."""
    return f"{value:,}" if isinstance(value, (int, float)) else value


def list_rows(data_sets: Iterable[Source]) -> Iterable[tuple[Any, ...]]:
    """Name, title, licence, publisher and pinned commit, folder, and the fetched commit."""
    for one in data_sets:
        folder = data_folder(one.name)
        pinned = f"{one.repository} at {one.commit[:12]}" if one.repository and one.commit else None
        here = (str(folder), (fetched_commit(folder) or "")[:12] or None) if folder.is_dir() else (None, None)
        yield one.name, one.title, one.licence, pinned, *here


def left_out_rows(left_out: Iterable[LeftOut]) -> list[tuple[Any, ...]]:
    """File, sheet, row, reason and text of every omission or change, and the languages where it is not about all."""
    return [
        (one.place.file, one.place.sheet, one.place.row, one.reason, one.text, ", ".join(one.languages) or None)
        for one in left_out
    ]
