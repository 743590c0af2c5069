"""Texts that somebody else generated: what a run has of them, and their experiment file.

The file is written by the first import, and its lists are extended by later ones.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from polyculture.cache.errors import ExperimentError
from polyculture.cache.files import replacing
from polyculture.cache.store.inventory import require_moved_in, require_table
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import (
    IMPORTED_FILES,
    IMPORTED_PROMPTS,
    PROMPTS,
    ImportedFile,
    Prompt,
    WantedResponse,
)
from polyculture.cache.text.quantity import quantity
from polyculture.experiment.file import read_experiment
from polyculture.experiment.sections import GAZETTEER
from polyculture.generate.request import imported_request_id

TEMPLATE = Path(__file__).parents[1] / "cli" / "imported.toml"
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
LISTS = ("models", "languages", "topics", "countries")

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
    failed = f", {quantity(file.failed, 'row')} not taken" if file.failed else ""
    origin = f"{file.format}, sha256 {file.import_id}…, {file.imported_at}"
    return f"Imported {file.file} ({origin}): {quantity(file.texts, 'text')}{failed}"


def read_imported(run: RunFolder, *, unfinished: bool = False) -> ImportedTexts:
    """The imported texts of a run; nothing where nothing was imported.

    Raises `StoreError` where an import was cut off while it was moved in and `unfinished` is not asked for: a part of a
    file is not to be counted for the whole; and where a table that an import wrote is gone.
    """
    if not unfinished:
        require_moved_in(run)
    for table in (PROMPTS, IMPORTED_FILES, IMPORTED_PROMPTS):
        require_table(run, table.name)
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


def name_of(file: Path) -> str:
    """The name of the experiment of a file that is not there yet."""
    return _NAME.sub("-", file.stem).strip("-._") or "imported"


def catalog_of(file: Path, named: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The culture packs of an import: by the experiment file, else the named ones.

    Raises `ExperimentError` where the file names other ones than `named`.
    """
    if file.exists():
        experiment = read_experiment(file)
        if not experiment.imported:
            what = "generates its texts: imported ones need an experiment of their own"
            raise ExperimentError(what, where=file, remedy="Name another file with --as.")
        packs = tuple(file.parent / name for name in experiment.catalog)
        if named and {one.resolve() for one in packs} != {one.resolve() for one in named}:
            written = json.dumps([str(one) for one in named], ensure_ascii=False)
            what = (
                f"--catalog {', '.join(map(str, named))}: the experiment has {', '.join(experiment.catalog) or 'none'}"
            )
            raise ExperimentError(what, where=file, remedy=f"Write catalog = {written} into it, relative to it.")
        return packs
    return tuple(named)


def write_lists(
    file: Path,
    found: Mapping[str, Sequence[str]],
    packs: Sequence[Path],
    gone: Mapping[str, Sequence[str]],
    *,
    extractor: str = GAZETTEER,
    links: str = "snapshot",
) -> list[str]:
    """Writes what was found into the experiment file: a new one, or its lists, without what is gone since the last
    import. Returns what it added, a word each.

    A new file takes its mentions from `extractor`, and its links from `links`.

    Raises `ExperimentError` where a list of a file that people changed does not stand on one line.
    """
    if not file.exists():
        values = {key: json.dumps(list(found[key]), ensure_ascii=False) for key in LISTS}
        beside = [os.path.relpath(pack, file.parent) for pack in packs]
        folder = f"catalog = {json.dumps(beside, ensure_ascii=False)}\n" if beside else ""
        template = Template(TEMPLATE.read_text(encoding="utf-8"))
        with replacing(file) as temporary:
            temporary.write_text(
                template.substitute(
                    values,
                    name=json.dumps(name_of(file)),
                    catalog=folder,
                    extractor=json.dumps(extractor),
                    links=json.dumps(links),
                ),
                encoding="utf-8",
            )
        return []
    experiment, text = read_experiment(file), file.read_text(encoding="utf-8")
    added: list[str] = []
    for key in LISTS:
        before: tuple[str, ...] = getattr(experiment, key)
        new = [value for value in found[key] if value not in before]
        kept = [value for value in before if value not in gone.get(key, ())]
        if not new and len(kept) == len(before):
            continue
        line = f"{key} = {json.dumps([*kept, *new], ensure_ascii=False)}"
        there = list(re.finditer(rf"^{key}\s*=\s*\[[^\]\n]*\]", text, flags=re.MULTILINE))
        if len(there) != 1:
            raise ExperimentError(f"{key} lacks {', '.join(new)}", where=file, remedy=f"Write {line}, and go on.")
        text = text[: there[0].start()] + line + text[there[0].end() :]
        added += new
    if text != file.read_text(encoding="utf-8"):
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return added
