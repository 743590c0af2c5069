"""Counts again, and in the dumbest way, how many texts a file has: what was taken and refused must be as many.

The walk over a record may know a list by a wrong name and take its first text alone. This count knows no names of lists
and no shapes. It flattens each record, looks at which paths the taken texts stand, forgets the numbers in these paths,
and counts the strings there. It shares no code with the walk.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError

_ASKERS = {"user", "human", "system", "developer", "tool", "function"}  # their words are not counted
_ASKERS |= {"prompter", "you", "me", "customer"}
_LONGEST_ROLE = max(map(len, _ASKERS))
_SAYS_WHO = {"is_user": True, "is_bot": False, "is_assistant": False}  # fields that say so by true or false
_DEEPEST = 24
_WORDS_OF_TEXT, _UNSPACED_TEXT = 4, 12  # words of what looks like a text; characters where no blanks part words
_NUMBER = re.compile(r"(?<=[_ .-])(?:\d{1,3}|[a-hA-H])$")


@dataclass
class Count:
    """The strings at each path of a file, and the texts that were taken of it."""

    strings: Counter[str] = field(default_factory=Counter)  # by path, where one of them was taken or refused
    taken: Counter[str] = field(default_factory=Counter)  # texts by the path at which they stand
    first: dict[str, str] = field(default_factory=dict)  # path -> the first row where the two differ

    def add(self, row: str, values: Mapping[str, Any], texts: Sequence[str | None], refused: int) -> None:
        """Counts one record: its texts as they were taken, and how many rows of it were refused."""
        if not texts:
            return  # it was refused as a whole
        wanted = [text.strip() for text in texts if text and text.strip()]
        strings, places = dict[str, int](), {text: set[str]() for text in wanted}
        for path, words in _strings(values, "", 0):
            strings[path] = strings.get(path, 0) + 1
            for one in words:
                if (said := one.strip()) in places:
                    places[said].add(path)
        at = Counter(path for text in wanted for path in places.get(text, ()))
        if not at:
            return  # its texts are made of several strings, or stand within one
        path = min(at, key=lambda one: (-at[one], strings[one], len(one)))  # logs have an answer at several places
        self.strings[path] += strings[path]
        self.taken[path] += len(texts) + refused
        if strings[path] > len(texts) + refused or at[path] > strings[path]:
            self.first.setdefault(path, row)

    def add_siblings(
        self,
        row: str,
        values: Mapping[str, Any],
        texts: Sequence[str | None],
        siblings: tuple[str, ...],
        known: frozenset[str],
    ) -> None:
        """Counts one record of a wide table, whose texts stand at `siblings`.

        Strings at paths that begin and end as these do are texts, too, unless they are among those `known` to stand in
        the first records: what is not taken of these is named before anything is written.
        """
        own, (begins, ends) = set(map(_without_number, siblings)), _shared(siblings)
        every = list(_strings(values, "", 0))
        for path, words in every:
            within = any(path.startswith(f"{one}.") for one in own)
            as_they = bool(begins or ends) and path.startswith(begins) and path.endswith(ends)
            if path in own or within or path in known or not as_they or not any(map(str.strip, words)):
                continue
            self.strings[path] += 1
            self.first.setdefault(path, row)
        strings = sum(path in own and bool(words[0].strip()) for path, words in every)
        taken = sum(bool(text and text.strip()) for text in texts)
        if strings > taken:
            path = next(iter(sorted(own)))
            self.strings[path] += strings
            self.taken[path] += taken
            self.first.setdefault(path, row)

    def check(self, path: Path) -> None:
        """Raises `UserError` where texts were lost, or taken twice."""
        wrong = next(iter(self.first), None)
        if wrong is None:
            return
        what = (
            f"has {self.strings[wrong]} strings at {wrong!r}, of which {self.taken[wrong]} were taken or refused: "
            f"they differ in row {self.first[wrong]}"
        )
        remedy = f"Nothing is imported. 'text={wrong}' takes all of these; please report the file's format."
        raise UserError(what, where=path, remedy=remedy)


def _is_of_asker(field: tuple[Any, Any]) -> bool:
    """Whether a field of a table says that its words are of somebody who asks."""
    name, value = field
    if isinstance(value, str):
        return len(value) <= _LONGEST_ROLE and value.lower() in _ASKERS
    return isinstance(value, bool) and _SAYS_WHO.get(str(name).lower()) is value


def paths_of_strings(records: Sequence[Any]) -> set[str]:
    """The paths at which records have strings."""
    return {path for record in records for path, _ in _strings(record.values, "", 0)}


def paths_like_texts(records: Sequence[Any]) -> list[str]:
    """The paths at which records have strings that look like texts: with several words, or long ones without blanks."""
    found = (one for record in records for one in _strings(record.values, "", 0))
    return list(dict.fromkeys(path for path, words in found if any(map(_is_like_text, words)) and path[:1] not in " @"))


def _is_like_text(words: str) -> bool:
    return len(words.split()) >= _WORDS_OF_TEXT or (not words.isascii() and len(words) >= _UNSPACED_TEXT)


@lru_cache(maxsize=64)
def _shared(paths: tuple[str, ...]) -> tuple[str, str]:
    """What all paths begin and end with, whole words alone: `outputs.`, `_response`."""
    begins, ends = _begin_of(paths), _begin_of([one[::-1] for one in paths])[::-1]
    marks = [*re.finditer(r"[_. -]", begins)]
    begins = begins[: marks[-1].end()] if marks else ""
    mark = re.search(r"[_. -]", ends)
    return begins, ends[mark.start() :] if mark and not ends[mark.start() + 1 :].isdigit() else ""


def _begin_of(words: Sequence[str]) -> str:
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*words, strict=False))
    return "".join(letters[0] for letters in same)


@lru_cache(maxsize=4096)
def _without_number(name: str) -> str:
    return _NUMBER.sub("*", name)


def _strings(value: Any, path: str, depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The strings in a value by their paths, a star in place of each number; parts of one text are one."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        if value[:1] in ("{", "[") and value[-1:] in ("}", "]"):
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, dict | list):
                yield from _strings(inner, path, depth + 1)
                return
        yield path, (value,)
    elif isinstance(value, dict):
        if any(map(_is_of_asker, value.items())):
            return
        for name, one in value.items():
            if not isinstance(one, (str, dict, list)):
                continue
            key = _without_number(str(name))
            yield from _strings(one, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        parts = [one for one in value if isinstance(one, dict) and ("type" in one or "thought" in one)]
        if parts:
            texts = [one["text"] for one in value if isinstance(one, dict) and isinstance(one.get("text"), str)]
            yield f"{path}[*]", ("".join(texts), *texts)
            return
        for one in value:
            yield from _strings(one, f"{path}[*]", depth + 1)
