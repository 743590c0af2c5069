"""What a run has of texts that somebody else generated: its prompts, numbers of texts, and where they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.errors import StoreError
from polyculture.cache.parquet import read_rows
from polyculture.cache.run_folder import RunFolder, unfinished_import
from polyculture.cache.schema import IMPORTED_FILES, IMPORTED_PROMPTS, PROMPTS, ImportedFile, Prompt, WantedResponse
from polyculture.generate.request import imported_request_id

UNKNOWN = (
    "Texts of this run were imported, not generated here: what their files do not say (seed, decoding settings, "
    "condition, prompt) is not known, and intervals take each text for an independent answer"
)


@dataclass(frozen=True)
class ImportedTexts:
    """The imported texts of a run."""

    prompts: list[Prompt] = field(default_factory=list)
    files: Sequence[ImportedFile] = ()
    texts: Mapping[tuple[str, str, str], int] = field(default_factory=dict)  # by model, language and topic
    most: int = 0  # texts of one model that answer one prompt
    wanted: Sequence[WantedResponse] = ()  # all of them

    @property
    def told(self) -> dict[str, Any]:
        """Their part of the manifest, in place of what a generated run asks."""
        lines = [origin_line(file) for file in self.files]
        return {
            "conditions": sorted({prompt.condition for prompt in self.prompts}),
            "prompts": {},
            "sampling": {},
            "n": max(self.most, 1),
            "appended": {},
            "imported": lines,
            "notes": [UNKNOWN, *lines],
        }


def origin_line(file: ImportedFile) -> str:
    """A file, in a line for people."""
    failed = f", {file.failed} rows not taken" if file.failed else ""
    origin = f"{file.format}, sha256 {file.import_id}…, {file.imported_at}"
    return f"Imported {file.file} ({origin}): {file.texts} texts{failed}"


def read_imported(run: RunFolder, *, unfinished: bool = False) -> ImportedTexts:
    """The imported texts of a run; nothing where nothing was imported.

    Raises `StoreError` where an import was cut off and `unfinished` is not asked for: a part of a file is not to be
    counted for the whole.
    """
    mark = unfinished_import(run)
    if mark.exists() and not unfinished:
        what = f"the import of {mark.read_text(encoding='utf-8')} is at work, or was cut off"
        raise StoreError(what, where=run.root, remedy="Give the same import command again: it resumes.")
    paths = {table: run.table(table.name) for table in (PROMPTS, IMPORTED_FILES, IMPORTED_PROMPTS)}
    rows = {table: read_rows(path, table).to_pylist() if path.exists() else [] for table, path in paths.items()}
    texts = Counter[tuple[str, str, str]]()
    for row in rows[IMPORTED_PROMPTS]:
        texts[row["model"], row["language"], row["topic"]] += row["texts"]
    return ImportedTexts(
        [Prompt(**row) for row in rows[PROMPTS]],
        [ImportedFile(**row) for row in rows[IMPORTED_FILES]],
        texts,
        max((row["texts"] for row in rows[IMPORTED_PROMPTS]), default=0),
        [
            WantedResponse(
                imported_request_id(row["model"], row["prompt_id"]), row["texts"], row["model"], row["prompt_id"]
            )
            for row in rows[IMPORTED_PROMPTS]
        ],
    )
