"""Small runs on disk for tests, written as the stages write them. Large ones: `tests/large_run.py`."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.identity import content_id, query_number
from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.parquet import objects_to_table, rows_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import WANTED_RESPONSES, Prompt, WantedResponse
from polyculture.cache.store.shards import JobShards
from polyculture.generate.engines.endings import ending_of
from polyculture.link.stage import known_countries
from polyculture.running.layout import store_layout
from tests.extracted import extracted_by

EXTRACTOR = "extractor-now"
TABLES = {table.name: table for table in store_layout().tables}
CELL = ("model", "language", "topic", "condition", "country")


def request_of(model: str, prompt_id: str) -> str:
    """The request that a builder's responses answer."""
    return f"{model} {prompt_id}"


def write_wanted(run: RunFolder, models: Iterable[str], prompt_ids: Iterable[str], n: int) -> None:
    """What says that these responses count: all prompts of all models."""
    prompts = list(prompt_ids)
    rows = [WantedResponse(request_of(model, key), n, model, key) for model in models for key in prompts]
    write_parquet(objects_to_table(WANTED_RESPONSES, rows), run.table(WANTED_RESPONSES.name))


@cache
def _empty(table: str) -> dict[str, Any]:
    empty = {"int": 0, "bool": False, "str": "", "float": 0.0}
    return {f.name: empty.get(str(f.type)) for f in fields(TABLES[table].row)}


def blank(table: str, **values: Any) -> dict[str, Any]:
    """A row of a table: `values`, and nothing (None, 0, "") in the other columns; of mentions and links their query."""
    row = dict(_empty(table))
    if unknown := values.keys() - row.keys():
        raise KeyError(f"{table} has no column {unknown}")
    if table in ("mentions", "links"):
        asked = {**row, **values}
        keys = ("language", "topic", "kind", "surface", "name", "english")
        row["query"] = query_number(*(asked[name] for name in keys))
    return {**row, **values}


@dataclass
class StoreBuilder:
    """Collects the rows of a small run, one call each, and writes it.

    Everything but what a test is about has a default; columns of a row can be overwritten by name.
    """

    folder: Path
    models: Sequence[str] = ("m",)
    countries: Sequence[str] = ("JP", "IT")
    n: int = 100
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {name: [] for name in TABLES})

    def ask(
        self,
        language: str = "en",
        topic: str = "food",
        country: str | None = None,
        condition: str = "",
        wording: str = "paragraph",
        name: str | None = None,
    ) -> Prompt:
        """A prompt: explicit where it names a country, neutral where not, unless `condition` says otherwise."""
        condition = condition or ("neutral" if country is None else "explicit")
        other = (wording, name) if wording != "paragraph" or name else ()
        key = content_id(language, topic, condition, country, *other)
        text = f"{topic} in {country or 'general'}?" + (f" {other}" if other else "")
        prompt = Prompt(key, language, topic, condition, country, name, text, wording)
        self.rows["prompts"].append(asdict(prompt))
        return prompt

    def answer(self, prompt: Prompt, mentions: Iterable[str | Mapping[str, Any]] = (), **columns: Any) -> str:
        """A response with its extraction and mentions: surfaces, or columns of a mention with `surface` among them.

        `columns` go to the response, but for `extraction`, the status of its extraction (None: not extracted yet), and
        `declined`, what the extractor says of the text.
        """
        extraction = columns.pop("extraction", "ok" if columns.get("status", "ok") == "ok" else None)
        extractor, declined = columns.pop("extractor_id", EXTRACTOR), columns.pop("declined", None)
        number = len(self.rows["responses"])
        where = {name: getattr(prompt, name) for name in ("prompt_id", "language", "topic", "condition", "country")}
        defaults = {"model": self.models[0], "sample": number % self.n, "status": "ok"}
        text = {
            "text": f"text {number}",
            "finish_reason": "stop",
            "detected_language": prompt.language,
            "script_share": 1.0,
        }
        values = {**where, **defaults, **text, **columns}
        values.setdefault("ending", ending_of(values["finish_reason"]))
        values.setdefault("request_id", request_of(values["model"], prompt.prompt_id))
        response = blank("responses", response_id=f"r{number:06}", **values)
        self.rows["responses"].append(response)
        shared = {name: response[name] for name in ("response_id", "request_id", "prompt_id", "sample", *CELL)}
        shared |= {"extractor_id": extractor, "extraction_id": f"{response['response_id']} {extractor}"}
        found = [{"surface": one} if isinstance(one, str) else one for one in mentions]
        for ordinal, one in enumerate(found):
            mention = {"ordinal": ordinal, "kind": "dish", "granularity": 1, "counted": True, **shared, **one}
            self.rows["mentions"].append(blank("mentions", **mention))
        if extraction is not None:
            row = blank("extractions", status=extraction, mentions=len(found), attempts=1, declined=declined, **shared)
            self.rows["extractions"].append(row)
        return str(response["response_id"])

    def link(self, surface: str, qid: str | None = None, status: str = "", prompt: Prompt | None = None) -> None:
        """What a surface means, in the language and topic of `prompt` or in those of every prompt so far."""
        status = status or ("linked" if qid else "no candidate")
        asked = [asdict(prompt)] if prompt else self.rows["prompts"]
        for language, topic in dict.fromkeys((row["language"], row["topic"]) for row in asked):
            where = {"language": language, "topic": topic, "kind": "dish", "surface": surface}
            self.rows["links"].append(blank("links", status=status, qid=qid, **where))

    def entity(self, qid: str, label: str = "", **countries: str) -> None:
        """An item; `countries` by code, each with the property that says so: `entity("Q1", JP="P495")`."""
        if all(row["qid"] != qid for row in self.rows["entities"]):  # one row an item, as the linker writes them
            self.rows["entities"].append(blank("entities", qid=qid, label=label or qid, labels={"en": label or qid}))
        for country, property in countries.items():
            row = blank("entity_countries", qid=qid, country=country, country_qid="Q0", property=property)
            self.rows["entity_countries"].append(row)

    def from_former_state(self, qid: str, *successors: str, property: str = "P495") -> None:
        """An item that comes from a former state on the land of several countries."""
        said = {"country_qid": "Q9999", "property": property, "successors": list(successors)}
        self.rows["entity_countries"].append(blank("entity_countries", qid=qid, **said))

    def know(self, catalog: Catalog | None = None) -> None:
        """The links know the countries and regions of a catalogue (the built-in one)."""
        self.rows["known_countries"] = [asdict(country) for country in known_countries(catalog or read_catalog())]

    def write(self) -> RunFolder:
        """Writes all rows: sharded tables job by job, the others whole, and the manifest that makes them current."""
        run = RunFolder(self.folder)
        for table in ("prompts", "links", "candidates", "entities", "entity_countries", "known_countries"):
            write_parquet(rows_to_table(TABLES[table], self.rows[table]), run.table(table))
        write_wanted(run, self.models, (row["prompt_id"] for row in self.rows["prompts"]), self.n)
        self._write_shards(run, ["responses"])
        self._write_shards(run, ["mentions", "extractions"])
        write_manifest(manifest(self.models, self.countries, self.n), run.manifest)
        return run

    def _write_shards(self, run: RunFolder, tables: list[str]) -> None:
        for table in tables:
            for parent in (run.root, run.root / "inventory"):  # a run that is written again has its rows once
                shutil.rmtree(parent / table, ignore_errors=True)
        jobs = {(row["model"], row["language"], row["topic"]) for table in tables for row in self.rows[table]}
        for job in sorted(jobs):
            mine = {
                table: [row for row in self.rows[table] if (row["model"], row["language"], row["topic"]) == job]
                for table in tables
            }
            with JobShards(run, Job(*job), [TABLES[table] for table in tables]) as shards:
                shards.append_part({table: rows_to_table(TABLES[table], rows) for table, rows in mine.items()})


def manifest(models: Sequence[str], countries: Sequence[str], n: int) -> Manifest:
    """A manifest under which the builder's rows are the current ones."""
    return Manifest(
        experiment="test",
        polyculture="0",
        models=list(models),
        countries=list(countries),
        n=n,
        **extracted_by({}, {"all": EXTRACTOR}),
    )
