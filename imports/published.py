"""The items of imported texts on their way into a run: as mentions, and as the study has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import store_faults
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import EXTRACTIONS, MENTIONS, Extraction, Mention, Prompt, PublishedItem
from polyculture.cache.shards import JobShards
from polyculture.extract.base import Extracted, FoundMention, NamedEntity
from polyculture.extract.published import place, published_extractor_id
from polyculture.extract.rows import ResponseColumns, as_tables, extraction_rows, number_of
from polyculture.generate.request import imported_request_id
from polyculture.imports.items import ITEMS, read_item
from polyculture.imports.record import BadRow, Record
from polyculture.imports.text import ImportedText


class Published:
    """The items of one file. Extractions are written before their responses."""

    def __init__(self, run: RunFolder, catalog: Catalog, import_id: str) -> None:
        self._run, self._catalog, self._import_id = run, catalog, import_id
        self._extractor_id = published_extractor_id()
        self._waiting: dict[Job, list[Extraction | Mention]] = {}
        self.items: list[PublishedItem] = []

    @property
    def types(self) -> frozenset[str]:
        """The kinds of the items, as the file names them."""
        return frozenset(item.type for item in self.items if item.type)

    def take(
        self, row: Record, text: ImportedText, prompt: Prompt, response_id: str, job: Job, sample: int | None
    ) -> Iterator[BadRow]:
        """Takes a text's items; yields what of them cannot be read. `sample` is None for a text that is there already:
        its extraction is, too."""
        topic, written = self._catalog.topic(text.topic), row.values[ITEMS]
        items = [] if isinstance(written, str) else [read_item(values, topic) for values in written]
        if isinstance(written, str):
            yield BadRow(row.row, written.partition(":")[0], written, lost=False)
        for item in items:
            yield from (BadRow(row.row, reason, value, lost=False) for reason, value in item.faults)
        # They are looked for in what counts: the text without reasoning and markers.
        placed = place(
            text.answer.text or "",
            [NamedEntity(one.surface, one.kind or "", one.name, one.english) for one in items if one.surface],
            text.language,
        )
        found = iter(placed)
        mentions: list[FoundMention] = []
        for number, item in enumerate(items):
            mention = next(found) if item.surface else None
            absent = mention is None or mention.hallucinated
            kept = replace(mention, published=item.qid) if mention is not None and not item.faults else None
            self.items.append(PublishedItem(self._import_id, response_id, number, text.language, text.topic,
                                            mention.surface if mention else item.surface, item.type, item.kind,
                                            item.qid, item.label, absent,
                                            number_of(kept, text.language, text.topic) if kept else None))  # fmt: skip
            mentions += [kept] if kept else []
        if sample is None or text.answer.text is None:
            return
        request = imported_request_id(text.model, prompt.prompt_id)
        cell = ResponseColumns(response_id, request, prompt.prompt_id, text.model, text.language, text.topic,
                               text.condition, text.country, sample)  # fmt: skip
        extracted = Extracted(response_id, "ok", tuple(mentions))
        if isinstance(written, str):
            extracted = Extracted(response_id, "failed", error=written, retryable=False)
        rows = extraction_rows(cell, extracted, topic, self._extractor_id)
        self._waiting.setdefault(job, []).extend(rows)

    def flush(self) -> None:
        """Writes what waits, a part per job."""
        with store_faults(self._run.root):
            for job, rows in self._waiting.items():
                with JobShards(self._run, job, [MENTIONS, EXTRACTIONS]) as shards:
                    shards.append_part(as_tables(rows))
        self._waiting = {}
