"""The options of `polyculture swap`: the task, its texts and entities, and who is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, ValidationInfo, model_validator

from polyculture.cache.validation import refuse_ignored
from polyculture.cache.written_paths import FilePath, NameOrFolder
from polyculture.instruments.contract import AtLeastOne, in_file
from polyculture.instruments.datasets.opened import DatasetOptions
from polyculture.instruments.datasets.presets import with_preset

PRESET = "A paper's choices for all options that you do not give: docs/swaps.md."
LabelFile = Annotated[FilePath | None, in_file("What the model's labels mean: a TOML file of yours.")]


_OF_PROMPTS = ("model", "temperature", "top_p", "top_k", "max_tokens", "json_schema", "prompts")


class OwnModel(NamedTuple):
    """A classifier or tagger of transformers, and the file that says what its labels mean."""

    name: str
    labels: FilePath | None


class SwapOptions(DatasetOptions):
    """The task that a command runs on texts with native and with Western entities."""

    task: ClassVar[str]

    preset: str
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    entities: Annotated[
        AtLeastOne,
        Field(description="How many entities are drawn for each context and culture, or all if there are fewer."),
    ] = 50
    equal_sides: Annotated[bool, in_file("Draw a side's entities again until it has as many texts.")] = False
    draws: Annotated[
        AtLeastOne, Field(description="How often the entities are drawn anew (the papers call this a run).")
    ] = 3
    temperature: Annotated[
        float, in_file("0: the likeliest answer, asked once for all draws.", ge=0, allow_inf_nan=False)
    ] = 0.0
    top_p: Annotated[float, in_file("Sample from this share of the probability.", gt=0, le=1)] = 1.0
    top_k: Annotated[AtLeastOne | None, in_file("Sample from this many tokens.")] = None
    max_tokens: Annotated[
        AtLeastOne | None, in_file("The limit of an answer. Default: 48 (sentiment), 64 (qa), 256 (ner).")
    ] = None
    json_schema: Annotated[bool, in_file("A JSON schema constrains the answer, where the engine can.")] = True
    prompts: Annotated[
        FilePath | None,
        in_file(
            "Prompts of your own: one file for all texts, or a folder with ja.toml, ... Default: ours, in English."
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _behind(cls, values: Any) -> Any:
        """The values of the preset behind those that were said."""
        return with_preset(values, cls.task) if isinstance(values, Mapping) else values

    @model_validator(mode="after")
    def _used(self, info: ValidationInfo) -> Self:
        if self.own_model is not None:
            refuse_ignored(self, info, _OF_PROMPTS, "only models that are asked by prompts take it")
        elif "labels" in type(self).model_fields:
            refuse_ignored(self, info, ["labels"], "only a classifier or tagger has labels")
        return self

    @property
    def own_model(self) -> OwnModel | None:
        """What is asked instead of the experiment's models; None without."""
        return None


class EntityOptions(SwapOptions):
    """The tasks whose right answer is the entity."""

    unreadable: Annotated[
        Literal["wrong", "left-out"],
        in_file("What an answer that cannot be read counts as in the table. Both are kept."),
    ] = "wrong"


class SentimentOptions(SwapOptions):
    """Label texts as positive, negative or neutral, with native and with Western entities in them.

    The tables show which labels are wrong, and how much more often with the entities of one culture. Existing answers
    are kept.
    """

    task: ClassVar[str] = "sentiment"

    preset: Annotated[Literal["ours", "camel", "camellia"], Field(description=PRESET)] = "ours"
    pooled: Annotated[bool, in_file("Print grounded and neutral contexts together. Both are kept.")] = False
    classifier: Annotated[
        NameOrFolder | None, Field(description="Ask this text classifier of transformers instead.")
    ] = None
    labels: LabelFile = None

    @property
    def own_model(self) -> OwnModel | None:
        return None if self.classifier is None else OwnModel(self.classifier, self.labels)


class QaOptions(EntityOptions):
    """Ask which entity a text names, with native and with Western entities in it.

    An answer is right if it equals the entity after normalisation. Existing answers are kept.
    """

    task: ClassVar[str] = "qa"

    preset: Annotated[Literal["ours", "camellia"], Field(description=PRESET)] = "ours"


class NerOptions(EntityOptions):
    """Find the names in texts, with native and with Western entities in them.

    The tables give precision, recall and F1 of the entity's exact span. Existing answers are kept.
    """

    task: ClassVar[str] = "ner"

    preset: Annotated[Literal["ours", "camel"], Field(description=PRESET)] = "ours"
    tagger: Annotated[NameOrFolder | None, Field(description="Ask this token classifier of transformers instead.")] = (
        None
    )
    labels: LabelFile = None

    @property
    def own_model(self) -> OwnModel | None:
        return None if self.tagger is None else OwnModel(self.tagger, self.labels)
