"""Normalisation: the form in which names are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.cache.identity import content_id
from polyculture.link.normalise import NORMALISATION, chinese_forms, fold_of, normalise


def same(one: str, other: str, language: str = "en") -> bool:
    first, second = normalise([one, other], fold_of(language))
    return first == second


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "Ramen", "ramen"),
        ("en", "T-shirt", "T‑Shirt"),
        ("en", "T-shirt", "t shirt"),
        ("en", "shepherd's pie", "Shepherd’s  Pie"),
        ("en", "don´t", "don't"),
        ("en", "“Beloved”", "Beloved"),
        ("en", "cafe\u0301", "café"),
        ("de", "Straße", "STRASSE"),
        ("de", "Käse\u00adspätzle", "Käsespätzle"),
        ("it", "caffè", "CAFFÈ"),
        ("ja", "ﾗｰﾒﾝ", "ラーメン"),
        ("ja", "ＣＤ", "CD"),
        ("ja", "ガブリエル・ガルシア＝マルケス", "ガブリエル ガルシア マルケス"),
        ("ko", "김치\u3000찌개", "김치 찌개"),
        ("ko", "\u1100\u1175\u11b7\u110e\u1175", "김치"),
        ("ar", "كُشَرِي", "كشري"),
        ("ar", "كـــشري", "كشرى"),
        ("ar", "أرز", "ارز"),
        ("ar", "مكرونة", "مكرونه"),
        ("fa", "کباب كوبيده", "کباب کوبیده"),
        ("fa", "قورمه\u200cسبزی", "قورمه سبزی"),
        ("fa", "۷", "٧"),
        ("hi", "क़ीमा", "क\u093cीमा"),
        ("hi", "श्री\u200dमान", "श्रीमान"),
        ("th", "ต\u0e4d\u0e32", "ตำ"),
        ("tr", "İSKENDER KEBAP", "iskender kebap"),
        ("tr", "ISPANAK", "ıspanak"),
        ("en", "İskender kebap", "iskender kebap"),
        ("zh", "臺灣牛肉麵", "台湾牛肉面"),
        ("zh-tw", "珍珠奶茶", "珍珠奶茶"),
        ("zh-hk", "加西亞·馬爾克斯", "加西亚•马尔克斯"),
    ],
)
def test_names_that_are_one(language: str, one: str, other: str) -> None:
    assert same(one, other, language)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("tr", "SINIR", "sinir"),  # border, nerve
        ("tr", "kız", "kiz"),
        ("ja", "乾物", "干物"),  # dried food, dried fish: no Chinese simplification in Japanese
        ("de", "schon", "schön"),
        ("es", "ano", "año"),
        ("fa", "شیر", "سیر"),
        ("en", "tea", "teas"),
    ],
)
def test_names_that_are_two(language: str, one: str, other: str) -> None:
    assert not same(one, other, language)


def test_order_is_kept_and_nothing_vanishes() -> None:
    names = ["b\nc", "'", " a ", "\u200b", "B  C"]
    assert normalise(names, "plain") == ["b c", "'", "a", "\u200b", "b c"]
    assert normalise([], "plain") == []


@given(st.lists(st.text(max_size=12), max_size=8), st.sampled_from(["plain", "turkish", "chinese"]))
def test_each_name_is_folded_as_if_alone_and_only_once(names: list[str], fold: str) -> None:
    together = normalise(names, fold)  # type: ignore[arg-type]
    assert together == [normalise([name], fold)[0] for name in names]  # type: ignore[arg-type]
    assert len(together) == len(names)


def test_chinese_is_sought_in_both_scripts() -> None:
    assert chinese_forms("拉麵") == ["拉麵", "拉面"]
    assert chinese_forms(" 饺子 ") == ["饺子", "餃子"]
    assert chinese_forms("茶") == ["茶"]


def test_the_rules_are_those_of_their_version() -> None:
    """Indexes hold normal forms: a change of the rules must raise NORMALISATION, and update this hash."""
    probe = [
        "İI ı Ǆ ẞ ﬁ ½ ２",
        "كُشَرِي أإآٱ ة ۀ ہ ـ ۷",
        "می\u200cخواهم",
        "क़",
        "ガルシア＝マルケス・ー",
        "乾麵臺",
        "a’'´`“«「《b",
    ]
    probe += ["a-‐–—·•_b", "🍕\ufe0f", "Käse\u00adspätzle"]
    forms = [normalise(probe, fold) for fold in ("plain", "turkish", "chinese")]
    assert (NORMALISATION, content_id(forms)) == (1, "25707e413ae9a4a2ff144d88")
