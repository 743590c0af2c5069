"""BLEnD's annotations (Myung et al. 2024) as CultureScope asks them (3.2.1): each with the culture that it is about.

`annotations/<country>_data.json` has questions and what annotators answered. Added are the culture's name, its level of
resources and its region, as `cultures.toml` has them, and whether the question asks for a number, a time or a date
("Provide Arabic numerals ...", "Provide in HH:MM format ..."), whose answers are no names of anything; "Provide the
official name." asks for a name. Answers without an English spelling are left out.

In a language in which cultures have names, all of them can be asked about: by the text of a culture whose own language
it is, with the name exchanged. The study asks in Spanish so far as its figures tell (Figure 7c).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from polyculture.instruments.cultures.cultures import Culture, Cultures, read_cultures
from polyculture.sources.files import read_file
from polyculture.sources.record import BadRow, Record

_OF_FILE = "_data"  # ends the name of a country's file
_PROVIDE = re.compile(r"\bProvide\b[^)]*(?:\d|numeral|format)")
_GAP = "\0"  # for a culture's name in a question


def asks_for(text: str) -> str:
    """'number' where a question in English asks for a number, a time or a date, else 'name'."""
    return "number" if _PROVIDE.search(text) else "name"


def rows(records: Iterable[Record | BadRow], file: Path) -> Iterator[Record | BadRow]:
    """A row for each annotation, or the reason why it cannot be asked; of a file of an unknown culture one reason."""
    cultures = read_cultures()
    culture = _culture_of(file, cultures)
    if culture is None:
        yield BadRow("1", f"{file.stem.removesuffix(_OF_FILE)!r} is no country of the cultures")
        return
    codes = {code for one in cultures.countries.values() for code in one.names}
    texts = {code: _texts_in(code, file.parent, _state(file.parent)) for code in sorted(codes)}
    for record in records:
        if isinstance(record, BadRow):
            yield record
            continue
        try:
            yield replace(record, values={**record.values, **_columns(record.values, culture, texts)})
        except ValueError as fault:
            yield BadRow(record.row, str(fault), record.row)


def _columns(entry: Mapping[str, Any], culture: Culture, texts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The columns of an annotation that are added or changed. Raises `ValueError` with what is wrong."""
    told = entry.get("annotations")
    if not isinstance(told, list):
        raise ValueError("it has no list of annotations")
    answers = [one for one in told if isinstance(one, dict) and _texts(one.get("en_answers"))]
    if told and not answers:
        raise ValueError("none of its answers is in English")
    spelt = [{**one, "local": _texts(one.get("answers")) or one["en_answers"]} for one in answers]
    added: dict[str, Any] = {
        "country": culture.country,
        "level": culture.level,
        "region": culture.region,
        "language": culture.language or "",
        "asks_for": asks_for(str(entry.get("en_question") or "")),
        "annotations": spelt,
    }
    for code, exchanged in texts.items():
        own = code == culture.language
        text = exchanged.get(str(entry["key"]), "") if code in culture.names else ""
        added[f"text_{code}"] = entry.get("question") if own else text.replace(_GAP, culture.names.get(code, ""))
        added[f"answers_{code}"] = [one["local" if own else "en_answers"] for one in spelt]
    return added


def _culture_of(file: Path, cultures: Cultures) -> Culture | None:
    return cultures.country(file.stem.removesuffix(_OF_FILE))


def _state(folder: Path) -> tuple[tuple[str, int], ...]:
    """The files of annotations as they are now."""
    return tuple((str(file), file.stat().st_mtime_ns) for file in sorted(folder.glob(f"*{_OF_FILE}.json")))


@lru_cache(maxsize=4)
def _texts_in(code: str, folder: Path, _state: object) -> Mapping[str, str]:
    """The questions that a culture of a language was asked, with a gap for its name; the first such culture's."""
    cultures, found = read_cultures(), dict[str, str]()
    of = {
        one.country: file for file in sorted(folder.glob(f"*{_OF_FILE}.json")) if (one := _culture_of(file, cultures))
    }
    for country, culture in cultures.countries.items():
        name = culture.names.get(code)
        if culture.language != code or name is None or country not in of:
            continue
        for record in read_file(of[country]):
            for key, entry in record.values.items() if isinstance(record, Record) else ():
                text = str(entry.get("question") or "").strip() if isinstance(entry, dict) else ""
                if name in text and any(_texts(one.get("en_answers")) for one in entry.get("annotations") or ()):
                    found.setdefault(key, text.replace(name, _GAP))
    return found


def _texts(told: Any) -> list[str]:
    """The texts of a list that are not empty; none where it is no list."""
    return [text for text in told if isinstance(text, str) and text.strip()] if isinstance(told, list) else []
