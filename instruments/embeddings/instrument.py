"""Embeddings as an instrument: `polyculture probe embeddings`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from polyculture.instruments.contract import AskedExperiment, AtLeastOne, Command, Shown
from polyculture.instruments.datasets.opened import DatasetOptions, Names, changed_reason
from polyculture.instruments.declared import Inquiry, Instrument
from polyculture.instruments.embeddings.layout import REPRESENTATIONS

if TYPE_CHECKING:
    from polyculture.instruments.embeddings.step import RepresentingJob


class EmbeddingsOptions(DatasetOptions):
    """Measure how far apart a model holds native and Western entities: Davies-Bouldin index, and a map by t-SNE.

    Hidden states of an entity's tokens in all contexts that it fits, averaged. Where entities have a gender, women's
    and men's are compared apart. What is represented already stays.
    """

    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    layer: Annotated[Names, Field(description="first, middle, last, or a number. Default: these three.")] = ()
    setting: Annotated[Names, Field(description="Contexts of these settings. Default: neutral.")] = ()
    form: Annotated[
        Literal["causal", "masked"], Field(description="masked: for models that read what is behind the gap, too.")
    ] = "causal"
    contexts: Annotated[AtLeastOne | None, Field(description="At most this many of each type and gender.")] = None


def ask(asked: AskedExperiment, options: EmbeddingsOptions) -> Inquiry[RepresentingJob]:
    """Represents the entities, measures, draws. Raises `DataSetError` without anything to query."""
    from dataclasses import replace

    from polyculture.instruments.cbs.measure import NEUTRAL
    from polyculture.instruments.datasets.present import present_tables
    from polyculture.instruments.embeddings.measure import measure_separation
    from polyculture.instruments.embeddings.step import LAYERS, RepresentingStep, representing_jobs

    dataset = options.opened(asked.warning, causal=options.form == "causal")
    selection = replace(options.selection(options.form), settings=options.setting or (NEUTRAL,))
    # Chosen once: all models are asked the same, and what cannot be compared is told once.
    chosen = representing_jobs(dataset, selection, asked.warning, options.layer or LAYERS)
    return Inquiry(
        lambda _model: chosen,
        RepresentingStep,
        data=lambda _jobs: present_tables(asked.run, dataset),
        derive=lambda: measure_separation(asked.run),
        shown=[Shown(Path(__file__).with_name("separations.sql"), {"model": model}) for model in asked.models],
        reason=changed_reason(dataset),
    )


EMBEDDINGS = Instrument(
    REPRESENTATIONS, EmbeddingsOptions, ask, "polyculture probe embeddings exp.toml --language ja --type food"
)
COMMANDS: Mapping[str, Command] = {"embeddings": EMBEDDINGS.command}
