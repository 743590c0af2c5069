"""What `polyculture probe attention` does: the part of the sets that is asked, and the jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from polyculture.cache.store.layout import Table
from polyculture.cache.store.parquet import present_rows
from polyculture.generate.engines import ATTENDING, check_can
from polyculture.instruments.contract import Asked, Shown, Study, Validity
from polyculture.instruments.probe.attention.layout import ASKED, WANTED_ATTENTION
from polyculture.instruments.probe.attention.step import AttentionJob, AttentionStep
from polyculture.instruments.probe.options import AttentionOptions
from polyculture.instruments.questions.asking import GENERATED
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.questions.study import ask_jobs, part_of, present_tables

_FOLDER = Path(__file__).parent


def study(asked: Asked, options: AttentionOptions) -> Study:
    """Reads attention, then tests it. Raises `EngineError` where a model does not show it, before anything is read."""

    from polyculture.instruments.probe.attention.measure import measure_attention

    for model in asked.models:
        check_can(asked.spec(model), ATTENDING)
    own = options.model_dump(include={"set", "folder", "only", "units", "prompts"})
    asking = AskOptions(**own, orders="one")
    parts = [part_of(one, asking, asked.seed, asked.info) for one in asking.opened()]
    setups = {model: asked.setup(model, "attend") for model in asked.models}
    jobs = [
        AttentionJob(job)
        for part in parts
        for model in asked.models
        for job in ask_jobs(part, asking, GENERATED, model, setups[model], asked.seed)
    ]
    sets = [part.of for part in parts]
    ids = {
        f"{ASKED} {job.asked.questions[0].set} {prompt.name} {prompt.language}": job.asked_id(prompt)
        for job in jobs
        for prompt in job.asked.prompts
        if prompt is not None
    }
    wanted = [one for job in jobs for one in job.wanted()]

    def tables() -> Mapping[Table[Any], pa.Table]:
        return {**present_tables(asked.run, sets, ()), **present_rows(asked.run, WANTED_ATTENTION, wanted)}

    return Study(
        [AttentionStep(jobs)],
        Validity(
            {f"attend {model}": setup for model, setup in setups.items()},
            ids,
            tables,
            f"{options.set}: not all that was asked is among its questions now",
        ),
        lambda: measure_attention(asked.run),
        (Shown(_FOLDER / "attention_tests.sql", {"dataset": [one.name for one in sets], "model": list(asked.models)}),),
    )
