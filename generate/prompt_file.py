"""A study's own prompts from a file, asked as they are: a row is a prompt, of a CSV or TSV file or of JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import CatalogError, ExperimentError
from polyculture.cache.identity import content_id
from polyculture.cache.store.schema import Condition, Prompt
from polyculture.cache.text.suggestions import did_you_mean

NEEDED = ("language", "topic", "text")
KNOWN = (*NEEDED, "condition", "country", "name", "person", "wording")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_CONDITIONS: tuple[Condition, ...] = get_args(Condition)


def read_prompt_file(file: Path, catalog: Catalog, wordings: Sequence[str]) -> list[Prompt]:
    """All prompts of a file, in its order.

    A row without a condition is explicit where it has a country, and neutral otherwise; one without a wording has the
    first of `wordings`. Raises `ExperimentError`, naming file and line, where a row is no prompt, or stands twice.
    """
    prompts: dict[str, Prompt] = {}
    for line, row in _rows(file):
        where = f"{file}, line {line}"
        if unknown := [name for name in row if name not in KNOWN]:
            raise ExperimentError(f"has a field {unknown[0]!r}", where=where, remedy=did_you_mean(unknown[0], KNOWN))
        try:
            prompt = _prompt(row, catalog, wordings)
        except CatalogError as fault:
            raise ExperimentError(fault.what, where=where, remedy=fault.remedy) from fault
        if prompt.prompt_id in prompts:
            raise ExperimentError("the same prompt stood there before", where=where, remedy="Leave one of them out.")
        prompts[prompt.prompt_id] = prompt
    if not prompts:
        raise ExperimentError("has no prompts", where=file, remedy=_remedy())
    return list(prompts.values())


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows with their lines. Raises `ExperimentError` where the file cannot be read as a table."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        why = "is not UTF-8" if isinstance(fault, UnicodeDecodeError) else (fault.strerror or str(fault))
        raise ExperimentError(f"prompts.file cannot be read: {why}", where=file, remedy=_remedy()) from fault
    suffix = file.suffix.lower()
    if suffix == ".jsonl":
        yield from _json_rows(file, text)
        return
    if suffix not in _DELIMITERS:
        raise ExperimentError("prompts.file is neither .csv, .tsv nor .jsonl", where=file, remedy=_remedy())
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=_DELIMITERS[suffix])
    for row in table:
        if None in row or None in row.values():
            raise ExperimentError("has more or fewer cells than the first line", where=f"{file}, line {table.line_num}")
        yield table.line_num, row


def _json_rows(file: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        try:
            row = json.loads(written)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not all(value is None or isinstance(value, str) for value in row.values()):
            raise ExperimentError("is no JSON object of texts", where=f"{file}, line {line}", remedy=_remedy())
        yield line, row


def _prompt(row: Mapping[str, Any], catalog: Catalog, wordings: Sequence[str]) -> Prompt:
    """Raises `CatalogError` where a row is no prompt."""
    said = {name: (row.get(name) or "").strip() or None for name in KNOWN}
    if missing := [name for name in NEEDED if said[name] is None]:
        raise CatalogError(f"has no {missing[0]}", remedy=_remedy())
    language, topic = catalog.language(said["language"] or "").code, catalog.topic(said["topic"] or "").code
    country = said["country"] and catalog.country(said["country"]).code
    condition = said["condition"] or ("explicit" if country else "neutral")
    wording, text = said["wording"] or wordings[0], said["text"] or ""
    if condition not in _CONDITIONS:
        raise CatalogError(f"unknown condition {condition!r}", remedy=did_you_mean(condition, _CONDITIONS))
    if (condition == "neutral") != (country is None):
        raise CatalogError(f"is {condition} and has {'a' if country else 'no'} country", remedy=_remedy())
    if wording not in wordings:
        raise CatalogError(f"has the wording {wording!r}", remedy="Name it in [prompts] wordings, in its order.")
    key = content_id(language, topic, condition, country, text)
    return Prompt(key, language, topic, condition, country, said["name"], text, wording, person=said["person"])


def _remedy() -> str:
    return f"Columns or fields are {', '.join(NEEDED)}, and {', '.join(KNOWN[3:])} where there is one."
