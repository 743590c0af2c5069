"""`polyculture swap fine-tune`: classifiers and taggers for `swap sentiment --classifier` and `swap ner --tagger`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from polyculture.instruments.swaps.training.run import Course, SeedResult

MOST_SEEDS = 1000


class TaskName(StrEnum):
    """What the model will do."""

    SENTIMENT = "sentiment"
    NER = "ner"


def fine_tune(
    task: Annotated[TaskName, typer.Argument(help="sentiment: a classifier of texts; ner: a tagger of names.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Examples: CSV or TSV for sentiment, CoNLL for ner.")],
    base: Annotated[str, typer.Option(help="The model to begin with: a name on the hub, or a folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for the models: seed-1, seed-2, ...")],
    test: Annotated[
        Path | None, typer.Option(help="Examples to test on, a file of the same form. Default: a share of FILE.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="How many models, each from another seed.")] = 5,
    rows: Annotated[
        int | None, typer.Option(min=2, help="sentiment: so many rows, equally many of each label, drawn at random.")
    ] = None,
    text_column: Annotated[str, typer.Option(help="sentiment: the column with the text.")] = "text",
    label_column: Annotated[str, typer.Option(help="sentiment: the column with the label or rating.")] = "label",
    settings: Annotated[Path | None, typer.Option(help="Hyperparameters of yours, and what labels mean: TOML.")] = None,
    revision: Annotated[str | None, typer.Option(help="A commit, tag or branch of the base model on the hub.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1. Default: the first accelerator.")] = None,
) -> None:
    """Fine-tune a sentiment classifier or a tagger of names, once per seed.

    Each seed's model is a folder that swap sentiment --classifier or swap ner --tagger take. A seed that is done stays;
    the same command does the rest. CAMeL and Camellia do not say how theirs were trained; docs/swaps.md does.
    """
    from polyculture.cache.errors import JobHeldError
    from polyculture.console import say
    from polyculture.generate.engines.base import ModelSpec
    from polyculture.generate.engines.transformers.loading import check_installed
    from polyculture.instruments.swaps.training.run import train_seed
    from polyculture.progress import watch

    given = {name: value for name, value in (("revision", revision), ("device", device)) if value is not None}
    spec = ModelSpec(f"transformers:{base}", given)
    check_installed(spec)
    course = _course(task, spec, file, test, settings, rows, (text_column, label_column))
    _tell(course)
    done, held = [], []
    for seed in range(course.settings.first_seed, course.settings.first_seed + seeds):
        try:
            result = train_seed(course, seed, output, watch)
        except JobHeldError as fault:  # the other seeds are free
            held.append(str(fault))
            continue
        say(f"seed {seed}: {'done before' if result.before else 'done'}, {result.folder}")
        done.append(result)
    if done:
        _show(done)
    if held:
        raise JobHeldError("; ".join(held))


def _course(
    task: TaskName,
    base: Any,
    file: Path,
    test: Path | None,
    settings_file: Path | None,
    rows: int | None,
    columns: tuple[str, str],
) -> Course:
    from polyculture.instruments.swaps.training.examples import (
        ExampleFile,
        balanced,
        read_labelled,
        read_settings,
        read_tagged,
        split_of,
    )
    from polyculture.instruments.swaps.training.run import Course

    settings = read_settings(settings_file)
    if task is TaskName.NER:
        if rows is not None:
            raise typer.BadParameter("--rows is for sentiment: sentences with names have no single label")
        names, others = read_tagged(file), read_tagged(test) if test else None
        split = split_of(names, others, settings.held_out, settings.sample_seed)
        return Course("ner", base, names, others, split, settings, {})
    texts, kept = read_labelled(file, columns, settings), read_labelled(test, columns, settings) if test else None
    if rows is not None:
        some = balanced(texts.examples, rows, settings.sample_seed, file)
        unused = {f"not drawn by --rows {rows}": len(texts.examples) - len(some)}
        texts = ExampleFile(file, some, texts.left_out + type(texts.left_out)(unused))
    chosen = {"text_column": columns[0], "label_column": columns[1], "rows": rows}
    of_texts = split_of(texts, kept, settings.held_out, settings.sample_seed)
    return Course("sentiment", base, texts, kept, of_texts, settings, chosen)


def _tell(course: Course) -> None:
    """Reports what is learnt from and tested on, and what is left out."""
    from polyculture.console import say
    from polyculture.instruments.swaps.training.run import counts

    for side, examples in (("to learn from", course.split.train), ("to test on", course.split.test)):
        number, *labels = counts(examples).items()
        say(f"{course.file.path}: {number[1]} {side} ({', '.join(f'{count} {label}' for label, count in labels)})")
    if course.split.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in course.split.left_out.items())
        say(f"{course.file.path}: left out: {reasons}")


def _show(done: list[SeedResult]) -> None:
    from statistics import mean, stdev

    from polyculture.cli.tables import print_table

    names = list(done[0].scores)
    rows: list[tuple[Any, ...]] = [(one.seed, *one.scores.values(), str(one.folder)) for one in done]
    columns = [[one.scores[name] for one in done] for name in names]
    rows.append(("mean", *map(mean, columns), ""))
    if len(done) > 1:
        rows.append(("deviation", *map(stdev, columns), ""))
    print_table(("seed", *names, "folder"), rows, "On examples that were not learnt from")
