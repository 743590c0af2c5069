"""What a model said, without what surrounds it: reasoning, marks of chat templates, code fences, JSON, LaTeX."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from polyculture.cache.text.folding import Folding, fold, nfkc
from polyculture.generate.engines.answer import text_in

ENDS = "。！？।॥۔؟։።፧፨။།༎។៕᠃᠉᱾᱿"  # of sentences, in scripts that have marks of their own
PAUSES = "，、：；،؛፣፡፤၊᠂᠈"
# Decoration: it may surround a label or an option without changing what is said.
MARKS = f"→*_`~#>\"'“”‘’«»‹›「」『』《》【】[](){{}}<.,;:!?{ENDS}{PAUSES}…$\\- \t\r\n"
# Vowel signs and other combining marks are no word characters to `re`: a Hindi or Thai word would end at each of them.
_COMBINING = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u0dff\u0e30-\u0e4e\u0eb0-\u0ece"
    "\u0f71-\u0f84\u102b-\u103e\u1056-\u1060\u1712-\u1734\u17b4-\u17d3\u1b00-\u1b44\u1b80-\u1bad\u3099\u309a"
)
WORD = rf"[\w{_COMBINING}]"

# Letters that are one: Arabic forms, apostrophes; vowel marks and invisible characters are removed.
_SPELLING = Folding(
    merged=("arabic", "hamza_seats", "apostrophes"),
    blank=("non_joiner",),
    removed=("arabic_vowels", "quranic", "invisible"),
    ascii_digits=True,
)
_ETHIOPIC = {0x1369 + number: str(number + 1) for number in range(9)}  # digits that Unicode counts as no decimals
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)
_TAG = re.compile(r"<(\w*answer|output|response|정답|답|答案|回答)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\$*\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\$*")
_STYLED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit|mathit|emph)\s*\{([^{}]*)\}")
_OBJECT = re.compile(r"\{[^{}]{0,4000}\}", re.DOTALL)
_ARROW = re.compile(r"(?<![<!-])(?:-{1,2}|={1,2})>|[➔➙➜➝➞➡⇒⟶⟹]")
_SPACES = re.compile(r"\s+")  # long runs of spaces would cost patterns a time that grows with their square
_PRIVATE = re.compile("[\ue000-\uf8ff]")  # private use: `tokens` writes labels and options with these


def answer_text(text: str, is_answer_key: Callable[[str], bool]) -> str:
    """The answer alone, one spelling of each letter, lines kept. `is_answer_key` tells the key of an answer in JSON."""
    said = unspelled(text_in(text) or "")
    if fence := _FENCE.match(said):
        said = fence[1]
    if tags := _TAG.findall(said):
        said = tags[-1][1]
    around = "\n" if len(set(_BOXED.findall(said))) == 1 else " "  # one that is boxed is a verdict of its own
    said = _BOXED.sub(lambda match: f"{around}{match[1]}{around}", said)
    said = _STYLED.sub(lambda match: match[1], said)
    found = _of_json(said, is_answer_key)
    return _ARROW.sub("→", unspelled(said if found is None else found))


def unspelled(text: str) -> str:
    """A text in Unicode's compatible form: full-width and circled letters are letters, digits of all scripts 0 to 9."""
    said = _SPACES.sub(
        lambda match: "\n" if "\n" in match[0] else " ", nfkc(_PRIVATE.sub(" ", text)).translate(_ETHIOPIC)
    )
    return "\n".join(line.translate(_SPELLING.letters) for line in said.split("\n")).strip()


def folded(text: str) -> str:
    """A text of `unspelled` without case."""
    return "\n".join(fold(line) for line in text.split("\n"))


def plain(text: str) -> str:
    """An option as options are compared: without case, decoration around it, and doubled spaces."""
    return fold(unspelled(text).strip(MARKS))


def _of_json(said: str, is_answer_key: Callable[[str], bool]) -> str | None:
    """The answer in the last JSON object of a text; '' where it is an object without one, None where none is there."""
    answers = [answer for found in _OBJECT.findall(said) for answer in _answers(found, is_answer_key)]
    return answers[-1] if answers else "" if _is_object(said) else None


def _is_object(said: str) -> bool:
    try:
        return isinstance(json.loads(said), Mapping)
    except (ValueError, RecursionError):
        return False


def _answers(written: str, is_answer_key: Callable[[str], bool]) -> Iterator[str]:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return
    if not isinstance(found, Mapping):
        return
    values = {
        str(key): value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in found.items()
    }
    keys = [key for key in values if is_answer_key(folded(unspelled(key)))] or (
        list(values) if len(values) == 1 else []
    )
    if not keys and (of_each := _of_each(values)):
        yield of_each
    for key in keys[:1]:
        if isinstance(values[key], str | int) and not isinstance(values[key], bool):
            yield str(values[key])


def _of_each(values: Mapping[str, object]) -> str | None:
    """The options that a JSON object says to be right or wrong, or gives a probability, as lines of `by_option`."""
    if all(isinstance(value, bool) for value in values.values()):
        return "\n".join(f"{key}: {'✅' if value else '❌'}" for key, value in values.items())
    numbers = {key: value for key, value in values.items() if isinstance(value, int | float)}
    if len(numbers) < len(values) or not numbers:
        return None
    percent = 100 if sum(numbers.values()) < 2 else 1
    return "\n".join(f"{key}: {value * percent:.9g}%" for key, value in numbers.items())
