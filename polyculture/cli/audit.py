"""`polyculture audit`: what people judged of a sample, and the metrics corrected by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from polyculture.cache.errors import StoreError
from polyculture.cli.audit_results import show_audit
from polyculture.cli.options import ExperimentFile, Format, OutputFile, OutputFormat, Runs
from polyculture.console import say
from polyculture.experiment.run_place import stored_run
from polyculture.metrics.audit.judging import changed_judgements, judgements_of


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
    if not judges:
        remedy = "Let people judge a sample: polyculture view EXPERIMENT"
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
    if judgements:
        show_audit(run, judgements, format, output)
