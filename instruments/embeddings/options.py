"""What `polyculture probe embeddings` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from polyculture.instruments.contract import AtLeastOne, SeveralNames
from polyculture.instruments.datasets.opened import DatasetOptions


class EmbeddingsOptions(DatasetOptions):
    """Measure how far apart a model holds native and Western entities: Davies-Bouldin index, and a map by t-SNE.

    Hidden states of an entity's tokens in all contexts that it fits, averaged. Where entities have a gender, women's
    and men's are compared apart. What is represented already stays.
    """

    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    layer: Annotated[SeveralNames, Field(description="first, middle, last, or a number. Default: these three.")] = ()
    setting: Annotated[SeveralNames, Field(description="Contexts of these settings. Default: neutral.")] = ()
    form: Annotated[
        Literal["causal", "masked"], Field(description="masked: for models that read what is behind the gap, too.")
    ] = "causal"
    contexts: Annotated[AtLeastOne | None, Field(description="At most this many of each type and gender.")] = None
