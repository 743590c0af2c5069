"""Taggers: nouns, verbs and proper nouns, at their places in the text as it is; what is missing is one line."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from polyculture.cache.errors import DataSetError, MissingDependencyError
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.patching import Inspection
from polyculture.instruments.probe import taggers
from polyculture.instruments.probe.asking import ProbeRules
from polyculture.instruments.probe.taggers import choose_taggers
from polyculture.instruments.probe.words import content_words, word_rule

pytestmark = pytest.mark.skipif(find_spec("spacy") is None, reason="the extra 'taggers' is not installed")

WORDS = {"Οι": "DET", "άνθρωποι": "NOUN", "έχουν": "AUX", "τρώνε": "VERB", "βασιλόπιτα": "NOUN", "στην": "ADP",
         "Αθήνα": "PROPN", ".": "PUNCT"}  # fmt: skip
SAID = " ".join(WORDS)
ODD = [
    *("😀", "👨\u200d👩\u200d👧", "\u0301", "\u3099", "\r\n", "\n", " ", "\u200d", "\x00", "\ufeff", "\u2028"),
    *("**", "…", "１２", "ﬁ", "İ", "가"),
]
# No tagger reads across lines, so that what stands before a line changes nothing in it.
TEXTS = st.lists(st.sampled_from([*ODD, SAID]) | st.text(max_size=3))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A pipeline that is trained on one sentence, as a folder, and as the installed package el_tiny."""
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("el")
    nlp.meta["name"], nlp.meta["version"] = "tiny", "1.2"
    nlp.add_pipe("morphologizer")
    examples = [Example.from_dict(nlp.make_doc(SAID), {"words": list(WORDS), "pos": list(WORDS.values())})]
    nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples)
    root = tmp_path_factory.mktemp("spacy")
    folder = root / "el_tiny" / "el_tiny-1.2"
    folder.parent.mkdir()
    nlp.to_disk(folder)
    (folder.parent / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_init_py\n"
        "def load(**overrides):\n    return load_model_from_init_py(__file__, **overrides)\n",
        encoding="utf-8",
    )
    (folder.parent / "meta.json").write_text((folder / "meta.json").read_text(encoding="utf-8"), encoding="utf-8")
    told = root / "el_tiny-1.2.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: el_tiny\nVersion: 1.2\n", encoding="utf-8")
    (told / "entry_points.txt").write_text("[spacy_models]\nel_tiny = el_tiny\n", encoding="utf-8")
    sys.path.insert(0, str(root))
    yield folder
    sys.path.remove(str(root))
    sys.modules.pop("el_tiny", None)


def test_nouns_verbs_and_proper_nouns_are_the_content_words(pipeline: Path) -> None:
    text = f"😀 {SAID}\r\nΟι άνθρωποι ."
    for model in (str(pipeline), "el_tiny"):
        found = [text[word.start : word.end] for word in content_words(text, "el", model)]
        assert found == ["άνθρωποι", "τρώνε", "βασιλόπιτα", "Αθήνα", "άνθρωποι"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=TEXTS)
def test_words_stand_where_they_are_said_to(pipeline: Path, pieces: list[str]) -> None:
    text = "".join(pieces)
    assume(not unicodedata.combining(text[:1] or "x"))  # no text begins with a mark that belongs to a letter before it
    tagger = str(pipeline)
    found, at = content_words(text, "el", tagger), 0
    for word in found:
        assert at <= word.start < word.end <= len(text)
        assert any(letter.isalpha() for letter in word.text)
        assert not unicodedata.combining(word.text[0])
        assert not unicodedata.combining(text[word.end : word.end + 1] or "x")
        at = word.end
    behind = content_words(f"{text}\r\n{SAID}", "el", tagger)
    shift = len(text) + 2
    assert [(word.start - shift, word.text) for word in behind if word.start >= shift] == [
        (word.start, word.text) for word in content_words(SAID, "el", tagger)
    ]
    assert [word for word in behind if word.start < shift] == found


def test_each_language_gets_the_tagger_that_serves_it(pipeline: Path) -> None:
    assert choose_taggers(["auto"], ["el-polyton", "fa"]) == {"el-polyton": "el_tiny", "fa": "rule"}
    assert choose_taggers([str(pipeline), "auto"], ["el", "ko"]) == {"el": str(pipeline), "ko": "rule"}
    assert choose_taggers(["rule", "auto"], ["el"]) == {"el": "rule"}


def test_which_tagger_and_version_is_recorded_and_asks_anew(pipeline: Path) -> None:
    import spacy

    assert word_rule("el", "el_tiny") == f"tagger 2, spacy {spacy.__version__}, el_tiny 1.2"
    assert word_rule("el", str(pipeline)).startswith(word_rule("el", "el_tiny") + " ")  # a folder by its files
    rules = [ProbeRules(Inspection("a: b\nx", "x"), Decoding(0.0), taggers=one) for one in ({}, {"el": "el_tiny"})]
    assert rules[0].asked_id("patched", "el") != rules[1].asked_id("patched", "el")
    assert rules[0].asked_id("patched", "de") == rules[1].asked_id("patched", "de")


def test_a_tagger_that_is_missing_is_one_line(pipeline: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import spacy

    for model in ("xx_absent", str(tmp_path)):
        with pytest.raises(DataSetError, match="there is no tagger"):
            choose_taggers([model], ["ko"])
    with pytest.raises(DataSetError, match=r"'el_tiny'.*language"):
        choose_taggers(["el_tiny"], ["ko"])
    spacy.blank("en").to_disk(tmp_path / "bare")
    with pytest.raises(DataSetError, match=r"tagger.*morphologizer"):
        content_words("a b", "en", str(tmp_path / "bare"))
    taggers.described.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy.util", None)
    with pytest.raises(MissingDependencyError) as fault:
        choose_taggers(["el_tiny"], ["el"])
    assert "pip install 'polyculture[taggers]'" in str(fault.value)
    assert choose_taggers(["auto"], ["el"]) == {"el": "rule"}
