"""Which equal texts are copies: in worlds of independent answers none is, in worlds with copies those are found.

`bench/copies.py` has more worlds, and how often each is misjudged.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from polyculture.cache.store import sql_file
from polyculture.cache.store.sql_file import read_sql

DISHES = ["tacos", "mole", "ramen", "sushi", "tempura", "risotto", "pizza", "naan", "curry", "pho", "kimchi", "paella"]
HAN = "北京烤鸭火锅麻婆豆腐小笼包饺子馄饨面条米饭春卷月饼粽子汤圆豆浆油条煎饼"
THAI = ["ต้มยำกุ้ง", "ผัดไทย", "ส้มตำ", "แกงเขียวหวาน", "ข้าวซอย", "ลาบหมู", "ข้าวเหนียวมะม่วง"]
Group = list[list[str]]  # the answers of a model to each of its prompts


def texts_of(random: Random, kind: str, prompts: int, samples: int) -> Group:
    """Independent answers of a kind; each prompt has its own favourites, the same whatever `random` draws."""

    def answer(words: Sequence[str]) -> str:
        def pick() -> str:
            return random.choices(words, [1 / (at + 1) for at in range(len(words))])[0]

        if kind == "one word":
            return pick()
        if kind == "template":
            return f"My friend from Mexico had {pick()} and {pick()} for dinner."
        if kind == "slots first":
            return f"{pick()} and {pick()} were what my friend in the capital of the country had for dinner at home."
        if kind == "list":
            return "\n".join(f"{at}. {pick()}" for at in range(1, 7))
        if kind == "han":
            return "".join(random.choice(HAN) for _ in range(40))
        if kind == "thai":
            return "".join(random.choice(THAI) for _ in range(12))
        return " ".join(random.choice(DISHES) + random.choice("aeiou") for _ in range(25))

    favourites = [Random(prompt).sample(DISHES, 10) for prompt in range(prompts)]
    return [[answer(words) for _ in range(samples)] for words in favourites]


def copied(random: Random, texts: Group, share: float, *, again: bool = False) -> Group:
    """Each prompt's answers, the last of which copy others: each one at most once, or `again` and again."""
    found = []
    for answers in texts:
        number = round(len(answers) * share)
        own = answers[: len(answers) - number]
        found.append([*own, *(random.choices(own, k=number) if again else random.sample(own, number))])
    return found


def store_of(origin: str | None = "file", *, seeds: bool = False, **models: Group) -> duckdb.DuckDBPyConnection:
    """The views of copies over the answers of some models: of a file, which may give each its seed, or generated, which
    have no `origin`."""
    rows = [
        (
            f"{model} {prompt}",
            sample,
            model,
            "xx",
            "food",
            str(prompt),
            text,
            "ok",
            origin,
            sample if seeds else None,
            None,
            False,
        )
        for model, prompts in models.items()
        for prompt, answers in enumerate(prompts)
        for sample, text in enumerate(answers)
    ]
    of_prompt = ["request_id", "sample", "model", "language", "topic", "prompt_id"]
    names = [*of_prompt, "text", "status", "origin", "seed", "ending", "refused"]
    store = duckdb.connect()
    table = pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=names)
    store.register("responses", table)
    store.execute("CREATE MACRO is_refusal(ending, refused) AS coalesce(refused, false)")
    store.execute("CREATE TABLE extractions (request_id VARCHAR, sample BIGINT, declined BOOLEAN)")
    for file in ("texts", "copies", "shared_texts"):
        store.execute(read_sql(Path(sql_file.__file__).parent, file))
    return store


def copies_in(group: Group, origin: str | None = "file", *, seeds: bool = False) -> int:
    """How many answers of a model are copies."""
    [(number,)] = store_of(origin, seeds=seeds, m=group).sql("SELECT count(*) FROM copies").fetchall()
    return int(number)


@pytest.mark.parametrize("kind", ["one word", "template", "slots first", "list", "long", "han", "thai"])
@pytest.mark.parametrize(("prompts", "samples"), [(1, 20), (11, 20), (3, 100)])
def test_equal_answers_are_no_copies_where_chance_explains_them(kind: str, prompts: int, samples: int) -> None:
    assert copies_in(texts_of(Random(prompts), kind, prompts, samples)) == 0


@pytest.mark.parametrize("kind", ["long", "han", "thai"])
@pytest.mark.parametrize(("share", "again"), [(0.5, False), (1 / 3, False), (1 / 3, True), (0.1, False)])
def test_copies_of_long_answers_are_found(kind: str, share: float, again: bool) -> None:
    random = Random(1)
    assert copies_in(copied(random, texts_of(random, kind, 5, 20), share, again=again)) == 5 * round(20 * share)


@pytest.mark.parametrize("most", [0.4, 0.8, 0.95])
def test_a_generated_model_says_a_few_long_texts_by_their_chances(most: float) -> None:
    """At a low temperature it writes one text 80 times of 100: each of them is a sample."""
    random = Random(5)
    group = []
    for answers in texts_of(random, "long", 8, 12):
        chances = [most, *((1 - most) * 0.5**at for at in range(1, 12))]
        group.append(random.choices(answers, chances, k=40))
    assert copies_in(group, origin=None) == 0


def test_an_imported_model_has_favourites_among_a_few_long_texts() -> None:
    random = Random(8)
    chances = [1 / (at + 1) for at in range(12)]
    assert copies_in([random.choices(answers, chances, k=20) for answers in texts_of(random, "long", 11, 12)]) == 0


@pytest.mark.parametrize(("stock", "share"), [(1, 0.5), (3, 0.3), (10, 0.5)])
def test_stock_paragraphs_that_answer_every_prompt_are_samples(stock: int, share: float) -> None:
    random = Random(9)
    [fixed] = texts_of(random, "long", 1, stock)
    group = [
        [random.choice(fixed) if random.random() < share else text for text in answers]
        for answers in texts_of(random, "long", 11, 20)
    ]
    assert copies_in(group) == 0


def test_a_model_that_has_said_all_of_its_few_texts_is_sampled() -> None:
    random = Random(10)
    assert copies_in([random.choices(answers, k=40) for answers in texts_of(random, "long", 5, 4)]) == 0


def test_answers_that_have_seeds_of_their_own_in_the_file_were_asked_apart() -> None:
    """What is known decides, wherever the texts come from: without the seeds these are copies."""
    random = Random(11)
    group = copied(random, texts_of(random, "long", 5, 20), 0.1)
    assert copies_in(group) == 10
    assert copies_in(group, seeds=True) == 0


def test_a_cache_that_answers_each_prompt_with_one_long_text_is_told() -> None:
    """Values are the same either way. What goes is the interval: nothing shows that there were samples."""
    group = [20 * answers for answers in texts_of(Random(6), "long", 5, 1)]
    assert copies_in(group, origin=None) == 5 * 19
    assert copies_in(5 * group[:1], origin=None) == 5 * 19, "one text for all prompts shows no more"


def test_generated_long_answers_that_each_occur_twice_are_copies() -> None:
    group = [2 * answers for answers in texts_of(Random(7), "long", 4, 10)]
    assert copies_in(group, origin=None) == 40


def test_answers_without_a_letter_are_not_equal_in_their_letters() -> None:
    """Years and amounts are words of their own."""
    assert copies_in([[f"{1900 + at}" for at in range(20)] for _ in range(10)]) == 0


def test_short_answers_that_each_occur_twice_are_copies() -> None:
    """No distribution has answers of which each comes exactly twice, however few words it knows."""
    pairs = [f"{a} and {b}" for a in DISHES[:8] for b in DISHES[:8]]
    random = Random(2)
    assert copies_in([2 * random.sample(pairs, 10) for _ in range(3)]) == 30


def test_short_answers_that_occur_once_to_three_times_and_never_more_are_copies() -> None:
    random = Random(3)
    group = [[text for at in range(20) for text in random.choice([1, 2, 3]) * [f"{at}"]] for _ in range(10)]
    assert copies_in(group) == sum(map(len, group)) - 200


def test_copies_that_were_numbered_are_found_by_their_letters() -> None:
    random = Random(4)
    group = copied(random, texts_of(random, "long", 3, 20), 0.5)
    numbered = [[f"{at}) {text}{'.' * (at % 3)}" for at, text in enumerate(answers)] for answers in group]
    assert copies_in(numbered) == 30


def test_no_distribution_lets_a_bet_on_counts_gain_on_average() -> None:
    """A bet gains at most 1 in expectation, whatever the chance of a text, and however many answers there are."""
    bets = store_of(m=[["a"]]).sql("SELECT times, at_times, less, more FROM count_bets").fetchall()
    chances = np.concatenate([np.geomspace(1e-6, 0.02, 80), np.linspace(0.02, 1, 300)])
    for times, *factors in bets:
        at_times, less, more = map(float, factors)
        for answers in {max(8, 3 * times), 3 * times + 1, 30, 100, 1000} - set(range(max(8, 3 * times))):
            seen = np.arange(1, answers + 1)
            weight = binom.pmf(seen, answers, chances[:, None])
            factor = np.where(seen == times, at_times, np.where(seen < times, less, more))
            gains = (weight * factor).sum(axis=1) / weight.sum(axis=1)
            assert gains.max() <= 1, (times, at_times, answers)


def alike(one: Group, two: Group) -> bool:
    """Whether two models share texts beyond what chance explains."""
    found = store_of(one=one, two=two).sql("SELECT DISTINCT alike FROM shared_texts").fetchall()
    assert len(found) == 1
    return bool(found[0][0])


@pytest.mark.parametrize("kind", ["one word", "template", "list"])
def test_two_models_with_short_answers_are_two(kind: str) -> None:
    """Even where both have one distribution: they are independent samples."""
    assert not alike(texts_of(Random(6), kind, 5, 60), texts_of(Random(7), kind, 5, 60))


@pytest.mark.parametrize("kind", ["one word", "template", "long"])
def test_one_set_of_answers_under_two_names_is_told(kind: str) -> None:
    random = Random(7)
    one = texts_of(random, kind, 5, 60)
    assert alike(one, [random.sample(answers, 60) for answers in one])


def test_two_models_that_always_say_the_same_word_are_not_told_to_be_one() -> None:
    assert not alike([["sushi"] * 20] * 30, [["sushi"] * 20] * 30)
