"""`polyculture leaderboard`: models of several runs and exports of one study, in groups by rank."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.files import replacing
from polyculture.cache.text.quantity import quantity
from polyculture.cli.options import ENDINGS, Format, OutputFile, format_of
from polyculture.cli.tables import cell, machine_output, print_table, write_values
from polyculture.console import say
from polyculture.instruments.questions.ranked_page import answer_sections, answer_titles
from polyculture.metrics.comparison.table import explained
from polyculture.reports.numbers import bound

if TYPE_CHECKING:
    from polyculture.metrics.leaderboard import IntervalEstimate, Leaderboard, RankBoard, RankedModel


class LeaderboardFormat(StrEnum):
    """How the leaderboard is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    LATEX = "latex"
    HTML = "html"


_ENDINGS = {
    ".html": LeaderboardFormat.HTML,
    ".htm": LeaderboardFormat.HTML,
    ".tex": LeaderboardFormat.LATEX,
    **{ending: LeaderboardFormat(one.value) for ending, one in ENDINGS.items()},
}


def leaderboard(
    places: Annotated[
        list[Path], typer.Argument(metavar="RUN_OR_EXPORT...", help="Experiment files, folders of runs, or exports.")
    ],
    format: Annotated[
        LeaderboardFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="How it is written. Default: by the ending of --output; a table without --output.",
        ),
    ] = None,
    output: OutputFile = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            "--most",
            metavar="SHARE=VALUE",
            help="The highest share of a ranked model: missing, unextracted, refused, off-language, unread or cut, "
            "as cut=1.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME",
            help="Rank by this question set alone, whatever else the runs asked; may be repeated.",
        ),
    ] = None,
) -> None:
    """Rank the models of runs, and of exports of other people's runs, that are of one study.

    A run enters if it asked and measured what the first one did: `left out` says what differs. A model enters if its
    answers are sound: by default at most 5 % are missing, at most 5 % of the texts lack an extraction, and at most half
    are refused, off-language or cut.

    All pairs of models are compared on the prompts that both were asked. In each metric, a model shares the group above
    it unless a difference from the first of that group is shown, at a false discovery rate of 5 % over the pairs of the
    metric. A metric in which no pair can be tested has no groups: a line gives the reason.

    Runs that asked question sets (`ask`), and imported answers, are ranked by each metric of each set, language, method
    and reader, with models paired by question. A run enters if its questions, prompts, orders of options, decoding and
    readers are those of the first run, and a model if at most 5 % of its answers are missing, at most half are refused,
    and at most half name no option. A question that other runs have and this one lacks counts as missing. Biases are
    ranked by their size, the one nearest to zero first. If a run has texts, too, --set names the sets to rank by.

    Runs of imported scores (`import --scores`) are ranked by each metric of each data set, with models paired by item.
    A run enters if its items, their clusters and the metrics are those of the first run, and a model if at most 5 % of
    the items lack a score. Where the logs say that lower is better, the lowest is the first.

    With -o leaderboard.html it is one page: of texts with a picture and a grid of origins, and sentences; of question
    sets with answers. Nothing is written into the runs.
    """
    from polyculture.running.standings import joined_runs, read_bounds

    chosen = format or LeaderboardFormat.TABLE
    if format is None and output is not None:
        chosen = format_of(output, _ENDINGS, LeaderboardFormat.CSV)
    if chosen is LeaderboardFormat.HTML and output is None:
        raise typer.BadParameter("--format html writes a page: name it with --output leaderboard.html")
    with joined_runs(places, read_bounds(most or ()), sets or ()) as found:
        if chosen is LeaderboardFormat.HTML and output is not None:
            from polyculture.reports.runs_page import write_page

            write_page(found, output, answer_sections(found), answer_titles())
        elif chosen is LeaderboardFormat.LATEX:
            _write_latex(found, output)
        elif chosen is LeaderboardFormat.TABLE and output is None:
            for board in found.boards:
                heads, rows, title = _printed(board)
                typer.echo(title)
                print_table(heads, rows)
        else:
            records = _records(found)
            columns = list(records[0]) if records else list(_COLUMNS)
            write_values(columns, [list(one.values()) for one in records], Format(chosen.value), output)
        for line in remarks(found):
            say(line)
        if output is not None:
            say(f"Leaderboard: {output}")


def remarks(found: Leaderboard) -> list[str]:
    """What a reader must know beside the boards: who is on them, who is not, and what is doubtful."""
    models = f"{len(found.models)} models of {quantity(len(found.runs), 'run')}"
    bounds = ", ".join(f"{bound(most)} {name}" for name, most in found.bounds.items())
    return [
        f"{models}, study {found.study.id}; ranked with at most {bounds}",
        *(f"left out: {one}" for one in found.excluded),
        *(f"no ranks by {metric}: {explained(reason)}" for metric, reason in found.unranked_metrics.items()),
        *found.doubts,
    ]


# Of a file without rows, where no metric has ranks.
_COLUMNS = ("metric", "prompts", "differences", "group", "model", "run", "estimate", "low", "high", "reason", "cells")
# What is good; of others that depends on the use.
_BETTER = {"low": "lower", "high": "higher", "zero": "nearer to zero"}


def _languages(board: RankBoard) -> list[str]:
    return sorted({language for one in board.models for language in one.languages})


def _printed(board: RankBoard) -> tuple[list[str], list[list[str]], str]:
    """The heads and rows of a board on the terminal, and its title."""
    languages = _languages(board)
    several = len(languages) > 1
    heads = ["model", "group", board.metric, *(languages if several else ())]
    rows = [
        [
            f"{one.model} ({one.doubt})" if one.doubt else one.model,
            "–" if one.group is None else str(one.group),
            one.reason if one.value is None else _with_interval(one.value),
            *(cell(_estimate(one, language)) for language in (languages if several else ())),
        ]
        for one in board.models
    ]
    return heads, rows, f"{board.metric} ({board.where}): {board.summary}"


def _estimate(standing: RankedModel, language: str) -> float | None:
    value = standing.languages.get(language)
    return None if value is None else value.estimate


def _with_interval(value: IntervalEstimate) -> str:
    interval = "" if value.low is None else f" [{cell(value.low)}, {cell(value.high)}]"
    return f"{cell(value.estimate)}{interval}"


def _records(found: Leaderboard) -> list[dict[str, Any]]:
    """A row for each model of each board: languages are columns, each with its interval."""
    languages = sorted({language for board in found.boards for language in _languages(board)})
    run_of = {model.name: model.run for model in found.models}
    return [
        {
            "metric": board.metric,
            **(_of_dataset(board) if board.dataset else {"prompts": board.setting}),
            "differences": board.variant,
            "group": one.group,
            "model": one.model,
            "run": run_of[one.model],
            "estimate": one.value and one.value.estimate,
            "low": one.value and one.value.low,
            "high": one.value and one.value.high,
            "reason": one.reason or None,
            **({"doubt": one.doubt or None} if board.dataset else {}),
            "cells": one.cells,
            **{name: number for language in languages for name, number in _columns(one, language)},
        }
        for board in found.boards
        for one in board.models
    ]


def _of_dataset(board: RankBoard) -> dict[str, str | None]:
    """What a board of a data set is of: questions have a method and a reader."""
    return {"dataset": board.dataset, "asked": board.setting or None, "better": _BETTER.get(board.goal)}


def _columns(standing: RankedModel, language: str) -> list[tuple[str, float | None]]:
    value = standing.languages.get(language)
    if value is None:
        return [(language, None), (f"{language}_low", None), (f"{language}_high", None)]
    return [(language, value.estimate), (f"{language}_low", value.low), (f"{language}_high", value.high)]


def _latex(text: str) -> str:
    """Text with the signs that LaTeX takes for its own."""
    return re.sub(r"[_%&#$]", r"\\\g<0>", re.sub(r"[\\{}~^]", " ", text))


def _write_latex(found: Leaderboard, output: Path | None) -> None:
    """A table for each board."""
    import sys

    import pandas as pd

    from polyculture.reports.latex import longtable

    tables = []
    for board in found.boards:
        heads, rows, title = _printed(board)
        codes = _languages(board)  # which stay as they are
        if board.dataset:
            codes.append(board.metric)  # as the log writes it
        names = [head if head in codes else head[:1].upper() + head[1:].replace("_", " ") for head in heads]
        frame = pd.DataFrame(rows, columns=names)
        of = f"{board.dataset}-{board.setting and board.setting + '-'}" if board.dataset else ""
        label = re.sub(r"[^\w-]+", "-", f"leaderboard-{of}{board.metric}")
        tables.append(longtable(frame, "l" + "r" * (len(heads) - 1), _latex(title), label))
    text = "\n".join(tables)
    if output is None:
        machine_output()
        sys.stdout.write(text)
        return
    with replacing(output) as temporary:
        temporary.write_text(text, encoding="utf-8")
