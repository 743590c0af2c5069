"""One look at all texts before any is taken: what most of them begin with, that no model wrote.

A prompt that is repeated before its answer gives the model each name in it; a mark of a test before every text, or a
table around it, is in no model's words. Nobody can tell from one text, and from all of a model's it shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polyculture.cache.errors import UserError
from polyculture.sources.record import shown

PROMPT, NOTHING = "prompt", "nothing"  # what --cut takes beside words
_FEWEST = 3  # texts of a model
_SHORTEST = 8  # characters of a prompt that is repeated
_BEGINNING = 40  # characters of a text without a prompt, which may begin with it
_MARK = re.compile(r"\s*(\[[^\W\d_][\w :-]{0,24}\])")
_DATA = re.compile(r"\s*(?:\{|\[\s*[\[{\"'\]]|[A-Za-z_][\w.]*\(\w+=)")
_MARKUP = re.compile(r"</(?:p|div|span|li|ul|ol|b|i|strong|em|h[1-6]|br)>|<br ?/?>|&(?:amp|lt|gt|quot|nbsp|#\d{2,4});")
_ESCAPED = re.compile(r"\\n(?:\\n|[^a-z]|$)")


@dataclass
class Look:
    """What the texts of each model look like."""

    texts: Counter[str] = field(default_factory=Counter)
    echoes: Counter[str] = field(default_factory=Counter)
    marks: Counter[tuple[str, str]] = field(default_factory=Counter)
    data: Counter[str] = field(default_factory=Counter)
    begins: Counter[tuple[str, str]] = field(default_factory=Counter)  # long texts without a prompt, by model
    markup: int = 0
    escaped: int = 0
    broken: int = 0
    first: dict[str, tuple[str, str]] = field(default_factory=dict)  # kind -> row and text

    def add(self, row: str, model: str, text: str, prompt: str | None) -> None:
        """Looks at one text, as it is to be taken."""
        self.texts[model] += 1
        if prompt and len(prompt) >= _SHORTEST and len(text) > len(prompt) and is_echo(text, prompt):
            self.echoes[model] += 1
            self.first.setdefault("echo", (row, text))
        if not prompt and len(text) > 2 * _BEGINNING:
            self.begins[model, text[:_BEGINNING]] += 1
        if text[:1] in "[{ \n" or "(" in text[:60]:
            if (mark := _MARK.match(text)) is not None:
                self.marks[model, mark[1]] += 1
                self.first.setdefault("mark", (row, text))
            elif _DATA.match(text):
                self.data[model] += 1
                self.first.setdefault("data", (row, text))
        if ("<" in text or "&" in text) and _MARKUP.search(text):
            self.markup += 1
            self.first.setdefault("markup", (row, text))
        if "\\n" in text and _ESCAPED.search(text):
            self.escaped += 1
            self.first.setdefault("escaped", (row, text))

        if "\ufffd" in text:
            self.broken += 1
            self.first.setdefault("broken", (row, text[max(0, text.index("\ufffd") - 20) :]))

    def notes(self) -> list[str]:
        """What is taken as it stands, a line each."""
        found, total = list[str](), self.texts.total()
        if self.broken:
            row, text = self.first["broken"]
            found.append(
                f"{self.broken} of the {total} texts have a broken character, which is U+FFFD (row {row}: "
                f"{shown(text)!r}). A text that was cut within a character ends so"
            )
        for count, kind, what, mend in (
            (self.markup, "markup", "markup (<p>, &amp;)", "html.unescape and a parser of HTML"),
            (self.escaped, "escaped", r"line breaks as the two characters \n", r"text.replace('\\n', '\n')"),
        ):
            if count:
                row, text = self.first[kind]
                found.append(
                    f"{count} of the {total} texts hold {what} and are taken so (row {row}: {shown(text)!r}). "
                    f"If no model wrote it so, mend the file first ({mend})"
                )
        alike = Counter[str]()
        for (model, _), count in self.begins.items():
            alike[model] += count if count >= _FEWEST else 0
        for model in (one for one in alike if 2 * alike[one] > self.texts[one]):
            begin = max((one for one in self.begins if one[0] == model), key=lambda one: self.begins[one])[1]
            found.append(
                f"{alike[model]} of the {self.texts[model]} texts of {model} begin alike ({shown(begin)!r}) and have "
                "no prompt. If that is their prompt, its names count as the model's: --cut 'WORDS' takes it away"
            )
        return found

    def check(self, cut: Sequence[str], path: Path) -> None:
        """Raises `UserError` where most texts of a model begin with what no model writes, unless `cut` says."""
        if cut:
            return
        marks = Counter[str]()
        for (model, _), count in self.marks.items():
            marks[model] += count
        for counts, kind, what in (
            (self.echoes, "echo", "begin with their own prompt, whose names would count as the model's"),
            (marks, "mark", "begin with a mark in brackets"),
            (self.data, "data", "are tables or objects in which no text is known"),
        ):
            most = [one for one in counts if self.texts[one] >= _FEWEST and 2 * counts[one] > self.texts[one]]
            if not most:
                continue
            model = most[0]
            row, text = self.first[kind]
            told = f"{counts[model]} of the {self.texts[model]} texts of {model} {what} (row {row}: {shown(text)!r})"
            begin = {"echo": "--cut prompt takes what is behind it"}
            words = dict.fromkeys(mark for (one, mark), _ in self.marks.most_common() if one == model)
            begin["mark"] = " ".join(f"--cut '{mark}'" for mark in list(words)[:3]) + " takes what is behind it"
            begin["data"] = "text=COLUMN.KEY takes a key of them"
            remedy = f"{begin[kind]}; --cut nothing takes the texts as they are, if the model wrote it."
            raise UserError(told, where=path, remedy=remedy)


def is_echo(text: str, prompt: str) -> bool:
    """Whether a text begins with its prompt."""
    return text.lstrip().startswith(prompt.strip())


def without_beginning(text: str, prompt: str | None, cut: Sequence[str]) -> str:
    """A text without what `--cut` names at its beginning: its prompt, or words."""
    for words in cut:
        begin = (prompt or "").strip() if words == PROMPT else words if words != NOTHING else ""
        if begin and text.lstrip().startswith(begin):
            text = text.lstrip()[len(begin) :].lstrip()
    return text
