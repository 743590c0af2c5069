"""The work of `polyculture probe embeddings`: what it asks, and what it shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from polyculture.instruments.cbs.measure import NEUTRAL
from polyculture.instruments.contract import AskedExperiment, PrintedTable
from polyculture.instruments.datasets.opened import changed_reason
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.embeddings.measure import measure_separation
from polyculture.instruments.embeddings.options import EmbeddingsOptions
from polyculture.instruments.embeddings.step import LAYERS, RepresentingJob, RepresentingStep, representing_jobs


def inquiry(asked: AskedExperiment, options: EmbeddingsOptions) -> Inquiry[RepresentingJob]:
    """Represents the entities, measures, draws. Raises `DataSetError` without anything to query."""
    dataset = options.opened(asked.warning, causal=options.form == "causal")
    selection = replace(options.selection(options.form), settings=options.setting or (NEUTRAL,))
    # Chosen once: all models are asked the same, and a line says once what cannot be compared.
    chosen = representing_jobs(dataset, selection, asked.warning, options.layer or LAYERS)
    return Inquiry(
        lambda _model: chosen,
        lambda jobs: [RepresentingStep(jobs)],
        data=lambda _jobs: present_tables(asked.run, dataset),
        derive=lambda: measure_separation(asked.run),
        shown=[PrintedTable(Path(__file__).with_name("separations.sql"), {"model": model}) for model in asked.models],
        reason=changed_reason(dataset),
    )
