"""Small runs whose prompts come in one wording or in several, drawn by seed: the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import Prompt
from tests.store_builder import StoreBuilder

LANGUAGES, TOPICS, COUNTRIES = ("en", "it"), ("clothing", "food"), ("IT", "JP")
ASKED = (("", None), ("explicit", "IT"), ("explicit", "JP"), ("implicit_male", "IT"))
RESPONSES, ITEMS = 60, 24


def build(
    folder: Path, wordings: Sequence[str] = ("paragraph",), names: int = 1, silent: tuple[str, str, str] | None = None
) -> RunFolder:
    """A run of one model: every cell in each of the wordings, implicit ones with as many names.

    In the wording, language and topic that are `silent`, nothing is named.
    """
    builder = StoreBuilder(folder, models=("m",), countries=COUNTRIES, n=RESPONSES)
    random = np.random.default_rng(19)
    for wording in wordings:
        for language in LANGUAGES:
            for topic in TOPICS:
                for condition, country in ASKED:
                    several = names if condition.startswith("implicit") else 1
                    for number in range(several):
                        name = f"{wording} {number}" if condition.startswith("implicit") and several > 1 else None
                        prompt = builder.ask(language, topic, country, condition, wording=wording, name=name)
                        _answer(builder, prompt, random, (wording, language, topic) == silent)
    for item in range(ITEMS):
        status = "ambiguous" if item % 11 == 5 else "linked"
        builder.link(f"item {item}", f"Q{item + 1}", status)
        builder.entity(f"Q{item + 1}", **({COUNTRIES[item % 3]: "P495"} if item % 3 < 2 else {}))
    return builder.write()


def _answer(builder: StoreBuilder, prompt: Prompt, random: np.random.Generator, silent: bool) -> None:
    popular = 1 / np.arange(1, ITEMS + 1)
    popular = random.permutation(popular) if prompt.country == "JP" else popular
    for sample in range(RESPONSES):
        named = random.choice(ITEMS, size=random.poisson(1.8), p=popular / popular.sum())
        found = [{"surface": f"item {item}", "granularity": int(random.random() < 0.7)} for item in named]
        builder.answer(prompt, [] if silent else found, sample=sample)
