"""Reading an answer is a step apart from asking for it: a mended parser reads what is stored, and buys nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import IncompleteError
from polyculture.cli.instrument_command import _ask
from polyculture.generate.engines.answer import NO_ANSWER
from polyculture.instruments.datasets.model import CulturalEntity, MaskedContext
from polyculture.instruments.swaps import asking as reading
from polyculture.instruments.swaps.asking import SwapQuestions
from polyculture.instruments.swaps.prompts import ComparisonWords, SwapPrompts, read_prompts
from polyculture.instruments.swaps.tasks import TASKS, FilledContext, JudgedAnswer, Sentiment
from polyculture.sources.left_out import SourceLocation
from tests.instruments.test_swaps_command import CONTEXTS, TEXTS, gold, rows, says, write
from tests.servers import Reply, StubServer

PLACE = SourceLocation("x")
ACCURACY = (
    "SELECT native, western, native_answers, failed FROM swap_rates WHERE metric = 'accuracy' AND culture IS NULL"
)
STATES = "SELECT entity, status, error, refused, count(*) FROM swap_answers GROUP BY ALL ORDER BY ALL"


@pytest.fixture
def server() -> Iterator[StubServer]:
    """Says bad for negative where ramen is in the text, and declines where pizza is."""

    def answer(body: Mapping[str, Any], before: int) -> Reply:
        text = body["messages"][-1]["content"].partition("Text: ")[2]
        if "pizza" in text:
            return says("I'm sorry, but I can't help with that.")
        return says("bad" if "ramen" in text else f"It is {gold(text)}.")

    with StubServer(behaviour=answer) as stub:
        yield stub


def ask(file: Path, **options: Any) -> None:
    values = {"data": "own", "folder": file.parent, "draws": 2, **options}
    _ask("sentiment", file, None, values, None)


def mend(patch: pytest.MonkeyPatch) -> None:
    """A reader that knows that bad is negative."""
    judge = Sentiment.judge

    def mended(
        self: Sentiment, raw: str, filled: FilledContext, prompts: SwapPrompts, own: ComparisonWords
    ) -> JudgedAnswer:
        return judge(self, raw.replace("bad", "negative"), filled, prompts, own)

    patch.setattr(Sentiment, "judge", mended)
    patch.setattr(reading, "VERSION", reading.VERSION + 1)


def test_a_mended_reader_reads_what_is_stored_and_asks_nothing(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server.url)
    with pytest.raises(IncompleteError, match="8 failed"):  # a text is asked, and read, once for both draws
        ask(file)
    bad = "the answer names 0 of the three labels: 'bad'"
    no = "the answer names 0 of the three labels: \"I'm sorry, but I can't help with that.\""
    each = 2 * len(CONTEXTS)
    fine = [(name, "ok", None, False, each) for name in ("lasagna", "onigiri", "takoyaki")]
    before = [fine[0], fine[1], ("pizza", "failed", no, True, each), ("ramen", "failed", bad, False, each), fine[2]]
    assert rows(tmp_path, STATES) == before
    numbers = sorted(rows(tmp_path, ACCURACY))
    assert len(server.asked) == TEXTS
    assert rows(tmp_path, "SELECT count(*) > 0 FROM failures WHERE stage = 'swap'") == [(True,)]
    with pytest.MonkeyPatch.context() as patch:
        mend(patch)
        # Of all that is stored, not of what is asked for alone.
        with pytest.raises(IncompleteError, match="4 failed"):
            ask(file, contexts=1)
        mended = rows(tmp_path, STATES)
        assert mended == [*before[:3], ("ramen", "ok", None, False, each), fine[2]]
        assert sorted(rows(tmp_path, ACCURACY)) != numbers
        assert rows(tmp_path, "SELECT count(*), count(DISTINCT reader_id) FROM swap_answers") == [(2 * TEXTS, 1)]
        assert rows(tmp_path, "SELECT sum(answers) + sum(failed) FROM spending") == [(TEXTS,)]
    # More draws of the same texts: nothing is asked, and all are read by the present reader.
    with pytest.raises(IncompleteError):
        ask(file, draws=3)
    assert rows(tmp_path, STATES) == [(*row[:-1], 3 * len(CONTEXTS)) for row in before]
    assert len(server.asked) == TEXTS
    assert rows(tmp_path, "SELECT count(*) FROM stored_swap_readings") == [(2 * TEXTS,)]


def test_answers_of_a_run_beside_this_one_are_not_asked_again(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server.url)
    with pytest.raises(IncompleteError):
        ask(file)
    other = tmp_path / "other.toml"
    other.write_text(file.read_text().replace('name = "swapped"', 'name = "beside"'), encoding="utf-8")
    with pytest.raises(IncompleteError):
        ask(other)
    assert len(server.asked) == TEXTS


def test_how_words_are_compared_is_the_readers_and_no_other_question() -> None:
    prompts = read_prompts()
    words = prompts.words_of("ja")
    mended = words.model_copy(update={"honorifics": (*words.honorifics, "師匠")})
    ours, others = (SwapQuestions(TASKS["qa"], "ja", prompts, each) for each in (words, mended))
    assert ours.reader_id != others.reader_id
    assert ours.question == others.question


def test_a_refusal_is_no_answer_whatever_words_are_in_it() -> None:
    prompts = read_prompts()
    reader = SwapQuestions(TASKS["qa"], "en", prompts, prompts.words_of("en"))
    context = MaskedContext("x", "en", "x", "food", None, "qa", "any", "We had [MASK].", None, None, PLACE)
    text = FilledContext(context, CulturalEntity("x", "en", "x", "food", "sushi", None, None, None, None, PLACE))
    read = reader.read('<think>no</think>{"answer": "I\'m sorry, but I can\'t help with that sushi."}', text)
    assert (read.judged, read.error, read.refused) == (None, "refused", True)
    read = reader.read('{"answer": "sushi"}', text)
    assert (read.judged, read.refused) == (JudgedAnswer("sushi", 1, strict=1), False)
    assert reader.read("<think>so", text).error == NO_ANSWER


@pytest.mark.parametrize(("language", "refused"), [("ja", True), ("en", False), ("gu", None)])
def test_a_refusal_is_known_in_the_language_of_the_text_too(language: str, refused: bool | None) -> None:
    """Asked in English about a Japanese text, a model may decline in Japanese; of Gujarati nobody knows the phrases."""
    prompts = read_prompts()
    reader = SwapQuestions(TASKS["sentiment"], language, prompts, prompts.words_of(language))
    context = MaskedContext("x", language, "x", "food", None, "neutral", "any", "[MASK]", "neutral", None, PLACE)
    text = FilledContext(context, CulturalEntity("x", language, "x", "food", "寿司", None, None, None, None, PLACE))
    assert reader.read("申し訳ありませんが、お答えできません。", text).refused is refused
