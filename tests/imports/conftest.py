"""What tests of imports share: a file as texts, and an import as the command makes it, without a process."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import RESPONSES
from polyculture.cache.store.shards import committed_parts
from polyculture.cache.work.outcome import silent
from polyculture.imports.mapping import find_mapping
from polyculture.imports.shapes import LOOKED_AT, find_source
from polyculture.imports.survey import Survey, survey, texts_of
from polyculture.imports.taking import ImportOutcome, take_file
from polyculture.imports.text import ImportedText
from polyculture.sources.record import BadRow, Record

ALL = {"topic": "=food", "model": "=m", "language": "=en"}


def write_lines(file: Path, *rows: object) -> Path:
    """JSON Lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def read(
    file: Path, told: dict[str, str] | None = None, *, inputs: Path | None = None, parts: str | None = None
) -> tuple[Survey, list[ImportedText], list[BadRow]]:
    """What an import would take of a file, and what it would not."""
    told = {"topic": "=food"} if told is None else told
    source = find_source(file, None, inputs, told)
    records = [row for row in islice(source.rows(), LOOKED_AT) if isinstance(row, Record)]
    told = {name: path for name, path in told.items() if not (name == "text" and source.shape.finds_texts)}
    found = survey(source, find_mapping(records, source, told, parts), read_catalog())
    found.count.check(file)
    rows = list(texts_of(source, found.columns, read_catalog()))
    return (
        found,
        [row[1] for row in rows if not isinstance(row, BadRow)],
        [row for row in rows if isinstance(row, BadRow)],
    )


def take(run: RunFolder, file: Path, told: dict[str, str] | None = None, **more: Any) -> ImportOutcome:
    """Takes a file into a run."""
    source = find_source(file, None, None, told or {})
    records = [row for row in islice(source.rows(), LOOKED_AT) if isinstance(row, Record)]
    columns = find_mapping(records, source, ALL if told is None else told, None)
    return take_file(run, source, columns, read_catalog(), silent, **more)


def stored(run: RunFolder) -> list[dict[str, Any]]:
    """The texts of a run, as they are stored."""
    return [row for part in committed_parts(run, RESPONSES) for row in read_rows(part, RESPONSES).to_pylist()]
