"""Swapped entities as an instrument: `polyculture swap sentiment`, `qa` and `ner`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from polyculture.instruments.contract import IN_FILE, Asked, AtLeastOne, Command, Demo, Idle, Need, Study
from polyculture.instruments.datasets.opened import DatasetOptions

_OWN = Path(__file__).parent
RATES, COUNTS = _OWN / "swap_rates.sql", _OWN / "swap_counts.sql"
PRESET = "A paper's choices for all options that you do not give: docs/swaps.md."
_FIELDS = {"schema": "schema_"}  # what files call an option -> its field: pydantic has a `schema` of its own
_NAMES = {field: name for name, field in _FIELDS.items()}
LabelFile = Annotated[
    Path | None,
    Field(description="What the model's labels mean: a TOML file of yours.", json_schema_extra=IN_FILE),
]


class OwnModel(NamedTuple):
    """A classifier or tagger of transformers, and the file that says what its labels mean."""

    name: str
    labels: Path | None


class SwapOptions(DatasetOptions):
    """The task that a command runs on texts with native and with Western entities."""

    task: ClassVar[str]

    preset: str
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    entities: Annotated[
        AtLeastOne, Field(description="Drawn for each context and culture; fewer where there are fewer.")
    ] = 50
    equal_sides: Annotated[
        bool, Field(description="Draw a side's entities again until it has as many texts.", json_schema_extra=IN_FILE)
    ] = False
    draws: Annotated[AtLeastOne, Field(description="How often they are drawn: the papers' runs.")] = 3
    temperature: Annotated[
        float,
        Field(
            ge=0,
            allow_inf_nan=False,
            description="0: the likeliest answer, asked once for all draws.",
            json_schema_extra=IN_FILE,
        ),
    ] = 0.0
    top_p: Annotated[
        float, Field(gt=0, le=1, description="Sample from this share of the probability.", json_schema_extra=IN_FILE)
    ] = 1.0
    top_k: Annotated[
        AtLeastOne | None, Field(description="Sample from this many tokens.", json_schema_extra=IN_FILE)
    ] = None
    max_tokens: Annotated[
        AtLeastOne | None,
        Field(
            description="The limit of an answer. Default: 48 (sentiment), 64 (qa), 256 (ner).",
            json_schema_extra=IN_FILE,
        ),
    ] = None
    schema_: Annotated[
        Literal["on", "off"],
        Field(description="off: no JSON schema constrains the answer.", json_schema_extra=IN_FILE),
    ] = "on"
    ask: Annotated[
        str | None,
        Field(description="Ask in this language. Default: text, that of the text.", json_schema_extra=IN_FILE),
    ] = None
    prompts: Annotated[
        Path | None,
        Field(
            description="Prompts of your own: a folder with ja.toml, ..., or one file for texts of all languages.",
            json_schema_extra=IN_FILE,
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _behind(cls, values: Any) -> Any:
        """The values of the preset behind those that were said."""
        from polyculture.instruments.datasets.presets import with_preset

        if not isinstance(values, Mapping):
            return values
        said = {_NAMES.get(str(name), str(name)): value for name, value in values.items()}
        return {_FIELDS.get(name, name): value for name, value in with_preset(said, cls.task).items()}

    @property
    def own_model(self) -> OwnModel | None:
        """What is asked instead of the experiment's models; None without."""
        return None

    @property
    def said(self) -> dict[str, Any]:
        """The options as files call them."""
        return {_NAMES.get(name, name): value for name, value in self.model_dump().items()}


class EntityOptions(SwapOptions):
    """The tasks whose right answer is the entity."""

    unreadable: Annotated[
        Literal["wrong", "left-out"],
        Field(
            description="What an answer that cannot be read counts as in the table. Both are kept.",
            json_schema_extra=IN_FILE,
        ),
    ] = "wrong"


class SentimentOptions(SwapOptions):
    """Label texts as positive, negative or neutral, with native and with Western entities in them.

    Which labels are wrong, and how much more often with entities of one culture. What is answered already stays.
    """

    task: ClassVar[str] = "sentiment"

    preset: Annotated[Literal["ours", "camel", "camellia"], Field(description=PRESET)] = "ours"
    pooled: Annotated[
        bool,
        Field(description="Print grounded and neutral contexts together. Both are kept.", json_schema_extra=IN_FILE),
    ] = False
    classifier: Annotated[str | None, Field(description="Ask this text classifier of transformers instead.")] = None
    labels: LabelFile = None

    @property
    def own_model(self) -> OwnModel | None:
        return None if self.classifier is None else OwnModel(self.classifier, self.labels)


class QaOptions(EntityOptions):
    """Ask which entity a text names, with native and with Western entities in it.

    The answer counts if it is the entity, after normalisation. What is answered already stays.
    """

    task: ClassVar[str] = "qa"

    preset: Annotated[Literal["ours", "camellia"], Field(description=PRESET)] = "ours"


class NerOptions(EntityOptions):
    """Find the names in texts, with native and with Western entities in them.

    Precision, recall and F1 of the entity's exact span. What is answered already stays.
    """

    task: ClassVar[str] = "ner"

    preset: Annotated[Literal["ours", "camel"], Field(description=PRESET)] = "ours"
    tagger: Annotated[str | None, Field(description="Ask this token classifier of transformers instead.")] = None
    labels: LabelFile = None

    @property
    def own_model(self) -> OwnModel | None:
        return None if self.tagger is None else OwnModel(self.tagger, self.labels)


_DEMO = Path(__file__).parent / "demo"


def study(asked: Asked, options: SwapOptions) -> Study:
    """Asks about the texts and reads the answers. Raises `DataSetError` without any text."""
    from polyculture.instruments.swaps.study import study as made

    return made(asked, options)


def _demo(**sizes: int) -> Demo:
    """Minutes on two cores. English only: the demo's model was made for it, and is slow in other languages."""
    own = {"data": "own", "folder": _DEMO, "language": ("en",), "entities": 3, "draws": 2, **sizes}
    help_ = "The embedded model, texts of our own; in swaps-demo/."
    return Demo(_DEMO / "swaps_demo.toml", "swaps-demo", help_, own, ("data", "folder"))


_OF_PROMPTS = ("model", "temperature", "top_p", "top_k", "max_tokens", "schema", "schema_", "ask", "prompts")


def _idle(own: str) -> tuple[Idle, ...]:
    """What is idle beside a model of one's own, --classifier or --tagger, and without it."""
    by_prompts = f"is of models that are asked by prompts: not --{own}"
    return (
        Idle(_OF_PROMPTS, lambda options: options.own_model is not None, by_prompts),
        Idle(("labels",), lambda options: options.own_model is None, f"is of a --{own}"),
    )


def _needs(options: SwapOptions) -> tuple[Need, ...]:
    """Texts of the experiment's models; nothing of them where a classifier or tagger answers."""
    return ("sample",) if options.own_model is None else ()


COMMANDS: Mapping[str, Command] = {
    "sentiment": Command(
        SentimentOptions,
        study,
        "polyculture swap sentiment exp.toml --data camellia --language ja --contexts 5 --entities 10",
        _demo(),
        tables=(RATES, COUNTS),
        needs=_needs,
        idle=_idle("classifier"),
    ),
    "qa": Command(
        QaOptions,
        study,
        "polyculture swap qa exp.toml --data camellia --language ko --contexts 5 --entities 10",
        _demo(),
        needs=_needs,
    ),
    "ner": Command(
        NerOptions,
        study,
        "polyculture swap ner exp.toml --data camellia --type names --tagger Davlan/xlm-roberta-base-ner-hrl",
        _demo(contexts=2),
        needs=_needs,
        idle=_idle("tagger"),
    ),
}
