"""How often equal texts are taken for copies: false alarms and misses in worlds whose truth is known.

    python -m bench.copies [--times 40] [--texts FILE]

Each world is a model with so many prompts of so many answers. Long texts are sentences of the papers in
../shared/papers, human short answers are BLEnD's in ../shared/data/blend (one group per country, eleven languages).
`--texts` is a JSON Lines file of texts that a model really wrote (`model`, `prompt`, `text`): each model is a row.
A row of the table says how many groups were said to hold copies, and which share of their answers.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from scipy.stats import binom

from bench.results import keep
from tests.cache.store.test_copies import Group, copied, store_of, texts_of

SHARED = Path(__file__).resolve().parents[2] / "shared"
SHARES = {"half": 1 / 2, "third": 1 / 3, "tenth": 1 / 10}
INDEPENDENT = ("one word", "template", "slots first", "list", "long", "han", "thai")


def sentences() -> list[str]:
    """Sentences of 80 to 400 letters, each once."""
    found: dict[str, None] = {}
    for file in sorted((SHARED / "papers").glob("*.txt")):
        text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8", errors="ignore"))
        found |= dict.fromkeys(one for one in re.split(r"(?<=[.!?]) (?=[A-Z])", text) if 80 < len(one) < 400)
    return list(found)


def human_answers() -> Iterator[tuple[str, Group]]:
    """By country what people answered to each of BLEnD's questions, each answer as often as people gave it."""
    for file in sorted((SHARED / "data" / "blend" / "annotations").glob("*.json")):
        questions = json.loads(file.read_text(encoding="utf-8")).values()
        yield (
            file.stem.removesuffix("_data"),
            [
                [
                    answer
                    for one in question["annotations"]
                    for answer in one["answers"][:1]
                    for _ in range(one["count"])
                ]
                for question in questions
            ],
        )


def worlds(random: Random, prompts: int, samples: int) -> Iterator[tuple[str, float, Callable[[], Group]]]:
    """The name of each world, the share of its answers that are copies, and what makes one."""
    pool = sentences()

    def real() -> Group:
        return [random.sample(pool, samples) for _ in range(prompts)]

    def numbered() -> Group:
        return [[f"{one[:-1]}, number {random.randrange(10**7)}." for one in answers] for answers in short()]

    def short() -> Group:
        return texts_of(random, "template", prompts, samples)

    def in_pairs(kind: str) -> Group:
        return [2 * answers[: samples // 2] for answers in texts_of(random, kind, prompts, samples)]

    def with_stock(stock: int, share: float) -> Group:
        fixed = random.sample(pool, stock)
        return [[random.choice(fixed) if random.random() < share else one for one in answers] for answers in real()]

    def few(texts: int, ratio: float) -> Group:
        chances = [ratio**at for at in range(texts)]
        return [random.choices(random.sample(pool, texts), chances, k=samples) for _ in range(prompts)]

    def some_copied(make: Callable[[], Group], share: float, again: bool) -> Group:
        return copied(random, make(), share, again=again)

    for kind in INDEPENDENT:
        yield kind, 0, partial(texts_of, random, kind, prompts, samples)
    yield "real sentences", 0, real
    for name, share in SHARES.items():
        yield f"real sentences, a {name} copied", share, partial(some_copied, real, share, False)
        yield f"real sentences, a {name} copied again and again", share, partial(some_copied, real, share, True)
        yield f"template and a number, a {name} copied", share, partial(some_copied, numbered, share, False)
    yield "template, all texts doubled", 1 / 2, lambda: in_pairs("template")
    for stock, share in ((1, 0.5), (3, 0.3)):
        yield f"real sentences, {share:.0%} of {stock} that answer every prompt", 0, partial(with_stock, stock, share)
    yield "one of four real sentences, about as often each", 0, partial(few, 4, 0.8)
    yield (
        "one of twelve real sentences",
        0,
        lambda: [
            random.choices(random.sample(pool, 12), [1 / (at + 1) for at in range(12)], k=samples)
            for _ in range(prompts)
        ],
    )


SMALLEST = ("--times", "1")


def measured(groups: list[Group]) -> tuple[int, float]:
    """How many groups are said to hold copies, and the share of all answers that are said to be copies."""
    store = store_of(**{f"m{at}": group for at, group in enumerate(groups)})
    [(said, copies)] = store.sql("SELECT count(DISTINCT model), count(*) FROM copies").fetchall()
    return int(said), copies / max(1, sum(len(answers) for group in groups for answers in group))


def models_alike(random: Random, kind: str, times: int) -> int:
    """How many of so many pairs of models that answer alike, by chance, are said to be one model under two names."""
    found = 0
    for _ in range(times):
        store = store_of(one=texts_of(random, kind, 11, 20), two=texts_of(random, kind, 11, 20))
        [(alike,)] = store.sql("SELECT bool_or(alike) FROM shared_texts").fetchall()
        found += bool(alike)
    return found


def best_bet(random: Random, samples: int = 40, worlds: int = 3000) -> tuple[float, float]:
    """What no bet on counts can exceed, of short answers that are copied once to three times: the distinct texts of a
    prompt, and the mean logarithm of the gain per text.

    The best bet pays the ratio of the chances of a count in this world and in the nearest mixture of binomials
    (Grunwald, de Heide and Koolen 2024, theorem 1), which expectation maximisation finds.
    """
    found: Counter[int] = Counter()
    for _ in range(worlds):
        answers = list[tuple[int, ...]]()
        while len(answers) < samples:
            dishes = tuple(min(int(random.paretovariate(0.7)) - 1, 39) for _ in range(2))
            answers += random.choice([1, 2, 3]) * [dishes]
        random.shuffle(answers)
        found.update(Counter(answers[:samples]).values())
    seen = np.arange(1, samples + 1)
    share = np.array([found[int(times)] for times in seen]) / found.total()
    chances = np.concatenate([np.geomspace(1e-5, 0.05, 120), np.linspace(0.05, 0.99, 200)])
    counts = binom.pmf(seen, samples, chances[:, None]) / (1 - binom.pmf(0, samples, chances))[:, None]
    weights = np.full(len(chances), 1 / len(chances))
    for _ in range(4000):
        weights *= counts @ (share / (weights @ counts))
    known = share > 0
    gain = float((share[known] * np.log(share[known] / (weights @ counts)[known])).sum())
    return found.total() / worlds, gain


def main() -> None:
    """Prints the table, and keeps it where results are kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--texts", type=Path)
    asked = parser.parse_args()

    def row(world: str, prompts: int, samples: int, truth: float | None, groups: list[Group]) -> None:
        said, share = measured(groups)
        numbers = {
            "copied": "" if truth is None else f"{truth:.3f}",
            "groups": len(groups),
            "groups with copies": said,
            "said to be copies": f"{share:.3f}",
        }
        size = f"{prompts} x {samples}" if samples else f"{prompts}"
        print(world, size, *numbers.values(), sep="\t", flush=True)
        keep("copies", "Which answers are copies", f"{world}, prompts {size}", numbers)

    for prompts, samples in ((11, 20), (3, 100), (1, 20)):
        for name, truth, make in worlds(Random(1), prompts, samples):
            row(name, prompts, samples, truth, [make() for _ in range(asked.times)])
    for kind in INDEPENDENT:
        said = models_alike(Random(2), kind, asked.times)
        print(f"two models, {kind}", asked.times, said, sep="\t", flush=True)
        keep(
            "copies",
            "Which models are one",
            f"two models, {kind}, prompts 11 x 20",
            {"pairs": asked.times, "alike": said},
        )
    texts, gain = best_bet(Random(3))
    best = {
        "texts a prompt": f"{texts:.1f}",
        "mean log gain a text": f"{gain:.4f}",
        "of 4 prompts": f"{4 * texts * gain:.2f}",
    }
    print("best bet, short answers copied once to three times", *best.values(), sep="\t", flush=True)
    keep("copies", "What no bet on counts can exceed", "short answers copied once to three times, prompts 4 x 40", best)
    for country, group in human_answers():
        row(f"human answers, {country}", len(group), 0, 0, [group])
    if asked.texts is not None:
        models: dict[str, dict[str, list[str]]] = {}
        for line in asked.texts.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            models.setdefault(one["model"], {}).setdefault(one["prompt"], []).append(one["text"])
        for model, of_prompt in models.items():
            row(model, len(of_prompt), 0, None, [list(of_prompt.values())])


if __name__ == "__main__":
    main()
