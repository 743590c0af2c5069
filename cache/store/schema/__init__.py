"""The rows that every room knows, and the tables that they are kept in.

Every table is one frozen dataclass with a comment per column. Responses, extractions and mentions are written job by
job, the others once for a run. The columns that say which cell a row belongs to (model, language, topic, condition,
country) are repeated in each row: Parquet keeps them in a dictionary, and no metric needs a join to find its
cell. Instruments declare tables of their own.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from polyculture.cache.store.layout import Layer, Layout, Table, Wanted
from polyculture.cache.store.linked import (
    CANDIDATES,
    ENTITIES,
    ENTITY_COUNTRIES,
    KNOWN_COUNTRIES,
    LINKS,
    SNAPSHOT_ITEMS,
    SNAPSHOT_LINKS,
)
from polyculture.cache.store.schema.measured import AuditedText as AuditedText
from polyculture.cache.store.schema.measured import Difference, Number
from polyculture.cache.store.schema.measured import Judgement as Judgement
from polyculture.cache.store.schema.measured import PromptReview as PromptReview

Condition = Literal["neutral", "explicit", "implicit_male", "implicit_female", "audience"]
ALL_CONDITIONS: tuple[Condition, ...] = typing.get_args(Condition)
CONDITIONS: tuple[Condition, ...] = ALL_CONDITIONS[:4]  # the study's: what is asked where an experiment names none


@dataclass(frozen=True, slots=True)
class Prompt:
    """One filled-in question: topic x language x condition x country."""

    prompt_id: str  # hash of language, topic, condition, country and text
    language: str
    topic: str
    condition: str
    country: str | None  # ISO 3166; None when the condition is neutral; of an audience, where the friend is from
    name: str | None  # the person named by an implicit condition, as it is spelled in the language
    text: str
    wording: str  # which of the wordings of the same question
    template_id: str | None = None  # what it was filled from: a hash of the template; None of an imported prompt
    person: str | None = None  # whose `name` it is, in Latin letters: the same in all languages


@dataclass(frozen=True, slots=True)
class WantedResponse:
    """A prompt as a model of the experiment is asked it now."""

    request_id: str  # as in `responses`
    n: int  # its samples below n count
    model: str
    prompt_id: str


@dataclass(frozen=True, slots=True)
class Response:
    """One sampled text, or the reason why there is none."""

    response_id: str  # request_id and sample; of an imported text its own hash
    request_id: str  # hash of what was sent: model, setup, messages, decoding, seed (`generate/request.py`)
    prompt_id: str  # the prompt of the experiment
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    sample: int  # 0 .. n-1
    seed: int | None  # None where it was not sent, and of an imported text whose file does not say it
    status: str  # 'ok' | 'failed'
    text: str | None  # the answer, without the reasoning before it; None when failed
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    finish_reason: str | None  # the server's own word for how the answer ended; `ending` is what it means
    prompt_tokens: int | None
    completion_tokens: int | None
    detected_language: str | None  # a code of the catalogue, another ISO 639-1 code, or None when undecided
    language_confidence: float | None  # 0 .. 1
    script: str | None  # ISO 15924 code of most letters
    script_share: float | None  # share of letters in the scripts of the prompt's language
    model_version: str | None  # what the engine says it ran: server's model id, file hash
    purchase: str | None = None  # 'direct' | 'batch': how this run bought it; None where another run did
    reasoning: str | None = None  # what the model wrote before its answer; no part of `text`
    reasoning_tokens: int | None = None  # of completion_tokens, where the server counts them apart
    refused: bool | None = None  # the text declines in words; None without a text or phrases of its language
    note: str | None = None  # what of the answer was mended (broken characters) or dropped (impossible counts)
    origin: str | None = None  # of an imported text: its import_id and row, 'ID:ROW'; None of a generated one
    ending: str | None = None  # 'whole' | 'cut' | 'withheld' | 'broken' | 'unknown'; None where no answer came
    named_cost: float | None = None  # what the server said that the answer costs; None where it named no money
    body: str | None = None  # the server's answer as it came, where no text could be read in it: read again later


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor did with one response; its mentions stand in `Mention`. An unusable answer, after which the
    response was asked again, is a row of its own: it was paid for."""

    extraction_id: str  # hash of response_id, extractor_id and reader_id; of an unusable answer also of its attempt
    response_id: str
    request_id: str  # of the response
    prompt_id: str
    extractor_id: str  # hash of the extractor; of a model, of all that it is sent but the text
    model: str
    language: str
    topic: str
    condition: str
    country: str | None
    sample: int
    status: str  # 'ok' | 'failed' | 'unusable': asked again
    mentions: int  # rows in `Mention`
    attempts: int  # the unusable ones before it included
    error: str | None
    retryable: bool | None
    raw: str | None  # the extractor model's answer, as it came; of one about several texts the part about this one
    prompt_tokens: int | None  # of this answer
    completion_tokens: int | None
    extractor_model: str | None = None  # the model that was asked; None where none was
    purchase: str | None = None  # 'direct' | 'batch': how its answers were bought; None, too, of one read again
    reader_id: str | None = None  # hash of the rules by which the answer was read; None: no model answered
    ending: str | None = None  # of the answer, as in `responses`
    finish_reason: str | None = None  # of the answer: the server's own word for how it ended
    asked_id: str | None = None  # hash of what the extractor model was sent, the text included; None: no model
    note: str | None = None  # what of the answer was mended or dropped on arrival, as in `responses`
    cut: bool | None = None  # the token limit cut the answer before the end of its list: mentions may be missing
    unknown_kinds: int | None = None  # mentions that were dropped, since the topic has no such kind
    unreadable: int | None = None  # parts of the list that could not be read, and were dropped
    declined: bool | None = None  # the extractor's model says that the text declines its task; None: it does not say
    named_cost: float | None = None  # as in `responses`
    body: str | None = None  # as in `responses`


@dataclass(frozen=True, slots=True)
class Mention:
    """A surface string that the extractor found in a response."""

    extraction_id: str  # hash of response_id, extractor_id and reader_id
    response_id: str
    request_id: str  # of the response
    prompt_id: str
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
    query: int  # what the linker is asked of it (`query_number`): its link's
    granularity: int | None  # 1 specific, 0 general, None for kinds that are kept and never counted
    counted: bool
    start: int | None  # character offsets in the response's text; None when hallucinated
    end: int | None
    hallucinated: bool  # the surface does not occur in the response
    reader_id: str | None = None  # as in `extractions`
    name: str | None = None  # its dictionary form as the extractor gives it, a gazetteer's the name it found; else None
    english: str | None = None  # its English or international name as the extractor gives it; None where it gives none
    repaired: bool = False  # the extractor returned other words: `surface` is the passage of the text nearest to them
    returned: str | None = None  # the words that it returned, of a repaired mention


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """One imported file. Its row is written last: without it the import is not complete and can be repeated."""

    import_id: str  # the first 16 digits of the file's SHA-256
    file: str  # its name, without folders
    sha256: str  # of its bytes
    imported_at: str  # UTC, ISO 8601
    format: str  # its shape (`imports/shapes.toml`), or the kind of file: 'json' | 'csv' | 'parquet' | 'xlsx'
    columns: str  # which column was taken for what, and the pattern of `--parts`, as JSON
    rows: int  # that the file has
    texts: int  # rows that this import added
    failed: int  # rows that could not be taken: see `import_failures`


@dataclass(frozen=True, slots=True)
class ImportedPrompt:
    """How many texts of an imported model answer a prompt: as many as it has samples."""

    model: str
    prompt_id: str
    language: str
    topic: str
    texts: int


@dataclass(frozen=True, slots=True)
class PublishedItem:
    """An item that an imported study found in a text, as its file has it: its own numbers follow from these."""

    import_id: str  # of the file: see `imported_files`
    response_id: str
    item: int  # its number in the text, from 0
    language: str
    topic: str
    surface: str  # as it stands in the text, or as the study writes it
    type: str | None  # its kind or granularity, as the study names it
    kind: str | None  # the topic's kind that is; NULL where it is none
    qid: str | None  # as the study names it, be it no QID; NULL where it found none (`NA`)
    label: str | None  # the item's English label, as the study names it
    hallucinated: bool  # the text does not hold the surface
    query: int | None  # that of its mention; NULL where it is none


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """A row of an imported file that could not be taken, and the reason."""

    import_id: str  # of the file: see `imported_files`
    file: str  # its name, without folders
    row: str  # its number in the file, from 1 (of lines, or of records), or its name in an archive
    reason: str
    value: str | None  # the value that was refused, shortened


PROMPTS = Table("prompts", Prompt)
WANTED_RESPONSES = Table("wanted_responses", WantedResponse)
RESPONSES = Table(
    "responses",
    Response,
    key="response_id",
    stage="generate",
    subject="prompt_id",
    unit="responses",
    wanted=Wanted("wanted_responses"),
)
READ = Wanted("wanted_extractions", ("extractor_id", "reader_id"))
EXTRACTIONS = Table(
    "extractions",
    Extraction,
    key="extraction_id",
    stage="extract",
    asked="extractor_model",
    subject="response_id",
    unit="extractions",
    wanted=READ,
)
MENTIONS = Table("mentions", Mention, commit="extractions", wanted=READ)
# What an extractor answered about gold texts, in an audit: no row of them is in the metrics.
GOLD_EXTRACTIONS = Table(
    "gold_extractions",
    Extraction,
    key="extraction_id",
    stage="extract audit",
    asked="extractor_model",
    subject="response_id",
    unit="extractions of gold texts",
)
GOLD_MENTIONS = Table("gold_mentions", Mention, commit="gold_extractions")
NUMBERS = Table("numbers", Number, by_measure=True)
DIFFERENCES = Table("differences", Difference, by_measure=True)
JUDGEMENTS = Table("judgements", Judgement)
AUDITED_TEXTS = Table("audited_texts", AuditedText)
PROMPT_REVIEWS = Table("prompt_reviews", PromptReview)
IMPORTED_FILES = Table("imported_files", ImportedFile)
IMPORTED_PROMPTS = Table("imported_prompts", ImportedPrompt)
PUBLISHED_ITEMS = Table("published_items", PublishedItem)
IMPORT_FAILURES = Table("import_failures", ImportFailure)

TABLES: tuple[Table[Any], ...] = (
    PROMPTS,
    WANTED_RESPONSES,
    RESPONSES,
    EXTRACTIONS,
    MENTIONS,
    LINKS,
    CANDIDATES,
    ENTITIES,
    ENTITY_COUNTRIES,
    KNOWN_COUNTRIES,
    SNAPSHOT_ITEMS,
    SNAPSHOT_LINKS,
    NUMBERS,
    DIFFERENCES,
    JUDGEMENTS,
    GOLD_EXTRACTIONS,
    GOLD_MENTIONS,
    AUDITED_TEXTS,
    PROMPT_REVIEWS,
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    IMPORT_FAILURES,
    PUBLISHED_ITEMS,
)

_CACHE = Path(__file__).parent.parent
SHARED_TEXTS = _CACHE / "shared_texts.sql"  # the view of models with the same texts, over any `prompt_texts`
# The tables that every room knows, and which of their rows count.
CORE = Layout(
    TABLES,
    Layer(
        (
            WANTED_RESPONSES,
            _CACHE / "wanted.sql",
            *(LINKS, CANDIDATES, ENTITIES, ENTITY_COUNTRIES, KNOWN_COUNTRIES),
            *(SNAPSHOT_ITEMS, SNAPSHOT_LINKS, JUDGEMENTS, PROMPT_REVIEWS),
            *(IMPORTED_FILES, IMPORTED_PROMPTS, IMPORT_FAILURES, PUBLISHED_ITEMS),
            _CACHE / "store.sql",
            _CACHE / "texts.sql",
            _CACHE / "copies.sql",
            _CACHE / "shared_texts.sql",
        ),
        {"failed": ("unusable_extractions", "failed_gold_extractions")},
        (_CACHE / "purchases.sql", _CACHE / "failures.sql"),
    ),
)


def tables_of_setups(layout: Layout) -> list[Table[Any]]:
    """The tables of instruments whose rows were made under a setup of a model."""
    return [table for table in layout.tables if table.wanted is not None and table not in TABLES]
