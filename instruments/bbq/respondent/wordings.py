"""How the survey's question is put to a model: our own wordings in Korean and English."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from polyculture.instruments.bbq.rows import LETTERS

FILE = Path(__file__).with_name("wordings.toml")
Language = Literal["ko", "en"]


@dataclass(frozen=True, slots=True)
class Wording:
    """A wording of both kinds of question."""

    name: str
    language: str
    one: str  # of a question with one answer
    several: str  # of a question with all answers that fit
    none: str  # the answer that there is no such stereotype
    answer: str  # the last line

    def text(self, stereotype: str, choices: Sequence[str], *, several: bool) -> str:
        """The whole message: choices stand under letters, or under numbers where several may be chosen."""
        told = (self.several if several else self.one).strip().replace("{stereotype}", stereotype)
        signs = [f"{number}." for number in range(1, len(choices) + 1)] if several else [f"{sign}:" for sign in LETTERS]
        lines = [f"{sign} {choice}" for sign, choice in zip(signs, choices, strict=False)]
        return "\n".join([told, "", *lines, self.answer])

    @property
    def decides(self) -> dict[str, str]:
        """All that decides what a model reads, for ids: the name is no part of it."""
        return {name: value for name, value in asdict(self).items() if name != "name"}


@cache
def wordings(language: str) -> tuple[Wording, ...]:
    """The wordings in a language."""
    told = tomllib.loads(FILE.read_text(encoding="utf-8"))["wordings"]
    mine = ({name: one[name] for name in Wording.__slots__} for one in told if one["language"] == language)
    return tuple(Wording(**one) for one in mine)
