"""Rows of `differences` of answers about swapped entities: over the texts that both sides were asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from polyculture.cache.store.schema.measured import Difference
from polyculture.instruments.differences import with_verdicts
from polyculture.instruments.swaps.rates import AnswerGroup, AskedType
from polyculture.instruments.swaps.swap_differences import ModelAnswers, answer_differences

TYPE = AskedType("qa", "prompt", "a", "own", "qa", "hi", "Indian", "food", "settings", False)
CONTEXTS, ENTITIES = 12, 10


def asked(model: str, rate: float, languages: Sequence[str] = ("hi",), task: str = "qa", seed: int = 0) -> ModelAnswers:
    """Each of the contexts with all entities of both sides, once in each language; 2 draws."""
    random = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for language in languages:
        for context in range(CONTEXTS):
            for entity in range(2 * ENTITIES):
                for draw in range(2):
                    text = (context * 2 * ENTITIES + entity) * 2 + draw
                    right = bool(random.random() < rate)
                    here = hash((language, text)) % 2**63
                    rows.append(
                        (language, "Indian", "food", entity < ENTITIES, draw, context, entity, text, here, right)
                    )
    names = [
        "language",
        "culture",
        "entity_type",
        "native",
        "draw",
        "context",
        "entity",
        "text",
        "text_here",
        "matched",
    ]
    columns = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    for name in ("language", "culture", "entity_type"):
        columns[name] = columns[name].astype(object)
    every = np.ones(len(rows), bool)
    columns |= dict.fromkeys(("ok", "answered"), every)
    columns |= dict.fromkeys(("again", "strict_answered", "strict", "strict_predicted"), ~every)
    columns |= dict.fromkeys(("times", "predicted"), every.astype(int))
    gold = np.where(columns["context"] % 2, "positive", "negative").astype(object)
    columns |= {"gold": gold, "answer": np.where(columns["matched"], gold, "neutral").astype(object)}
    types = [TYPE._replace(task=task, model=model, language=one) for one in languages]
    return ModelAnswers(AnswerGroup(task, "prompt", model, "own", ("qa",)), types, columns)


def rows_of(*answers: ModelAnswers) -> list[Difference]:
    return with_verdicts(answer_differences(answers, "inputs"))


def test_two_models_are_compared_on_the_texts_that_both_were_asked_about() -> None:
    one, other = asked("a", 0.9, seed=1), asked("b", 0.5, seed=2)
    here = other.columns["context"] < 10
    other = other._replace(columns={name: column[here] for name, column in other.columns.items()})
    other.columns["answered"] = np.arange(len(here[here])) >= 3
    rows = [row for row in rows_of(one, other) if row.target == "new_prompts"]
    found = {(row.facets["side"], row.topic, row.language): row for row in rows if row.dimension == "model"}
    sides = {(row.model, row.topic) for row in rows if row.dimension == "native"}
    assert sides == {(model, topic) for model in "ab" for topic in ("food", "*")}
    native = found["native", "*", "*"]
    kept = {name: column[one.columns["context"] < 10] for name, column in one.columns.items()}
    both = kept["native"] & other.columns["answered"]
    for draw_mean, columns in ((native.a_estimate, kept), (native.b_estimate, other.columns)):
        draws = [columns["matched"][both & (columns["draw"] == draw)].mean() for draw in (0, 1)]
        assert draw_mean == pytest.approx(np.mean(draws))
    assert (native.dimension, native.a, native.b, native.model) == ("model", "a", "b", "*")
    assert (native.verdict, native.units, native.missing_b, native.left_out) == ("higher", 10, 3, 2 * 20 * 2)
    assert found["native", "food", "hi"].left_out == native.left_out
    gap = found["difference", "food", "hi"]
    assert gap.difference == pytest.approx(native.difference - found["western", "food", "hi"].difference)  # type: ignore[operator]
    exact = [row for row in rows_of(one, other) if row.target == "same_prompts"]
    assert {(row.reason, row.verdict) for row in exact} == {("no sampling", "untestable")}


def test_models_that_were_asked_differently_are_not_told_apart() -> None:
    other = asked("b", 0.1, seed=2)
    types = [one._replace(settings_id="others") for one in other.types]
    found = rows_of(asked("a", 0.9, seed=1), other._replace(types=types))
    models = [row for row in found if row.dimension == "model"]
    assert {row.reason for row in models if row.target == "new_prompts"} == {"asked differently"}
    assert {row.verdict for row in models} == {"untestable"}
    assert not {row.reason for row in found if row.dimension == "native" and row.target == "new_prompts"} - {None}
    warm = [one._replace(is_sampled=True) for one in other.types]
    both = rows_of(other._replace(types=warm), asked("a", 0.9)._replace(types=warm))
    assert {row.target for row in both} == {"new_prompts"}


def test_a_language_and_english_are_compared_on_the_same_rows() -> None:
    rows = rows_of(asked("a", 0.7, ("hi", "gu", "en")))
    found = [row for row in rows if row.target == "new_prompts" and row.dimension == "language"]
    assert {(row.dimension, row.a, row.b, row.model, row.language) for row in found} == {
        ("language", "hi", "en", "a", "*"), ("language", "gu", "en", "a", "*"),
    }  # fmt: skip
    assert {row.units for row in found} == {CONTEXTS}


def test_counts_have_their_signed_mean_and_what_chance_gives() -> None:
    found = rows_of(asked("a", 0.7, task="sentiment"))
    missed = next(row for row in found if row.metric == "missed_positives" and row.topic == "food")
    assert (missed.dimension, missed.a, missed.b) == ("native", "native", "western")
    assert missed.difference == missed.a_estimate - missed.b_estimate  # type: ignore[operator]
    assert missed.low < missed.difference  # type: ignore[operator]
    texts = CONTEXTS / 2 * ENTITIES
    assert missed.chance == pytest.approx(np.sqrt(2 / np.pi) * np.sqrt(2 * texts * 0.21), rel=0.3)
