"""What `polyculture cbs` can be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from polyculture.instruments.contract import AtLeastOne, in_file
from polyculture.instruments.datasets.opened import DatasetOptions
from polyculture.instruments.datasets.presets import with_preset

if TYPE_CHECKING:
    from polyculture.instruments.cbs.protocol import ScoreProtocol

ScoreRule = Literal["sum", "mean", "probability"]
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
    rule: Annotated[ScoreRule, Field(description=RULE)] = "sum"

    @model_validator(mode="before")
    @classmethod
    def _behind(cls, values: Any) -> Any:
        """The values of the preset behind those that were said."""
        return with_preset(values, "cbs") if isinstance(values, Mapping) else values

    @property
    def protocol(self) -> ScoreProtocol:
        """How likelihoods become the score that is asked."""
        from polyculture.instruments.cbs.protocol import ScoreProtocol

        return ScoreProtocol(self.rule, self.average, self.draws, self.entities if self.draws else None)
