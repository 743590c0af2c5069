"""The Cultural Bias Score as an instrument: `polyculture cbs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from polyculture.instruments.cbs.layout import SCORES
from polyculture.instruments.contract import (
    AskedExperiment,
    AtLeastOne,
    Command,
    Demo,
    Listing,
    Shown,
    in_file,
)
from polyculture.instruments.datasets.opened import DatasetOptions, changed_reason
from polyculture.instruments.declared import Inquiry, Instrument

if TYPE_CHECKING:
    from polyculture.instruments.cbs.protocol import ScoreProtocol
    from polyculture.instruments.cbs.step import ScoringJob

_OWN = Path(__file__).parent
Rule = Literal["sum", "mean", "probability"]
RULE = "sum: whole entity; mean: log-probability per token; probability: mean of the tokens'."


class CbsOptions(DatasetOptions):
    """Compare how probable native and Western entities are in the same contexts.

    Existing scores are kept: a run over a few contexts can be extended to all of them.
    With --help-with the table has the paired differences. The papers' protocols: --preset.
    """

    preset: Annotated[
        Literal["ours", "camel", "camellia"],
        Field(description="A paper's choices for all options that you do not give: docs/cbs.md."),
    ] = "ours"
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    form: Annotated[
        Literal["causal", "masked", "model"],
        in_file("causal: for models that read what is before the gap; model: for what each model reads."),
    ] = "causal"
    draws: Annotated[int, in_file("Draws of --entities (50) of each culture; only these are scored.", ge=0)] = 0
    average: Annotated[
        Literal["contexts", "types", "columns"],
        in_file("What counts alike in a mean over types; columns: types, genders apart."),
    ] = "contexts"
    help_with: Annotated[
        tuple[Literal["token", "demonstrations", "names"], ...],
        Field(description="Score with this prefix, too: the culture's name, filled-in contexts, or bare native names."),
    ] = ()
    demonstrations: Annotated[AtLeastOne, in_file("How many contexts or names.")] = 5
    phrasings: Annotated[bool, in_file("Ask only the contexts that have two phrasings.")] = False
    rule: Annotated[Rule, Field(description=RULE)] = "sum"

    @model_validator(mode="before")
    @classmethod
    def _behind(cls, values: Any) -> Any:
        """The values of the preset behind those that were said."""
        from polyculture.instruments.datasets.presets import with_preset

        return with_preset(values, "cbs") if isinstance(values, Mapping) else values

    @property
    def protocol(self) -> ScoreProtocol:
        """How likelihoods become the score that is asked."""
        from polyculture.instruments.cbs.protocol import ScoreProtocol

        return ScoreProtocol(self.rule, self.average, self.draws, self.entities if self.draws else None)


def ask(asked: AskedExperiment, options: CbsOptions) -> Inquiry[ScoringJob]:
    """Scores the entities, links them, measures. Raises `DataSetError` without anything to query."""
    from dataclasses import replace

    from polyculture.instruments.cbs.context_prompts import PrefixKind, PrefixOptions
    from polyculture.instruments.cbs.step import ScoringStep, asked_tables, scoring_jobs
    from polyculture.instruments.datasets.phrasings import dropped_pronouns, with_phrasings
    from polyculture.instruments.datasets.presets import OURS, told

    if options.preset != OURS:
        asked.info(told(options.preset, "cbs", options.model_dump()))
    forms = {model: _form(asked, model, options) for model in asked.models}
    dataset = with_phrasings(options.opened(asked.warning, causal="causal" in forms.values()))
    if options.phrasings:
        for line in dropped_pronouns([context for context in dataset.contexts if context.form in forms.values()]):
            asked.warning(str(line))
    prefixes = PrefixOptions(tuple(PrefixKind(kind) for kind in options.help_with), options.demonstrations)
    drawing = options.protocol.drawing(asked.seed)
    # Chosen once: all models of a form are asked the same, and what is left out is told once.
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
        ScoringStep,
        requests=partial(asked_tables, asked.run, dataset, prefixes=prefixes),
        derive=partial(measure, asked),
        shown=partial(_listing, asked, options) if by_average else shown(options.rule, asked.models),
        reason=changed_reason(dataset),
    )


def _form(asked: AskedExperiment, model: str, options: CbsOptions) -> str:
    """The form of the contexts that a model is asked."""
    if options.form != "model":
        return options.form
    from polyculture.generate.engines import find_kind, read_options

    spec = asked.spec(model)
    kind = find_kind(spec)
    return "masked" if kind.masked(spec, read_options(kind.options, spec)) else "causal"


def measure(asked: AskedExperiment) -> None:
    """Links the entities and computes the scores; reports scores that two versions of a model made."""
    from polyculture.instruments.cbs.measure import link_entities, measure_bias, mixed_versions

    link_entities(asked)
    measure_bias(asked.run)
    for model, versions in mixed_versions(asked.run):
        asked.warning(
            f"{model}: these scores were made by {' and by '.join(versions)}; name one by revision and dtype to "
            "have all made by it"
        )


def shown(rule: Rule, models: Sequence[str]) -> tuple[Shown, ...]:
    """The table of each model's scores under a rule."""
    return tuple(Shown(_OWN / "cbs.sql", {"rule": rule, "model": model}) for model in models)


def _listing(asked: AskedExperiment, options: CbsOptions) -> Iterator[Listing]:
    """The scores by the protocol that is asked, under its name, beside ours."""
    from polyculture.instruments.cbs.protocol import COLUMNS, protocol_rows

    rows = [
        row for row in protocol_rows(asked.run, options.protocol, asked.seed, asked.warning) if row[0] in asked.models
    ]
    names = [options.preset if name == "cbs" and options.preset != "ours" else name for name in COLUMNS]
    without = {name for name, has in (("model", len(asked.models) > 1), ("sd", options.draws)) if not has}
    without |= {"incomplete"} if not any(row[-1] for row in rows) else set()
    kept = [number for number, name in enumerate(COLUMNS) if name not in without]
    yield Listing(tuple(names[number] for number in kept), [[row[number] for number in kept] for row in rows])


CBS = Instrument(
    SCORES,
    CbsOptions,
    ask,
    "polyculture cbs exp.toml --data camellia --language ja --contexts 5 --entities 100",
    (_OWN / "cbs.sql",),
    Demo(
        _OWN / "demo" / "cbs_demo.toml",
        "cbs-demo",
        "The embedded model, contexts of our own; in cbs-demo/.",
        {"data": "own", "folder": _OWN / "demo"},
        ("data", "folder"),
    ),
)
COMMANDS: Mapping[str, Command] = {"cbs": CBS.command}
