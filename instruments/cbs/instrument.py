"""The Cultural Bias Score as an instrument: `polyculture cbs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from polyculture.instruments.contract import Asked, Command, Demo, Idle, Shown, Study, Validity
from polyculture.instruments.datasets.opened import DatasetOptions, Names, changed_reason

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability
    from polyculture.instruments.cbs.camel_draws import CamelDraws
    from polyculture.instruments.cbs.matching import Matching
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.datasets.selection import Kind
    from polyculture.reports.section import Section

_OWN = Path(__file__).parent
AtLeastOne = Annotated[int, Field(ge=1)]
Rule = Literal["sum", "mean", "probability", "calibrated"]
Ties = Literal["strict", "half"]
Average = Literal["contexts", "types", "columns", "pairs"]
PresetName = Literal["ours", "camel", "camellia", "camellia-50", "camellia-causal"]
RULE = "sum: whole entity; mean: log-probability per token; probability: mean of the tokens'. All are kept."
CALIBRATED = "calibrated: sum less the same after nothing, which is asked once for each entity."
TIES = "Pairs of equal likelihood. strict: not Western, as in the papers; half: half for either. Both are kept."


class CbsOptions(DatasetOptions):
    """Compare how probable native and Western entities are in the same contexts.

    Existing scores are kept: a run over a few contexts can be extended to all of them.
    With --help-with and --phrasings the table has the paired differences. The papers' protocols: --preset.
    """

    preset: Annotated[
        PresetName, Field(description="A protocol's choices for all options that you do not give: docs/likelihood.md.")
    ] = "ours"

    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    setting: Annotated[Names, Field(description="Only these settings. Default: all but qa.")] = ()
    form: Annotated[
        Literal["causal", "masked"], Field(description="causal: for models that read what is before the gap.")
    ] = "causal"
    contexts: Annotated[AtLeastOne | None, Field(description="At most this many of each type and setting.")] = None
    entities: Annotated[AtLeastOne | None, Field(description="At most this many of each culture and type.")] = None
    draws: Annotated[
        AtLeastOne | None,
        Field(description="Number of draws of --entities (50) of each culture, as in CAMeL; only these are scored."),
    ] = None
    equal_sides: Annotated[
        bool,
        Field(
            description="In a draw, no more Western entities than there are native ones.",
            json_schema_extra={"negatable": True},
        ),
    ] = False
    genders: Annotated[
        Literal["together", "apart"],
        Field(description="apart: a context of no gender is compared once with the entities of each."),
    ] = "together"
    leave_out: Annotated[
        Names, Field(description="Types that are not asked: names, or ja:names in one language alone.")
    ] = ()
    help_with: Annotated[
        tuple[Literal["token", "demonstrations", "names"], ...],
        Field(description="Score with this prefix, too: the culture's name, filled-in contexts, or bare native names."),
    ] = ()
    demonstrations: Annotated[AtLeastOne, Field(description="How many contexts or names.")] = 5
    phrasings: Annotated[bool, Field(description="Ask only the contexts that have two phrasings.")] = False
    rule: Annotated[Rule, Field(description=f"{RULE} {CALIBRATED}")] = "sum"
    ties: Annotated[Ties, Field(description=TIES)] = "strict"
    average: Annotated[
        Average,
        Field(description="What counts alike in a mean over types; columns: types, genders apart. All are kept."),
    ] = "contexts"

    matched: Annotated[
        Literal["tokens", "prior", "both"] | None,
        Field(
            description="Show also scores over pairs with as many tokens, with like priors (see calibrated), or both."
        ),
    ] = None
    caliper: Annotated[
        float, Field(gt=0, description="With --matched: how far priors of a pair may differ, in standard deviations.")
    ] = 0.2

    @model_validator(mode="before")
    @classmethod
    def _as_preset(cls, values: Any) -> Any:
        """What a preset says, where nothing else is given."""
        from polyculture.instruments.cbs.presets import PRESETS, read_preset

        name = values.get("preset") if isinstance(values, Mapping) else None
        if name is None or not (PRESETS / f"{name}.toml").is_file():
            return values
        given = {option: value for option, value in values.items() if value is not None}
        return {**read_preset(name).options.said, **given}

    @property
    def kinds_left_out(self) -> tuple[Kind, ...]:
        """Languages and types; '' stands for any language. A type that is asked for is not left out."""
        kinds = [tuple(word.rpartition(":")[::2]) for word in self.leave_out]
        return tuple((language, kind) for language, kind in kinds if kind not in self.type)


def study(asked: Asked, options: CbsOptions) -> Study:
    """Scores the entities, links them, measures. Raises `DataSetError` without anything to query."""
    from dataclasses import replace

    from polyculture.instruments.cbs.context_prompts import PrefixKind, PrefixOptions
    from polyculture.instruments.cbs.linked import link_entities
    from polyculture.instruments.cbs.matching import matching_of
    from polyculture.instruments.cbs.selection import asked_tables, scoring_jobs
    from polyculture.instruments.cbs.step import ScoringStep
    from polyculture.instruments.datasets.phrasings import dropped_pronouns, with_phrasings

    _tell_preset(asked, options)
    dataset = with_phrasings(options.opened(asked.say, causal=options.form == "causal"))
    if options.phrasings:
        for line in dropped_pronouns([context for context in dataset.contexts if context.form == options.form]):
            asked.say(str(line))
    _tell_left_out(asked, options, dataset)
    drawing = _drawing(asked, options)
    selection = options.selection(options.setting, options.form, options.contexts, options.entities)
    selection = replace(selection, phrasings=options.phrasings, left_out=options.kinds_left_out)
    prefixes = PrefixOptions(tuple(PrefixKind(kind) for kind in options.help_with), options.demonstrations)
    setups = {model: asked.setup(model, "score") for model in asked.models}
    jobs = [
        job
        for model, setup in setups.items()
        for job in scoring_jobs(
            dataset,
            model,
            selection,
            prefixes,
            setup,
            drawing if options.draws else None,
            empty=options.rule == "calibrated" or options.matched in ("prior", "both"),
            tell=asked.say,
        )
    ]

    matching = matching_of(options.matched, options.caliper) if options.matched else None

    def derive() -> None:
        link_entities(asked)
        measure(asked, drawing, options.kinds_left_out, _label(options), matching)

    return Study(
        (ScoringStep(jobs),),
        Validity(
            {f"score {model}": setup for model, setup in setups.items()},
            tables=partial(asked_tables, asked.run, dataset, jobs, prefixes),
            reason=changed_reason(dataset),
        ),
        derive,
        (shown(options.rule, options.ties, options.average), *shown_matched(options.rule, options.ties, matching)),
        view="scores",
    )


def measure(
    asked: Asked,
    drawing: CamelDraws | None = None,
    left_out: tuple[Kind, ...] = (),
    preset: str | None = None,
    matching: Matching | None = None,
) -> None:
    """Computes the scores with their intervals; reports scores that two versions of a model made."""
    from polyculture.instruments.cbs.camel_draws import CamelDraws
    from polyculture.instruments.cbs.matched_rows import measure_matched
    from polyculture.instruments.cbs.measure import measure_bias
    from polyculture.instruments.cbs.versions import mixed_versions

    measure_bias(asked.run, drawing or CamelDraws(seed=asked.seed), left_out, preset, asked.say)
    measure_matched(asked.run, [matching] if matching else [])
    for model, versions in mixed_versions(asked.run):
        asked.say(
            f"{model}: these scores were made by {' and by '.join(versions)}; name one by revision and dtype to "
            "have all made by it"
        )


def shown(rule: Rule, ties: Ties = "strict", average: Average = "contexts") -> Shown:
    """The table of scores under a rule, a count of ties and an average."""
    return Shown(_OWN / "cbs.sql", {"rule": rule, "ties": ties, "average": average})


def shown_matched(rule: Rule, ties: Ties, matching: Matching | None) -> tuple[Shown, ...]:
    """The table of scores over pairs that are alike, under a rule and a count of ties; none where none is asked."""
    if matching is None:
        return ()
    caliper = matching.caliper if matching.of_priors else None
    return (
        Shown(
            _OWN / "matched_pairs.sql",
            {"rule": rule, "ties": ties, "matched": matching.matched, "caliper": caliper},
        ),
    )


def _drawing(asked: Asked, options: CbsOptions) -> CamelDraws | None:
    """The requested draws; None: all entities, or the first ones."""
    from polyculture.instruments.cbs.camel_draws import DRAWS, ENTITIES, CamelDraws

    apart = options.genders == "apart"
    if not options.draws:
        return CamelDraws(DRAWS, ENTITIES, asked.seed, options.equal_sides, apart)
    return CamelDraws(options.draws, options.entities or ENTITIES, asked.seed, options.equal_sides, apart, only=True)


def _label(options: CbsOptions) -> str | None:
    from polyculture.instruments.cbs.presets import label, read_preset

    return label(options.preset, read_preset(options.preset), options.model_dump())


def _tell_preset(asked: Asked, options: CbsOptions) -> None:
    """Says which protocol is asked, and what of it was changed; nothing of ours."""
    from polyculture.instruments.cbs.presets import read_preset, told

    if options.preset == "ours":
        return
    preset = read_preset(options.preset)
    asked.say(told(options.preset, preset, options.model_dump()))
    for choice in preset.choices:
        asked.say(f"preset {options.preset}, our choice: {choice}")


def _tell_left_out(asked: Asked, options: CbsOptions, dataset: DataSet) -> None:
    """Says what a preset leaves out and the data set lacks, and what --type asks in spite of `--leave-out`.

    Raises `DataSetError` where the data set lacks what the user leaves out: a slip would be asked, and paid for.
    """
    from polyculture.cache.errors import DataSetError, did_you_mean
    from polyculture.instruments.cbs.presets import read_preset

    of_preset = read_preset(options.preset).options.leave_out
    known = {(context.chooser, context.entity_type) for context in dataset.contexts}
    known |= {("", kind) for _, kind in known}
    for word in options.leave_out:
        language, _, kind = word.rpartition(":")
        if (language, kind) not in known:
            if word not in of_preset:
                there = [f"{code}:{one}" if code else one for code, one in known]
                what = f"--leave-out {word}: {dataset.name} has no such contexts"
                raise DataSetError(what, where=dataset.folder, remedy=did_you_mean(word, there))
            asked.say(f"--leave-out {word}: the data set has no such contexts")
        elif kind in options.type:
            asked.say(f"--leave-out {word}: asked all the same, since --type names it")


def _needs(_options: CbsOptions) -> tuple[Capability[Any], ...]:
    from polyculture.generate.engines import SCORING

    return (SCORING,)


class Cbs:
    """How probable a model finds native and Western entities in the same contexts."""

    name = "cbs"
    commands: Mapping[str, Command] = {
        "cbs": Command(
            CbsOptions,
            study,
            "polyculture cbs exp.toml --data camellia --language ja --contexts 5 --entities 100",
            Demo(
                _OWN / "demo" / "cbs_demo.toml",
                "cbs-demo",
                "The embedded model, contexts of our own; in cbs-demo/.",
                {"data": "own", "folder": _OWN / "demo"},
                ("data", "folder", "english"),
            ),
            tables=(_OWN / "cbs.sql",),
            needs=_needs,
            idle=(
                Idle(("caliper",), lambda o: o.matched not in ("prior", "both"), "counts with --matched prior or both"),
                Idle(
                    ("demonstrations",),
                    lambda o: not {"demonstrations", "names"}.intersection(o.help_with),
                    "counts with --help-with demonstrations or names",
                ),
            ),
        )
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.cbs.section import SECTIONS

        return SECTIONS


INSTRUMENT = Cbs()
