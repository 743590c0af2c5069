"""The tables of attention to options, which of their rows count, and the views on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, Table, Wanted, compose
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.questions.layout import LAYOUT as QUESTIONS
from polyculture.instruments.questions.layout import MEASURE as ANSWERED

_OWN = Path(__file__).parent
ASKED = "attention"  # how the names begin of what is asked of attention, among all that the instrument asks


@dataclass(frozen=True, slots=True)
class WantedAttention:
    """A question under a prompt as a model's attention to its options is read under a setup."""

    request_id: str  # as in `attention`
    question_id: str  # as in `questions`
    prompt: str  # the name of the prompt
    model: str
    setup_id: str  # its weights count while this is the model's setup
    asked_id: str  # hash of the prompt's wording: under another one they do not count


@dataclass(frozen=True, slots=True)
class AttentionRow:
    """How much the last token of a question attends to one of its options."""

    attention_id: str  # hash of request, question, prompt and option
    request_id: str  # hash of what the model reads: model, setup, text, and where the options stand in it
    model: str
    language: str
    topic: str  # of the job: set and category
    question_id: str  # as in `questions`
    prompt: str  # the name of the prompt
    option: int  # the option's place as it is shown, from 0: options are shown as they stand
    weight: float | None  # mean over heads and layers, then the largest of the option's tokens; None of a failure
    tokens: int | None  # of the option
    layers: int | None  # of the model, that attend
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: never, as the model would say the same
    model_version: str | None  # what the engine says it ran


WANTED_ATTENTION = Table("wanted_attention", WantedAttention)
ATTENTION = Table(
    "attention",
    AttentionRow,
    key="attention_id",
    unit="weights",
    wanted=Wanted("wanted_attention", ("question_id", "prompt")),
)


def _settings(run: RunFolder, manifest: Manifest) -> object:
    """What decides which weights count, and which answers: attention stands beside what was chosen."""
    asked = {name: one for name, one in manifest.asked.get("probe", {}).items() if name.startswith(f"{ASKED} ")}
    models = {job.model for job in run.jobs(ATTENTION.name) if job.model in manifest.models}
    setups = {model: manifest.setups.get(f"attend {model}") for model in models}
    return asked, setups, ANSWERED.settings and ANSWERED.settings(run, manifest)


MEASURE = Measure("attention", (WANTED_ATTENTION, ATTENTION, *ANSWERED.tables), _settings)
LAYOUT = compose(
    QUESTIONS,
    Layout((WANTED_ATTENTION, ATTENTION), Layer((_OWN / "wanted.sql",)), Layer((_OWN / "views.sql",)), (MEASURE,)),
)
