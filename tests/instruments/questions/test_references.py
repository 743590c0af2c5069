"""Sets of open questions that accept no answer: their texts are kept, and compared with each other."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import mean

import pytest

from polyculture.cache.errors import DataSetError
from polyculture.instruments.questions.numbers import likeness
from polyculture.instruments.questions.rules.opened import SHELF, open_set
from tests.instruments.questions.made_up_files import write
from tests.polyculture.test_command_line import polyculture
from tests.stored import rows

RUN = "ask-breakfast"
RULES = """
name = "breakfast"
title = "Breakfast in some countries"
licence = "ours"
kind = "open"
numbers = ["texts"]
language = "en"
unit = "number"
[[questions]]
files = "prompts.jsonl"
id = "{number}-{country}"
text = "prompt"
[questions.facets]
number = "{number}"
country = "{country}"
[prompts]
templates = { en = "{question}" }
"""
WORDS = ["bread", "butter", "cheese", "egg", "soup", "rice", "fish", "tea", "milk", "porridge", "olives", "ham"]
COUNTRIES = ("AT", "BE", "JP")
QUESTIONS = 12
REFUSAL = "I'm sorry, but I can't help with that."
SCORES = "SELECT metric, estimate, n FROM question_scores WHERE part = 'all' AND prompt IS NULL"
Texts = dict[tuple[int, str], list[str]]


def lines(file: Path, records: list[dict[str, object]]) -> None:
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


def given(folder: Path, texts: Texts) -> dict[str, tuple[float, int]]:
    """The numbers of answers to the questions, taken from a file in the form of the ELOQUENT lab's submissions."""
    (folder / "breakfast.toml").write_text(RULES, encoding="utf-8")
    asked = [
        {"number": n, "country": c, "prompt": f"What is eaten for breakfast in {c} ({n})?"}
        for n in range(QUESTIONS)
        for c in COUNTRIES
    ]
    lines(folder / "prompts.jsonl", asked)
    lines(
        folder / "answers.jsonl",
        [
            {"prompt": one["prompt"], "answer": text, "model": "m", "repeat": place}
            for one in asked
            for place, text in enumerate(texts[one["number"], one["country"]])
        ],
    )
    done = polyculture("import", "answers.jsonl", "--set", "breakfast.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "answers taken: 72 to prompt 'house'" in done.stderr
    return {metric: (estimate, n) for metric, estimate, n in rows(folder, SCORES, RUN)}


def drawn(seed: int) -> Texts:
    """Two answers to each question: some decline, some are empty."""
    draw = random.Random(seed)
    return {
        (number, country): [draw.choice([" ".join(draw.sample(WORDS, 4)).capitalize() + ".", REFUSAL, " "])
                            if draw.random() < 0.3 else " ".join(draw.choices(WORDS, k=4)) for _ in range(2)]
        for number in range(QUESTIONS) for country in COUNTRIES
    }  # fmt: skip


def f1(one: str, other: str) -> float:
    """SQuAD's, of words without signs and case; none of the words is an article."""
    words, others = (text.lower().rstrip(".").split() for text in (one, other))
    common = sum((Counter(words) & Counter(others)).values())
    return 2 * common / (len(words) + len(others))


def by_loops(texts: Texts) -> dict[str, float]:
    every = [text for some in texts.values() for text in some]
    kept = {key: [text for text in some if text.strip() and text != REFUSAL] for key, some in texts.items()}
    same = [f1(*pair) for some in kept.values() for pair in combinations(some, 2)]
    between = [
        f1(one, other)
        for number in range(QUESTIONS)
        for first, second in combinations(COUNTRIES, 2)
        for one in kept[number, first]
        for other in kept[number, second]
    ]
    return {
        "refused": every.count(REFUSAL) / len(every), "empty": every.count(" ") / len(every),
        "alike_samples": mean(same), "alike_questions": mean(between),
    }  # fmt: skip


def test_answers_are_kept_and_compared_with_each_other(tmp_path: Path) -> None:
    texts = drawn(3)
    found = given(tmp_path, texts)
    assert {name: value for name, (value, _) in found.items()} == pytest.approx(by_loops(texts), abs=1e-12)
    assert found["refused"][1] == 72
    outcomes = rows(tmp_path, "SELECT outcome, count(*) FROM question_readings GROUP BY 1 ORDER BY 1", RUN)
    assert {name for name, _ in outcomes} == {"read", "refusal", "unread"}
    assert rows(tmp_path, "SELECT count(*) FROM answers WHERE raw IS NOT NULL", RUN) == [(72,)]
    by_country = "SELECT DISTINCT metric FROM question_scores WHERE part = 'country' AND estimate IS NOT NULL"
    assert {one for (one,) in rows(tmp_path, by_country, RUN)} == {"refused", "empty"}


def test_of_a_unit_with_very_many_pairs_every_few_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"question_id": "q", "raw": text, "language": "en"} for text in ("a tea", "a tea", "milk", "milk")]
    assert likeness._sums(rows)["pairs_samples"] == 6
    monkeypatch.setattr(likeness, "MOST_PAIRS", 3)
    assert likeness._sums(rows)["pairs_samples"] == 3


def test_where_most_answers_are_empty_their_likeness_is_withheld(tmp_path: Path) -> None:
    texts = {key: ["tea and milk" if place % 3 == 0 else " "] * 2 for place, key in enumerate(drawn(1))}
    found = given(tmp_path, texts)
    assert found["alike_samples"][0] is None
    assert found["empty"][0] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('numbers = ["texts"]', 'numbers = ["exact_match"]', ("answers", "texts")),
        ('kind = "open"', 'kind = "choice"\n', ("questions.0", "options")),
        ('text = "prompt"', 'text = "prompt"\nanswers = "answer"', ("texts", "accept no answer")),
    ],
)
def test_rules_that_contradict_themselves_say_so(old: str, new: str, told: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "breakfast.toml"
    file.write_text(RULES.replace(old, new), encoding="utf-8")
    with pytest.raises(DataSetError) as fault:
        SHELF.read(file)
    assert all(word in str(fault.value) for word in told)


def test_eloquents_questions_about_countries_are_told_by_the_turn_of_their_rows(tmp_path: Path) -> None:
    write("eloquent", tmp_path)
    found = open_set("eloquent", tmp_path, "specific")
    assert {one.language for one in found.questions} == {"en", "uk"}
    asked = {(one.language, one.name): one for one in found.questions}
    assert asked["uk", "1-1"].facets["country"] == "AT"
    assert asked["en", "2-36"].facets["country"] == "MK"
    assert asked["en", "2-36"].unit == "2"
