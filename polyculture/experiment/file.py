"""The experiment file: models, prompts and settings in one TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.read import read_toml
from polyculture.cache.catalog.written import WrittenNames, meant_by
from polyculture.cache.errors import CatalogError, EngineError, ExperimentError, did_you_mean
from polyculture.cache.model_facts import Price
from polyculture.cache.sanitize import but_not
from polyculture.cache.schema import CONDITIONS, Condition
from polyculture.cache.validation import plain_words
from polyculture.experiment.sections import (
    GAZETTEER,
    PUBLISHED,
    ExtractSection,
    LinkSection,
    ModelFactsSection,
    Name,
    PriceSection,
    PromptsSection,
    SamplingSection,
    Section,
    StopSection,
)
from polyculture.experiment.variants import find_variant, with_variants
from polyculture.generate.design import read_preset
from polyculture.generate.engines import ENGINES, ModelSpec, check_model, engine_remedy, find_kind
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.engines.options import SYSTEM


class Experiment(Section):
    """An experiment, as given in its file."""

    name: Name
    preset: str | None = None
    models: tuple[str, ...] = Field(min_length=1)
    # What prompts are made of: an experiment that only asks instruments has none of the three.
    languages: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = Field(default=CONDITIONS, min_length=1)
    implicit_countries: Literal["first", "all"] = (
        "first"  # whose names: those of the language's first country, or of all countries
    )
    # Append "please answer in <language>" to the prompts of all models, of none, or of these.
    answer_in_language: bool | tuple[str, ...] = False
    # Of models that are asked in some of the languages alone.
    languages_of: Mapping[str, Annotated[tuple[str, ...], Field(min_length=1)]] = {}
    catalog: tuple[str, ...] = ()  # culture packs: folders, relative to the file's; a single one needs no list
    prompts: PromptsSection = PromptsSection()
    sampling: SamplingSection = SamplingSection()
    extract: ExtractSection = ExtractSection()
    link: LinkSection = LinkSection()
    stop: StopSection = StopSection()
    instruments: Mapping[str, Mapping[str, Any]] = {}  # per command: instruments that `run` asks, with their options
    defaults: Mapping[str, Mapping[str, Any]] = {}  # per command: defaults of its options
    options: Mapping[str, Mapping[str, Any]] = {}  # per engine or per model: base_url, concurrency, ...
    variants: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}  # per model: other options, under names of their own
    prices: Mapping[str, PriceSection] = {}  # per model
    model_facts: Mapping[str, ModelFactsSection] = {}  # per model: what tables and comparisons group by
    max_cost: float | None = Field(default=None, gt=0, strict=True, allow_inf_nan=False)  # in the prices' currency
    notes: tuple[str, ...] = ()  # what a reader of the report must know

    @field_validator("catalog", mode="before")
    @classmethod
    def _one_pack_or_several(cls, wanted: object) -> object:
        return (wanted,) if isinstance(wanted, str) else wanted

    @field_validator("answer_in_language", mode="before")
    @classmethod
    def _all_none_or_some(cls, wanted: object) -> object:
        if isinstance(wanted, bool):
            return wanted
        if isinstance(wanted, list | tuple) and all(isinstance(model, str) for model in wanted):
            return tuple(wanted)
        raise ValueError("is neither true (all models), false, nor a list of models")

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, data: Any) -> Any:
        return with_variants(data) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _known_models(self) -> Experiment:
        appending = () if isinstance(self.answer_in_language, bool) else self.answer_in_language
        known = {*self.models, *self.variants}
        for key, named in (("answer_in_language", appending), ("languages_of", self.languages_of)):
            for model in named:
                if model not in known:
                    raise ValueError(f"{key}: {model!r} is none of the models. {did_you_mean(model, known)}")
        for model, languages in self.languages_of.items():
            other = [code for code in languages if code not in self.languages]
            if other:
                near = did_you_mean(other[0], self.languages)
                raise ValueError(f"languages_of.{model}: {other[0]!r} is none of the languages. {near}")
        return self

    @model_validator(mode="after")
    def _imported_alone(self) -> Experiment:
        if self.imported and not all(model.startswith(PREFIX) for model in self.models):
            raise ValueError("models: imported texts answer prompts of their own; give them an experiment of their own")
        if PUBLISHED in (self.extract.with_, self.link.source) and not self.imported:
            raise ValueError("published mentions and links come with imported texts: see docs/importing.md")
        if self.link.source == PUBLISHED and self.extract.with_ != PUBLISHED:
            raise ValueError('link.source "published" is of published mentions: write extract.with = "published"')
        return self

    @model_validator(mode="after")
    def _nothing_twice(self) -> Experiment:
        for key in ("models", "languages", "topics", "countries", "conditions"):
            values = getattr(self, key)
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                raise ValueError(f"{key} names {', '.join(twice)} twice")
        return self

    @property
    def imported(self) -> bool:
        """Whether somebody else generated the texts: nothing is asked, and the prompts are those of their files.

        Without topics there are no texts: what was imported then are answers to question sets.
        """
        return bool(self.topics) and any(model.startswith(PREFIX) for model in self.models)

    @property
    def asked(self) -> tuple[str, ...]:
        """All models that receive requests: those under study, and the extractor where it is a model."""
        extractor = (self.extract.with_,) if self.extract.by_model else ()
        return tuple(dict.fromkeys((*self.models, *extractor)))

    @property
    def played_line(self) -> str | None:
        """A line that names mock models, whose numbers are not real. None where all models are real."""
        played = [model for model in self.asked if not find_kind(self.model_spec(model)).real]
        names = ", ".join(played)
        return f"Not real: no model answers for {names}, and no number made with it counts." if played else None

    @property
    def report_notes(self) -> tuple[str, ...]:
        """Notes for the report: those of the file, and the names of mock models."""
        return (*self.notes, *filter(None, [self.played_line]))

    def price(self, model: str) -> Price | None:
        """A model's price, if the file has one."""
        section = self.prices.get(model)
        return Price(**section.model_dump()) if section else None

    @property
    def facts_of_models(self) -> dict[str, dict[str, Any]]:
        """The known facts of this experiment's models, per model."""
        told = {model: self.model_facts[model] for model in self.models if model in self.model_facts}
        return {model: facts.model_dump(exclude_none=True) for model, facts in told.items()}

    def model_spec(self, model: str) -> ModelSpec:
        """A model with its options: its own take precedence over those of its engine, these over `[prompts]`."""
        engine = model.partition(":")[0]
        common = {} if self.prompts.system is None else {SYSTEM: self.prompts.system}
        options = {**common, **self.options.get(engine, {}), **self.options.get(model, {})}
        if options.get(SYSTEM) == "":  # a model that has none, where others have one
            del options[SYSTEM]
        variant = find_variant(model, self.variants)
        return ModelSpec(model, options, variant[1] if variant else None)

    def languages_asked(self, model: str) -> tuple[str, ...]:
        """The languages that a model is asked in, in the order of the experiment's; a variant in those of its model."""
        some = self.languages_of.get(model, self.languages_of.get(self.base_of(model)))
        return self.languages if some is None else tuple(code for code in self.languages if code in some)

    def base_of(self, model: str) -> str:
        """The model that a variant is one of; any other model itself."""
        variant = find_variant(model, self.variants)
        return variant[0] if variant else model

    @property
    def appending(self) -> tuple[str, ...]:
        """The models that have the sentence behind their prompts, where not all have it: it is not in the prompts."""
        if isinstance(self.answer_in_language, bool):
            return ()
        named = self.answer_in_language
        return tuple(model for model in self.models if model in named or self.base_of(model) in named)


def read_experiment(file: Path) -> Experiment:
    """The experiment in `file`, its preset filled in. Raises `ExperimentError` with file, place and remedy."""
    if not file.exists():
        remedy = "Write one with: polyculture init"
        raise ExperimentError("there is no such experiment file", where=file, remedy=remedy)
    if file.is_dir():
        raise ExperimentError("is a folder, not an experiment file", where=file, remedy="Name the .toml file in it.")
    return parse_experiment(read_toml(file, ExperimentError), file)


def parse_experiment(data: dict[str, Any], file: Path) -> Experiment:
    """The experiment that the keys of a file say, its preset filled in. Raises as `read_experiment`."""
    try:
        return Experiment.model_validate(_with_defaults(_with_preset(data, file)))
    except ValidationError as fault:
        raise _experiment_error(fault, file) from fault


def with_codes(experiment: Experiment, catalog: Catalog) -> Experiment:
    """The same with the catalogue's codes: `jp` and `Japan` are JP, `english` is en. Unknown ones stay as they are."""
    names = WrittenNames(catalog)
    known = {
        "topics": (catalog.topics, names.topic),
        "languages": (catalog.languages, names.language),
        "countries": (catalog.countries, names.country),
    }
    changed: dict[str, Any] = {}
    for key, (codes, code_of) in known.items():
        asked = getattr(experiment, key)
        written = tuple(code if code in codes else code_of(code) or code for code in asked)
        if written != asked:
            changed[key] = tuple(dict.fromkeys(written))
    if "languages" in changed:
        some = experiment.languages_of.items()
        changed["languages_of"] = {model: tuple(names.language(one) or one for one in of) for model, of in some}
    return experiment.model_copy(update=changed) if changed else experiment


def check_names(experiment: Experiment, catalog: Catalog, file: Path) -> None:
    """Raises `ExperimentError`, with the nearest name, for a name that the catalogue lacks."""
    lookups = {"topics": catalog.topic, "languages": catalog.language, "countries": catalog.country}
    for key, look_up in lookups.items():
        for code in getattr(experiment, key):
            try:
                look_up(code)
            except CatalogError as fault:
                raise ExperimentError(f"{key}: {fault.what}", where=file, remedy=fault.remedy) from fault


def check_prompted(experiment: Experiment, file: Path) -> None:
    """Raises `ExperimentError` where prompts cannot be made: the file says no languages, topics or countries.

    Imported texts came with prompts of their own, which need not name a country.
    """
    examples = {"languages": '["en"]', "topics": '["food"]', "countries": '["JP"]'}
    if experiment.imported:
        del examples["countries"]
    missing = {key: example for key, example in examples.items() if not getattr(experiment, key)}
    if missing:
        what = f"names no {', '.join(missing)}: prompts are made of them, and only instruments do without"
        lines = " and ".join(f"{key} = {example}" for key, example in missing.items())
        from polyculture.instruments import command_line

        own = ", ".join(f"{command_line(command)} {file}" for command in experiment.instruments)
        asked = f"Its instruments are asked by: {own}. For texts, add" if own else "Add"
        raise ExperimentError(what, where=file, remedy=f"{asked}, for example, {lines}.")


def check_models(experiment: Experiment, file: Path) -> None:
    """Raises `ExperimentError` for an unknown model or extractor, or for an invalid option."""
    extractor = experiment.extract.with_
    checks = [("models", model, check_model) for model in experiment.models]
    for key, model, check in [*checks, ("extract.with", extractor, check_extractor)]:
        try:
            check(experiment.model_spec(model))
        except EngineError as fault:
            what = f"{fault.where}: {fault.what}" if fault.where else f"{key}: {fault.what}"
            raise ExperimentError(what, where=file, remedy=fault.remedy) from fault


def check_prices(experiment: Experiment, file: Path) -> None:
    """Raises `ExperimentError` where `max_cost` cannot be enforced, because a paid model has no price."""
    _require_prices(experiment, experiment.asked, file)


def check_price(experiment: Experiment, model: str, file: Path) -> None:
    """The same of a model that a command names, which need not be one of the experiment's."""
    _require_prices(experiment, [model], file)


def _require_prices(experiment: Experiment, models: Iterable[str], file: Path) -> None:
    if experiment.max_cost is None:
        return
    unpriced = [m for m in models if m not in experiment.prices and find_kind(experiment.model_spec(m)).paid]
    if unpriced:
        raise ExperimentError(
            f"max_cost is set, and [prices] does not name {', '.join(unpriced)}",
            where=file,
            remedy=f'Add [prices."{unpriced[0]}"] with input and output per million tokens; 0 where it costs nothing.',
        )


def check_extractor(spec: ModelSpec) -> None:
    """Raises `EngineError` where `spec` is neither the gazetteer nor a model of a known engine."""
    if spec.model in (GAZETTEER, PUBLISHED):
        return
    if ":" not in spec.model:
        near = did_you_mean(spec.model, [GAZETTEER], otherwise="") if spec.engine not in ENGINES else ""
        raise EngineError(f"{spec.model!r} is no extractor", remedy=near or engine_remedy(spec))
    check_model(spec)


def _with_preset(data: dict[str, Any], file: Path) -> dict[str, Any]:
    """The preset's keys; those of the file take precedence."""
    if "preset" not in data:
        return data
    try:
        preset = read_preset(str(data["preset"]))
    except ExperimentError as fault:
        raise ExperimentError(f"preset: {fault.what}", where=file, remedy=fault.remedy) from fault
    return {**preset.model_dump(), **data}


def _with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """A section named after a command sets the options of that command, as `[cbs]` does."""
    from polyculture.instruments import INSTRUMENTS

    commands = {command for entry in INSTRUMENTS for command in entry.commands}
    named = {key: value for key, value in data.items() if key in commands and isinstance(value, dict)}
    rest = {key: value for key, value in data.items() if key not in named}
    return {**rest, "defaults": {**named, **rest.get("defaults", {})}} if named else data


def _experiment_error(fault: ValidationError, file: Path) -> ExperimentError:
    # Report unknown keys first: a misspelt key explains a missing one.
    first = sorted(fault.errors(), key=lambda error: error["type"] != "extra_forbidden")[0]
    steps = [str(step) for step in first["loc"]]
    place = ".".join(steps)
    if first["type"] == "extra_forbidden":
        return ExperimentError(f"unknown key {place!r}", where=file, remedy=_key_remedy(steps))
    if first["type"] == "missing":
        return ExperimentError(f"the key {place!r} is missing", where=file, remedy=f"Add {place} = ...")
    message = plain_words(first)
    got = "" if first["type"] == "value_error" else but_not(first["input"])
    remedy = "See docs/experiments.md."
    if first["type"] == "literal_error":
        remedy = did_you_mean(str(first["input"]), first["ctx"]["expected"].split("'")[1::2], otherwise=remedy)
    return ExperimentError(f"{place}: {message}{got}" if place else message, where=file, remedy=remedy)


def _key_remedy(steps: list[str]) -> str:
    """The key of this table that was meant; else that of another section, with where it stands."""
    sections: dict[str, type[Section]] = {
        "": Experiment,
        "prompts": PromptsSection,
        "sampling": SamplingSection,
        "extract": ExtractSection,
        "link": LinkSection,
        "prices": PriceSection,
        "model_facts": ModelFactsSection,
        "stop": StopSection,
    }
    keys = {name: [field.alias or key for key, field in one.model_fields.items()] for name, one in sections.items()}
    key, here = steps[-1], steps[0] if len(steps) > 1 and steps[0] in sections else ""
    places = [here, *(name for name in keys if name != here)]
    meant = ((name, key if key in keys[name] else meant_by(key, keys[name])) for name in places)
    place, found = next(((name, word) for name, word in meant if word), (here, None))
    if found is None or place == here:
        return did_you_mean(key, keys[here])
    return f"Did you mean {found!r} {f'under [{place}]' if place else 'at the top of the file, above all sections'}?"
