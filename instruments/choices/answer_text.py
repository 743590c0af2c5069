"""What a model said, without what stands around it: reasoning, marks of chat templates, JSON, LaTeX."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache

from polyculture.generate.engines.answer import text_in

MARKS = "*_`~#>\"'“”‘’«»「」『』《》[](){}<.,;:!?。，、：；！？$\\ \t\r\n\u200b\ufeff"
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)
_ANSWER_TAG = re.compile(r"<(answer|output|정답|답)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\$*\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}\$*")
_STYLED = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}")
_SPACES = re.compile(r"\s+")  # long runs of spaces would cost the parser's patterns a time that grows with their square
_KEYS = ("answer", "final_answer", "choice", "option", "prediction", "정답", "답", "답변", "선택")
_APOSTROPHES = str.maketrans("’‘", "''")


def spoken(text: str) -> str:
    """The answer alone, in Unicode's compatible form: full-width and circled letters are letters."""
    answer = text_in(text) or ""
    said = unicodedata.normalize("NFKC", answer).translate(_APOSTROPHES)
    said = _SPACES.sub(_one_space, said.replace("\u200b", "").replace("\ufeff", "")).strip()
    if fence := _FENCE.match(said):
        said = fence[1]
    if tags := _ANSWER_TAG.findall(said):
        said = tags[-1][1]
    said = _BOXED.sub(lambda match: f" {_STYLED.sub(lambda inner: inner[1], match[1])} ", said)
    return (_of_json(said) or said).strip()


def _one_space(match: re.Match[str]) -> str:
    return "\n" if "\n" in match[0] else " "


def _of_json(said: str) -> str | None:
    """The answer in a JSON object that is the whole text; None where the text is none, or has no key of an answer."""
    if not (said.startswith("{") and said.endswith("}")):
        return None
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return None
    named = {str(name).casefold(): value for name, value in found.items()} if isinstance(found, dict) else {}
    answers = [named[key] for key in _KEYS if isinstance(named.get(key), str)]
    return answers[0] if answers else None


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """A term as terms are compared: without case, decoration around it, and doubled spaces."""
    said = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return " ".join(said.strip(MARKS).split()).casefold()
