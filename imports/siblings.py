"""Columns that hold a text each, of one model or in one language: a wide table.

    prompt, gpt-4o_response, llama-3_response      of the models gpt-4o and llama-3
    id, text_en, text_es                           in the languages en and es
    {"outputs": {"m1": "Pizza.", "m2": ""}}        of the models m1 and m2

Columns are siblings by their names, however short or rare their texts are: a model that answers "Rice." and one that
answers nothing must not be lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from polyculture.cache.catalog.written import built_in_names
from polyculture.cache.errors import UserError
from polyculture.imports.places import is_beside, is_text_name
from polyculture.sources.cells import opened
from polyculture.sources.record import Record, folded, is_model_name, known_names, listed_names, merged

LONG = 20  # characters that texts have; codes and labels are shorter
# Between the parts of a column's name: `gpt4_response`, `gpt4Response`, `gpt4回答`.
_MARK = re.compile(r"[_. -]+|(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Za-z0-9])(?=[^\x00-\x7f])")
_DEEPEST = 3  # tables within tables


@dataclass(frozen=True)
class Siblings:
    """Paths of texts, and of which language or model each is."""

    of: Mapping[str, str] = field(default_factory=dict)
    says: str | None = None  # "language" or "model"; None where another column says the model


def told_siblings(records: Sequence[Record], text: str) -> Siblings:
    """The columns that a user names with commas."""
    columns = merged(records) or Record("", {})
    named = [] if columns.has(text) else text.split(",")
    if not named[1:] or not all(map(columns.has, named)):
        return Siblings()
    languages = {one: language for one in named if (language := language_in(one))}
    if len(languages) == len(named) and not all(map(is_model_name, named)):
        return Siblings(languages, "language")
    return Siblings({one: one for one in named}, "model")


def find_siblings(records: Sequence[Record], path: Path) -> Siblings:
    """The columns that hold a text each; none where a column has a usual name of texts, or says the language.

    Raises `UserError` where there are several groups of such columns, and nobody knows which is meant.
    """
    values = (merged(records) or Record("", {})).values
    usual = {name for one in ("text", "language") for name in map(folded, known_names()["names"][one])}
    if usual & {folded(name) for name, value in values.items() if not isinstance(opened(value), Mapping)}:
        return Siblings()
    strings = _strings(records)
    groups = [*_by_language(strings), *_by_model(strings), *_within_tables(records, values)]
    best = [group for group in groups if _is_named(group)] or groups
    whole = [one for one in best if not any(one.of.keys() < other.of.keys() for other in best)]
    if len(whole) > 1:
        told = "; ".join(listed_names(one.of) for one in whole)
        what = f"several groups of columns may be texts: {told}"
        remedy = f"Write 'text={','.join(whole[0].of)}' for the first of them, and import the others on their own."
        raise UserError(what, where=path, remedy=remedy)
    return whole[0] if whole else Siblings()


def language_in(column: str) -> str | None:
    """The language that a column's name says, alone or at its end: `de`, `German`, `answer_de`."""
    words = (column, _MARK.split(column)[-1])
    return next((code for word in words if (code := built_in_names().language(word))), None)


def _strings(records: Sequence[Record]) -> dict[str, list[str]]:
    """The texts of each column that has nothing but texts and gaps."""
    found: dict[str, list[str]] = {}
    other: set[str] = set()
    for record in records:
        for name, value in record.values.items():
            if isinstance(value, str):
                found.setdefault(name, []).append(value)
            elif value is None:
                found.setdefault(name, [])
            else:
                other.add(name)
    return {name: texts for name, texts in found.items() if name not in other and not name.startswith((" ", "@"))}


def _by_language(strings: Mapping[str, Sequence[str]]) -> list[Siblings]:
    """Columns that differ in the language that their names say."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in strings:
        for before, own, after in (("", name, ""), *_parted(name)):
            language = built_in_names().language(own)
            if language is None or is_beside(f"{before}{after}") or (after and not is_text_name(_bare(after))):
                continue
            if own == name or before or after:
                groups.setdefault((before, after), {})[name] = language
    found = []
    for (before, after), columns in groups.items():
        named = is_text_name(_bare(before + after)) if before or after else False
        usual = _usual_names()
        kept = {
            name: language for name, language in columns.items()
            if _is_long(strings[name])
            or not (folded(name.removeprefix(before).removesuffix(after)) in usual or _has_no_words(strings[name]))
            or (named and not strings[name])
        }  # fmt: skip
        if len(set(kept.values())) > 1 and (named or any(_is_long(strings[name]) for name in kept)):
            found.append(Siblings(kept, "language"))
    return found


def _by_model(strings: Mapping[str, Sequence[str]]) -> list[Siblings]:
    """Columns that differ in the model that their names say.

    Of `gpt-4o_response` the model is `gpt-4o`. A part of a name is no model's where the same name stands without it or
    with another part: beside `gpt-4o` the column `gpt-4o_label` is what somebody says of it.
    """
    groups: dict[tuple[str, str], dict[str, str]] = {}
    stems = Counter(stem for name in strings for stem in (name, _stem(name)) if is_model_name(stem))
    for name in strings:
        if is_beside(name):
            continue
        text = next(((b, own, a) for b, own, a in _parted(name) if is_text_name(_bare(b + a))), None)
        stem = _stem(name)
        if text is not None:
            groups.setdefault((text[0], text[2]), {})[name] = text[1]
        elif is_model_name(name):
            after = name[len(stem) :] if stem != name and stems[stem] > 1 else ""
            groups.setdefault(("", after), {})[name] = name.removesuffix(after)
    found = []
    for (before, after), columns in groups.items():
        named = bool(before or after) and is_text_name(_bare(before + after))
        known = sum(map(is_model_name, columns.values()))
        if len(columns) > 1 and known and (named or any(_is_long(strings[name]) for name in columns)):
            found.append(Siblings(columns, "model"))
    return found


def _within_tables(records: Sequence[Record], values: Mapping[str, Any], depth: int = 0) -> list[Siblings]:
    """The texts of a table that is named as texts are, or whose keys are models or languages."""
    found = list[Siblings]()
    for name, value in values.items():
        inside = [table for record in records if isinstance(table := opened(record.values.get(name)), Mapping)]
        if not isinstance(opened(value), Mapping) or is_beside(name) or not inside:
            continue
        if depth < _DEEPEST:
            tables = [Record("", table) for table in inside]
            within = _within_tables(tables, (merged(tables) or Record("", {})).values, depth + 1)
            found += [replace(one, of={f"{name}.{path}": own for path, own in one.of.items()}) for one in within]
        strings = _strings([Record("", table) for table in inside])
        keys = [key for table in inside for key in table]
        if (
            len(strings) < 2
            or set(keys) - strings.keys()
            or any(is_text_name(key) or is_beside(key) for key in strings)
        ):
            continue
        languages = {key: built_in_names().language(key) for key in strings}
        models = sum(map(is_model_name, strings))
        if not (all(languages.values()) or models > 1 or is_text_name(name)):
            continue
        if not (is_text_name(name) or any(map(_is_long, strings.values()))):
            continue
        if all(languages.values()):
            found.append(Siblings({f"{name}.{key}": str(code) for key, code in languages.items()}, "language"))
        else:
            column = {*map(folded, known_names()["names"]["model"])} & {folded(one) for one in values}
            says = None if column and not models else "model"
            found.append(Siblings({f"{name}.{key}": key for key in strings}, says))
    return found


def _is_named(group: Siblings) -> bool:
    """Whether the part that all names of a group share is a usual name of texts."""
    return all(
        any(is_text_name(_bare(before + after)) for before, _, after in _parted(name))
        or any(map(is_text_name, name.split(".")[:-1]))
        for name in group.of
    )


def _parted(name: str) -> list[tuple[str, str, str]]:
    """A name without its first words or its last ones: (before, own, after)."""
    marks = [mark for mark in _MARK.finditer(name) if mark.start() > 0 and mark.end() < len(name)]
    ends = [("", name[: mark.start()], name[mark.start() :]) for mark in marks]
    return [*ends, *((name[: mark.end()], name[mark.end() :], "") for mark in reversed(marks))]


def _bare(part: str) -> str:
    return part.strip("_. -")


def _stem(name: str) -> str:
    """A name without its last word, where that is one of letters alone."""
    marks = [*_MARK.finditer(name)]
    return name[: marks[-1].start()] if marks and name[marks[-1].end() :].isalpha() else name


def _usual_names() -> set[str]:
    return {folded(one) for usual in known_names()["names"].values() for one in usual}


def _is_long(texts: Sequence[str]) -> bool:
    return any(len(text) >= LONG for text in texts)


def _has_no_words(texts: Sequence[str]) -> bool:
    return not any(letter.isalpha() for text in texts for letter in text)
