"""The step that extracts gold texts, for an audit: the run keeps each answer, so that no text is asked about twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import content_id
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import GOLD_EXTRACTIONS, GOLD_MENTIONS
from polyculture.cache.store.shards import JobShards
from polyculture.cache.work.worker import Work
from polyculture.extract.base import Extracted, ResponseText
from polyculture.extract.gold import GoldText
from polyculture.extract.rows import ResponseColumns, as_extracted
from polyculture.extract.text_step import EXTRACTOR, ExtractorChoice, ResponseRow, TextExtractionStep

_CONDITION = "gold"  # of texts that answer no prompt


class GoldStep(TextExtractionStep):
    """Finds the mentions of gold texts with a model. A job is those of a language and a topic."""

    name = str(GOLD_EXTRACTIONS.stage)
    tables = (GOLD_MENTIONS, GOLD_EXTRACTIONS)
    use = "extract"

    def __init__(
        self, run: RunFolder, gold: Sequence[GoldText], catalog: Catalog, extractor: ExtractorChoice, model: str
    ) -> None:
        """`gold` is sorted by language and topic; `model` extracts."""
        super().__init__(run, catalog, extractor)
        self._model = model
        self._texts = {
            Job(model, *place): list(texts) for place, texts in groupby(gold, key=lambda one: (one.language, one.topic))
        }

    def works(self) -> Iterator[Work[ResponseRow]]:
        """A work per language and topic."""
        for job, texts in self._texts.items():
            yield Work(job, {EXTRACTOR: self._model}, partial(self._items, job), len(texts))

    def stored(self, language: str, topic: str) -> StoredExtractor:
        """What the run keeps of the texts of a language and topic, by the ids of the gold file."""
        job = Job(self._model, language, topic)
        names = {gold_id(text): text.text_id for text in self._texts[job]}
        shards = JobShards(self._run, job, self.tables)
        mentions: dict[str, list[Mapping[str, Any]]] = {}
        for row in shards.read(GOLD_MENTIONS.name).to_pylist():
            mentions.setdefault(row["extraction_id"], []).append(row)
        extractor_id = self._extractor.extractor_ids[topic]
        items = {item.response_id: item for item in self._items(job)}
        found: dict[str, list[Extracted]] = {}
        for row in shards.read(GOLD_EXTRACTIONS.name).to_pylist():
            item = items.get(row["response_id"])
            unusable = row["status"] == "unusable" and row["extractor_id"] == extractor_id
            if item is not None and (unusable or row["extraction_id"] == item.extraction_id):
                result = as_extracted(row, mentions.get(row["extraction_id"], ()))
                name = names[result.response_id]
                found.setdefault(name, []).append(replace(result, response_id=name))
        return StoredExtractor(extractor_id, found)

    def _items(self, job: Job) -> Iterator[ResponseRow]:
        for text in self._texts[job]:
            key = gold_id(text)
            cell = ResponseColumns(key, key, key, job.model, job.language, job.topic, _CONDITION, None, 0)
            yield self.item(cell, text.text, job.topic)


def gold_id(text: GoldText) -> str:
    """The id by which answers about a gold text are kept: another text of the same name is another one."""
    return content_id(_CONDITION, text.text_id, text.text)


@dataclass(frozen=True)
class StoredExtractor:
    """An extractor whose results are all there, by the id of the text."""

    extractor_id: str
    results: Mapping[str, Sequence[Extracted]]
    costly = False

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """As an extractor does; the results of a text with its last one at the end."""
        for response in responses:
            yield from sorted(self.results[response.response_id], key=lambda one: one.status != "unusable")
