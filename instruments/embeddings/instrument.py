"""Embeddings as an instrument: `polyculture probe embeddings`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from polyculture.instruments.contract import Asked, AtLeastOne, Command, Shown, Study, Validity
from polyculture.instruments.datasets.opened import DatasetOptions, changed_reason
from polyculture.sources.rules import Names

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.layout import Table

LAYERS = ("first", "middle", "last")


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


def study(asked: Asked, options: EmbeddingsOptions) -> Study:
    """Represents the entities, measures, draws. Raises `DataSetError` without anything to query."""
    from dataclasses import replace

    from polyculture.cache.store.parquet import present_rows
    from polyculture.instruments.cbs.measure import NEUTRAL
    from polyculture.instruments.datasets.present import present_tables
    from polyculture.instruments.embeddings.layout import WANTED_REPRESENTATIONS
    from polyculture.instruments.embeddings.step import RepresentingStep, representing_jobs

    dataset = options.opened(asked.warning, causal=options.form == "causal")
    selection = replace(options.selection(options.form), settings=options.setting or (NEUTRAL,))
    setups = {model: asked.setup(model, "represent") for model in asked.models}
    # Chosen once: all models are asked the same, and what cannot be compared is told once.
    chosen = representing_jobs(dataset, selection, asked.warning)
    jobs = [
        replace(one, job=replace(one.job, model=model), setup=setup)
        for model, setup in setups.items()
        for one in chosen
    ]

    def tables() -> Mapping[Table[Any], pa.Table]:
        wanted = [one for job in jobs for one in job.wanted()]
        key = ("request_id", "comparison", "topic")
        return {
            **present_tables(asked.run, dataset),
            **present_rows(asked.run, WANTED_REPRESENTATIONS, wanted, key),
        }

    def derive() -> None:
        from polyculture.instruments.embeddings.measure import measure_separation

        measure_separation(asked.run)

    return Study(
        (RepresentingStep(jobs, options.layer or LAYERS),),
        Validity(
            {f"represent {model}": setup for model, setup in setups.items()},
            tables=tables,
            reason=changed_reason(dataset),
        ),
        derive,
        tuple(Shown(Path(__file__).with_name("separations.sql"), {"model": model}) for model in asked.models),
        view="representations",
    )


COMMANDS: Mapping[str, Command] = {
    "embeddings": Command(
        EmbeddingsOptions,
        study,
        "polyculture probe embeddings exp.toml --language ja --type food",
        needs=lambda _: ("represent",),
    )
}
