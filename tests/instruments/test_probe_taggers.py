"""Taggers: nouns, verbs and proper nouns, at their places in the text as it is; what is missing is one line."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import DataSetError, MissingDependencyError
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.patching import Inspection
from polyculture.instruments.probe.asking import ProbeRules
from polyculture.instruments.probe.taggers import known
from polyculture.instruments.probe.taggers.known import choose_taggers, recorded, without_tagger
from polyculture.instruments.probe.taggers.packages import open_package
from polyculture.instruments.probe.words import content_words, word_rule

for package in ("kiwipiepy", "sudachipy", "jieba", "pythainlp", "HanTa", "spacy"):
    pytest.importorskip(package, reason="the extra 'taggers' is not installed")

SAID = {
    "ko": ("설날에는 👨‍👩‍👧 떡국을 먹어요.\r\n세종대왕이 공부했다", "설날 떡국 먹 세종 대왕 공부", "nnvpnn"),
    "ja": ("お正月には😀お雑煮を食べます。\r\n東京都でか\u3099っこう", "正月 雑煮 食べ 東京都 か\u3099っこう", "nnvpn"),
    "zh": ("春节的时候😀北京人吃饺子。\r\n毛泽东喜欢 肉", "春节 时候 北京 人 吃饺子 毛泽东 喜欢 肉", "nnpnvpvn"),
    "th": ("คนไทยกินข้าวแช่😀ในวันสงกรานต์\r\nที่กรุงเทพมหานคร", "คนไทย กิน ข้าวแช่ วันสงกรานต์ กรุงเทพมหานคร", "nvnnp"),
    "de": ("Die Leute in Berlin lesen an Neujahr Ma\u0308rchen 😀 und können nicht schlafen.",
           "Leute Berlin lesen Neujahr Ma\u0308rchen schlafen", "npvnnv"),
    "en": ("People don't 😀 drink tea; they're in Tehran.\r\nNowruz is loved.",
           "People drink tea Tehran Nowruz loved", "nvnppv"),
    "nl": ("De mensen in Amsterdam eten graag haring.", "mensen Amsterdam eten haring", "npvn"),
}  # fmt: skip
KINDS = {"n": "noun", "v": "verb", "p": "proper noun"}
ODD = [
    "😀",
    "👨‍👩‍👧",
    "\u0301",
    "\u3099",
    "\r\n",
    "\n",
    " ",
    "\u200d",
    "\x00",
    "\ufeff",
    "**",
    "…",
    "１２",
    "ﬁ",
    "İ",
    "가",
    "が",
]
# No tagger reads across lines, so that what stands before a line changes nothing in it.
TEXTS = st.lists(st.sampled_from(ODD) | st.text(max_size=3) | st.sampled_from([text for text, *_ in SAID.values()]))


@pytest.mark.parametrize("language", SAID)
def test_nouns_verbs_and_proper_nouns_are_told_apart(language: str) -> None:
    text, words, kinds = SAID[language]
    tagger = choose_taggers(["auto"], [language])[language]
    found = content_words(text, language, tagger)
    assert [word.text for word in found] == words.split()
    assert [word.kind for word in found] == [KINDS[one] for one in kinds]


@pytest.mark.parametrize("language", SAID)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=TEXTS)
def test_words_stand_where_they_are_said_to(language: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    assume(not unicodedata.combining(text[:1] or "x"))  # no text begins with a mark that belongs to a letter before it
    tagger = choose_taggers(["auto"], [language])[language]
    found, at = content_words(text, language, tagger), 0
    for word in found:
        assert at <= word.start < word.end <= len(text)
        assert any(letter.isalpha() for letter in word.text)
        assert not unicodedata.combining(word.text[0])
        assert not unicodedata.combining(text[word.end : word.end + 1] or "x")
        at = word.end
    said = SAID[language][0]
    behind = content_words(f"{text}\r\n{said}", language, tagger)
    shift = len(text) + 2
    assert [(word.start - shift, word.text) for word in behind if word.start >= shift] == [
        (word.start, word.text) for word in content_words(said, language, tagger)
    ]
    assert [word for word in behind if word.start < shift] == found


def test_which_tagger_and_version_is_recorded_and_asks_anew() -> None:
    chosen = choose_taggers(["auto"], ["ko", "zh-tw", "fa"])
    assert chosen == {"ko": "kiwipiepy", "zh-tw": "jieba", "fa": "rule"}
    assert choose_taggers(["hanta", "rule"], ["en", "ko"]) == {"en": "hanta", "ko": "rule"}
    assert recorded("kiwipiepy").startswith("tagger 1, kiwipiepy 0.")
    assert "kiwipiepy_model 0." in word_rule("ko", "kiwipiepy")
    rules = [ProbeRules(Inspection("a: b\nx", "x"), Decoding(0.0), taggers=one) for one in ({}, {"en": "hanta"})]
    assert rules[0].asked_id("patched", "en") != rules[1].asked_id("patched", "en")
    assert rules[0].asked_id("patched", "de") == rules[1].asked_id("patched", "de")


def test_a_tagger_that_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"tagger.*'kiwi'"):
        choose_taggers(["kiwi"], ["ko"])
    with pytest.raises(DataSetError, match=r"'jieba'.*language"):
        choose_taggers(["jieba"], ["ko"])
    for model in ("xx_absent", str(tmp_path)):
        with pytest.raises(DataSetError, match=r"spaCy.*model"):
            choose_taggers([f"spacy:{model}"], ["ko"])
    monkeypatch.setattr(known, "_version", lambda _: None)
    with pytest.raises(MissingDependencyError) as fault:
        choose_taggers(["kiwipiepy"], ["ko"])
    assert "pip install 'polyculture[taggers]'" in str(fault.value)
    assert choose_taggers(["auto"], ["ko"]) == {"ko": "rule"}
    assert without_tagger({"ko": "rule", "fa": "rule"}) == ["ko (kiwipiepy)"]


def test_spacy_with_a_model_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that is trained on one sentence, as a folder and as a package."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("el")
    nlp.meta["name"], nlp.meta["version"] = "tiny", "1.2"
    morphologizer = nlp.add_pipe("morphologizer")
    words = {
        "Οι": "DET",
        "άνθρωποι": "NOUN",
        "τρώνε": "VERB",
        "βασιλόπιτα": "NOUN",
        "στην": "ADP",
        "Αθήνα": "PROPN",
        ".": "PUNCT",
    }
    doc = nlp.make_doc(" ".join(words))
    examples = [Example.from_dict(doc, {"words": list(words), "pos": list(words.values())})]
    nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples)
    assert morphologizer
    folder = tmp_path / "el_tiny" / "el_tiny-1.2"
    folder.parent.mkdir()
    nlp.to_disk(folder)
    (folder.parent / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_init_py\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n",
        encoding="utf-8",
    )
    (folder.parent / "meta.json").write_text((folder / "meta.json").read_text(encoding="utf-8"), encoding="utf-8")
    told = tmp_path / "el_tiny-1.2.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: el_tiny\nVersion: 1.2\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "😀 Οι άνθρωποι τρώνε βασιλόπιτα στην Αθήνα .\r\nΟι άνθρωποι ."
    for model in (str(folder), "el_tiny"):
        chosen = choose_taggers([f"spacy:{model}", "auto"], ["el", "ko"])
        assert chosen == {"el": f"spacy:{model}", "ko": "kiwipiepy"}
        found = content_words(text, "el", chosen["el"])
        assert [(text[word.start : word.end], word.kind) for word in found] == [
            ("άνθρωποι", "noun"), ("τρώνε", "verb"), ("βασιλόπιτα", "noun"), ("Αθήνα", "proper noun"),
            ("άνθρωποι", "noun"),
        ]  # fmt: skip
        assert f"spacy {spacy.__version__}, el_tiny 1.2" in word_rule("el", chosen["el"])
    sys.modules.pop("el_tiny", None)
    bare = spacy.blank("en")
    bare.to_disk(tmp_path / "bare")
    with pytest.raises(DataSetError, match=r"tagger.*morphologizer"):
        content_words("a b", "en", f"spacy:{tmp_path / 'bare'}")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=TEXTS)
def test_japanese_words_cover_the_text(pieces: list[str]) -> None:
    """The tagger reads a normalised text: its places must be those of the text as it is."""
    text = "".join(pieces).replace("\x00", " ")
    at = 0
    for start, end, _ in open_package("sudachipy", "ja")(text):
        assert start == at
        at = end
    assert at == len(text)


def test_korean_nouns_are_those_at_their_places() -> None:
    text = "한\u1100\u1161위 😀 김치\u0301 송편, 설날 떡국\r\n K팝 가족"
    found = content_words(text, "ko", "kiwipiepy")
    assert {"김치\u0301", "송편", "설날", "떡국", "가족"} <= {word.text for word in found}
