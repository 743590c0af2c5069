"""The rows that flow between the stages, and the tables they are kept in: the one place where columns are written down.

Every table is one frozen dataclass; a column with a default came later than the first stores. `Prompt`, `Response`,
`Extraction`, `Mention`, `Score` and `SwapAnswer` are written job by job, the others once for a run. The columns that
say which cell a row belongs to (model, language, topic, condition, country) are repeated in each row: Parquet keeps
them in a dictionary, and no metric needs a join to find its cell.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields
from typing import Any, Literal

import pyarrow as pa

Condition = Literal["neutral", "explicit", "implicit_male", "implicit_female"]
CONDITIONS: tuple[Condition, ...] = typing.get_args(Condition)
LinkStatus = Literal["linked", "ambiguous", "no candidate", "no path"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One filled-in question: topic x language x condition x country."""

    prompt_id: str  # hash of language, topic, condition, country and text
    language: str
    topic: str
    condition: str
    country: str | None  # ISO 3166; None when the condition is neutral
    name: str | None  # the person named by an implicit condition
    text: str


@dataclass(frozen=True, slots=True)
class Response:
    """One sampled text, or the reason why there is none."""

    response_id: str  # hash of model, prompt text, decoding, seed and sample number
    prompt_id: str
    sampling_id: str  # hash of the sampling settings; of a change only rows with the current one count
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    sample: int  # 0 .. n-1
    seed: int
    status: str  # 'ok' | 'failed'
    text: str | None  # None when failed
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    finish_reason: str | None  # 'stop' | 'length' | 'content_filter' | what the server says
    prompt_tokens: int | None
    completion_tokens: int | None
    detected_language: str | None  # a code of ours, another ISO 639-1 code, or None when undecided
    language_confidence: float | None  # 0 .. 1
    script: str | None  # ISO 15924 code of most letters
    script_share: float | None  # share of letters in the scripts of the prompt's language
    model_version: str | None  # what the engine says it ran: server's model id, file hash
    purchase: str | None = None  # 'direct' | 'batch': how this run bought it; None where another run did


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor did with one response; its mentions stand in `Mention`. An answer of no use, after which the
    response was asked again, is a row of its own: it was paid for."""

    extraction_id: str  # hash of response_id and extractor_id, of an answer of no use also of its attempt
    response_id: str
    prompt_id: str
    sampling_id: str
    extractor_id: str  # hash of all that decides the mentions: extractor, model, prompt, kinds
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    sample: int
    status: str  # 'ok' | 'failed' | 'unusable': asked again
    mentions: int  # rows in `Mention`
    attempts: int  # those of no use before it included
    error: str | None
    retryable: bool | None
    raw: str | None  # the extractor model's answer, as it came
    prompt_tokens: int | None  # of this answer
    completion_tokens: int | None
    extractor_model: str | None = None  # the model that was asked; None where none was
    purchase: str | None = None  # 'direct' | 'batch': how its answers were bought


@dataclass(frozen=True, slots=True)
class Mention:
    """A surface string that the extractor found in a response."""

    extraction_id: str  # hash of response_id and extractor_id
    response_id: str
    prompt_id: str
    sampling_id: str
    extractor_id: str
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    sample: int
    ordinal: int  # position in the extraction, from 0
    surface: str
    kind: str
    granularity: int | None  # 1 specific, 0 general, None for kinds that are kept and never counted
    counted: bool
    start: int | None  # character offsets in the response's text; None when hallucinated
    end: int | None
    hallucinated: bool  # the surface does not occur in the response


@dataclass(frozen=True, slots=True)
class Link:
    """The entity that a surface means in a topic and language, or the reason why there is none."""

    language: str
    topic: str
    kind: str
    surface: str
    status: str  # a LinkStatus
    qid: str | None  # the first of the survivors; set when linked or ambiguous
    match: str | None  # 'label' | 'alias' | 'normalised' | 'english' | 'variant' | 'inflected' | 'fuzzy'
    matched: str | None  # the label or alias that matched
    score: float | None  # 100 for exact matches, rapidfuzz's ratio for fuzzy ones
    reached_kind: str | None  # the topic's kind whose class was reached: the mention's own where that is possible
    root: str | None  # the topic's class that was reached
    path: list[str] | None  # QIDs from the entity's class up to the root
    confidence: float | None  # share of such links that were right on gold data; None without a link
    candidates: int  # items whose name matched
    survivors: int  # candidates that reached the topic


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Wikidata item that a surface may mean, and what became of it."""

    language: str
    topic: str
    kind: str
    surface: str
    qid: str
    rank: int | None  # 1 is best; None when it does not reach the topic
    match: str
    matched: str
    matched_language: str
    score: float
    reached_kind: str | None
    root: str | None
    path: list[str] | None
    distance: int | None  # edges from the item to the root
    sitelinks: int
    reason: str  # why it won or lost, in words


@dataclass(frozen=True, slots=True)
class Entity:
    """A Wikidata item that at least one surface is linked to."""

    qid: str
    label: str  # English, or the first there is
    labels: dict[str, str]  # by language code
    description: str | None
    sitelinks: int
    revision: int | None


@dataclass(frozen=True, slots=True)
class EntityCountry:
    """A country that an entity is associated with, and the property that says so."""

    qid: str
    country: str | None  # ISO 3166 where it is one of the catalogue's countries
    country_qid: str
    property: str  # 'P495', 'P50/P27', 'P175/P27', 'P50/P495', 'P175/P495', 'P27', 'P17'


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its 95 % interval: a metric of a cell, or the mean of many cells'."""

    metric: str  # as in `cell_values`: 'granularity' | 'diversity' | 'specificity' | 'hill_1' | ...
    level: str  # 'cell', or the columns below that an aggregate keeps: 'model, language'
    model: str
    language: str | None
    other_language: str | None  # of consensus
    topic: str | None
    condition: str | None
    country: str | None
    estimate: float
    low: float | None  # None where there is too little to say
    high: float | None
    method: str
    cells: int  # numbers averaged; 1 for a cell


@dataclass(frozen=True, slots=True)
class SaturationInterval:
    """The 95 % interval of a point of a cell's saturation curve."""

    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    responses: int  # as many as are drawn from the cell's
    entities: float  # distinct items expected in them
    low: float | None  # None where there is too little to say
    high: float | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a person said of a mention and its link, or of what a response lacks (`polyculture audit`)."""

    judge: str  # the name of the sheet
    extraction_id: str
    ordinal: int | None  # of the mention; None where the whole response is judged
    language: str
    topic: str
    mention: str | None  # 'right' | 'wrong'; None where it was not judged
    specific: int | None  # 1 or 0 where the judge corrected the granularity
    qid: str | None  # the item that the mention was linked to when it was judged
    link: str | None  # 'right' | 'wrong' | 'none': no item is meant; None where it was not judged
    missed: int | None  # of the whole response: things that it names and that no mention stands for


@dataclass(frozen=True, slots=True)
class Score:
    """How probable a model finds one entity in the gap of one context, or the reason why that is not known."""

    score_id: str  # hash of model, context and entity
    model: str
    dataset: str  # 'camellia', 'camel', ..., or the name in a rules file
    language: str  # the language of the context: a code of the data set's
    culture: str  # the native culture of the comparison, as the data set writes it
    entity_type: str  # 'food', 'names', ...
    setting: str  # 'grounded' (only native entities fit), 'neutral' (any fit), or a user's own
    form: str  # 'causal' (what matters stands before the gap) | 'masked' (anywhere) | 'any'
    phrasing: (
        str | None
    )  # how the context is put, where it has a pair that is put otherwise: 'english-like', 'pro-drop'
    pair: str | None  # the name that the contexts of such a pair share
    help: str | None  # what stands before the context to help the model: 'token' | '5 demonstrations'; None: nothing
    origin: str | None  # of a context with help: the context_id of the plain one
    context_id: str  # hash of all that makes the context
    context: str  # its text, with the gap as [MASK]
    entity_id: str  # hash of data set, language, culture, type and the entity itself
    entity: str  # as it was put into the gap
    entity_culture: str  # the culture that the entity belongs to
    native: bool  # it is that of the context
    english: str | None  # the publisher's translation of the entity
    publisher_qid: str | None  # the Wikidata item that the publisher names
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    log_probability: float | None  # natural logarithm, the sum over the entity's tokens
    tokens: int | None  # tokens of the entity
    token_log_probabilities: list[float] | None  # of each of them
    seam: str | None  # how the entity met its context: 'clean' | 'moved space' | 'merged' | 'resplit'
    prompt_tokens: int | None  # that a server counted for it; None where the model ran in this process
    completion_tokens: int | None
    purchase: str | None  # 'direct': a server was asked; None where the model ran in this process
    model_version: str | None  # what the engine says it ran


@dataclass(frozen=True, slots=True)
class CulturalLink:
    """The Wikidata item that an entity of a data set means, or the reason why there is none."""

    language: str  # of the data set, and one of the catalogue's
    entity_type: str  # as the data set has it
    entity: str
    topic: str  # as which it was linked
    kind: str
    status: str  # a LinkStatus
    qid: str | None  # set when linked or ambiguous
    match: str | None  # what of the item's names matched
    confidence: float | None  # share of such links that were right on gold data


@dataclass(frozen=True, slots=True)
class BiasInterval:
    """A Cultural Bias Score averaged over contexts, or a difference of two, with its 95 % interval."""

    metric: str  # 'cbs' | 'cbs_difference': the score less that with what an `other_` column names in its place
    rule: str  # 'sum': the log-probability of the whole entity; 'mean': per token
    model: str
    dataset: str
    language: str | None  # None over all languages of the data set
    culture: str | None  # None over all native cultures
    entity_type: str | None  # None over all types
    setting: str
    other_setting: str | None  # of a difference: grounded less neutral
    phrasing: str | None  # None of contexts that have no pair
    other_phrasing: str | None  # of a difference between the two of each pair
    help: str | None  # what stands before the contexts; None: nothing
    plain: bool  # the difference is that to the same contexts without help
    form: str
    estimate: float  # of a score 0 .. 1, of a difference -1 .. 1
    low: float | None  # None where there is too little to say
    high: float | None
    p: float | None  # of a difference: two-sided, paired over entities, and over contexts where these are the same
    contexts: int
    native_entities: int  # with a likelihood in at least one of the contexts
    western_entities: int
    pairs: int  # native x Western, over all contexts
    ties: float  # share of pairs of equal likelihood; they count half
    sampled_mean: float | None  # CAMeL's protocol: 50 entities of each culture, drawn five times
    sampled_deviation: float | None


@dataclass(frozen=True, slots=True)
class SwapAnswer:
    """What a model said of a context with an entity in its gap, and whether that is right."""

    answer_id: str  # hash of prompt_id, model, context, entity and draw
    prompt_id: str  # hash of all that decides the answer but model and text: task, prompt, decoding
    task: str  # 'sentiment' | 'qa' | 'ner'
    instrument: str  # 'prompt': a language model was asked | 'classifier' | 'tagger': a model of that task
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


@dataclass(frozen=True, slots=True)
class SwapInterval:
    """A share of answers on one side, or the difference of both sides, with its 95 % interval."""

    task: str  # 'sentiment' | 'qa' | 'ner'
    metric: str  # 'accuracy', of ner 'precision', 'recall', 'f1'; for the others see `sentiment_association`
    side: str  # 'native' | 'western' | 'difference': native less Western
    instrument: str
    model: str
    dataset: str
    language: str | None  # None over all languages of the data set
    culture: str | None  # None over all native cultures
    entity_type: str | None  # None over all types
    setting: str
    estimate: float  # of a side 0 .. 1, of a difference -1 .. 1: the mean over draws
    low: float | None  # None where there is too little to say
    high: float | None
    p: float | None  # of a difference: two-sided
    deviation: float | None  # standard deviation over draws (n - 1)
    draws: int
    contexts: int
    native_entities: int
    western_entities: int
    answers: int  # that the number rests on: those of its denominator
    failed: int  # answers that are missing, with a reason


@dataclass(frozen=True, slots=True)
class Representation:
    """What a model holds of an entity at one layer, or the reason why that is not known."""

    representation_id: str  # hash of model, contexts, entity and the layer that was asked for
    model: str
    dataset: str
    language: str
    culture: str  # the native culture of the comparison
    entity_type: str
    entity_id: str
    entity: str
    entity_culture: str
    native: bool
    contexts: int  # in whose gaps the entity stood; the vector is the mean over them
    asked_layer: str  # 'first', 'middle', 'last', or a number
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    layer: int | None  # 0 is what the first layer reads, 1 what it gives, ...
    vector: list[float] | None  # the mean of the hidden states of the entity's tokens
    model_version: str | None  # what the engine says it ran


@dataclass(frozen=True, slots=True)
class Separation:
    """How far apart a model holds native and Western entities of a type at a layer: the Davies-Bouldin index."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    layer: int  # 0 is what the first layer reads
    contexts: int  # that a vector is the mean over
    estimate: float  # the index; the lower, the further apart
    low: float | None  # None where there is too little to say
    high: float | None
    by_chance: float  # the mean index with the cultures of the entities permuted
    p: float  # share of permutations with as low an index
    native_entities: int
    western_entities: int


@dataclass(frozen=True, slots=True)
class EntityPosition:
    """Where an entity stands on the map of its type at the last layer that was asked for."""

    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str
    layer: int  # the last that was asked for
    contexts: int  # that a vector is the mean over
    entity_id: str
    entity: str
    native: bool
    x: float  # t-SNE: what is near was near; distances between groups say nothing
    y: float  # the same


Row = (
    Prompt
    | Response
    | Extraction
    | Mention
    | Link
    | Candidate
    | Entity
    | EntityCountry
    | Interval
    | SaturationInterval
    | Judgement
    | Score
    | CulturalLink
    | BiasInterval
    | SwapAnswer
    | SwapInterval
    | Representation
    | Separation
    | EntityPosition
)

TABLES: dict[str, type[Any]] = {
    "prompts": Prompt,
    "responses": Response,
    "extractions": Extraction,
    "mentions": Mention,
    "links": Link,
    "candidates": Candidate,
    "entities": Entity,
    "entity_countries": EntityCountry,
    "intervals": Interval,
    "saturation_intervals": SaturationInterval,
    "judgements": Judgement,
    "scores": Score,
    "cultural_links": CulturalLink,
    "bias_intervals": BiasInterval,
    "swap_answers": SwapAnswer,
    "swap_intervals": SwapInterval,
    "representations": Representation,
    "separations": Separation,
    "entity_positions": EntityPosition,
}

_ARROW: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    list[str]: pa.list_(pa.string()),
    list[float]: pa.list_(pa.float64()),
    dict[str, str]: pa.map_(pa.string(), pa.string()),
}


def arrow_schema(table: str) -> pa.Schema:
    """The Arrow schema of one of `TABLES`: a field per column, nullable where the row type allows None."""
    row = TABLES[table]
    hints = typing.get_type_hints(row)
    return pa.schema([_arrow_field(field.name, hints[field.name]) for field in fields(row)])


def later_columns(table: str) -> frozenset[str]:
    """Columns that the first stores did not have: a file without them is read as if they were null."""
    return frozenset(field.name for field in fields(TABLES[table]) if field.default is None)


def _arrow_field(name: str, hint: Any) -> pa.Field[Any]:
    nullable = isinstance(hint, types.UnionType)
    plain = next(arm for arm in typing.get_args(hint) if arm is not types.NoneType) if nullable else hint
    return pa.field(name, _ARROW[plain], nullable=nullable)
