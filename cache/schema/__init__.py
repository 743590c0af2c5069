"""The rows that flow between the stages, and the tables they are kept in: the one place where columns are written down.

Every table is one frozen dataclass with a comment per column; a column with a default came later than the first
stores. Prompts, responses, extractions, mentions, scores and swap answers are written job by job, the others once for
a run. The columns that say which cell a row belongs to (model, language, topic, condition, country) are repeated in
each row: Parquet keeps them in a dictionary, and no metric needs a join to find its cell.
"""

from __future__ import annotations

import types
import typing
from dataclasses import fields
from typing import Any

import pyarrow as pa

from polyculture.cache.schema.compared import DatasetContext, DatasetEntity
from polyculture.cache.schema.generated import CONDITIONS, Condition, Extraction, Mention, Prompt, Response
from polyculture.cache.schema.linked import Candidate, Entity, EntityCountry, Link
from polyculture.cache.schema.measured import Interval, Judgement, SaturationInterval
from polyculture.cache.schema.represented import EntityPosition, Representation, Separation
from polyculture.cache.schema.scored import BiasInterval, CulturalLink, Score
from polyculture.cache.schema.swapped import SwapAnswer, SwapInterval

__all__ = [
    "CONDITIONS",
    "TABLES",
    "BiasInterval",
    "Candidate",
    "Condition",
    "CulturalLink",
    "DatasetContext",
    "DatasetEntity",
    "Entity",
    "EntityCountry",
    "EntityPosition",
    "Extraction",
    "Interval",
    "Judgement",
    "Link",
    "Mention",
    "Prompt",
    "Representation",
    "Response",
    "SaturationInterval",
    "Score",
    "Separation",
    "SwapAnswer",
    "SwapInterval",
    "arrow_schema",
    "later_columns",
]

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
    "dataset_contexts": DatasetContext,
    "dataset_entities": DatasetEntity,
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
