"""What a model says of a text when the entity in it is swapped."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table


@dataclass(frozen=True, slots=True)
class SwapAnswer:
    """What a model said of a context with an entity in its gap, and whether that is right."""

    answer_id: str  # hash of prompt_id, model, setup, context, entity and draw
    prompt_id: str  # hash of all that decides the answer but model and text: task, prompt, decoding
    task: str  # 'sentiment' | 'qa' | 'ner'
    answer_method: str  # 'prompt': a language model was asked | 'classifier' | 'tagger': a model of that task
    model: str
    dataset: str
    language: str  # of the context: a code of the data set's
    culture: str  # the native culture of the comparison
    entity_type: str
    setting: str  # 'grounded' | 'neutral' | 'qa', or a user's own
    context_id: str
    context: str  # its text, with the gap as [MASK]
    entity_id: str
    entity: str  # as it was put into the gap
    entity_culture: str
    native: bool  # it is that of the context
    draw: int  # the number of the draw of entities, from 0
    seed: int
    gold: str  # sentiment: the label of the context; qa, ner: the entity
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    raw: str | None  # the model's answer, as it came
    answer: str | None  # sentiment: the label; qa: the words that were named; ner: the names found, a line each
    matched: int | None  # sentiment, qa: 1 if the answer is right, else 0; ner: names that are the entity, exactly
    predicted: int | None  # ner: names of the type that were found in the text
    elsewhere: int | None  # ner: those of them that do not touch the entity
    prompt_tokens: int | None  # NULL, too, where the answer is that of another draw
    completion_tokens: int | None
    model_version: str | None  # what the engine says it ran
    purchase: str | None  # 'direct' | 'batch': how the answer was bought; None where it was taken from another draw
    setup_id: str | None = None  # hash of which model it is, exactly, and of the options that decide its answers
    reader_id: str | None = None  # hash of the rules by which it was read, where they are no part of prompt_id
    refused: bool | None = None  # the model declined in words; None where nobody looked
    note: str | None = None  # what of the answer was mended or dropped on arrival, as in `responses`
    source_context_id: str | None = None  # of a translated context: the context_id of its source
    wording: str | None = None  # 'standard' | another of ours | 'own' | a preset's; None where no question is asked
    settings: str | None = None  # JSON: the question's templates and language, schema, temperature, top_p, top_k, limit
    strict: int | None = (
        None  # qa: 1 if the answer is the entity, character by character; ner: its span, no title with it
    )
    strict_predicted: int | None = None  # ner: names found, each as it was named
    echoed: int | None = None  # qa: 1 if the answer is no entity, but words of the question for its type


@dataclass(frozen=True, slots=True)
class SwapReading:
    """What a reader made of an answer that came before it did. The columns of these names in `SwapAnswer` are those of
    the reader that was there when the answer came."""

    reading_id: str  # hash of answer_id and reader_id
    answer_id: str  # the answer that was read
    reader_id: str  # hash of the rules by which it was read
    status: str  # 'ok' | 'failed'
    error: str | None  # why the answer could not be read, one line
    answer: str | None  # as in `swap_answers`
    matched: int | None  # by the gold label of when it was asked
    predicted: int | None  # ner: names of the type that were found in the text
    elsewhere: int | None  # ner: those of them that do not touch the entity
    refused: bool | None  # the model declined in words; None where its reasoning did not end
    strict: int | None = (
        None  # qa: 1 if the answer is the entity, character by character; ner: its span, no title with it
    )
    strict_predicted: int | None = None  # ner: names found, each as it was named
    echoed: int | None = None  # qa: 1 if the answer is no entity, but words of the question for its type


@dataclass(frozen=True, slots=True)
class SwapInterval:
    """A share of answers on one side, or the difference of both sides, with its 95 % interval."""

    task: str  # 'sentiment' | 'qa' | 'ner'
    metric: str  # 'accuracy', ...; 'readable_...': without answers that cannot be read; 'strict_...': exact characters
    side: str  # 'native' | 'western' | 'difference': native less Western
    answer_method: str
    model: str
    dataset: str
    language: str | None  # None over all languages of the data set
    culture: str | None  # None over all native cultures
    entity_type: str | None  # None over all types
    setting: str
    estimate: (
        float | None
    )  # of a side 0 .. 1, of a difference -1 .. 1: the mean over draws; None where no answer counts
    low: float | None  # None where there is too little to say
    high: float | None
    p: float | None  # of a difference: two-sided
    deviation: float | None  # standard deviation over draws (n - 1)
    draws: int
    contexts: int
    native_entities: int
    western_entities: int
    answers: int  # that the number rests on: those of its denominator
    failed: int  # of those asked: not read, each with a reason in `swap_answers`
    asked: int | None = None  # texts, once for each draw
    answered: int | None = None  # of those: with an answer, readable or not
    readable: int | None = None  # of those: that could be read
    right: int | None = None  # of those: the right label, the entity, its exact span
    pooled: bool | None = None  # over all settings; None: of one
    wording: str | None = None  # of the questions


@dataclass(frozen=True, slots=True)
class SwapRepeat:
    """An entity that a draw takes more than once: its side has fewer than are drawn, and sides are equal."""

    task: str  # 'sentiment' | 'qa' | 'ner'
    context_id: str
    entity_id: str
    draw: int  # the number of the draw of entities, from 0
    times: int  # so often its text counts


SWAP_ANSWERS = Table("swap_answers", SwapAnswer, key="answer_id", account="swap", unit="answers")
SWAP_READINGS = Table("swap_readings", SwapReading, key="reading_id", unit="readings")
SWAP_INTERVALS = Table("swap_intervals", SwapInterval)
SWAP_REPEATS = Table("swap_repeats", SwapRepeat)
