"""The experiment file: models, prompts and settings in one TOML file."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from polyculture.cache.catalog import Catalog
from polyculture.cache.catalog.written import WrittenNames
from polyculture.cache.errors import CatalogError, EngineError, ExperimentError, together
from polyculture.cache.store.model_facts import Price
from polyculture.cache.store.schema import CONDITIONS, Condition
from polyculture.cache.text.sanitize import find_key
from polyculture.cache.text.suggestions import did_you_mean, meant_by, near_words
from polyculture.cache.toml_files import read_toml
from polyculture.cache.validation import describe_fault
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

Steps = tuple[str | int, ...]  # the keys and numbers that lead to a value


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

    def contradictions(self) -> Iterator[str]:
        """A line for each thing that keys say against another one."""
        for key in ("models", "languages", "topics", "countries", "conditions"):
            values = getattr(self, key)
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                yield f"{key} names {', '.join(twice)} twice"
        appending = () if isinstance(self.answer_in_language, bool) else self.answer_in_language
        known = {*self.models, *self.variants}
        for key, named in (("answer_in_language", appending), ("languages_of", self.languages_of)):
            for model in named:
                if model not in known:
                    yield f"{key}: {model!r} is none of the models. {did_you_mean(model, known)}"
        for model, languages in self.languages_of.items():
            for code in languages:
                if code not in self.languages:
                    near = did_you_mean(code, self.languages)
                    yield f"languages_of.{model}: {code!r} is none of the languages. {near}"
        if self.imported and not all(model.startswith(PREFIX) for model in self.models):
            yield "models: imported texts answer prompts of their own; give them an experiment of their own"
        if PUBLISHED in (self.extract.with_, self.link.source) and not self.imported:
            yield "published mentions and links come with imported texts: see docs/importing.md"
        if self.link.source == PUBLISHED and self.extract.with_ != PUBLISHED:
            yield 'link.source "published" is of published mentions: write extract.with = "published"'

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
    experiment = parse_experiment(read_keys(file), file)
    if found := list(check_contradictions(experiment, file)):
        raise together(found)
    return experiment


def read_keys(file: Path) -> dict[str, Any]:
    """The keys of an experiment file. Raises `ExperimentError` where it cannot be read."""
    if not file.exists():
        meant = file.with_name(f"{file.name}.toml")
        remedy = f"Did you mean {meant}?" if meant.exists() else "Write one with: polyculture init"
        raise ExperimentError("there is no such experiment file", where=file, remedy=remedy)
    if file.is_dir():
        raise ExperimentError("is a folder, not an experiment file", where=file, remedy="Name the .toml file in it.")
    keys = read_toml(file, ExperimentError)
    place = find_key(keys, issued=True)
    if place is not None:
        remedy = "Put it in an environment variable; a server's is named in api_key_env, that of the hub is HF_TOKEN."
        raise ExperimentError(f"{place} looks like a key, and every run keeps a copy of this file", where=file,
                              remedy=remedy)  # fmt: skip
    return keys


def parse_experiment(data: dict[str, Any], file: Path) -> Experiment:
    """The experiment that the keys of a file say, its preset filled in.

    Raises `ExperimentError` with a line for each key that is unknown, is missing or does not fit.
    """
    data = _with_defaults(_with_preset(data, file))
    try:
        return Experiment.model_validate(data)
    except ValidationError as fault:
        raise together(_key_mistakes(fault, data, file)) from None


def check_contradictions(experiment: Experiment, file: Path) -> Iterator[ExperimentError]:
    """What keys say against each other."""
    return (ExperimentError(line, where=file) for line in experiment.contradictions())


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


def check_names(experiment: Experiment, catalog: Catalog, file: Path) -> Iterator[ExperimentError]:
    """The names that the catalogue lacks, each with the nearest one."""
    lookups = {"topics": catalog.topic, "languages": catalog.language, "countries": catalog.country}
    for key, look_up in lookups.items():
        for code in getattr(experiment, key):
            try:
                look_up(code)
            except CatalogError as fault:
                yield ExperimentError(f"{key}: {fault.what}", where=file, remedy=fault.remedy)


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
        from polyculture.instruments import INSTRUMENTS, command_line

        said = []
        for command, values in experiment.instruments.items():
            argument = next((entry.commands[command].argument for entry in INSTRUMENTS if command in entry.lines), None)
            words = filter(None, (str(values.get(argument or "", "")), str(file)))
            said.append(f"{command_line(command)} {shlex.join(words)}")
        own = ", ".join(said)
        asked = f"Its instruments are asked by: {own}. For texts, add" if own else "Add"
        raise ExperimentError(what, where=file, remedy=f"{asked}, for example, {lines}.")


def check_models(experiment: Experiment, file: Path) -> Iterator[ExperimentError]:
    """Unknown models, an unknown extractor, and invalid options."""
    extractor = experiment.extract.with_
    checks = [("models", model, check_model) for model in experiment.models]
    for key, model, check in [*checks, ("extract.with", extractor, check_extractor)]:
        try:
            check(experiment.model_spec(model))
        except EngineError as fault:
            for one in (fault, *fault.others):
                yield ExperimentError(f"{one.where or key}: {one.what}", where=file, remedy=one.remedy)


def check_prices(experiment: Experiment, file: Path, *models: str) -> None:
    """Raises `ExperimentError` where `max_cost` cannot be enforced: a paid model of the experiment has no price.

    With `models`, of these, which a command names.
    """
    if experiment.max_cost is None:
        return
    asked = [one for one in models or experiment.asked if one not in experiment.prices]
    unpriced = [one for one in asked if find_kind(experiment.model_spec(one)).paid]
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

    commands = {command for entry in INSTRUMENTS for command in entry.lines}
    named = {key: value for key, value in data.items() if key in commands and isinstance(value, dict)}
    rest = {key: value for key, value in data.items() if key not in named}
    return {**rest, "defaults": {**named, **rest.get("defaults", {})}} if named else data


def _key_mistakes(fault: ValidationError, data: dict[str, Any], file: Path) -> Iterator[ExperimentError]:
    """A mistake for every value that does not fit, and none that follows from another one: a key is not missing where
    an unknown one is meant for it, and a list is not too short where its entries are wrong."""
    by_place: dict[Steps, ErrorDetails] = {}  # a value may fit none of several types
    for error in fault.errors():
        by_place.setdefault(tuple(_followed(data, error["loc"])), error)
    meant = {_meant_place(steps) for steps, error in by_place.items() if error["type"] == "extra_forbidden"}
    with_wrong_entries = {steps[:-1] for steps in by_place}
    follows: Mapping[str, Collection[Steps | None]] = {"missing": meant, "too_short": with_wrong_entries}
    for steps, error in by_place.items():
        if steps not in follows.get(error["type"], ()):
            yield _mistake(error, steps, file)


def _followed(data: Any, loc: Steps) -> Iterator[str | int]:
    """The steps as far as the data goes, and the key that it lacks; behind them pydantic names types."""
    for step in loc:
        entries = dict(enumerate(data)) if isinstance(data, list | tuple) else data
        if not isinstance(entries, dict) or (entries is not data and step not in entries):
            return
        yield step
        if step not in entries:
            return
        data = entries[step]


def _mistake(error: ErrorDetails, steps: Sequence[str | int], file: Path) -> ExperimentError:
    see = f"Add {steps[-1]} = ..." if error["type"] == "missing" else "See docs/experiments.md."
    what, remedy = describe_fault(error, steps, see=see)
    return ExperimentError(
        what, where=file, remedy=_key_remedy(steps) if error["type"] == "extra_forbidden" else remedy
    )


def _sections() -> dict[str, list[str]]:
    """The keys of each section of a file; those above all sections under ""."""
    models: dict[str, type[BaseModel]] = {"": Experiment}
    for name, field in Experiment.model_fields.items():
        of = (get_args(field.annotation) or (field.annotation,))[-1]  # what a mapping holds, or the section itself
        if isinstance(of, type) and issubclass(of, BaseModel):
            models[name] = of
    return {name: [field.alias or key for key, field in of.model_fields.items()] for name, of in models.items()}


def _section(steps: Sequence[str | int]) -> str:
    return str(steps[0]) if len(steps) > 1 and steps[0] in _sections() else ""


def _meant(steps: Sequence[str | int]) -> tuple[str, str | None]:
    """The section and the key that somebody means by a key that is none: of this table, else of another one."""
    keys, key, here = _sections(), str(steps[-1]), _section(steps)
    for place in (here, *(name for name in keys if name != here)):
        found = key if key in keys[place] else meant_by(key, keys[place])
        if found:
            return place, found
    return here, next(iter(near_words(key, keys[here])), None)


def _meant_place(steps: Steps) -> Steps | None:
    """The place of the key that somebody means by an unknown one."""
    section, key = _meant(steps)
    if key is None:
        return None
    if section == _section(steps):
        return (*steps[:-1], key)
    return (section, key) if section else (key,)


def _key_remedy(steps: Sequence[str | int]) -> str:
    place, found = _meant(steps)
    if found is None:
        return did_you_mean(str(steps[-1]), _sections()[place])
    if place == _section(steps):
        return f"Did you mean {found!r}?"
    return f"Did you mean {found!r} {f'under [{place}]' if place else 'at the top of the file, above all sections'}?"
