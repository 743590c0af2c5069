"""The tables of swapped entities, which of their rows count, and the views on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, Requests, Table, Wanted, compose
from polyculture.cache.store.schema.asked import Answered, Requested
from polyculture.instruments.datasets.layout import DATASETS
from polyculture.instruments.declared import boards


@dataclass(frozen=True, slots=True)
class SwapQuestion:
    """How the texts of a task in one language are asked about."""

    asked_id: str  # hash of task, wording, decoding and seed; of a classifier or tagger of what its labels mean
    task: str  # 'sentiment' | 'qa' | 'ner'
    answer_method: str  # 'prompt': a language model was asked | 'classifier' | 'tagger': a model of that task
    wording: str | None  # 'standard': ours | 'own' | a preset's; None where no question is asked
    settings: str | None  # JSON: templates, their language, schema, limits; a `settings_id` without the text's language
    seed: int  # of draw 0


@dataclass(frozen=True, slots=True)
class WantedSwap(Requested):
    """A text of a draw as a model is asked about it under a setup."""

    context_id: str  # as in `dataset_contexts`
    entity_id: str  # as in `dataset_entities`
    sample: int  # as in `swap_responses`
    draw: int  # the number of the draw of entities, from 0
    times: int  # how often the text counts: its draw takes the entity so often, as its side has fewer than are drawn
    asked_id: str  # as in `swap_questions`


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapResponse(Answered):
    """What a model said of a context with an entity in its gap, or the error.

    The topic of its job is task, data set, native culture and type of entities; the language is the context's.
    """

    context_id: str  # as in `dataset_contexts`
    entity_id: str  # as in `dataset_entities`
    sample: int  # the draw that it was asked for; 0 where the same text is answered alike in every draw


@dataclass(frozen=True, slots=True)
class SwapReading:
    """What a reader makes of an answer. Reading is a step of its own, and free: it asks no model."""

    reading_id: str  # hash of answer_id and reader_id
    answer_id: str  # the answer that was read
    reader_id: str  # hash of the rules by which it was read
    status: str  # 'ok' | 'failed'
    error: str | None  # why the answer could not be read, one line
    answer: str | None  # sentiment: the label; qa: the words that were named; ner: the names found, a line each
    matched: int | None  # sentiment, qa: 1 if the answer is right, else 0; ner: names that are the entity, exactly
    predicted: int | None  # ner: names of the type that were found in the text
    elsewhere: int | None  # ner: those of them that do not touch the entity
    refused: bool | None  # the model declined in words; None where nobody looked
    strict: int | None  # qa: 1 if the answer is the entity, character by character; ner: its span, no title with it
    strict_predicted: int | None  # ner: names found, each as it was named


TASKS = ("sentiment", "qa", "ner")
READING = "reading"  # the facet of numbers that says how answers are read, where an entity is asked for
# What cannot be read is wrong; it is left out; an answer is right by its characters alone, without normalisation.
NORMALISED, READABLE, STRICT = "normalised", "readable", "strict"
# A file a task: what one task asks changes no number of another.
SWAP_QUESTIONS = Table("swap_questions", SwapQuestion, by_measure=True, same=("asked_id",))
_LABELLED = "w.asked_id IN (SELECT asked_id FROM stored_swap_questions WHERE answer_method <> 'prompt')"
WANTED_SWAPS = Table(
    "wanted_swaps",
    WantedSwap,
    by_measure=True,
    requests=Requests("answer", "swaps", brought=_LABELLED),
    same=("asked_id", "model", "context_id", "entity_id", "draw"),
)
SWAP_RESPONSES = Table(
    "swap_responses",
    SwapResponse,
    key="answer_id",
    stage="swap",
    unit="answers",
    wanted=Wanted("wanted_swap_texts", ("context_id", "entity_id", "sample", "model"), True, WANTED_SWAPS),
)
SWAP_READINGS = Table("swap_readings", SwapReading, key="reading_id", unit="readings")


_OWN = Path(__file__).parent
RATES, COUNTS = _OWN / "swap_rates.sql", _OWN / "swap_counts.sql"  # what the command prints


def _measure(task: str) -> Measure:
    asked = (table.of_measure(task) for table in (SWAP_QUESTIONS, WANTED_SWAPS))
    return Measure(task, (*asked, SWAP_RESPONSES, SWAP_READINGS), topics=f"{task}-")


MEASURES = {task: _measure(task) for task in TASKS}
SWAPS = compose(
    DATASETS,
    Layout(
        (SWAP_QUESTIONS, WANTED_SWAPS, SWAP_RESPONSES, SWAP_READINGS),
        Layer((_OWN / "wanted.sql", _OWN / "answers.sql"), {"failed": ("failed_swap_readings",)}),
        Layer((_OWN / "views.sql",), boards("swap")),
        tuple(MEASURES.values()),
    ),
)
LAYOUT = SWAPS
