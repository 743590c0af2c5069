"""The rows that every room knows, and the tables that they are kept in.

Every table is one frozen dataclass with a comment per column. Responses, extractions and mentions are written job by
job, the others once for a run. The columns that say which cell a row belongs to (model, language, topic, condition,
country) are repeated in each row: Parquet keeps them in a dictionary, and no metric needs a join to find its
cell. Instruments declare tables of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from polyculture.cache.layout import Layer, Layout, Table, Wanted
from polyculture.cache.schema.generated import (
    ALL_CONDITIONS,
    CONDITIONS,
    Condition,
    Extraction,
    ImportedFile,
    ImportedPrompt,
    ImportFailure,
    Mention,
    Prompt,
    PublishedItem,
    Response,
    WantedResponse,
)
from polyculture.cache.schema.linked import Candidate, Entity, EntityCountry, KnownCountry, Link, SnapshotLink
from polyculture.cache.schema.measured import (
    Difference,
    Judgement,
    Number,
    PromptReview,
    SaturationInterval,
    VarianceComponent,
)

__all__ = [
    "ALL_CONDITIONS",
    "CANDIDATES",
    "CONDITIONS",
    "CORE",
    "DIFFERENCES",
    "ENTITIES",
    "ENTITY_COUNTRIES",
    "EXTRACTIONS",
    "IMPORTED_FILES",
    "IMPORTED_PROMPTS",
    "IMPORT_FAILURES",
    "JUDGEMENTS",
    "KNOWN_COUNTRIES",
    "LINKS",
    "MENTIONS",
    "PROMPTS",
    "PROMPT_REVIEWS",
    "PUBLISHED_ITEMS",
    "RESPONSES",
    "SATURATION_INTERVALS",
    "SNAPSHOT_LINKS",
    "TABLES",
    "VARIANCE_COMPONENTS",
    "WANTED_RESPONSES",
    "Candidate",
    "Condition",
    "Entity",
    "EntityCountry",
    "Extraction",
    "ImportFailure",
    "ImportedFile",
    "ImportedPrompt",
    "Judgement",
    "KnownCountry",
    "Link",
    "Mention",
    "Number",
    "Prompt",
    "PromptReview",
    "PublishedItem",
    "Response",
    "SaturationInterval",
    "SnapshotLink",
    "VarianceComponent",
    "WantedResponse",
    "tables_of_setups",
]

PROMPTS = Table("prompts", Prompt)
WANTED_RESPONSES = Table("wanted_responses", WantedResponse)
RESPONSES = Table(
    "responses",
    Response,
    key="response_id",
    shared=True,
    account="generate",
    subject="prompt_id",
    wanted=Wanted("wanted_responses"),
)
READ = Wanted("wanted_extractions", ("extractor_id", "reader_id"))
EXTRACTIONS = Table(
    "extractions",
    Extraction,
    key="extraction_id",
    account="extract",
    asked="extractor_model",
    subject="response_id",
    wanted=READ,
)
MENTIONS = Table("mentions", Mention, commit="extractions", wanted=READ)
LINKS = Table("links", Link)
CANDIDATES = Table("candidates", Candidate)
ENTITIES = Table("entities", Entity)
ENTITY_COUNTRIES = Table("entity_countries", EntityCountry)
KNOWN_COUNTRIES = Table("known_countries", KnownCountry)
SNAPSHOT_LINKS = Table("snapshot_links", SnapshotLink)
NUMBERS = Table("numbers", Number, by_measure=True)
DIFFERENCES = Table("differences", Difference, by_measure=True)
SATURATION_INTERVALS = Table("saturation_intervals", SaturationInterval)
VARIANCE_COMPONENTS = Table("variance_components", VarianceComponent)
JUDGEMENTS = Table("judgements", Judgement)
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
    SNAPSHOT_LINKS,
    NUMBERS,
    DIFFERENCES,
    SATURATION_INTERVALS,
    VARIANCE_COMPONENTS,
    JUDGEMENTS,
    PROMPT_REVIEWS,
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    IMPORT_FAILURES,
    PUBLISHED_ITEMS,
)

_CACHE = Path(__file__).parent.parent
# The tables that every room knows, and which of their rows count.
CORE = Layout(
    TABLES,
    Layer(
        (_CACHE / "wanted.sql", _CACHE / "store.sql", _CACHE / "texts.sql"),
        {"failed": ("unusable_extractions",)},
        (_CACHE / "purchases.sql", _CACHE / "failures.sql"),
    ),
)


def tables_of_setups(layout: Layout) -> list[Table[Any]]:
    """The tables of instruments whose rows were made under a setup of a model."""
    return [table for table in layout.tables if table.wanted is not None and table not in TABLES]
