"""Scoring with a real vLLM: equal to passes over whole texts, and to what the transformers engine gives."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from polyculture.generate.engines import SCORING, ModelSpec, Scored, ScoreRequest, Scoring, open_engine
from polyculture.generate.engines.vllm.engine import VllmEngine

pytestmark = [pytest.mark.vllm, pytest.mark.xdist_group("one model")]
ENGLISH = "My grandmother came from a village by the sea, and on Sundays the whole family met. She always brought"
REQUESTS = [
    ScoreRequest(
        "alike", ENGLISH, tuple(f" rice with {a} and {b}" for a in ("peas", "lamb", "figs") for b in ("oil", "mint"))
    ),
    ScoreRequest("short", "She eats", (" ramen", " paella", " pizza with anchovies")),
    ScoreRequest("space", "우리 할머니는 ", ("김치를 드신다", "파스타를 드신다")),
    ScoreRequest("no spaces", "祖母の家で食べたのは", ("おにぎり", "寿司", "パスタ")),
    ScoreRequest("right to left", "في بيت جدتي أكلنا ", ("الكسكس", "البيتزا")),
    ScoreRequest("thai", "ที่บ้านคุณยายเรากิน", ("ต้มยำ", "พิซซ่า")),
    ScoreRequest("merged", "She eats ra", ("men", "violi")),
]


def by_place(rows: Iterable[Scored]) -> dict[tuple[str, int], Scored]:
    return {(row.request_id, row.index): row for row in rows}


def assert_equal(ours: dict[tuple[str, int], Scored], theirs: dict[tuple[str, int], Scored]) -> None:
    assert ours.keys() == theirs.keys()
    for place, row in ours.items():
        other = theirs[place]
        assert (row.boundary, row.error) == (other.boundary, other.error)
        assert [token.token for token in row.tokens] == [token.token for token in other.tokens]
        assert [t.log_probability for t in row.tokens] == pytest.approx(
            [t.log_probability for t in other.tokens], abs=1e-3
        )


def test_asking_again_changes_no_score(engine: VllmEngine) -> None:
    first = by_place(engine.score(REQUESTS))
    assert len(first) == sum(len(request.continuations) for request in REQUESTS)
    assert not [row.error for row in first.values() if row.error]
    assert_equal(by_place(engine.score(REQUESTS)), first)  # now vLLM has every text in its cache


def test_scores_are_those_of_the_transformers_engine(engine: VllmEngine, model: Path) -> None:
    with open_engine(ModelSpec(f"transformers:{model}", {"dtype": "float32"}), SCORING) as other:
        assert_equal(by_place(engine.score(REQUESTS)), by_place(other.score(REQUESTS)))


@pytest.mark.slow
def test_the_model_served_over_http_gives_the_same_scores(engine: VllmEngine, served: Scoring) -> None:
    assert_equal(by_place(engine.score(REQUESTS)), by_place(served.score(REQUESTS)))


def test_what_cannot_be_scored_is_a_row_with_a_reason(engine: VllmEngine) -> None:
    long = ScoreRequest("long", "many words " * 600, (" end",))
    rows = by_place(engine.score([ScoreRequest("nothing", ENGLISH, ("", " tea")), long]))
    assert rows["nothing", 0].error == "'' tokenises to nothing"
    assert rows["nothing", 1].error is None
    assert "maximum context length is 1024 tokens" in (rows["long", 0].error or "")
    assert all(row.total is None for row in rows.values() if row.error)


def test_sampling_goes_on_beside_a_score_that_was_left(engine: VllmEngine) -> None:
    rows = engine.score([ScoreRequest("many", ENGLISH, tuple(f" {number} apples" for number in range(500)))])
    next(rows)
    rows.close()
    assert len(by_place(engine.score(REQUESTS[:2]))) == 9
