"""Probes in a run, made up and written as the step writes them: no model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from polyculture.cache.store.manifest import CurrentId, read_manifest, setup_id, write_manifest
from polyculture.cache.store.parquet import objects_to_table, rows_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.shards import JobShards
from polyculture.cache.text.folding import fold
from polyculture.generate.engines.patching import Continuation, Inspection, Patch
from polyculture.instruments.probe.layout import (
    PROBE_ITEMS,
    PROBE_QUESTIONS,
    PROBE_READINGS,
    PROBES,
    WANTED_PROBES,
    WantedProbe,
)
from tests.store_builder import blank

CULTURES = (
    "Algeria", "Assam", "Azerbaijan", "China", "Ethiopia", "Greece", "Indonesia", "Iran", "Mexico", "Northern Nigeria",
    "South Korea", "Spain", "UK", "US",
)  # fmt: skip
Said = Callable[[str, str, int, int], Sequence[str]]  # arm, culture, question, layer -> items


def layers_say(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Layers of models of this process say these texts in turn: made-up weights write no words."""
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    def say(_: Any, __: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        return (Continuation(one.patch_id, texts[n % len(texts)], 9, "line", "told") for n, one in enumerate(patches))

    monkeypatch.setattr(TransformersEngine, "continue_patched", say)


def write_probes(
    run: RunFolder,
    said: Said,
    models: Sequence[str] = ("m",),
    languages: Sequence[str] = ("en",),
    arms: Sequence[str] = ("patched",),
    cultures: Sequence[str] = CULTURES,
    questions: int = 6,
    layers: int = 4,
    topic: str = "food",
    ids: str = "q{}",  # of questions, by their number
    protocol: str = "paper",
) -> None:
    """Probes of every model, in every language and arm; the run has a manifest already. An item 'water' is an echo."""
    asked = [
        blank("probe_questions", question_key=f"{language} {culture} {n}", dataset="open", language=language,
              culture=culture, question_id=ids.format(n), topic=topic, question=f"What is {n} in {culture}?")
        for language, culture, n in product(languages, cultures, range(questions))
    ]  # fmt: skip
    write_parquet(rows_to_table(PROBE_QUESTIONS, asked), run.table("probe_questions"))
    setup = {f"patch {model}": dict[str, Any]() for model in models}
    wanted = [
        WantedProbe(f"{model} {row['question_key']} {arm}", model, setup_id({}), row["question_key"], arm,
                    f"{arm} {row['language']}")
        for model, row, arm in product(models, asked, arms)
    ]  # fmt: skip
    write_parquet(objects_to_table(WANTED_PROBES, wanted), run.table(WANTED_PROBES.name))
    for model, language, culture in product(models, languages, cultures):
        found: dict[str, list[dict[str, Any]]] = {"probe_readings": [], "probe_items": [], "probes": []}
        for arm, n in product(arms, range(questions)):
            key = f"{model} {language} {culture} {arm} {n}"
            found["probes"].append(blank(
                "probes", probe_id=key, request_id=f"{model} {language} {culture} {n} {arm}", model=model,
                language=language, topic=f"open-{culture}", question_key=f"{language} {culture} {n}", status="ok",
                error=None, answer="an answer", layers=layers, protocol=protocol,
            ))  # fmt: skip
            for layer in (0,) if arm == "text" else range(1, layers + 1):
                items = said(arm, culture, n, layer)
                found["probe_readings"].append(
                    blank("probe_readings", probe_id=key, layer=layer, text=", ".join(items), tokens=9,
                          finish_reason="line")
                )  # fmt: skip
                found["probe_items"] += [
                    blank("probe_items", probe_id=key, layer=layer, place=place, item=item, item_key=fold(item),
                          rejected=None, echo="prompt" if item == "water" else None)
                    for place, item in enumerate(items)
                ]  # fmt: skip
        tables = [PROBE_READINGS, PROBE_ITEMS, PROBES]
        with JobShards(run, Job(model, language, f"open-{culture}"), tables) as shards:
            shards.append_part({table.name: rows_to_table(table, found[table.name]) for table in tables})
    manifest = read_manifest(run.manifest)
    rules = [
        CurrentId(what=f"probe open {arm} {language}", id=f"{arm} {language}") for arm in arms for language in languages
    ]
    now = {"asked": {**manifest.asked, "probe": rules}, "setups": {**manifest.setups, **setup}}
    write_manifest(manifest.model_copy(update=now), run.manifest)
