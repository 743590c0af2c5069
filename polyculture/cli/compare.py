"""`polyculture compare`: models, languages, conditions, countries, wordings, runs or snapshots against each other."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from polyculture.cache.database import memory_database
from polyculture.cache.errors import ConditionHeldError, ExperimentError, StoreError, UntestableError
from polyculture.cache.store.manifest import require_run
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs, rows_format
from polyculture.cli.tables import print_table, write_rows
from polyculture.console import say
from polyculture.metrics import MEASURE
from polyculture.metrics.comparison.gate import Decision, GateCondition
from polyculture.metrics.comparison.question import ComparisonQuestion, ComparisonRows
from polyculture.metrics.comparison.table import as_table, lines_of, named, remarks_of, with_remedy
from polyculture.metrics.declared import COMPARED, ON_REQUEST
from polyculture.metrics.inference.family import NO_SAMPLING
from polyculture.running.changes import warn_of_changes
from polyculture.running.comparing import LinkChanges, compared, link_changes
from polyculture.running.opening import open_workspace


class FactName(StrEnum):
    """The facts that models are grouped by: `cache.store.model_facts.GROUPS`."""

    ORIGIN = "origin"
    OPEN = "open"
    SIZE = "size"


class TargetName(StrEnum):
    """What a difference is about: new samples of the same prompts, or new prompts like them."""

    SAME_PROMPTS = "same_prompts"
    NEW_PROMPTS = "new_prompts"


def compare(
    experiment: ExperimentFile,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Models, languages, conditions, countries or wordings of the run, or groups. Each pair is compared."
        ),
    ] = None,
    rest: Annotated[
        bool, typer.Option("--rest", help="Compare each one that you name with all others together.")
    ] = False,
    group: Annotated[
        FactName | None,
        typer.Option(
            "--group", help="Compare groups of models by a fact of [model_facts], each group with all others."
        ),
    ] = None,
    native: Annotated[
        bool, typer.Option("--native", help="Compare each country's own languages with the other languages.")
    ] = False,
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            "--baseline",
            metavar="EXPERIMENT|FOLDER",
            help="Compare this run (a) with another one (b): its experiment file, or its folder; may be repeated.",
        ),
    ] = None,
    snapshot: Annotated[
        list[str] | None,
        typer.Option(
            "--snapshot", help="Compare the run's links with those of `link --snapshot`: a file, its name or identity."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="A row per model, language, topic, condition, country or wording; may be repeated."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help=f"Only this metric; may be repeated: {', '.join(COMPARED)}; {', '.join(ON_REQUEST)}, which are left "
            "out without it; or one of an instrument.",
        ),
    ] = None,
    target: Annotated[
        list[TargetName] | None,
        typer.Option(
            "--target", help="same_prompts: new samples of the same prompts; new_prompts: new prompts like them."
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with code 7 where it holds: 'specificity[explicit] lower by more than .02'; repeatable.",
        ),
    ] = None,
    pass_if: Annotated[
        list[str] | None,
        typer.Option(
            "--pass-if",
            metavar="CONDITION",
            help="Exit with code 7 unless it is shown: 'specificity[explicit] not lower by more than .02'; repeatable.",
        ),
    ] = None,
    allow_untestable: Annotated[
        bool, typer.Option("--allow-untestable", help="With conditions: pass also where one cannot be tested.")
    ] = False,
    claims: Annotated[
        Path | None,
        typer.Option(
            "--claims",
            metavar="FILE|PAPER",
            help="Test the claims of this file, or of a paper, instead: docs/claims.md.",
        ),
    ] = None,
    runs: Runs = None,
    format: OutputFormat = Format.TABLE,
    output: OutputFile = None,
) -> None:
    """Compare models, languages, conditions, countries, wordings, runs or snapshots, in every pair of those you name.

    Both sides are means over the cells that both have. Each difference is tested for one of two targets. With
    same_prompts it is about new samples of the same prompts; the interval comes from a jackknife over responses. With
    new_prompts it is about new prompts like these; the interval comes from how the difference varies over the topics
    and countries of the run, and needs at least three of both, or six of one. Without --target you see both.

    Each pair has a table. A row shows `a`, `b`, the `difference` with its 95 % interval (or the reason why there is
    none) and `q`, the p-value adjusted over the rows of its target (Benjamini and Hochberg). Counts are compared at the
    smaller number of responses. `robust` says whether the verdict is the same without refusals, without texts that were
    cut, and without texts in another language than their prompts; it is empty if the run has no such text. `corrected`
    is the interval after correction for the errors that judges found. `without top topic` is the difference without the
    topic that contributes most. `reversed at` is the share of unlinked mentions that could reverse the difference.

    What instruments measured for the same sides (CBS, sentiment, QA, questions) is in a table of its own, paired over
    what both sides were asked. --by, --metric, --target and --fail-if apply to it, too.

    JSON, CSV and Parquet have all columns of the view `differences`, such as `units`, `topics` and `left_out`, and a
    row for each selection of texts.

    --snapshot also prints which links the other snapshot changes. Both sides are the same texts, so the differences are
    exact and have no interval.

    --baseline compares this run with another one. It pairs the models that have the same name, or the two models if
    each run has only one, or the first model that you name with the second one in the baseline. Cells whose prompts
    differ are left out and counted. Imported scores are paired by item, over the items that both runs have.

    --fail-if METRIC lower|higher|different [by more than X] is for pipelines; `lower` means that a is below b. The
    condition is checked for every row of that metric; write METRIC[CONDITION] for prompts of one condition. It holds
    if q, adjusted over all tests of the command, is below 0.05 on that side. The target is `same_prompts` unless you
    set --target.

    --pass-if METRIC not lower|higher|different by more than X is stricter: the whole 95 % interval must be on the good
    side of X, so that a comparison with too few answers does not pass.

    A condition cannot be tested if the interval leaves open a change by half of the baseline's number (or by a
    twentieth of the metric's range, if that is more), if the candidate was not asked what the baseline was asked, or if
    both sides are the same answers. Exit codes: 0 if all conditions were tested and the candidate passes; 7 if a
    --fail-if holds or a --pass-if is not shown; 3 if a condition cannot be tested; 2 for a mistake.

    --claims FILE tests stated hypotheses. Each one holds, fails, or is undecided, and p is adjusted over the claims of
    the file (Holm). For a claim about several comparisons you see the one that decides it. The exit code is 0, whatever
    the results are. Instead of a file, write camel, camellia, culturescope, kobbq or makieval to test the findings of
    that paper.
    """
    if claims is not None:
        if any(
            (names, rest, group, native, baseline, snapshot, by, metric, target, fail_if, pass_if, allow_untestable)
        ):
            raise ExperimentError("--claims has its own comparisons", remedy="Leave names and other options out.")
        from polyculture.cli.claims import print_claims  # which reads pandas

        print_claims(open_workspace(experiment, runs), claims, format, output)
        return
    format = rows_format(format, output)
    option = "--fail-if" if fail_if else "--pass-if"
    if allow_untestable and not (fail_if or pass_if):
        raise ExperimentError("--allow-untestable has no condition", remedy="Name one with --fail-if or --pass-if.")
    if (fail_if or pass_if) and metric:
        raise ExperimentError(f"{option} names its metrics", remedy="Leave --metric out.")
    if (fail_if or pass_if) and len(target or ()) > 1:
        raise ExperimentError(f"{option} has one target", remedy="Write --target same_prompts or --target new_prompts.")
    workspace = open_workspace(experiment, runs)
    require_run(workspace.run)
    warn_of_changes(workspace)
    question = ComparisonQuestion(
        tuple(names or ()),
        native,
        rest,
        group.value if group else None,
        tuple(by or ()),
        tuple(metric or ()),
        tuple(map(str, target or ())),
        tuple(baseline or ()),
        tuple(snapshot or ()),
        tuple(fail_if or ()),
        tuple(pass_if or ()),
    )
    with ExitStack() as stack:
        found = compared(stack, workspace, question, runs=runs)
    write_comparison(found, format, output)
    if format is Format.TABLE and output is None:
        _print_changes(link_changes(workspace, question.snapshots), workspace.file)
    if found.conditions:
        tell_decisions(found.conditions, found.decisions, allow_untestable)


def _print_changes(several: Iterable[LinkChanges], file: Path) -> None:
    """Which links another snapshot changes: these are what moves the numbers."""
    for each in several:
        if not each.counts:
            say(f"{each.snapshot} changes no link")
            continue
        print_table(("change", "queries", "mentions"), each.counts, f"Links that {each.snapshot} changes")
        columns = ("change", "language", "topic", "surface", "mentions", "here", "there")
        print_table(columns, each.links, "Those with the most mentions")
        say(f'all of them: polyculture sql {shlex.quote(str(file))} "FROM changed_links"')


_SHOWN = 5
_VERDICTS = {True: "holds", False: "does not hold", None: "untestable"}
_SHOWN_OR_NOT = {True: "is shown", False: "is not shown", None: "untestable"}


def write_comparison(found: ComparisonRows, format: Format, output: Path | None) -> None:
    """Prints the rows with remarks on their interpretation, or writes them as `format`.

    With conditions, the columns `fail_if` and `pass_if` have what these come to.
    """
    if format is not Format.TABLE or output is not None:
        table = as_table(found.rows)
        for option in dict.fromkeys(condition.option for condition in found.conditions):
            asked = [one for one in found.decisions if one.condition.option == option]
            verdicts = [
                "; ".join(f"{one.condition}: {_verdict(one)}" for one in asked if one.row is row) for row in found.rows
            ]
            table = table.append_column(option[2:].replace("-", "_"), pa.array(verdicts, pa.string()))
        with memory_database() as connection:
            write_rows(connection.from_arrow(table), format, output)
    else:
        titles = {
            (each.a, each.b): f"a: {_named(each.a, each.of_a)}   b: {_named(each.b, each.of_b)}" for each in found.sides
        }
        for sides, title in titles.items():
            of_pair = [row for row in found.rows if (row.difference.a, row.difference.b) == sides]
            for of_texts in (True, False):
                own = [row for row in of_pair if (row.difference.measure == MEASURE.name) == of_texts]
                if lines := lines_of(own):
                    print_table(list(lines[0]), [list(line.values()) for line in lines], title)
    for remark in remarks_of(found.rows):
        say(remark)


def _named(side: str, values: Sequence[str]) -> str:
    """A side with its values, where it is not one value."""
    return side if not values or tuple(values) == (side,) else f"{side} ({', '.join(values)})"


def tell_decisions(conditions: Sequence[GateCondition], decisions: Sequence[Decision], allow_untestable: bool) -> None:
    """A line for each condition and row. Raises `ConditionHeldError` where one makes the pipeline fail, and
    `UntestableError` where one cannot be tested; `StoreError` for a condition that is asked of no row."""
    for condition in conditions:
        if not any(one.condition is condition for one in decisions):
            what = f"{condition.option} '{condition}': the comparison has no row of it"
            raise StoreError(what, remedy="Compare what both sides were asked, or leave this condition out.")
    for one in decisions:
        say(f"{one.condition.option[2:]} '{one.condition}', {named(one.row.difference)}: {_said(one)}")
    if any(one.q is not None for one in decisions):
        say("q is p adjusted over all tests of this command; a condition holds where it is below 0.05 on its side")
    failing = [one for one in decisions if one.fails]
    parts = {
        "--fail-if holds": [one for one in failing if not one.condition.negated],
        "--pass-if is not shown": [one for one in failing if one.condition.negated],
    }
    if failing:
        raise ConditionHeldError("; ".join(f"{what}: {_listed(some)}" for what, some in parts.items() if some))
    untestable = [one for one in decisions if one.holds is None]
    if untestable and not allow_untestable:
        option = untestable[0].condition.option
        raise UntestableError(f"{option} cannot be tested: {_listed(untestable)}; --allow-untestable passes over it")


def _listed(decisions: Sequence[Decision]) -> str:
    shown = "; ".join(f"'{one.condition}' ({named(one.row.difference)})" for one in decisions[:_SHOWN])
    return shown + (f"; and {len(decisions) - _SHOWN} more" if len(decisions) > _SHOWN else "")


def _said(one: Decision) -> str:
    told = one.row.difference
    if one.holds is None:
        return f"untestable: {with_remedy(one.why or 'no interval')}"
    exact = " exactly" if told.reason == NO_SAMPLING else ""
    interval = "" if told.low is None else f" [{told.low:+.4g}, {told.high:+.4g}]"
    on_its_side = told.difference is not None and one.condition.is_met_by(told.difference)
    q = f", q = {one.q:.2g}" if one.q is not None and on_its_side else ""  # else it is that of the other side
    least = "" if one.holds or one.least is None else f"; a difference of {one.least:.2g} is found in 8 of 10 such runs"
    return f"{_verdict(one)}: {told.difference:+.4g}{exact}{interval}{q}{least}"


def _verdict(one: Decision) -> str:
    return (_SHOWN_OR_NOT if one.condition.negated else _VERDICTS)[one.holds]
