"""`polyculture audit`: what people judged of a sample, and the metrics corrected by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from polyculture.cache.errors import StoreError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import Judgement
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import Store, open_store
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs
from polyculture.cli.sql import out_of_date
from polyculture.cli.tables import cell, print_table, write_records
from polyculture.collect.mining.annotators import Kappa, cohens_kappa
from polyculture.console import say
from polyculture.experiment.run_place import stored_run
from polyculture.metrics import KEPT
from polyculture.metrics.audit.corrected import FEWEST, CorrectedMean, corrected_metrics
from polyculture.metrics.audit.judging import SQL as AUDIT_SQL
from polyculture.metrics.audit.judging import changed_judgements, judgements_of
from polyculture.metrics.audit.names import error_sources, name_shares, names_audited
from polyculture.metrics.audit.scores import JudgedShare, answer_shares, audit_scores, open_rows
from polyculture.running.layout import store_layout


def audit(
    experiment: ExperimentFile,
    adjudicator: Annotated[
        list[str] | None, typer.Option(help="A judge who decides what others differ on; may be repeated.")
    ] = None,
    remove: Annotated[list[str] | None, typer.Option(help="Remove all that this judge said; may be repeated.")] = None,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Show what judges say of a sample of mentions and links; they judge in `polyculture view`.

    Precision, recall and F1, the share of invented things and of texts on topic, disputed rows, the judges' agreement,
    and the corrected metrics. With --format: the shares as rows.
    """
    run = stored_run(experiment, runs)
    judgements = judgements_of(run)
    judges = sorted({one.judge for one in judgements})
    if not judges and not _names_audited(run):
        remedy = (
            "Let people judge a sample: polyculture view EXPERIMENT. Or audit the extractor's names on gold texts: "
            "polyculture extract audit EXPERIMENT"
        )
        raise StoreError("holds no judgements", where=run.root, remedy=remedy)
    named = [*(adjudicator or ()), *(remove or ())]
    if missing := [name for name in named if name not in judges]:
        raise StoreError(
            f"has no judge {', '.join(missing)}", where=run.root, remedy=f"Name one of {', '.join(judges)}."
        )
    if named:
        with changed_judgements(run) as judgements:
            judgements[:] = [
                replace(one, adjudicator=True) if one.judge in (adjudicator or ()) else one
                for one in judgements
                if one.judge not in (remove or ())
            ]
        say(f"judges now: {', '.join(sorted({one.judge for one in judgements})) or 'none'}")
    if judgements or _names_audited(run):
        show_audit(run, experiment, judgements, format, output)


def _names_audited(run: RunFolder) -> bool:
    """Were the names that the run's extractor gives audited?"""
    with open_store(run, store_layout()) as store:
        return names_audited(store)


DISPUTED_COLUMNS = ("", "language", "topic", "disputed", "of", "if wrong", "if right")
QUESTIONS = ("mention", "link", "existence", "on_topic", "region")  # whose answers are words
AUTOMATIC = "the linked items"  # whose labels of texts judges are held against
AnswerKey = tuple[str, int | None, str]  # extraction, mention (None: the text itself), question
Answers = dict[AnswerKey, str]
KAPPA_COLUMNS = ("judges", "judged", "rows", "agree", "kappa", "low", "high")


def show_audit(
    run: RunFolder, file: Path, judgements: Sequence[Judgement], format: Format, output: Path | None
) -> None:
    """Prints the results of the judgements, or writes their shares. `file` is the experiment's."""
    with open_store(run, store_layout(), KEPT) as store:
        scores = [*audit_scores(store), *answer_shares(store)] if judgements else []
        shares, corrected = [*scores, *name_shares(store)], corrected_metrics(store)
        disputed, relinked = open_rows(store)
        stale = list(out_of_date(store, file))
        sources = error_sources(store) if names_audited(store) else None
        automatic = _automatic_labels(store, judgements)
        if format is not Format.TABLE or output is not None:
            write_records([asdict(one) for one in shares], format, output)
            return
    print_table(("", "language", "topic", "hits", "of", "share", "low", "high"), [_share_line(one) for one in shares])
    if len({one.judge for one in judgements}) > 1:
        _show_disputed(shares, disputed)
    said = answers_of([one for one in judgements if not one.adjudicator])
    if judges := agreement(said):
        print_table(KAPPA_COLUMNS, judges, title="How far judges agree (Cohen's kappa, 95 % interval)")
    if held := against(said, automatic):
        title = "How far judges agree with the label that linked items give a text (Cohen's kappa, 95 % interval)"
        print_table(KAPPA_COLUMNS, held, title=title)
    if corrected:
        columns = ("metric", "model", "language", "reported", "corrected", "texts", "based on")
        print_table(columns, map(_corrected_line, corrected), title="The metrics, corrected for these errors")
    if relinked:
        say(f"{relinked} judged mentions have another link now: the judgements of their links do not count")
    for one in corrected:
        if one.refuted:
            place = f"the {one.metric} of {one.model} in {one.language}"
            say(f"{place} is not corrected: with the errors of its language it would leave its range")
    reasons: dict[str, list[str]] = {}
    for one in corrected:
        if one.reported_low is None and one.no_interval:
            reasons.setdefault(one.no_interval, []).append(f"{one.metric} of {one.model} in {one.language}")
    for reason, places in reasons.items():
        say(f"no interval ({reason}): {', '.join(places)}")
    for line in [*stale, *(sources.sentences(str) if sources is not None else ())]:
        say(line)


def _share_line(one: JudgedShare) -> tuple[Any, ...]:
    return (
        one.what,
        one.language or "all",
        one.topic or "all",
        _count(one.hits),
        _count(one.of),
        one.value,
        one.low,
        one.high,
    )


def _corrected_line(one: CorrectedMean) -> tuple[Any, ...]:
    reported = _with_limits(one.reported, one.reported_low, one.reported_high)
    corrected = _with_limits(one.corrected, one.low, one.high)
    if one.corrected is None and one.units < FEWEST:
        corrected = f"– (fewer than {FEWEST} judged)"
    return one.metric, one.model, one.language, reported, corrected, one.units, one.rests_on


def _with_limits(value: float | None, low: float | None, high: float | None) -> str:
    return cell(value) if low is None or high is None else f"{cell(value)} [{cell(low)}, {cell(high)}]"


def _count(cases: float) -> float:
    """A number of cases in its printed form: an integer, unless disputed cases count by halves."""
    return int(cases) if cases.is_integer() else cases


def _show_disputed(shares: Sequence[JudgedShare], rows: int) -> None:
    """The number of disputed rows, and the shares with these all wrong, and all right."""
    say(f"{rows} judged rows are disputed{'; an adjudicator may decide them (docs/audit.md)' if rows else ''}")
    lines = [
        (one.what, one.language or "all", one.topic or "all", one.disputed, _count(one.of), one.if_wrong, one.if_right)
        for one in shares
        if one.disputed
    ]
    if lines:
        print_table(
            DISPUTED_COLUMNS, lines, title="What judges differ on counts by halves; if it were all wrong or right"
        )


def _automatic_labels(store: Store, judgements: Sequence[Judgement]) -> Answers:
    """The labels of the texts of which a judge said of which region they are; refusals have none."""
    asked = sorted({one.extraction_id for one in judgements if one.region is not None})
    rows = store.execute(read_sql(AUDIT_SQL, "text_labels"), {"extractions": asked}).fetchall() if asked else []
    return {(extraction, None, "region"): label for extraction, label in rows}


def answers_of(judgements: Sequence[Judgement]) -> dict[str, Answers]:
    """What each judge answered, by row and question."""
    said: dict[str, Answers] = {}
    for one in sorted(judgements, key=lambda one: one.judge):
        for what in QUESTIONS:
            word = getattr(one, what)
            if word is not None:
                said.setdefault(one.judge, {})[one.extraction_id, one.ordinal, what] = word
    return said


def agreement(said: Mapping[str, Answers]) -> list[tuple[Any, ...]]:
    """A line per pair of judges and per question that either answered."""
    lines = []
    for a, b in combinations(said, 2):
        for what in QUESTIONS:
            own, other = ({key: word for key, word in said[name].items() if key[2] == what} for name in (a, b))
            if own or other:
                pairs = [(own[key], other[key]) for key in own if key in other]
                lines.append(_kappa_line(f"{a}, {b}", what, cohens_kappa(pairs)))
    return lines


def against(said: Mapping[str, Answers], automatic: Answers) -> list[tuple[Any, ...]]:
    """A line per judge who said of which region texts are."""
    asked = {judge: {key: word for key, word in own.items() if key[2] == "region"} for judge, own in said.items()}
    return [line for judge, own in asked.items() if own for line in agreement({judge: own, AUTOMATIC: automatic})]


def _kappa_line(judges: str, what: str, kappa: Kappa) -> tuple[Any, ...]:
    return judges, what, kappa.n, kappa.observed, kappa.kappa, kappa.low, kappa.high
