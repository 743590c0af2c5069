"""`polyculture probe attention culture-mcq exp.toml`: how much a model attends to each option of a question."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.contract import Asked, AtLeastOne, Shown, Study, Validity

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.layout import Table

_OWN = Path(__file__).parent


class AttentionOptions(BaseModel):
    """Read how much the last token of a question attends to each of its options, before anything is written.

    Of a set of `polyculture ask` with options, of models whose attention can be read. Ask the set with `--orders one`,
    too: attention stands beside what was chosen. What is read already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    set: Annotated[str, Field(description="A shipped set, or a rules file, as of `polyculture ask`.")] = "culture-mcq"
    folder: Annotated[Path | None, Field(description="The folder of its files, if they were not fetched.")] = None
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    only: Annotated[tuple[str, ...], Field(description="Only questions with this facet, as type=resource.")] = ()
    units: Annotated[AtLeastOne | None, Field(description="Only so many units, drawn by the seed.")] = None
    prompts: Annotated[tuple[str, ...], Field(description="The set's prompts: 3, or 1..5. Default: all.")] = ()
    method: Annotated[
        tuple[Literal["generated", "text"], ...],
        Field(description="generated: through the chat template; text: the message as it stands."),
    ] = ("generated",)

    def check_names(self) -> None:
        """Raises `DataSetError` of a set that there is not."""
        from polyculture.instruments.questions.instrument import AskOptions

        AskOptions(set=self.set).check_names()


def study(asked: Asked, options: AttentionOptions) -> Study:
    """Reads attention, then tests it. Raises `EngineError` where a model does not show it, before anything is read."""
    from polyculture.cache.parquet import present_rows
    from polyculture.generate.engines import ATTENDING, check_can
    from polyculture.instruments.probe.attention.layout import ASKED
    from polyculture.instruments.probe.attention.measure import measure_attention
    from polyculture.instruments.probe.attention.rows import WANTED_ATTENTION
    from polyculture.instruments.probe.attention.step import AttentionJob, AttentionStep
    from polyculture.instruments.questions.instrument import AskOptions
    from polyculture.instruments.questions.study import ask_jobs, part_of, present_tables

    for model in asked.models:
        check_can(asked.spec(model), ATTENDING)
    own = options.model_dump(include={"set", "folder", "only", "units", "prompts", "method"})
    asking = AskOptions(**own, orders="one")
    parts = [part_of(one, asking, asked.seed, asked.say) for one in asking.opened()]
    setups = {model: asked.setup(model, "attend") for model in asked.models}
    jobs = [
        AttentionJob(job)
        for part in parts
        for method in dict.fromkeys(options.method)
        for model in asked.models
        for job in ask_jobs(part, asking, method, model, setups[model], asked.seed)
    ]
    sets = [part.of for part in parts]
    ids = {
        f"{ASKED} {job.asked.questions[0].set} {job.asked.method} {prompt.name} {prompt.language}": job.asked_id(prompt)
        for job in jobs
        for prompt in job.asked.prompts
        if prompt is not None
    }
    wanted = [one for job in jobs for one in job.wanted()]

    def tables() -> Mapping[Table[Any], pa.Table]:
        key = ("request_id", "question_id", "prompt")
        return {
            **present_tables(asked.run, sets, ()),
            **present_rows(asked.run, WANTED_ATTENTION, wanted, key),
        }

    return Study(
        [AttentionStep(jobs)],
        Validity(
            {f"attend {model}": setup for model, setup in setups.items()},
            ids,
            tables,
            f"{options.set}: not all that was asked is among its questions now",
        ),
        lambda: measure_attention(asked.run),
        (
            Shown(
                _OWN / "attention_tests.sql",
                {"dataset": [one.name for one in sets], "model": list(asked.models)},
            ),
        ),
        view="attention",
    )
