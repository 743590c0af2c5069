"""Synthetic runs of any size for tests and benchmarks, written as the stages write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from polyculture.cache.catalog import read_catalog
from polyculture.cache.identity import content_id, query_number
from polyculture.cache.store.manifest import write_manifest
from polyculture.cache.store.parquet import rows_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import PROMPTS, Prompt
from polyculture.cache.store.shards import JobShards
from polyculture.link.stage import known_countries
from tests.store_builder import EXTRACTOR, TABLES, blank, manifest, request_of, write_wanted


@dataclass(frozen=True)
class LargeRun:
    """A synthetic run of any size: Zipf-distributed items, their popularity shifted from language to language."""

    models: Sequence[str] = ("openai:one", "openai:two")
    languages: Sequence[str] = ("de", "en", "ja")
    topics: Sequence[str] = ("food", "music")
    countries: Sequence[str] = ("DE", "IT", "JP", "US")
    n: int = 50
    mentions: float = 3  # a response, on average
    items: int = 500  # a topic
    seed: int = 1

    @property
    def jobs(self) -> list[Job]:
        return [Job(m, la, t) for m in self.models for la in self.languages for t in self.topics]

    def prompts_of(self, job: Job) -> list[Prompt]:
        cells: list[tuple[str, str | None]] = [("neutral", None)]
        cells += [("explicit", country) for country in self.countries]
        return [
            Prompt(
                content_id(job.language, job.topic, *cell),
                job.language,
                job.topic,
                *cell,
                None,
                f"{job.topic} {cell}",
                "paragraph",
            )
            for cell in cells
        ]

    def write_whole(self, run: RunFolder) -> None:
        """Everything but responses, mentions and extractions."""
        prompts = {p.prompt_id: asdict(p) for job in self.jobs for p in self.prompts_of(job)}
        write_parquet(rows_to_table(PROMPTS, list(prompts.values())), run.table("prompts"))
        write_wanted(run, self.models, prompts, self.n)
        statuses = ["linked"] * 16 + ["ambiguous", "no candidate", "no candidate", "no path"]
        links, entities, countries = [], [], []
        for t, topic in enumerate(self.topics):
            for k in range(self.items):
                status, qid = statuses[k * 7 % 20], f"Q{t * self.items + k + 1}"
                known = qid if status in ("linked", "ambiguous") else None
                for language in self.languages:
                    where = {"language": language, "topic": topic, "kind": "dish", "surface": f"{language} {topic} {k}"}
                    links.append(blank("links", status=status, qid=known, **where))
                if known:
                    entities.append(blank("entities", qid=qid, label=f"{topic} {k}", labels={"en": f"{topic} {k}"}))
                    country = self.countries[k % len(self.countries)]
                    countries.append(blank("entity_countries", qid=qid, country=country, property="P495"))
        known = [asdict(country) for country in known_countries(read_catalog())]
        tables = {"links": links, "entities": entities, "entity_countries": countries, "known_countries": known}
        for table, rows in tables.items():
            write_parquet(rows_to_table(TABLES[table], rows), run.table(table))
        write_manifest(manifest(self.models, self.countries, self.n), run.manifest)

    def tables_of(self, job: Job) -> dict[str, pa.Table]:
        """The responses, mentions and extractions of a job, as finished Arrow tables."""
        rng = np.random.default_rng([self.seed, self.jobs.index(job)])
        prompts = self.prompts_of(job)
        size = len(prompts) * self.n
        prompt = np.repeat(np.arange(len(prompts)), self.n)
        shared: dict[str, Any] = {
            "response_id": [content_id(*asdict(job).values(), i) for i in range(size)],
            "prompt_id": _pick([p.prompt_id for p in prompts], prompt),
            "condition": _pick([p.condition for p in prompts], prompt),
            "country": _pick([p.country for p in prompts], prompt),
            "sample": np.tile(np.arange(self.n), len(prompts)),
            **asdict(job),
            "request_id": _pick([request_of(job.model, p.prompt_id) for p in prompts], prompt),
        }
        words = rng.integers(0, 10_000, (size, 60))
        text = [" ".join(map(str, row)) for row in words.tolist()]
        said = {"status": "ok", "text": text, "finish_reason": "stop", "detected_language": job.language}
        counts = rng.poisson(self.mentions, size)
        owner = np.repeat(np.arange(size), counts)
        per_response = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        surfaces, chosen = self._surfaces(job, prompt[owner], rng)
        extracted = {**shared, "extractor_id": EXTRACTOR, "extraction_id": shared["response_id"]}
        found = {
            **{name: _pick(column, owner) if _is_column(column) else column for name, column in extracted.items()},
            **{
                "ordinal": per_response,
                "surface": surfaces,
                "query": [query_number(job.language, job.topic, "dish", surface) for surface in surfaces],
                "kind": "dish",
                "counted": True,
                "granularity": chosen % 2,
            },
            **{"start": per_response * 10, "end": per_response * 10 + 8},
        }
        return {
            "responses": _table("responses", size, {**shared, **said, "script_share": 1.0}),
            "mentions": _table("mentions", len(owner), found),
            "extractions": _table("extractions", size, {**extracted, "status": "ok", "mentions": counts}),
        }

    def write(self, folder: Path) -> RunFolder:
        """Writes the whole run past the journal."""
        run = RunFolder(folder)
        self.write_whole(run)
        for job in self.jobs:
            tables = self.tables_of(job)
            for group in (["responses"], ["mentions", "extractions"]):
                with JobShards(run, job, [TABLES[name] for name in group]) as shards:
                    shards.append_part({name: tables[name] for name in group})
        return run

    def _surfaces(self, job: Job, prompt: Any, rng: np.random.Generator) -> tuple[list[str], Any]:
        popular = 1 / np.arange(1, self.items + 1) ** 1.2
        rank = rng.choice(self.items, len(prompt), p=popular / popular.sum())
        shift = 5 * self.languages.index(job.language) + 3 * prompt
        chosen = (rank + shift) % self.items
        return _pick([f"{job.language} {job.topic} {k}" for k in range(self.items)], chosen), chosen


def _is_column(value: Any) -> bool:
    return not isinstance(value, str)


def _pick(values: Any, index: Any) -> list[Any]:
    return pa.array(values).take(pa.array(index)).to_pylist()


def _table(name: str, size: int, columns: Mapping[str, Any]) -> pa.Table:
    empty = blank(name)
    arrays = []
    for column in TABLES[name].schema:
        value = columns.get(column.name, empty[column.name])
        scalar = value is None or isinstance(value, str | int | float)
        arrays.append(pa.array([value] * size if scalar else value, type=column.type))
    return pa.Table.from_arrays(arrays, schema=TABLES[name].schema)
