"""What reading attention adds to the command: a step, and the setups and wordings that are valid."""

from __future__ import annotations

from collections.abc import Sequence

from polyculture.cache.manifest import setup_id
from polyculture.generate.engines import ATTENDING, check_can
from polyculture.instruments.contract import Asked, Setup
from polyculture.instruments.culture_mcq.asking import McqJob
from polyculture.instruments.culture_mcq.attention_rows import Measure
from polyculture.instruments.culture_mcq.attention_step import AttentionJob, AttentionStep, asked_id

Parts = tuple[list[AttentionStep], dict[str, Setup], dict[str, str]]


def attending(asked: Asked, measures: Sequence[Measure], jobs: Sequence[McqJob]) -> Parts:
    """Reads the attention to the options of what `jobs` ask; nothing without a measure.

    Raises `EngineError` where a model does not show its attention, before anything is asked.
    """
    measures = tuple(dict.fromkeys(measures))
    if not measures:
        return [], {}, {}
    for model in asked.models:
        check_can(asked.spec(model), ATTENDING)
    setups = {model: asked.setup(model, "attend") for model in asked.models}
    ids = {
        f"{job.dataset} attention {measure} {job.method} {prompt.name}": asked_id(prompt, job.method, measure)
        for job in jobs
        for measure in measures
        for prompt in job.prompts
    }
    read = [
        AttentionJob(
            one.job, one.dataset, one.method, setup_id(setups[one.job.model]), one.questions, one.prompts, measures
        )
        for one in jobs
    ]
    return [AttentionStep(read)], {f"attend {model}": setup for model, setup in setups.items()}, ids
