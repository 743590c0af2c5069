"""Texts that somebody else generated: where they came from, and what of their files could not be taken."""

from __future__ import annotations

from dataclasses import dataclass


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
    known: int  # rows that the run had before, from an earlier version of the file
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


@dataclass(frozen=True, slots=True)
class ImportFailure:
    """A row of an imported file that could not be taken, and the reason."""

    import_id: str  # of the file: see `imported_files`
    file: str  # its name, without folders
    row: str  # its number in the file, from 1 (of lines, or of records), or its name in an archive
    reason: str
    value: str | None  # the value that was refused, shortened
