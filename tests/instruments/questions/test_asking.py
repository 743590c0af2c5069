"""What is asked: texts from templates, orders of options, and the identities of requests and answers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import polyculture.instruments.questions as questions
from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.store.run_folder import Job
from polyculture.generate.sampling import SamplingSettings
from polyculture.instruments.questions.asking import (
    AskJob,
    Method,
    Orders,
    labels_of,
    message,
    orders_of,
    shown_options,
)
from polyculture.instruments.questions.model import PromptTemplate, Question
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.questions.rules.opened import open_set
from polyculture.instruments.questions.selection import part_of
from tests.instruments.questions.made_up import ASKED_OPENLY, GAPPED, OPEN, OWN, PAIR, choice, made_up

SHARED = Path(os.environ.get("POLYCULTURE_SHARED", Path(__file__).parents[3] / ".." / "shared")).resolve() / "data"
DEMO = Path(questions.__file__).with_name("demo") / "made-up.toml"
GREEDY = SamplingSettings(1, 0.0, 1.0, None, 30)
KOBBQ = ((0, 2, 1), (1, 0, 2), (2, 1, 0))


def job(
    *questions: Question,
    method: Method = "generated",
    prompts: Sequence[PromptTemplate | None] = (OWN,),
    sampling: SamplingSettings = GREEDY,
    setup: Mapping[str, Any] | None = None,
    orders: Orders = "one",
) -> AskJob:
    """A job that asks questions."""
    return AskJob(Job("m:one", "en", "made-up"), method, questions, prompts, orders, KOBBQ, setup or {}, sampling)


def test_a_prompt_is_filled_with_the_options_as_they_are_shown() -> None:
    question, order = choice(), (2, 0, 1)
    shown = shown_options(question, order, OWN)
    assert shown == ("Cannot be known", "The old man", "The young man")
    text = "Choose.\n\nContext: An old man and a young man met.\nQuestion: Who forgot thing 1?\nOptions:\n"
    text += "A) Cannot be known\nB) The old man\nC) The young man\nAnswer:"
    assert message(question, OWN, shown, labels_of(question, OWN)) == text


def test_a_question_without_context_loses_the_line_of_it() -> None:
    text = message(choice(context=""), OWN, ("x", "y", "z"), ("A", "B", "C"))
    assert text.startswith("Choose.\n\nQuestion: ")


def test_braces_in_a_question_stay_as_they_are() -> None:
    question = choice(context="{options} {question} {0}", text="{context}?")
    assert "Context: {options} {question} {0}\nQuestion: {context}?\n" in message(
        question, OWN, ("{label}", "b", "c"), "ABC"
    )
    assert "A) {label}" in message(question, OWN, ("{label}", "b", "c"), "ABC")


def test_an_open_question_has_neither_options_nor_labels() -> None:
    assert (
        message(ASKED_OPENLY, OPEN, (), labels_of(ASKED_OPENLY, OPEN)) == "What is eaten at New Year?\nAnswer briefly:"
    )


def test_too_few_labels_name_the_question_and_the_prompt() -> None:
    with pytest.raises(DataSetError, match=r"q1: 3 options, and prompt 'own' has 2 labels"):
        labels_of(choice(), replace(OWN, labels=("A", "B")))


@pytest.mark.parametrize("options", [2, 3, 4, 5])
def test_cyclic_orders_show_each_option_once_at_each_place(options: int) -> None:
    orders = orders_of(options, "cyclic")
    assert len(orders) == options
    assert all(sorted(places) == list(range(options)) for places in zip(*orders, strict=True))


def test_orders_of_three_options_are_those_of_kobbq_and_all_others() -> None:
    assert orders_of(3, "cyclic") == ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    assert orders_of(3, "published", KOBBQ) == KOBBQ
    assert orders_of(4, "published", KOBBQ) == orders_of(4, "one") == ((0, 1, 2, 3),)


def test_a_number_of_questions_is_drawn_over_languages_evenly() -> None:
    languages = ("en", "es", "nl", "tr")
    some = [choice(number, f"unit {number}", language=language) for language in languages for number in range(5)]
    made = made_up(*some, prompts=[replace(OWN, language=language) for language in languages])
    first, more = (part_of(made, AskOptions(set="made-up", questions=n), 1, print).questions for n in (10, 19))
    assert Counter(one.language for one in first) == {"en": 3, "es": 3, "nl": 2, "tr": 2}
    assert len({one.unit for one in first}) == 3
    assert list(first) == list(more[:10])


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({"questions": 7}, 7),
        ({"units": 2, "questions": 7}, 7),
        ({"only": ("category=work",)}, 12),
        ({"only": ("category=Work", "category=age", "context=ambiguous")}, 8),
    ],
)
def test_limits_are_exact(options: dict[str, Any], asked: int) -> None:
    said: list[str] = []
    part = part_of(open_set(str(DEMO)), AskOptions(set="made-up", **options), 1, said.append)
    assert len(part.questions) == asked
    assert f"{asked} of 60 questions" in said[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prompts": ("7",)}, "no prompt '7'"),
        ({"language": ("ko",)}, "no language 'ko'"),
        ({"only": ("categry=age",)}, "no facet 'categry'"),
        ({"only": ("category=agee",)}, "no category 'agee'"),
    ],
)
def test_what_a_set_does_not_have_is_named(options: dict[str, Any], told: str) -> None:
    with pytest.raises(DataSetError, match=told) as fault:
        part_of(made_up(choice()), AskOptions(set="made-up", **options), 1, print)
    assert fault.value.remedy


def test_all_first_orders_come_before_the_second_ones() -> None:
    asked = job(choice(1), choice(2), orders="published", prompts=(OWN, replace(OWN, name="b")))
    asks = list(asked.asks())
    assert len({ask.answer_id for ask in asks}) == len(asks) == asked.size == 12
    assert [(ask.prompt, ask.question.name, ask.order) for ask in asks[:3]] == [
        ("own", "q1", KOBBQ[0]), ("own", "q2", KOBBQ[0]), ("own", "q1", KOBBQ[1]),
    ]  # fmt: skip
    assert len({ask.group for ask in asks}) == 4


def test_a_request_is_what_is_sent_and_nothing_else() -> None:
    (ask,) = job(choice()).asks()
    (same,) = job(choice(right=(0,), facets={}, unit="other")).asks()
    assert (same.request_id, same.answer_id == ask.answer_id) == (ask.request_id, False)
    sampled = SamplingSettings(1, 0.7, 1.0, None, 30)
    different = [
        job(choice(text="Who?")), job(choice(), setup={"base_url": "http://other"}), job(choice(), sampling=sampled),
        job(choice(), sampling=replace(GREEDY, max_tokens=31)), job(choice(), method="letter"),
        job(choice(), sampling=replace(sampled, seed=2)),
    ]  # fmt: skip
    requests = {ask.request_id} | {next(one.asks()).request_id for one in different}
    assert len(requests) == 1 + len(different)
    (seeded,) = job(choice(), sampling=replace(GREEDY, seed=2)).asks()
    assert seeded.request_id == ask.request_id  # at temperature 0 a seed decides nothing


def test_samples_of_a_request_differ_in_their_seeds_alone() -> None:
    asks = list(job(choice(), sampling=SamplingSettings(3, 0.7, 1.0, None, 30)).asks())
    assert [(ask.sample, ask.seed - asks[0].seed) for ask in asks] == [(0, 0), (1, 1), (2, 2)]
    assert len({ask.request_id for ask in asks}) == 1
    assert len({ask.answer_id for ask in asks}) == 3


def test_candidates_stand_where_each_method_has_them() -> None:
    letter, text = job(choice(), method="letter"), job(choice(), method="text")
    sentence, gap = job(PAIR, method="sentence", prompts=(None,)), job(GAPPED, method="gap", prompts=(None,))
    after = letter.scored(next(letter.asks()))
    assert after.prefix.endswith("C) Cannot be known\nAnswer: ")
    assert after.continuations == ("A", "B", "C")
    assert text.scored(next(text.asks())).continuations == ("The old man", "The young man", "Cannot be known")
    whole = sentence.scored(next(sentence.asks()))
    assert (whole.prefix, whole.continuations, whole.suffix) == ("", ("we ate soup", "we ate rice"), "")
    within = gap.scored(next(gap.asks()))
    assert (within.prefix, within.continuations, within.suffix) == (
        "we ate ",
        ("soup", "rice", "cake"),
        " in the house",
    )


@pytest.mark.skipif(not (SHARED / "kobbq").is_dir(), reason="KoBBQ's files are not here")
def test_kobbqs_prompts_are_its_own_letter_by_letter() -> None:
    """As instruments/bbq put them together from their parts, but for control signs, which are blanks.

    One question of the published file has two blanks between two words, and so does its prompt.
    """
    kobbq = open_set("kobbq", SHARED / "kobbq")
    assert [("".join(prompt.labels[:3]), prompt.name) for prompt in kobbq.prompts] == [
        ("ABC", "1"), ("ABC", "2"), ("abc", "3"), ("abc", "4"), ("(A)(B)(C)", "5"),
    ]  # fmt: skip
    texts = [
        message(question, prompt, shown_options(question, order, prompt), labels_of(question, prompt))
        for prompt in kobbq.prompts
        for question in sorted(kobbq.questions, key=lambda one: one.name)
        for order in orders_of(3, "published", kobbq.orders)
    ]
    assert len(texts) == 34_200
    assert content_id(*texts) == "c76307be4f6c2b72f21d4a7f"
