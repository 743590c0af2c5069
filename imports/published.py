"""The items of imported texts on their way into a run: as mentions, and as the links that the study published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import store_faults
from polyculture.cache.parquet import objects_to_table, read_rows
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import EXTRACTIONS, MENTIONS, Extraction, Mention, Prompt, PublishedLink
from polyculture.cache.shards import JobShards, committed_parts
from polyculture.extract.base import Extracted, NamedEntity
from polyculture.extract.published import place, published_extractor_id
from polyculture.extract.rows import ResponseColumns, extraction_id, extraction_rows
from polyculture.generate.request import imported_request_id
from polyculture.imports.items import ITEMS, Item, read_item
from polyculture.imports.record import BadRow, Record
from polyculture.imports.text import ImportedText, NoTextError


class Published:
    """The items of one file. Extractions are written before their responses: one without a response is not written
    again when a killed import is repeated."""

    def __init__(self, run: RunFolder, catalog: Catalog) -> None:
        self._run, self._catalog = run, catalog
        self._extractor_id = published_extractor_id()
        self._known = {key for part in committed_parts(run, EXTRACTIONS) for key in _ids(part)}
        self._waiting: dict[Job, list[Extraction | Mention]] = {}
        self._links = Counter[tuple[str, str, str, str, str]]()
        self._labels: dict[str, str] = {}
        self.mentions = self.hallucinated = 0

    def take(
        self, row: Record, text: ImportedText, prompt: Prompt, response_id: str, job: Job, sample: int | None
    ) -> Iterator[BadRow]:
        """Takes a text's items; yields those that cannot be taken. `sample` is None for a text that is there already:
        its links alone are counted."""
        topic, items = self._catalog.topic(text.topic), list[Item]()
        for values in row.values[ITEMS]:
            try:
                items.append(read_item(values, topic))
            except NoTextError as fault:
                yield BadRow(row.row, str(fault.args[0]), fault.args[1])
        mentions = place(text.text, [NamedEntity(item.surface, item.kind) for item in items], text.language)
        self.mentions += len(mentions)
        for item, mention in zip(items, mentions, strict=True):
            self.hallucinated += mention.hallucinated
            if item.qid is not None and not mention.hallucinated:
                self._links[text.language, text.topic, item.kind, mention.surface, item.qid] += 1
                if item.label is not None:
                    self._labels.setdefault(item.qid, item.label)
        if sample is None or extraction_id(response_id, self._extractor_id) in self._known:
            return
        request = imported_request_id(text.model, prompt.prompt_id)
        cell = ResponseColumns(response_id, request, prompt.prompt_id, text.model, text.language, text.topic,
                               text.condition, text.country, sample)  # fmt: skip
        rows = extraction_rows(cell, Extracted(response_id, "ok", mentions), topic, self._extractor_id)
        self._waiting.setdefault(job, []).extend(rows)

    def flush(self) -> None:
        """Writes what waits, a part per job."""
        with store_faults(self._run.root):
            for job, rows in self._waiting.items():
                tables: dict[str, Any] = {
                    MENTIONS.name: objects_to_table(MENTIONS, [one for one in rows if isinstance(one, Mention)]),
                    EXTRACTIONS.name: objects_to_table(
                        EXTRACTIONS, [one for one in rows if isinstance(one, Extraction)]
                    ),
                }
                with JobShards(self._run, job, [MENTIONS, EXTRACTIONS]) as shards:
                    shards.append_part(tables)
        self._waiting = {}

    def links(self, import_id: str) -> list[PublishedLink]:
        """The links of the file, those of one surface together."""
        return [
            PublishedLink(import_id, *key, self._labels.get(key[-1]), mentions)
            for key, mentions in sorted(self._links.items())
        ]


def _ids(part: Any) -> list[Any]:
    return read_rows(part, EXTRACTIONS, ["extraction_id"])["extraction_id"].to_pylist()
