"""Where a context ends and a continuation begins: real tokenizers in every language, with decoding as the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.generate.engines.base import ScoreRequest
from polyculture.generate.engines.token_boundary import TokenisedPair, first_token, split_pairs
from tests.scoring_models import gemma, smollm2, tokenizer_of

BROKEN_BOUNDARIES = {"merged", "resplit"}
# The 13 languages of the catalogue and those of Camellia: a context as the publishers write it, with a space before
# the gap where the language sets words apart, and what may stand there.
CONTEXTS = {
    "ar": ("تناولت أمس في بيت جدتي ", ("الكبسة", "البيتزا", "ورق عنب")),
    "de": ("Gestern Abend aß ich ", ("Spätzle", "Grünkohl mit Pinkel", "Pizza")),
    "en": ("Yesterday my aunt cooked ", ("shepherd's pie", "Pizza", "crème brûlée")),
    "es": ("Ayer mi abuela preparó ", ("pozole", "ñoquis", "tamales de elote")),
    "fa": ("دیشب مادرم برای شام ", ("قورمه‌سبزی", "فسنجان", "پیتزا")),
    "gu": ("ગઈકાલે મારી દાદીએ બનાવ્યું ", ("ઢોકળા", "ઉંધિયું", "પિઝા")),
    "hi": ("कल रात मेरी दादी ने बनाया ", ("राजमा चावल", "ढोकला", "पिज़्ज़ा")),
    "it": ("Ieri sera la nonna ha cucinato ", ("gli gnocchi", "caffè", "pizza")),
    "ja": ("昨日の夕食は、", ("寿司", "お好み焼き", "ピザ", "𩸽の塩焼き")),
    "ko": ("어제 할머니와 함께 먹은 것은 ", ("김치찌개", "비빔밥", "피자")),
    "ml": ("ഇന്നലെ അമ്മ ഉണ്ടാക്കിയത് ", ("പുട്ട്", "അവിയൽ", "പിസ്സ")),
    "mr": ("काल आजीने बनवली ", ("पुरणपोळी", "मिसळ पाव", "पिझ्झा")),
    "th": ("เมื่อวานคุณยายทำ", ("ต้มยำกุ้ง", "ข้าวเหนียวมะม่วง", "พิซซ่า")),
    "tr": ("Dün akşam annem ", ("mantı", "içli köfte", "çiğ köfte")),
    "ur": ("کل رات امی نے پکایا ", ("نہاری", "بریانی", "پیزا")),
    "vi": ("Hôm qua bà tôi nấu ", ("phở bò", "bún chả", "pizza")),
    "zh": ("昨天奶奶给我们做了", ("饺子", "麻婆豆腐", "披萨")),
    "zh-tw": ("昨天奶奶給我們做了", ("滷肉飯", "蚵仔煎", "披薩")),
}


@pytest.fixture(scope="module", params=["smollm2", pytest.param("gemma", marks=pytest.mark.full)])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("gemma")
    yield tokenizer_of(smollm2() if request.param == "smollm2" else gemma(folder))
    (folder / "gemma-3-270m.gguf").unlink(missing_ok=True)


def split(tokenizer: Any, prefix: str, *continuations: str) -> list[TokenisedPair]:
    return list(split_pairs(tokenizer, ScoreRequest("r", prefix, continuations)))


def text_of(tokenizer: Any, ids: tuple[int, ...]) -> str:
    text: str = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text


@pytest.mark.parametrize("language", CONTEXTS)
def test_the_tokens_of_the_continuation_spell_it(tokenizer: Any, language: str) -> None:
    context, continuations = CONTEXTS[language]
    bare = context.rstrip(" ")
    for pair, continuation in zip(split(tokenizer, context, *continuations), continuations, strict=True):
        whole = context + continuation
        assert pair.error is None
        assert text_of(tokenizer, pair.ids) == whole
        assert pair.boundary == ("moved space" if context != bare else "clean")
        assert text_of(tokenizer, pair.ids[: pair.start]) == bare
        assert text_of(tokenizer, pair.ids[pair.start : pair.end]).strip(" ") == continuation


def test_a_space_left_at_the_end_of_a_context_would_break_most_pairs(tokenizer: Any) -> None:
    """What naive joining does: the context with its space is not what the whole text begins with."""
    kept = []
    for context, continuations in (CONTEXTS[language] for language in ("ko", "vi", "hi", "ur")):
        alone = tokenizer(context)["input_ids"]
        kept += [tokenizer(context + each)["input_ids"][: len(alone)] == alone for each in continuations]
        assert not BROKEN_BOUNDARIES & {pair.boundary for pair in split(tokenizer, context, *continuations)}
    assert sum(kept) < 0.25 * len(kept)


def test_a_token_that_spans_the_boundary_is_charged_to_the_continuation(tokenizer: Any) -> None:
    (pair,) = split(tokenizer, "I would like some choco", "late")
    assert pair.boundary == "merged"
    assert text_of(tokenizer, pair.ids[pair.start : pair.end]).strip() == "chocolate"
    assert text_of(tokenizer, pair.ids[: pair.start]) == "I would like some"


def test_every_way_to_cut_a_text_gives_its_tokens_and_says_how_they_met(tokenizer: Any) -> None:
    text = "昨日、ข้าวเหนียว with 김치 and पनीर، الكبسة 🍣!"
    whole = tuple(tokenizer(text)["input_ids"])
    for cut in range(1, len(text)):
        (pair,) = split(tokenizer, text[:cut], text[cut:])
        if not text[cut:].strip():
            continue
        assert pair.ids == whole
        assert text_of(tokenizer, whole[pair.start :]).endswith(text[cut:])
        if pair.boundary not in BROKEN_BOUNDARIES:
            assert text_of(tokenizer, whole[: pair.start]) == text[:cut].rstrip(" ")
        else:
            assert text_of(tokenizer, whole[: pair.start]) != text[:cut].rstrip(" ") or pair.boundary == "resplit"


def test_what_tokenises_to_nothing_is_an_error_never_a_score(tokenizer: Any) -> None:
    empty, blank, word = split(tokenizer, "My lunch was ", "", " ", "soup")
    assert empty.error == "'' tokenises to nothing"
    assert blank.error == "' ' tokenises to nothing"
    assert (word.error, word.index) == (None, 2)


def test_an_empty_context_needs_a_token_that_begins_a_text(tokenizer: Any) -> None:
    (pair,) = split(tokenizer, "", "Soup")
    begins = tokenizer("")["input_ids"]
    assert (pair.error is None) == bool(begins)
    if begins:
        assert (pair.start, list(pair.ids[:1])) == (1, begins)
    for front in ({"bos": 1}, {"first": 1}):
        (told,) = split_pairs(tokenizer, ScoreRequest("r", "", ("Soup",)), **front)
        assert told.error is None
        assert (told.start, told.ids[0]) == (1, begins[0] if begins else 1)
    (behind,) = split_pairs(tokenizer, ScoreRequest("r", "We ate", (" soup",)), first=1)
    assert behind == split(tokenizer, "We ate", " soup")[0]
    assert first_token(None, 2) == 2
    assert first_token(1, 2) == 1
    assert first_token(None, None) is None


def test_long_lists_are_read_in_parts_and_keep_their_order(tokenizer: Any) -> None:
    pairs = split(tokenizer, "Number ", *(str(number) for number in range(600)))
    assert [pair.index for pair in pairs] == list(range(600))
    assert [text_of(tokenizer, pair.ids[pair.start :]).strip() for pair in pairs] == [str(n) for n in range(600)]


class TestMasked:
    """With what stands behind the gap, as masked models read it, and with unknown words."""

    @pytest.fixture
    def wordpiece(self) -> Any:
        from tests.tiny_models import wordpiece

        return wordpiece()

    def test_the_gap_is_found_between_both_sides(self, wordpiece: Any) -> None:
        request = ScoreRequest("r", "we ate ", ("soup", "rice soup"), suffix=" with bread")
        soup, rice_soup = split_pairs(wordpiece, request, suffix=True)
        assert wordpiece.convert_ids_to_tokens(soup.ids) == ["[CLS]", "we", "ate", "soup", "with", "bread", "[SEP]"]
        assert (soup.start, soup.end, soup.boundary) == (3, 4, "moved space")
        assert (rice_soup.start, rice_soup.end) == (3, 5)

    def test_a_gap_may_begin_a_text_that_no_token_begins(self) -> None:
        from tests.tiny_models import byte_level

        request = ScoreRequest("r", "", ("Soup",), suffix=" is hot")
        (pair,) = split_pairs(byte_level(), request, suffix=True)
        assert (pair.error, pair.start) == (None, 0)
        assert next(split_pairs(byte_level(), request)).error

    def test_unknown_words_are_an_error(self, wordpiece: Any) -> None:
        (pair,) = split_pairs(wordpiece, ScoreRequest("r", "we ate", (" 寿司",), suffix=" with bread"), suffix=True)
        assert pair.error == "' 寿司' tokenises to unknown tokens"

    def test_a_token_that_runs_into_the_suffix_is_merged(self, wordpiece: Any) -> None:
        (pair,) = split_pairs(wordpiece, ScoreRequest("r", "we ate ", ("so",), suffix="up"), suffix=True)
        assert pair.boundary == "merged"
        assert wordpiece.convert_ids_to_tokens(pair.ids[pair.start : pair.end]) == ["soup"]
