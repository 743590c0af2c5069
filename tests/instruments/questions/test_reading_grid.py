"""A verdict is read whatever is mentioned around it, in every language and under any labels.

The grid is *mention* x *place* x *verdict* x *language* x *labels and their permutation*. No cell may be read as
another option, and at most 5 % of a language's cells may be unread: no model is ranked by the language it answers in.
"""

from __future__ import annotations

import csv
import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from polyculture.instruments.questions.reading.choice import read_choice
from polyculture.instruments.questions.reading.languages import FOLDER

SENTENCES = tomllib.loads(Path(__file__).with_name("grid.toml").read_text(encoding="utf-8"))
LATIN = ["ABCD", "1234", ("(a)", "(b)", "(c)", "(d)"), "①②③④"]
NATIVE = {
    "ar": "أبجد", "as": "কখগঘ", "bn": "কখগঘ", "el": "αβγδ", "fa": "ابجد", "he": "אבגד", "hi": "कखगघ", "ja": "アイウエ",
    "ko": "가나다라", "ru": "АБВГ", "th": "กขคง", "zh": "甲乙丙丁",
}  # fmt: skip
# A verdict is a line of its own, or a sentence within a paragraph.
LINES = (
    "**{L}**", "{L}", "{L}.", "({L})", "$\\boxed{{L}}$", "Answer: {L}", "**Answer:** {L}", '{"answer": "{L}"}',
    "<answer>{L}</answer>", "{L}) {T}", "**{L}. {T}**", "{T}", "Answer: {T}", "{label}", "{text}",
)  # fmt: skip
SENTENCE = ("{label}", "{text}", "Answer: {L}.")
MENTIONS = ("nothing", "text", "label", "bold label", "denied label", "all texts", "options", "list")
PLACES = ("before", "after", "before and after")
OF_ALL = ("nothing", "all texts", "options", "list")  # mentions that are the same whichever other option is mentioned
MOST_UNREAD = 0.05


@dataclass(frozen=True)
class Cell:
    """An answer that picks the option at `picked` and mentions the one at `other`, or all of them."""

    language: str
    labels: tuple[str, ...]
    verdict: str
    line: bool
    mention: str
    place: str
    picked: int
    other: int

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(SENTENCES[self.language]["options"])

    @property
    def answer(self) -> str:
        """What a model says."""
        said, verdict = self._mention(), self.verdict
        for slot in ("label", "text"):
            verdict = verdict.replace(f"{{{slot}}}", SENTENCES[self.language][slot])
        verdict = verdict.replace("{L}", self._bare(self.picked)).replace("{T}", self.shown[self.picked])
        parts = [said if "before" in self.place else "", verdict, said if "after" in self.place else ""]
        apart = self.line or "\n" in said
        return ("\n\n" if apart else " ").join(filter(None, parts))

    def reading(self) -> int | None:
        """The place of the option that is read; the last option is the unknown."""
        return read_choice(self.answer, self.shown, self.labels, len(self.shown) - 1, self.language).place

    def _bare(self, place: int) -> str:
        return self.labels[place].strip("()")

    def _mention(self) -> str:
        sentences = SENTENCES[self.language]
        about = [sentences["about"].replace("{OT}", text) for text in self.shown[:-1]]
        about = [text[:1].upper() + text[1:] for text in about]
        return {
            "nothing": "",
            "text": about[self.other],
            "label": sentences["weighed"].replace("{O}", self.labels[self.other]),
            "bold label": sentences["weighed"].replace("{O}", f"**{self._bare(self.other)}**"),
            "denied label": sentences["denied"].replace("{O}", self.labels[self.other]),
            "all texts": " ".join(about),
            "options": "\n".join(f"- {self._bare(place)}: {text}" for place, text in enumerate(self.shown)),
            "list": "\n".join(f"- **{self._bare(place)}**: {text}" for place, text in enumerate(about)),
        }[self.mention]


def cells(language: str) -> Iterator[Cell]:
    """All cells of a language."""
    forms = [*((verdict, True) for verdict in LINES), *((verdict, False) for verdict in SENTENCE)]
    labels = [*LATIN, *([NATIVE[language]] if language in NATIVE else [])]
    number = len(SENTENCES[language]["options"])
    for some, (verdict, line), mention, place in product(labels, forms, MENTIONS, PLACES):
        if mention == "nothing" and place != PLACES[0]:
            continue
        for picked, other in product(range(number), range(number - 1)):
            if picked != other and not (mention in OF_ALL and other != (picked == 0)):
                yield Cell(language, tuple(some), verdict, line, mention, place, picked, other)


def check(some: list[Cell]) -> None:
    readings = [(cell, cell.reading()) for cell in some]
    assert [(cell, cell.answer, read) for cell, read in readings if read not in (cell.picked, None)] == []
    unread = [(cell.answer, cell.picked) for cell, read in readings if read is None]
    assert len(unread) <= MOST_UNREAD * len(some), unread


@pytest.mark.parametrize("language", SENTENCES)
def test_a_verdict_beats_every_mention(language: str) -> None:
    """A hundred cells of each language; all of them in `make test-full`."""
    check(random.Random(language).sample([*cells(language)], 100))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("language", SENTENCES)
def test_a_verdict_beats_every_mention_in_all_cells(language: str) -> None:
    check([*cells(language)])


def test_corrections_explanations_and_ordinals_are_read() -> None:
    """Answers with a correction, with reasons that name other options, or by an ordinal; `-` picks no option.

    One is known to be unread: nothing in it but its sense says which letter it picks.
    """
    with Path(__file__).with_name("verdicts.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = {}
    for row in rows:
        options = [*SENTENCES[row["language"]]["options"][:2], SENTENCES[row["language"]]["options"][-1]]
        place = read_choice(row["answer"].replace("\\n", "\n"), options, "ABC", 2, row["language"]).place
        if (label := "-" if place is None else "ABC"[place]) != row["label"]:
            found[row["answer"]] = label
    assert len(rows) > 100
    assert found == {"Given A and C are ruled out, B remains.": "-"}


def test_the_grid_has_every_language_that_is_read() -> None:
    assert set(SENTENCES) == {file.stem for file in FOLDER.glob("*.toml")}
