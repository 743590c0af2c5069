"""Permuting the labels of a text permutes its readings in every language; a polite unknown is the unknown option."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.instruments.questions.reading.choice import read_choice

FRAMES = tomllib.loads(Path(__file__).with_name("frames.toml").read_text(encoding="utf-8"))
NO_LABEL = FRAMES.pop("no_label")
NO_UNKNOWN = FRAMES.pop("no_unknown")
ANY = FRAMES.pop("any")["frames"]  # in no language: marks, JSON, LaTeX
EVERYWHERE = ("en", "ko", "tr", "hi")  # languages in which they are tried
LABELS = [
    tuple("ABCDEFGHIJ"),
    ("A", "B", "C", "D", "E"),
    ("1", "2", "3", "4", "5"),
    ("(a)", "(b)", "(c)", "(d)"),
    ("a", "b", "c"),
]
MORE = ("Qwerty", "Zxcv", "Poiu", "Lkjh", "Mnbv")  # where ten options are shown
SENTENCES = tomllib.loads(Path(__file__).with_name("grid.toml").read_text(encoding="utf-8"))
BESIDE = ("", "{about}\n\n{}", "{}\n\n{about}", "{weighed}\n\n{}", "{}\n\n{weighed}", "{denied} {}", "{}\n\n{denied}")


def beside_a_mention(frame: str, number: int, language: str) -> str:
    """A frame that names one option, with a sentence on another one before or behind it, or by itself."""
    template = BESIDE[number % len(BESIDE)]
    if "{O" in frame or not template or frame.startswith(('{"', "```")):
        return frame
    for kind in ("about", "weighed", "denied"):
        template = template.replace(f"{{{kind}}}", SENTENCES[language][kind])
    ends = frame[-1] in '.!?。।۔।։*`>}"”」' or "\n" in template
    return template.replace("{}", frame if ends else f"{frame}.")


def readings(frame: str, language: str, options: list[str], labels: tuple[str, ...]) -> list[str]:
    """How the frame is read with each label: 'read', 'unread' or 'wrong'."""
    shown = [*[*options[:-1], *MORE][: len(labels) - 1], options[-1]]
    found = []
    for place, label in enumerate(labels):
        other = (place + 1) % (len(labels) - 1)
        parts = {"{L}": label, "{T}": shown[place], "{O}": labels[other], "{OT}": shown[other]}
        said = frame
        for slot, part in parts.items():
            said = said.replace(slot, part)
        read = read_choice(said, shown, labels, len(labels) - 1, language).place
        found.append("read" if read == place else "unread" if read is None else "wrong")
    return found


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.full)])
@pytest.mark.parametrize("language", FRAMES)
def test_permuted_labels_permute_readings(language: str, whole: bool) -> None:
    """Most frames beside a mention of another option, before it or behind it.

    With all labels in `make test-full`; elsewhere with one kind, another from language to language.
    """
    options, frames = FRAMES[language]["options"], FRAMES[language]["frames"]
    frames = [*(ANY if language in EVERYWHERE else ()), *frames]
    said = [beside_a_mention(frame, number, language) for number, frame in enumerate(frames)]
    counts: Counter[str] = Counter()
    uneven = []
    for labels in LABELS if whole else (LABELS[[*FRAMES].index(language) % len(LABELS)],):
        for frame in [*said, *FRAMES[language].get("mentions", ())]:
            found = readings(frame, language, options, labels)
            counts.update(found)
            if len(set(found if "{L}" in frame else found[:-1])) > 1:  # the unknown may be read where others are not
                uneven.append((frame, labels[0], found))
    assert uneven == []
    assert counts["read"] / counts.total() >= 0.95
    assert counts["wrong"] == 0


SLOTS = ("{0}", "{1}", "{2}")
PIECES = (
    *SLOTS, *SLOTS, " ", "\n", ". ", ", ", ": ", " or ", " and ", " is correct", " is wrong", "The answer is ", "not ",
    "because ", "so ", "but ", "Although ", "(", "**", ")", "Option ", " means", "?", "'s", "-", "/", "Therefore, ",
    "I think ", "I would choose ", "I know ",
    "La respuesta es ", " es ", "정답은 ", "입니다", " 또는 ", " 아니라 ", "答案是", "，", "。",
    "Cevap ", "'dir", "उत्तर ", " है", "।",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), min_size=2, max_size=12).filter(lambda pieces: set(SLOTS) & set(pieces)),
    st.permutations(range(4)),
    st.sampled_from(
        [
            ("A", "B", "C", "D"),
            ("G", "H", "I", "J"),
            ("1", "2", "3", "4"),
            ("(a)", "(b)", "(c)", "(d)"),
            ("a", "b", "c", "d"),
        ]
    ),
    st.sampled_from(["en", "ko", "es", "zh", "tr", "hi", "xx"]),
)
def test_any_text_is_read_alike_under_permuted_labels(
    pieces: list[str], order: list[int], labels: tuple[str, ...], language: str
) -> None:
    shown = ("Qwerty", "Zxcv", "Poiu", "Lkjh")
    text = "".join(pieces)
    plain = read_choice(text.format(*labels), shown, labels, None, language).place
    permuted = read_choice(text.format(*(labels[place] for place in order)), shown, labels, None, language).place
    assert permuted == (None if plain is None else order[plain])


def test_the_frames_are_many_and_in_every_language_of_the_catalogue() -> None:
    catalogue = {"ar", "de", "en", "es", "fa", "hi", "it", "ja", "ko", "th", "tr", "zh"}
    assert catalogue | {"ca", "eu", "nl", "pt", "fr", "id", "ur"} <= set(FRAMES)
    assert sum(len(table["frames"]) for table in FRAMES.values()) >= 1000


@pytest.mark.parametrize("language", [code for code, table in FRAMES.items() if "unknown" in table])
def test_a_polite_unknown_is_the_unknown_option_where_there_is_one(language: str) -> None:
    options = FRAMES[language]["options"][-3:]
    for said in FRAMES[language]["unknown"]:
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
            shown = [options[index] for index in order]
            assert read_choice(said, shown, "ABC", order.index(2), language).place == order.index(2), said
        assert read_choice(said, options[:2], "AB", None, language).place is None, said


@pytest.mark.parametrize("language", NO_LABEL)
def test_words_and_numbers_are_no_labels(language: str) -> None:
    for said, labels in product(NO_LABEL[language], ("ABCDE", "12345", "abcde")):
        shown = ("Qwerty", "Asdf", "Zxcv", "Poiu", "Lkjh")
        assert read_choice(said, shown, labels, None, language).place is None, said


@pytest.mark.parametrize("language", NO_UNKNOWN)
def test_what_only_has_the_words_of_an_unknown_is_none(language: str) -> None:
    options = FRAMES[language]["options"][-3:]
    assert [
        said for said in NO_UNKNOWN[language] if read_choice(said, options, "ABC", 2, language).place is not None
    ] == []
