"""The sections of an experiment file, each checked by pydantic; `file.Experiment` has them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from polyculture.cache.validation import ClosedModel
from polyculture.cache.work.faults import StopLimits, fault_table
from polyculture.extract.base import MAX_TOKENS
from polyculture.generate.design import PromptDesign, choose_wordings
from polyculture.generate.sampling import SamplingSettings
from polyculture.generate.wording import WordingName
from polyculture.link.forms import Forms

GAZETTEER = "gazetteer"  # the extractor without a model
PUBLISHED = "published"  # the mentions that imported texts came with
StudyName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]


class SamplingSection(ClosedModel):
    """The sampling of responses. The defaults are the seed study's."""

    model_config = ConfigDict(strict=True)

    n: int = Field(default=500, ge=1, le=10_000_000)
    temperature: float = Field(default=0.7, ge=0, le=100)
    top_p: float = Field(default=0.9, gt=0, le=1)
    top_k: int | None = Field(default=10, ge=0, lt=2**31)  # 0: not sent, and none is drawn by
    max_tokens: int = Field(default=512, ge=1, lt=2**31)
    seed: int = Field(default=1, ge=0, lt=2**31)

    @field_validator("top_k")
    @classmethod
    def _zero_is_none(cls, top_k: int | None) -> int | None:
        return top_k or None

    def sampling(self) -> SamplingSettings:
        return SamplingSettings(**self.model_dump())


class PromptsSection(ClosedModel):
    """In which wordings prompts are asked, about how many names, and under which system prompt."""

    model_config = ConfigDict(strict=True)

    wordings: int | tuple[WordingName, ...] = 1  # the first so many of the study's task, or these
    names: int = Field(default=1, ge=1, le=100)  # per country, sex and wording
    seed: int = Field(default=1, ge=0, lt=2**31)  # of the draw of names
    system: str | None = Field(default=None, min_length=1, pattern=r"\S")  # of all models that have no other one
    file: str | None = Field(default=None, min_length=1)  # with the study's own prompts, in place of wordings

    @field_validator("wordings", mode="before")
    @classmethod
    def _as_tuple(cls, wanted: object) -> object:
        if isinstance(wanted, bool) or not isinstance(wanted, int | list | tuple):
            raise ValueError('is neither a number nor a list of names: write wordings = 3, or wordings = ["write"]')
        return tuple(wanted) if isinstance(wanted, list) else wanted

    @field_validator("wordings")
    @classmethod
    def _exist(cls, wanted: int | tuple[str, ...]) -> int | tuple[str, ...]:
        chosen = choose_wordings(wanted)
        twice = sorted({name for name in chosen if chosen.count(name) > 1})
        if twice or not chosen:
            raise ValueError(f"names {', '.join(twice)} twice" if twice else "names no wording")
        return wanted

    @property
    def design(self) -> PromptDesign:
        """The same for the prompts."""
        return PromptDesign(choose_wordings(self.wordings), self.names, self.seed)


class ExtractSection(ClosedModel):
    """The extractor: `gazetteer`, a model, or `published`: the mentions that imported texts came with."""

    with_: str = Field(default=GAZETTEER, alias="with")
    prompt: str | None = Field(default=None, min_length=1)  # a file with the study's own instruction to the model
    sample: int | None = Field(default=None, ge=1, strict=True)  # of each prompt's texts: the first so many are read
    # Of an answer about a text; one that this limit cuts is asked for again with more.
    max_tokens: int = Field(default=MAX_TOKENS, ge=1, strict=True)

    @model_validator(mode="after")
    def _models_alone_are_asked(self) -> ExtractSection:
        if not self.by_model and (given := self.model_fields_set & {"prompt", "sample", "max_tokens"}):
            raise ValueError(f"{', '.join(sorted(given))}: for a model alone, and extract.with is {self.with_!r}")
        return self

    @property
    def by_model(self) -> bool:
        """Whether a model extracts."""
        return self.with_ not in (GAZETTEER, PUBLISHED)


class LinkSection(ClosedModel):
    """The source of entities: a local snapshot of Wikidata, or the links of imported texts."""

    source: Literal["snapshot", "published"] = "snapshot"
    snapshot: str = "starter"  # a file of `polyculture wikidata build` or `pull`; or the bundled one
    fill: bool = False  # ask the live services for the names that `snapshot` was never asked for, and keep them in it
    search: bool = False  # with `fill`: search, too, for names that no item bears exactly
    forms: Forms = "all"  # "paper": labels and aliases as they stand, and the surface alone
    contact: str | None = None  # for the live service: an address that Wikimedia can write to
    sparql: str = Field(default="https://query.wikidata.org/sparql", pattern=r"^https?://")  # which items bear a name
    endpoint: str = Field(default="https://www.wikidata.org/w/api.php", pattern=r"^https?://")  # the items
    requests_per_minute: float | None = Field(default=None, gt=0, le=60_000, allow_inf_nan=False)

    @model_validator(mode="after")
    def _fills_a_file(self) -> LinkSection:
        if self.fill and (self.source != "snapshot" or self.snapshot == "starter"):
            raise ValueError(
                'fill is of a file of your own: write snapshot = "FILE.duckdb", which is made where missing'
            )
        if self.search and not self.fill:
            raise ValueError("search is a part of fill: write fill = true, or leave search out")
        return self


class StopSection(ClosedModel):
    """When a stage stops itself, and how long a service is waited for; with 0 never, and however long it takes."""

    answers: int = Field(default_factory=lambda: fault_table().stop.answers, ge=0, strict=True)  # prompts
    minutes: float = Field(default_factory=lambda: fault_table().stop.minutes, ge=0, le=10_000_000)

    @property
    def limits(self) -> StopLimits:
        """The same for the rule."""
        return StopLimits(self.answers, self.minutes)


class PriceSection(ClosedModel):
    """The price of a model, per million tokens."""

    model_config = ConfigDict(strict=True)

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    batch_discount: float = Field(default=0.5, ge=0, le=1)  # share that a batch saves


class StudySection(ClosedModel):
    """The study that an experiment is to be: `running/study.py` checks that all of its parts are as they are stated."""

    name: StudyName
    version: int = Field(ge=1, strict=True)
    polyculture: str | None = None  # the version of Polyculture with which the parts were stated
    parts: Mapping[str, str] = {}  # of `metrics.comparison.study.study_parts`: all of them, or some


class ModelFactsSection(ClosedModel):
    """What is known of a model: see `ModelFacts`."""

    model_config = ConfigDict(strict=True)

    origin: str | None = Field(default=None, pattern=r"^\S(?:[^\x00-\x1f\x7f]{0,98}\S)?$")
    parameters: float | None = Field(default=None, gt=0, le=100_000)  # in billions
    open: bool | None = None
