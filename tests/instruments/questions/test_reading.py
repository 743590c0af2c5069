"""What is read in an answer, on answers as models write them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.reading.choice import read_choice
from polyculture.instruments.questions.reading.languages import FOLDER, language_of
from polyculture.instruments.questions.reading.readers import RULES, read_as_published, read_likelihoods, readers_of
from polyculture.instruments.questions.reading.several import read_several
from tests.instruments.questions.made_up import choice, made_up

ANSWERS = tomllib.loads(Path(__file__).with_name("answers.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("group", ANSWERS["group"], ids=lambda group: group["name"])
def test_reading_of_answers(group: dict[str, Any]) -> None:
    expected, found = {}, {}
    for said, label, ground in group["answers"]:
        reading = read_choice(said, group["options"], group["labels"], group.get("unknown"), group["language"])
        named = group["labels"] or group["options"]
        expected[said] = (None if label == "-" else named.index(label), ground)
        found[said] = (reading.place, reading.ground)
    assert found == expected


def test_several_answers_are_read_strictly() -> None:
    options, found = ANSWERS["several"]["options"], []
    for said, _, _ in ANSWERS["several"]["answers"]:
        reading = read_several(said, options, len(options) - 1, "ko")
        places = () if reading.place is None else (reading.place, *reading.also)
        found.append([said, " ".join(str(place + 1) for place in places) or "-", reading.ground])
    assert found == ANSWERS["several"]["answers"]


def test_a_set_that_asks_for_all_that_fit_is_read_so() -> None:
    asked = made_up(choice())
    several = replace(asked, read_as=("several",))
    assert [reader.name for reader in readers_of(several)] == ["ours"]  # likelihoods of options say nothing of several
    assert "sum" in [reader.name for reader in readers_of(asked)]
    assert readers_of(asked)[0].reader_id != readers_of(several)[0].reader_id


def rows(file: Path) -> Iterator[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t")


def test_publisher_reader_equals_the_publishers_code_in_every_style(shared_data: Path) -> None:
    wrong = []
    read = list(rows(shared_data / "kobbq" / "publishers-readings.tsv"))
    for row in read:
        said, shown = row["answer"].replace("\\n", "\n"), [row["A"], row["B"], row["C"]]
        place = read_as_published(said, shown).place
        if ("" if place is None else "ABC"[place]) != row["published_reading"]:
            wrong.append(row)
    assert len(read) == 540
    assert wrong == []


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_an_options_text_is_read_wherever_it_is_shown(order: tuple[int, ...]) -> None:
    texts = ["여자", "트랜스젠더 여자", "알 수 없음"]
    shown = [texts[number] for number in order]
    for place, text in enumerate(shown):
        for said in (text, f"{'abc'[place]}: {text}", f"정답은 {text}입니다.", f"저는 {text}를 선택하겠습니다."):
            assert read_choice(said, shown, "abc", shown.index("알 수 없음"), "ko").place == place


WITH_ARTICLES = sorted(file.stem for file in FOLDER.glob("*.toml") if language_of(file.stem).own.articles)


@pytest.mark.parametrize("language", WITH_ARTICLES)
def test_an_option_repeated_word_for_word_is_that_option(language: str) -> None:
    for article in language_of(language).own.articles:
        the = article if article.endswith("'") else f"{article} "
        options = [
            f"Zxcv in {the}Qwerty",
            f"{the}Zxcv",
            f"{the}Zxcv of {the}Poiu, {the}Lkjh?",
            f"not {the}Zxcv",
            "Mnbv",
        ]
        for labels in ((), "ABCDE", "12345"):
            for place, option in enumerate(options):
                said = [option, f"{option}.", f"**{option}**", f"Answer: {option}"]
                said += [f"{labels[place]}. {option}", f"({labels[place]}) {option}"] if labels else []
                assert {read_choice(text, options, labels, None, language).place for text in said} == {place}, said


@pytest.mark.parametrize("options", [("-4", "4", "0.5", "5"), ("C++", "C#", "C", "D"), ("x", "$x$", "?", "I am")])
def test_options_that_differ_in_marks_are_told_apart(options: tuple[str, ...]) -> None:
    for labels in ((), ("P", "Q", "R", "S")):
        for place, option in enumerate(options):
            said = [option, *(f"{labels[place]}. {option}" for _ in labels[:1])]
            said += [f"The answer is {option}."] if option != "?" else []
            assert {read_choice(text, options, labels, None, "en").place for text in said} == {place}, said
    assert read_choice("The answer is -5.", options, (), None, "en").place is None


def test_a_label_before_a_text_that_is_another_label_decides() -> None:
    bases = ("T", "C", "B", "A")
    for place, base in enumerate(bases):
        assert read_choice(f"{'ABCD'[place]}. {base}", bases, "ABCD", None, "en").place == place


def unread_options(questions: Sequence[Question]) -> list[tuple[Any, ...]]:
    """The options of every sixtieth question that are not read where they are repeated; all take half a minute."""
    shown = {(question.language, question.options): None for question in questions}
    return [
        (options, text, labels)
        for language, options in list(shown)[::60]
        for place, text in enumerate(options)
        for labels in ((), "ABCD")
        if read_choice(f"{labels[place]}. {text}" if labels else text, options, labels, None, language).place != place
    ]


def test_case_counts_where_options_differ_in_nothing_else() -> None:
    days = ("friday", "thursday night", "Friday", "saturday")
    read = {
        said: read_choice(said, days, (), None, "en").place
        for said in ("Friday", "friday", "FRIDAY", "It is on Friday.")
    }
    assert read == {"Friday": 2, "friday": 0, "FRIDAY": None, "It is on Friday.": 2}


words = st.sampled_from(["tea", "green tea", "rice", "fish soup", "soup", "egg", "PB&J", "drink (party)", "mom's"])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(words, min_size=4, max_size=4, unique=True), st.text(max_size=60), st.sampled_from(["", "ABCD", "1234"])
)
def test_any_text_has_a_reading(options: list[str], text: str, labels: str) -> None:
    assert read_choice(text, options, labels, None, "en").place in {None, 0, 1, 2, 3}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "long",
    ["A (" * 15000, "x" + " " * 30000 + "y", "(" * 30000, "not A " * 15000, "\\boxed{" * 10000, "A or B " * 5000],
)
def test_a_long_answer_takes_no_quadratic_time(long: str) -> None:
    assert read_choice(long, ("손자", "할머니", "알 수 없음"), "ABC", 2, "ko").ground != "option"


def test_an_unknown_that_was_not_offered_is_never_read() -> None:
    for said in ("It cannot be known.", "Unknown", "There is not enough information to tell."):
        assert read_choice(said, ("The man", "The woman"), "AB", None, "en").place is None


def test_the_likeliest_option_by_two_rules() -> None:
    scores, tokens = (-6.0, -4.0, -9.0, -8.0), (3.0, 1.0, 9.0, 2.0)
    assert {rule: read_likelihoods(rule, scores, tokens).place for rule in RULES} == {"sum": 1, "mean": 2}
    assert read_likelihoods("sum", (-1.0, -1.0, -2.0)).ground == "tie"


def test_bullets_and_labels_without_an_option_are_no_labels() -> None:
    options = ("the man", "the woman")
    assert read_choice("- the woman", options, ("-", "-"), None, "en").place == 1
    assert read_choice("(c)", options, ("(a)", "(b)", "(c)"), None, "en").place is None
    assert read_choice("(b)", options, ("(a)", "(b)", "(c)"), None, "en").place == 1
