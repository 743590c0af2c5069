"""`manifest.json`: what a run asked, with what, and which rows of the store are current."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polyculture.cache.errors import StoreError
from polyculture.cache.files import replacing
from polyculture.cache.identity import content_id
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.text.sanitize import conceal
from polyculture.cache.validation import ClosedModel

UNSTATED = "unstated"  # the condition of a text whose file says none: cells are joined by it, and NULL joins nothing
TEXTS = "texts"  # what asks for texts, among the instruments in `Manifest.asked`
EXTRACT_KEYS = "extract."  # how the settings of texts begin that are keys of that section of the experiment file
FORMAT = 11  # raise it when tables, ids or this file change so that runs on disk cannot be gone on with


class CurrentId(ClosedModel):
    """What an instrument asks, or reads, and the id under which rows count."""

    what: str  # a task, how it is asked, and the language; of texts a topic
    id: str
    # The name of the prompt, where numbers are means over the prompts of `what`: those that were asked together last
    # count. Empty where there are no several prompts.
    prompt: str = ""
    reads: bool = False  # the id is that of a reader: to read answers again asks nobody
    measure: str = ""  # the one that rests on it, of an instrument whose measures ask each its own; '': all
    # That the id is made of; and what a log says of a metric that changes no number: `better`, 'low' or 'high'.
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, bool]:
        """What tells it from others of its instrument, whatever the id."""
        return self.what, self.prompt, self.reads

    def __str__(self) -> str:
        return f"{self.what}, prompt {self.prompt}" if self.prompt else self.what


class Manifest(BaseModel):
    """Everything that a run's numbers depend on. Each stage fills in its own part.

    Which texts count says the table `wanted_responses`, which is written with the manifest; `asked`, `setups` and
    `linker_id` say it of all else. Rows made under other settings stay on disk, out of every view, and count again when
    the settings come back.
    """

    model_config = ConfigDict(extra="forbid")

    format: int = FORMAT  # of the run's folder: a folder of another one is refused
    experiment: str
    polyculture: str  # version
    packages: dict[str, str] = {}  # versions of what the numbers depend on
    packs: list[dict[str, str]] = []  # name, version and content hash of each culture pack
    models: list[str] = []
    languages: list[str] = []
    languages_of: dict[str, list[str]] = {}  # of models that are asked in some of these languages alone
    topics: list[str] = []
    countries: list[str] = []
    conditions: list[str] = []
    # Wordings, names in each, seed of their draw, the system prompt of all models, and by language a hash of the
    # `texts`; empty where none is asked.
    prompts: dict[str, Any] = {}
    model_versions: dict[str, str] = {}  # model -> what the engine says it ran
    sampling: dict[str, Any] = {}  # as in the experiment file, defaults filled in
    n: int = 0
    # model -> language -> the sentence that its prompts end with, where not every model's do
    appended: dict[str, dict[str, str]] = {}
    # Of each instrument what was asked. Of texts it is an extractor for each topic: a new topic leaves the mentions of
    # others current.
    asked: dict[str, list[CurrentId]] = {}
    # 'use model' -> the setup: which model, exactly, and every option that decides its numbers.
    setups: dict[str, dict[str, Any]] = {}
    former_setups: dict[str, dict[str, Any]] = {}  # by id: what rows that no longer count were made under
    linker: dict[str, Any] = {}
    linker_id: str = ""
    snapshot: dict[str, Any] = {}  # provenance of the Wikidata snapshot, or of the live API
    prices: dict[str, dict[str, float]] = {}  # model -> per million tokens, as in the experiment file
    model_facts: dict[
        str, dict[str, Any]
    ] = {}  # model -> what the experiment file says of it: `cache.store.model_facts`
    imported: list[str] = []  # a line per file of texts that somebody else generated; empty of a generated run
    notes: list[str] = []  # what a reader of the report must know (the demo says here what is weak in it)

    @property
    def extractor_ids(self) -> dict[str, str]:
        """By topic, the id of the extractor whose mentions count."""
        return {one.what: one.id for one in self.asked.get(TEXTS, []) if not one.reads}

    @property
    def reader_id(self) -> str | None:
        """Whose readings of the extractor's answers count; None: no model answers."""
        return next((one.id for one in self.asked.get(TEXTS, []) if one.reads), None)

    @property
    def extractor(self) -> dict[str, Any]:
        """What the experiment file says of the extractor, by key of its section; empty where nothing is extracted."""
        settings = next((one.settings for one in self.asked.get(TEXTS, []) if not one.reads), {})
        return {
            key.removeprefix(EXTRACT_KEYS): value for key, value in settings.items() if key.startswith(EXTRACT_KEYS)
        }

    @property
    def languages_asked(self) -> list[str]:
        """The languages in which any model was asked."""
        asked = {code for model in self.models for code in self.languages_of.get(model, self.languages)}
        return [code for code in self.languages if code in asked]

    @property
    def deterministic(self) -> bool:
        """Whether the samples of a prompt are one text by the experiment's own settings."""
        return self.sampling.get("temperature") == 0 or self.sampling.get("top_k") == 1

    def why_without(self, condition: str) -> str | None:
        """Why no text has a condition, as a key of `texts().missing`; None where some have it. Of imported texts whose
        file does not say theirs it is not known, unless it says which prompts name a country."""
        if condition in self.conditions:
            return None
        is_known = UNSTATED not in self.conditions or "explicit" in self.conditions
        return f"no_{condition}" if is_known else UNSTATED

    def following(self, before: Manifest) -> Manifest:
        """The same, with the setups of the manifest before it among the former ones."""
        present = {setup_id(setup) for setup in self.setups.values()}
        known = before.former_setups | {setup_id(setup): setup for setup in before.setups.values()}
        former = {key: setup for key, setup in known.items() if key not in present}
        return self.model_copy(update={"former_setups": former})


def setup_id(setup: Mapping[str, Any]) -> str:
    """The `setup_id` of rows that were made under one of `Manifest.setups`."""
    return content_id("setup", setup)


def read_manifest(path: Path) -> Manifest | None:
    """The manifest, or None where there is no run yet.

    Raises `StoreError` where it cannot be parsed, and where the folder is of another format.
    """
    if not path.exists():
        return None
    try:
        data = path.read_bytes()
        _check_format(data, path.parent)
        return Manifest.model_validate_json(data)
    except (ValidationError, OSError) as fault:
        raise StoreError(
            "is not a manifest that this version can read",
            where=path,
            remedy="Move it away and run again: the shards are kept and reused.",
        ) from fault


def require_run(run: RunFolder) -> Manifest:
    """The manifest of a run. Raises `StoreError` where there is none."""
    manifest = read_manifest(run.manifest)
    if manifest is None:
        raise StoreError("holds no run", where=run.root, remedy="Start it with: polyculture run EXPERIMENT")
    return manifest


def _check_format(data: bytes, folder: Path) -> None:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return  # the parser says where
    known = found.get("format") if isinstance(found, dict) else FORMAT
    if known != FORMAT:
        raise StoreError(
            f"is a run of format {known or 'none'}, and this version of Polyculture reads format {FORMAT}",
            where=folder,
            remedy="Read it with the version that wrote it. If the run is yours, you can also move the folder away and "
            "run again, which sends all requests again. If it is not yours, ask for an export by this version.",
        )


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Writes the manifest, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(conceal(manifest.model_dump_json(indent=2)) + "\n", encoding="utf-8")
