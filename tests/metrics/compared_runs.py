"""Small runs on disk whose differences are known, as comparisons, gates and claims are tested on them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from polyculture.cache.store.schema import Prompt
from tests.store_builder import StoreBuilder

ITEMS = 12  # of each topic; item k is of the country k, counted around
Random = np.random.Generator
Says = Callable[[Random, str, Prompt], list[dict[str, object]] | None]  # mentions, or None: the model declines


def mention(item: int, specific: bool) -> dict[str, object]:
    """A mention of an item."""
    return {"surface": f"dish {item}", "granularity": int(specific)}


def specific_with(chance: dict[str, float]) -> Says:
    """Two items, each specific with its model's chance."""

    def says(random: Random, model: str, prompt: Prompt) -> list[dict[str, object]]:
        items = random.choice(ITEMS, size=2, replace=False).tolist()
        return [mention(item, bool(random.random() < chance[model])) for item in items]

    return says


def write_run(
    folder: Path,
    name: str,
    says: Says,
    models: Sequence[str] = ("openai:one", "openai:two"),
    languages: Sequence[str] = ("de", "ja"),
    topics: Sequence[str] = ("book", "food", "music"),
    countries: Sequence[str] = ("DE", "IT", "JP"),
    n: int = 6,
    new_prompts_of: str = "",
    more: str = "",
    taken_over: bool = False,
) -> Path:
    """Writes a run and its experiment file, which it returns. Prompts of `new_prompts_of`, a country, are others.
    Answers are the run's own, or `taken_over` from a run beside it."""
    built, random = StoreBuilder(folder / "runs" / name, models, countries, n), np.random.default_rng(1)
    for language, topic, country in product(languages, topics, (None, *countries)):
        person = "Ada" if country and country == new_prompts_of else None
        prompt = built.ask(language, topic, country, name=person)
        for model, sample in product(models, range(n)):
            mentions = says(random, model, prompt)
            bought = {"purchase": None if taken_over else "direct"}
            built.answer(prompt, mentions or [], model=model, sample=sample, refused=mentions is None, **bought)
    for item in range(ITEMS):
        built.link(f"dish {item}", f"Q{item + 1}")
        built.entity(f"Q{item + 1}", **{countries[item % len(countries)]: "P495"})
    built.write()
    words = {"models": models, "languages": languages, "topics": topics, "countries": countries}
    lines = [f'name = "{name}"', *(f"{key} = {json.dumps(list(value))}" for key, value in words.items())]
    file = folder / f"{name}.toml"
    file.write_text("\n".join([*lines, 'conditions = ["explicit", "neutral"]', more]), encoding="utf-8")
    return file
