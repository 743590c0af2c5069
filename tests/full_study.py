"""A run of the full study's shape: 7 models x 1,716 prompts, names and prompts in their 13 languages, made up answers.

Every cell, pair of languages and entity of the study is there; only the responses of a prompt are fewer.

    python -m tests.full_study FOLDER --n 8
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.parquet import objects_to_table, rows_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import PROMPTS, Prompt
from polyculture.cache.store.shards import JobShards
from polyculture.generate.design import read_preset
from polyculture.generate.prompts import build_prompts
from polyculture.link.index.starter import UNCOUNTED, StarterItem, read_starter
from tests.extracted import extracted_by
from tests.store_builder import EXTRACTOR, TABLES, blank, request_of, write_wanted

MODELS = tuple(f"openai:model-{letter}" for letter in "ABCDEFG")  # no real ones: pictures show what they "do"
SPELLINGS = 20  # items that are made of each real one
STATUSES = ("linked",) * 16 + ("ambiguous", "no candidate", "no candidate", "no path")


@dataclass(frozen=True)
class Thing:
    """An item that answers name: a real one, or its namesake under a number."""

    qid: str
    kind: str
    item: StarterItem
    number: int

    def name(self, language: str) -> str:
        label = self.item.labels.get(language) or self.item.labels["en"]
        return label if self.number == 0 else f"{label} {self.number}"

    @property
    def status(self) -> str:
        return "linked" if self.number == 0 else STATUSES[int(self.qid[1:]) % len(STATUSES)]


@dataclass(frozen=True)
class FullStudy:
    """What to make; smaller studies have fewer models or languages."""

    n: int = 8
    models: Sequence[str] = MODELS
    preset: str = "makieval"
    languages: Sequence[str] = ()  # all of the preset
    topics: Sequence[str] = ()  # likewise

    def write(self, folder: Path) -> RunFolder:
        """Writes the whole run past the journal."""
        run = RunFolder(folder)
        write_parquet(objects_to_table(PROMPTS, self._prompts), run.table("prompts"))
        write_wanted(run, self.models, (prompt.prompt_id for prompt in self._prompts), self.n)
        self._write_items(run)
        for model in self.models:
            for language in self._asked["languages"]:
                for topic in self._asked["topics"]:
                    self._write_job(run, Job(model, language, topic))
        write_manifest(self._manifest(), run.manifest)
        return run

    @cached_property
    def _catalog(self) -> Catalog:
        return read_catalog()

    @cached_property
    def _asked(self) -> dict[str, Any]:
        asked = read_preset(self.preset).model_dump()
        return {**asked, **{axis: getattr(self, axis) or asked[axis] for axis in ("languages", "topics")}}

    @cached_property
    def _prompts(self) -> list[Prompt]:
        return build_prompts(self._catalog, **self._asked)

    @cached_property
    def _things(self) -> dict[str, list[Thing]]:
        """The items of each topic, real ones first."""
        topics: dict[str, list[Thing]] = {topic: [] for topic in self._asked["topics"]}
        real = [found for found in read_starter() if found[0] in topics and found[2].kind not in UNCOUNTED]
        for number in range(SPELLINGS):
            for place, (topic, qid, item) in enumerate(real):
                own = qid if number == 0 else f"Q{900_000_000 + number * 10_000 + place}"
                topics[topic].append(Thing(own, item.kind, item, number))
        return topics

    def _write_items(self, run: RunFolder) -> None:
        countries = {country.qid: code for code, country in self._catalog.countries.items()}
        codes = list(self._asked["countries"])
        rows: dict[str, list[dict[str, Any]]] = {"links": [], "entities": [], "entity_countries": []}
        for topic, things in self._things.items():
            for place, thing in enumerate(things):
                rows["links"] += [_link(thing, topic, *told) for told in self._told(thing)]
                if thing.status not in ("linked", "ambiguous"):
                    continue
                names = {language: thing.name(language) for language in thing.item.labels}
                described = {"label": thing.name("en"), "labels": names, "description": thing.item.description}
                rows["entities"].append(blank("entities", qid=thing.qid, **described))
                origin = next(iter(thing.item.claims.get("P495", ())), None)
                code = countries.get(origin or "", codes[place % len(codes)] if thing.number else None)
                if code:
                    country = {"country": code, "country_qid": self._catalog.countries[code].qid, "property": "P495"}
                    rows["entity_countries"].append(blank("entity_countries", qid=thing.qid, **country))
        for table, made in rows.items():
            write_parquet(rows_to_table(TABLES[table], made), run.table(table))

    def _told(self, thing: Thing) -> list[tuple[str, str]]:
        """In which languages it is named, and how: in each by its own name, and by the English one."""
        found = {(code, thing.name(spoken)): None for code in self._asked["languages"] for spoken in (code, "en")}
        return list(found)

    def _write_job(self, run: RunFolder, job: Job) -> None:
        dice = random.Random(content_id(*asdict(job).values()))
        rows: dict[str, list[dict[str, Any]]] = {"responses": [], "mentions": [], "extractions": []}
        prompts = [p for p in self._prompts if (p.language, p.topic) == (job.language, job.topic)]
        for prompt in prompts:
            for sample in range(self.n):
                self._answer(rows, dice, job, prompt, sample)
        for names in (["responses"], ["mentions", "extractions"]):
            with JobShards(run, job, [TABLES[name] for name in names]) as shards:
                shards.append_part({name: rows_to_table(TABLES[name], rows[name]) for name in names})

    def _answer(
        self, rows: dict[str, list[dict[str, Any]]], dice: random.Random, job: Job, prompt: Prompt, sample: int
    ) -> None:
        shared = {
            "response_id": content_id(job.model, prompt.prompt_id, sample),
            **{name: getattr(prompt, name) for name in ("prompt_id", "language", "topic", "condition", "country")},
            "model": job.model, "request_id": request_of(job.model, prompt.prompt_id), "sample": sample,
        }  # fmt: skip
        drifted = prompt.language != "en" and dice.random() < 0.02 * self.models.index(job.model)
        language = "en" if drifted else prompt.language
        text, places = _write(list(self._choose(dice, job, prompt)), language, prompt.text)
        said = {"status": "ok", "text": text, "finish_reason": "stop", "detected_language": language}
        rows["responses"].append(blank("responses", **shared, **said, script_share=0.0 if drifted else 1.0))
        read = {**shared, "extractor_id": EXTRACTOR, "extraction_id": shared["response_id"]}
        rows["extractions"].append(blank("extractions", **read, status="ok", mentions=len(places), attempts=1))
        for ordinal, (thing, start, end) in enumerate(places):
            found = {"ordinal": ordinal, "surface": text[start:end], "kind": thing.kind, "start": start, "end": end}
            specific = int(dice.random() < 0.6 + 0.05 * self.models.index(job.model))
            rows["mentions"].append(blank("mentions", **read, **found, counted=True, granularity=specific))

    def _choose(self, dice: random.Random, job: Job, prompt: Prompt) -> Iterator[Thing]:
        """Three things, the first of a list more often; every country and language turns the list its own way."""
        things = self._things[job.topic]
        turn = 17 * (
            self._asked["countries"].index(prompt.country) if prompt.country in self._asked["countries"] else 0
        )
        turn += 5 * self._asked["languages"].index(job.language)
        for _ in range(3):
            yield things[(int(dice.paretovariate(0.7)) + turn) % len(things)]

    def _manifest(self) -> Manifest:
        return Manifest(
            experiment="A made-up run of seven models",
            polyculture="0.1.0",
            models=list(self.models),
            **{axis: list(self._asked[axis]) for axis in ("languages", "topics", "countries", "conditions")},
            model_versions=dict.fromkeys(self.models, "made up"),
            sampling={"temperature": 0.7, "top_p": 0.9, "top_k": 10, "max_tokens": 512, "seed": 1},
            n=self.n,
            **extracted_by({"with": "gazetteer"}, dict.fromkeys(self._asked["topics"], EXTRACTOR)),
            linker={"source": "snapshot"},
            linker_id="made-up",
            snapshot={"name": "made up", "entities": sum(map(len, self._things.values()))},
            notes=["This run is synthetic: a generator put its texts together, no model wrote them."],
        )


def _write(things: Sequence[Thing], language: str, filler: str) -> tuple[str, list[tuple[Thing, int, int]]]:
    """A text that names `things`, and where."""
    text, places = "", []
    for thing in things:
        name = thing.name(language)
        text += f"{filler} "
        places.append((thing, len(text), len(text) + len(name)))
        text += f"{name}. "
    return text.rstrip(), places


def _link(thing: Thing, topic: str, language: str, surface: str) -> dict[str, Any]:
    known = thing.status in ("linked", "ambiguous")
    found = {"match": "exact", "path": ["Q19861951", "Q746549"], "qid": thing.qid} if known else {"path": None}
    where = {"language": language, "topic": topic, "kind": thing.kind, "surface": surface}
    return blank("links", **where, status=thing.status, matched=surface, **found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--n", type=int, default=8, help="responses of a prompt (default: 8)")
    parser.add_argument("--preset", default="makieval", help="makieval or full")
    asked = parser.parse_args()
    FullStudy(asked.n, preset=asked.preset).write(asked.folder)
