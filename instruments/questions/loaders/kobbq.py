"""KoBBQ's templates (Jin et al. 2024) as rows of the form of its evaluation set.

A template has up to four variants. In `a` and `c` the disambiguated context goes against the stereotype, in `b` and `d`
with it. `Biased_question_answer` is the *right answer to the biased question* once disambiguated, whoever the
stereotype is about: in `a` and `c` the biased answer is the other one.

A slot, `[N1: 손자와, 손녀와]`, holds one option a combination, with its particle inside. Options go index by index
through all columns of a template. How many there are is said by the columns `Names` and `Lexical_diversity`; another
column may have more by mistake, of which the further ones are never used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from polyculture.sources.record import BadRow, Record
from polyculture.sources.values import tidy

UNKNOWN = "알 수 없음"
_WITH_THE_STEREOTYPE = {"a": False, "b": True, "c": False, "d": True}
_ANSWERS = ("Biased_question_answer", "Counter-biased_question_answer")
_TEXTS = ("Ambiguous_context", "Disambiguating_context", "Biased_question", "Counter-biased_question", *_ANSWERS)
_COLUMNS = ("Category", "ID", "version", "Label_annotation", "Stereotype", "Names", "Lexical_diversity", *_TEXTS)
_PARTNER = {"N1": "N2", "N2": "N1", "X1": "X2", "X2": "X1"}  # the slots of the one and of the other person
_SLOT = re.compile(r"\[\s*([NWX]\d+)\s*:\s*([^\[\]]*)\]")
_DECLARED = re.compile(r"([NWX]\d+)\s*:\s*\[([^\]]*)\]")
_MOST = 10_000  # combinations of a template
Combination = Mapping[str, int]  # slot -> the index of its option


def rows(records: Iterable[Record | BadRow], _file: Path) -> Iterator[Record | BadRow]:
    """A row for each combination of options, context and polarity of each template; why one cannot be used."""
    for record in records:
        if isinstance(record, BadRow):
            yield record
            continue
        lacking = [name for name in _COLUMNS if not isinstance(record.values.get(name), str)]
        row = {name: str(record.values.get(name, "")) for name in _COLUMNS}
        try:
            if lacking:
                raise ValueError(f"there is no column {lacking[0]!r}")
            slots = _checked(row)
        except ValueError as fault:
            yield BadRow(record.row, str(fault), f"{row['Category']} {row['ID']}{row['version']}")
            continue
        for number, combination in enumerate(_combinations(_in_order(row["version"], slots)), start=1):
            yield from (replace(record, values=values) for values in _rows(row, number, combination))


def _rows(row: Mapping[str, str], number: int, combination: Combination) -> Iterator[dict[str, object]]:
    text = {name: _fill(row[name], combination) for name in _TEXTS}
    answers = [text[name] for name in _ANSWERS]
    biased = answers if _WITH_THE_STEREOTYPE[row["version"]] else answers[::-1]
    stem = f"{row['Category'].lower()}-{int(row['ID']):03}{row['version']}-{number:03}"
    whole = f"{text['Ambiguous_context']} {text['Disambiguating_context']}"
    for kind, context in (("amb", text["Ambiguous_context"]), ("dis", whole)):
        for asked, what, question in ((0, "bsd", "Biased_question"), (1, "cnt", "Counter-biased_question")):
            yield {
                "sample_id": f"{stem}-{kind}-{what}",
                "label_annotation": row["Label_annotation"],
                "stereotype": tidy(row["Stereotype"]),
                "context": context,
                "question": text[question],
                "choices": [*answers, UNKNOWN],
                "biased_answer": biased[asked],
                "answer": UNKNOWN if kind == "amb" else answers[asked],
            }


def _checked(row: Mapping[str, str]) -> dict[str, int]:
    """The slots of a template with the number of their options. Raises `ValueError` where it cannot be used."""
    if row["version"] not in _WITH_THE_STEREOTYPE:
        raise ValueError(f"version {row['version']!r} is none of {', '.join(_WITH_THE_STEREOTYPE)}")
    if not row["ID"].isdecimal():
        raise ValueError(f"ID {row['ID']!r} is no number")
    if empty := [name for name in _TEXTS if not tidy(row[name])]:
        raise ValueError(f"{empty[0]} is empty")
    slots: dict[str, int] = {}
    combinations = 1
    for match in _DECLARED.finditer(f"{row['Names']}; {row['Lexical_diversity']}"):
        if match[1] in slots:
            raise ValueError(f"slot {match[1]} is declared twice")
        slots[match[1]] = len(match[2].split(","))
        combinations *= slots[match[1]]
    if combinations > _MOST:
        raise ValueError(f"it has {combinations} combinations; at most {_MOST} are made")
    for name in _TEXTS:
        for match in _SLOT.finditer(row[name]):
            if len(match[2].split(",")) < slots.get(match[1], _MOST):
                raise ValueError(
                    f"{name}: slot {match[1]} is not declared in Names or Lexical_diversity, or has fewer options"
                )
        if left := re.search(r"[\[\]]", _SLOT.sub("", row[name])):
            raise ValueError(f"{name}: something is left to fill in: {left[0]!r}")
    return slots


def _in_order(version: str, slots: Mapping[str, int]) -> Mapping[str, int]:
    """The slots in the order in which the publisher numbers combinations.

    In `b` and `d` the persons have changed places. The publisher's numbers go by persons, not places: one number is the
    same pair in all variants, as the evaluation set's names show.
    """
    if not _WITH_THE_STEREOTYPE[version]:
        return slots
    names = [two if (two := _PARTNER.get(name, name)) in slots else name for name in slots]
    return {name: slots[name] for name in names}


def _combinations(slots: Mapping[str, int]) -> Iterator[Combination]:
    """All ways to fill the slots: each option of one with each of the others, the last slot varying fastest."""
    for indices in product(*map(range, slots.values())):
        yield dict(zip(slots, indices, strict=True))


def _fill(text: str, combination: Combination) -> str:
    return tidy(_SLOT.sub(lambda match: match[2].split(",")[combination[match[1]]].strip(), text))
