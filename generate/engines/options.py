"""The options that an experiment file gives to an engine: what all engines' options share.

An option decides what a model answers, unless its type says otherwise: `Annotated[int, PACE]` only says where or how
fast, `Annotated[bool, Decides("score")]` decides scores and nothing else. Options that decide are part of a setup.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from polyculture.cache.errors import EngineError, together
from polyculture.cache.validation import describe_fault
from polyculture.generate.engines.base import ModelSpec

# Log-probabilities, hidden states, what is written of patched ones, attention, vocabularies, short answers of
# instruments, and texts: whatever decides answers decides texts.
Use = Literal["score", "represent", "patch", "attend", "tokenize", "answer", "sample"]


class Decides:
    """The uses of a model that an option decides."""

    def __init__(self, *uses: Use) -> None:
        self.uses = frozenset((*uses, "sample") if "answer" in uses else uses)


PACE = Decides()
SYSTEM = "system"  # the option that is a message of its own, before each prompt; no engine reads it
SAMPLING_SEED = "sampling_seed"  # the option that takes the place of `[sampling] seed`; no engine reads it
OF_TEXTS = (SYSTEM, SAMPLING_SEED)  # options that say how a model is asked for texts, and not which model it is
_EVERYTHING = Decides(*get_args(Use))


class Options(BaseModel):
    """What an engine can be told; each engine has its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # The system prompt of texts. Extraction and instruments have messages of their own.
    system: Annotated[str | None, Decides("sample")] = Field(default=None, min_length=1, pattern=r"\S")
    # In place of the experiment's seed: the same model asked once more for other samples of its texts, as a control.
    sampling_seed: Annotated[int | None, Decides("sample")] = Field(default=None, ge=0, lt=2**31)

    @classmethod
    def deciding(cls, use: Use) -> set[str]:
        """The options that decide what a model answers in a use."""
        marks = {
            name: next((mark for mark in field.metadata if isinstance(mark, Decides)), _EVERYTHING)
            for name, field in cls.model_fields.items()
        }
        return {name for name, mark in marks.items() if use in mark.uses}


Model = TypeVar("Model", bound=Options)


def read_options(model: type[Model], spec: ModelSpec) -> Model:
    """`spec.options` as the engine's own type. `EngineError` names each key that is unknown or does not fit."""
    try:
        return model.model_validate(dict(spec.options))
    except ValidationError as fault:
        raise together(_fault(model, spec, error) for error in fault.errors()) from None


def _fault(model: type[Options], spec: ModelSpec, error: ErrorDetails) -> EngineError:
    what, remedy = describe_fault(error, error["loc"], model.model_fields, see="")
    return EngineError(what, where=f"options of {spec.model}", remedy=remedy or None)
