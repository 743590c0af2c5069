"""Patterns that are cheap for the texts at hand.

A pattern of RE2 with `\\p{L}` takes milliseconds to compile. Most texts lack the literal text that it requires (the s
of a plural, the blank between two words), and a few texts have few letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

MOST = 10  # texts of a test; longer lists cost more than they spare
# One step of a pattern: a class of letters, a group without groups, an escape, a bracket, any other letter; and how
# often.
_STEP = re.compile(
    r"(?P<classes>\\[pP]\{\w+\}|\\.|\.)"
    r"|\[(?P<letters>[^\]^\\-][^\]\\-]*)\]"
    r"|(?P<others>\[(?:\\.|[^\]])+\])"
    r"|\(\?:(?P<options>[^()\[\]\\.?*+{|]*(?:\|[^()\[\]\\.?*+{|]*)*)\)"
    r"|(?P<bracket>\((?:\?:)?|\))"
    r"|(?P<letter>[^\\()\[\]])"
)
_CLASSES = re.compile(r"\[(?:\\.|[^\]])*\]|\\p\{L\}")
_LETTER = r"\p{L}"
# What stands in square brackets or is escaped opens and closes no group.
_TOKEN = re.compile(r"\\.|\[(?:\\.|[^\]])+\]|.", re.DOTALL)
_REPEAT = re.compile(r"[*+?]\??|\{[\d,]*\}\??")


@dataclass(frozen=True, slots=True)
class RequiredText:
    """Any match of a pattern holds one of `texts`; with `last`, the matched text ends with it."""

    texts: tuple[str, ...]
    last: bool


@cache
def required_text(pattern: str) -> RequiredText | None:
    """The most telling text that a match of `pattern` must hold, None where there is none.

    The pattern is one of RE2's for a whole text or its end; of what is not understood nothing is required.
    """
    if _chooses(pattern):
        return None
    runs: list[list[Sequence[str]]] = [[]]
    body, ends = pattern.removeprefix("^"), pattern.endswith("$") and not pattern.endswith(r"\$")
    for texts in _steps(body.removesuffix("$") if ends else body):
        if texts is None:
            runs.append([])
        elif texts:
            runs[-1].append(texts)
    if ends and (found := _product(reversed(runs[-1]), reverse=True)):
        return RequiredText(found, last=True)
    found = max((_product(run) for run in runs), key=lambda texts: min(map(len, texts), default=0))
    return RequiredText(found, last=False) if found else None


def _steps(pattern: str) -> Iterable[Sequence[str] | None]:
    """The texts that each step of a pattern may be: None for any, nothing for a bracket."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "(" and (after := _past_choice(pattern, at)):
            yield None
            at = after
            continue
        step = _STEP.match(pattern, at)
        if step is None:
            yield None
            return
        repeat = _REPEAT.match(pattern, step.end())
        at = repeat.end() if repeat else step.end()
        if step["bracket"]:
            yield ()
        elif repeat or step["classes"] or step["others"]:
            yield None
        elif step["options"] is not None:
            yield step["options"].split("|")
        else:
            yield list(step["letters"] or step["letter"])


def _depths(pattern: str, at: int = 0) -> Iterator[tuple[re.Match[str], int]]:
    """The tokens of a pattern, each with the number of groups that are open after it."""
    depth = 0
    for token in _TOKEN.finditer(pattern, at):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        yield token, depth


def _chooses(pattern: str) -> bool:
    """Whether a whole pattern is a choice, outside of all groups."""
    return any(token[0] == "|" and depth == 0 for token, depth in _depths(pattern))


def _past_choice(pattern: str, at: int) -> int | None:
    """Where a group that may be left out or holds a choice ends, with how often it may stand; None for any other group.

    A choice between plain texts is a step of its own.
    """
    chooses = False
    for token, depth in _depths(pattern, at):
        chooses |= token[0] == "|"
        if depth == 0:
            repeat = _REPEAT.match(pattern, token.end())
            plain = (step := _STEP.match(pattern, at)) is not None and step["options"] is not None
            return (repeat or token).end() if repeat or (chooses and not plain) else None
    raise ValueError(f"a bracket is not closed: {pattern}")


def _product(run: Iterable[Sequence[str]], *, reverse: bool = False) -> tuple[str, ...]:
    """All texts of a run of steps, of as many steps as give at most `MOST`; with `reverse` the last step is first."""
    found = [""]
    for texts in run:
        longer = [other + text if reverse else text + other for text, other in product(found, texts)]
        if len(longer) > MOST:
            break
        found = longer
    return tuple(sorted(set(found))) if all(found) else ()


def has_required_text(pattern: str, texts: Iterable[str]) -> bool:
    """Has one of the texts what a match of `pattern` must hold?"""
    required = required_text(pattern)
    if required is None:
        return True
    if required.last:
        return any(text.endswith(required.texts) for text in texts)
    return any(part in text for text in texts for part in required.texts)


def letters_of(texts: Iterable[str]) -> str | None:
    """The letters of the texts, as `\\p{L}` has them; None where they cannot be told.

    RE2 may know later letters than Python: of what Python does not know nothing is said.
    """
    categories = {character: unicodedata.category(character) for text in texts for character in text}
    if "Cn" in categories.values():
        return None
    return "".join(sorted(character for character, category in categories.items() if category[0] == "L"))


def with_letters(pattern: str, letters: str | None) -> str:
    """A pattern that matches the same in texts of no other letters, and compiles in a tenth of the time."""
    if not letters:
        return pattern
    return _CLASSES.sub(
        lambda found: f"[{letters}]" if found[0] == _LETTER else found[0].replace(_LETTER, letters), pattern
    )
