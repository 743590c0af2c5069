"""The work of `polyculture cbs`: what it asks, and what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from polyculture.generate.engines import find_kind, read_options
from polyculture.instruments.cbs.context_prompts import PrefixKind, PrefixOptions
from polyculture.instruments.cbs.measure import link_entities, measure_bias, mixed_versions
from polyculture.instruments.cbs.options import CbsOptions, ScoreRule
from polyculture.instruments.cbs.protocol import COLUMNS, protocol_rows
from polyculture.instruments.cbs.step import ScoringJob, ScoringStep, asked_tables, scoring_jobs
from polyculture.instruments.contract import AskedExperiment, Listing, PrintedTable
from polyculture.instruments.datasets.opened import changed_reason
from polyculture.instruments.datasets.phrasings import dropped_pronouns, with_phrasings
from polyculture.instruments.datasets.presets import OURS, read_preset, told
from polyculture.instruments.declared import Inquiry

_TABLE = Path(__file__).with_name("cbs.sql")


def inquiry(asked: AskedExperiment, options: CbsOptions) -> Inquiry[ScoringJob]:
    """Scores the entities, links them, measures. Raises `DataSetError` without anything to query."""
    if options.preset != OURS:
        asked.info(told(options.preset, "cbs", options.model_dump()))
    forms = {model: _form(asked, model, options) for model in asked.models}
    dataset = with_phrasings(options.opened(asked.warning, causal="causal" in forms.values()))
    if options.phrasings:
        for line in dropped_pronouns([context for context in dataset.contexts if context.form in forms.values()]):
            asked.warning(str(line))
    prefixes = PrefixOptions(tuple(PrefixKind(kind) for kind in options.help_with), options.demonstrations)
    drawing = options.protocol.drawing(asked.seed)
    # Chosen once: all models of a form are asked the same, and a line says once what is left out.
    chosen = {
        form: scoring_jobs(
            dataset, "", replace(options.selection(form), phrasings=options.phrasings), prefixes, None, drawing,
            tell=asked.warning,
        )
        for form in dict.fromkeys(forms.values())
    }  # fmt: skip
    by_average = options.draws or options.average != "contexts"
    return Inquiry(
        lambda model: chosen[forms[model]],
        lambda jobs: [ScoringStep(jobs)],
        requests=partial(asked_tables, asked.run, dataset, prefixes=prefixes),
        derive=partial(measure, asked),
        shown=_listing(asked, options) if by_average else shown(options.rule, asked.models),
        reason=changed_reason(dataset),
    )


def _form(asked: AskedExperiment, model: str, options: CbsOptions) -> str:
    """The form of the contexts that a model is asked."""
    if options.form != "model":
        return options.form
    spec = asked.spec(model)
    kind = find_kind(spec)
    return "masked" if kind.masked(spec, read_options(kind.options, spec)) else "causal"


def measure(asked: AskedExperiment) -> None:
    """Links the entities and computes the scores; reports scores that two versions of a model made."""
    link_entities(asked)
    measure_bias(asked.run)
    for model, versions in mixed_versions(asked.run):
        asked.warning(
            f"{model}: these scores were made by {' and by '.join(versions)}; name one by revision and dtype to "
            "have all made by it"
        )


def shown(rule: ScoreRule, models: Sequence[str]) -> tuple[PrintedTable, ...]:
    """The table of each model's scores under a rule."""
    return tuple(PrintedTable(_TABLE, {"rule": rule, "model": model}) for model in models)


def _listing(asked: AskedExperiment, options: CbsOptions) -> Iterator[Listing]:
    """The scores by the protocol that is asked, under its name, next to ours."""
    rows = [
        row for row in protocol_rows(asked.run, options.protocol, asked.seed, asked.warning) if row[0] in asked.models
    ]
    names = [options.preset if name == "cbs" and options.preset != "ours" else name for name in COLUMNS]
    without = {name for name, has in (("model", len(asked.models) > 1), ("sd", options.draws)) if not has}
    without |= {"incomplete"} if not any(row[-1] for row in rows) else set()
    kept = [number for number, name in enumerate(COLUMNS) if name not in without]
    yield Listing(
        tuple(names[number] for number in kept),
        [[row[number] for number in kept] for row in rows],
        _title(options),
        _notes(options),
    )


def _title(options: CbsOptions) -> str:
    """What the scores of a protocol are: 'Cultural Bias Score as in CAMeL (rule sum, 10 draws of 50 entities, ...)'."""
    whose = "" if options.preset == OURS else f" as in {read_preset(options.preset).title}"
    drawing = options.protocol.drawing(0)
    draws = [f"{drawing.draws} draws of {drawing.entities} entities of each culture"] if drawing else []
    said = ", ".join([f"rule {options.rule}", *draws, f"each of the {options.average} counts alike"])
    return f"Cultural Bias Score{whose} ({said})"


def _notes(options: CbsOptions) -> list[str]:
    """What the columns of a protocol's scores are."""
    notes = ["95 %: the interval of the score over all pairs of the entities that were scored"]
    if options.draws:
        notes.append("sd: the standard deviation over the draws")
    return [*notes, "ours: the score by the rule sum over all of these pairs, in which the contexts count alike"]
