"""Imported texts that depend on one another, of models that do not differ: how often `compare` tells them apart.

Each model says what it says by chances that all models share. Then its texts are copied as the world has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from polyculture.cache.store.store import open_store
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.compare import Terms, compare
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.inference.family import SAME_PROMPTS
from polyculture.metrics.responses import ALL
from polyculture.running.layout import store_layout
from tests.store_builder import StoreBuilder

DISHES = 40
COUNTRIES = ("JP", "IT", "MX", "KR")
LONG = "There they sat for a while, and nobody knew what to say of the {0}, until somebody had brought the {1}, "


@dataclass(frozen=True, slots=True)
class Said:
    """A text with the dishes that it names, and the record of a file that it stood in."""

    text: str
    dishes: tuple[int, ...]
    record: int = 0


World = Callable[[Random, int], Sequence[Sequence[Said]]]  # the texts of each prompt, so many


def said(random: Random, *, long: bool, favourite: int = -1) -> Said:
    """An independent answer; with a `favourite` one that mostly names it."""

    def drawn() -> int:
        if favourite >= 0 and random.random() < 0.7:
            return favourite
        return min(int(random.paretovariate(0.7)) - 1, DISHES - 1)

    dishes = (drawn(), drawn())
    words = f"My friend had d{dishes[0]}x and d{dishes[1]}x."
    if long:
        rooms = ["kitchen", "garden", "street", "market", "temple", "harbour", "village", "school", "office", "field"]
        words += " " + " ".join(LONG.format(random.choice(rooms), random.choice(rooms)) for _ in range(3))
    return Said(letters(words), dishes)


def letters(words: str) -> str:
    """The names of dishes in letters, since digits are what copies differ in."""
    for dish in reversed(range(DISHES)):
        words = words.replace(f"d{dish}x", name_of(dish))
    return words


def name_of(dish: int) -> str:
    """The name of a dish."""
    return "mi" + "bcdfghjklm"[dish // 10] + "a" + "bcdfghjklm"[dish % 10] + "o"


METRICS = ("diversity", "granularity")


def rejected(folder: Path, world: World, *, pairs: int, samples: int, seed: int) -> dict[str, tuple[int, int]]:
    """By metric, of so many pairs of models that do not differ: how many have p < .05, and how many are tested."""
    random, models = Random(seed), [f"imported:m{at:03}" for at in range(2 * pairs)]
    builder = StoreBuilder(folder, n=4 * samples, models=models)
    prompts = [builder.ask("en", "food", country) for country in COUNTRIES]
    for model in models:
        for prompt, answers in zip(prompts, world(random, samples), strict=True):
            for sample, one in enumerate(answers):
                named = [{"surface": name_of(dish), "granularity": dish % 2} for dish in sorted({*one.dishes})]
                builder.answer(
                    prompt, named, model=model, sample=sample, text=one.text, origin=f"file:{one.record or sample + 1}"
                )
    for dish in range(DISHES):
        builder.link(name_of(dish), f"Q{dish + 1}")
    with open_store(builder.write(), store_layout()) as store:
        sides = [Sides("model", one, other) for one, other in zip(models[::2], models[1::2], strict=True)]
        terms = Terms(metrics=METRICS, targets=(SAME_PROMPTS,), selections=(ALL,))
        rows = compare([ComparedRun(store)], sides, terms)
    told = {metric: [row.difference.p for row in rows if row.difference.metric == metric] for metric in METRICS}
    known = {metric: [one for one in found if one is not None] for metric, found in told.items()}
    return {metric: (sum(one < 0.05 for one in found), len(found)) for metric, found in known.items()}


def numbered(random: Random, samples: int, *, long: bool, times: Sequence[int]) -> list[list[Said]]:
    """Each text occurs several times, and each time with another number."""
    found = []
    for _ in COUNTRIES:
        texts = list[Said]()
        while len(texts) < samples:
            one = said(random, long=long)
            texts += [replace(one, text=f"{one.text} {random.randrange(10**6)}") for _ in range(random.choice(times))]
        random.shuffle(texts)
        found.append(texts[:samples])
    return found


def of_two_prompts(random: Random, samples: int, *, long: bool, with_numbers: bool) -> list[list[Said]]:
    """All prompts have the same texts, in another order."""
    texts = [said(random, long=long) for _ in range(samples)]

    def written(one: Said) -> Said:
        return replace(one, text=f"{one.text} {random.randrange(10**6)}") if with_numbers else one

    return [[written(one) for one in random.sample(texts, samples)] for _ in COUNTRIES]


def of_records(random: Random, samples: int, *, dependent: bool) -> list[list[Said]]:
    """Records of five texts, which mostly name one dish where they are `dependent`."""
    found = []
    for at, _ in enumerate(COUNTRIES):
        texts = list[Said]()
        for record in range(samples // 5):
            favourite = min(int(random.paretovariate(0.7)) - 1, DISHES - 1) if dependent else -1
            number = 1 + at * samples + record
            texts += [replace(said(random, long=False, favourite=favourite), record=number) for _ in range(5)]
        found.append(texts)
    return found
