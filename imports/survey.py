"""The first reading of a file, before anything is written: what can be taken of it, and what nobody said is found out.

Rows that are left out because of what they hold bias all numbers: of a table in the wrong encoding those with accents,
of one with a narrow list of countries those of the others. So an import takes all rows, or none, unless it is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.cache.errors import UserError
from polyculture.cache.store.manifest import UNSTATED
from polyculture.cache.text.quantity import quantity
from polyculture.generate.engines.imported import PREFIX
from polyculture.imports.count import Count
from polyculture.imports.items import ITEMS, by_text, read_item
from polyculture.imports.look import Look
from polyculture.imports.mapping import DETECTED, Columns
from polyculture.imports.shapes import ShapedFile
from polyculture.imports.text import ImportedText, NoTextError, TextReader, detected_language, is_missing_word
from polyculture.sources.encoding import NAMES, misread
from polyculture.sources.faults import is_fault
from polyculture.sources.record import BadRow, Record, shown

ONE_LANGUAGE = 0.95  # of the texts whose language is decided: then the others are in that language and went astray
_TOLD = 12  # values in a line
_MOST_TOLD = 5  # kinds in an error
_LONGEST_EXAMPLE = 80  # characters of a prompt
_SAMPLE = 2_000  # texts whose language is detected, evenly over the file


@dataclass
class Survey:
    """What a first reading found."""

    columns: Columns
    rows: int = 0
    texts: int = 0
    lost: Counter[str] = field(default_factory=Counter)  # rows by the reason why they cannot be taken
    first: dict[str, BadRow] = field(default_factory=dict)  # the first row of each reason
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)  # of items: those that their topic does not have
    conditions: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)  # of the texts that name one
    endings: Counter[str] = field(default_factory=Counter)  # texts by how they ended, in words that nobody knows
    absent: Counter[str] = field(default_factory=Counter)  # texts that are only a word for a missing value
    misread: Counter[str] = field(default_factory=Counter)  # texts by the encoding that their UTF-8 was taken for
    faults: Counter[str] = field(default_factory=Counter)  # texts that are a client's errors
    look: Look = field(default_factory=Look)
    count: Count = field(default_factory=Count)
    asked: int = 0  # texts with a prompt and a country
    named: int = 0  # of them those whose prompt names that country
    unstated: Counter[str] = field(default_factory=Counter)  # by language those whose prompt does not
    unstated_example: dict[str, tuple[str, str]] = field(default_factory=dict)  # by language a country and a prompt


def survey(source: ShapedFile, columns: Columns, catalog: Catalog) -> Survey:
    """Reads a file with the columns that are known, adds a language that nobody said, and takes back wrong guesses."""
    if "language" not in {*columns.columns, *columns.parts}:
        columns = _with_language(source, columns, catalog)
    found = _read(source, columns, catalog)
    if "id" in columns.guessed and "id" in columns.columns and _REPEATED in found.lost:
        note = f"id is not taken from {columns.columns['id']!r}: it repeats. id=COLUMN says what a row is known by"
        return survey(source, columns.without("id", note), catalog)
    if "country" in columns.guessed and "country" in columns.columns and found.asked and not found.named:
        note = (
            f"country is not taken from {columns.columns['country']!r}: no prompt names it, so it may be a person's. "
            f"If texts were asked about it: country={columns.columns['country']}"
        )
        return survey(source, columns.without("country", note), catalog)
    return found


_REPEATED = "its id was there before, in the same file"


def texts_of(
    source: ShapedFile, columns: Columns, catalog: Catalog, count: Count | None = None
) -> Iterator[tuple[Record, ImportedText] | BadRow]:
    """The texts of a file with their records, and the rows that are none."""
    reader, seen = TextReader(catalog, columns), set[tuple[str | None, ...]]()
    rows = source.rows(count)
    for row in by_text(rows, columns) if columns.items else rows:
        if isinstance(row, BadRow):
            yield row
            continue
        try:
            text = reader.read(row)
        except NoTextError as fault:
            yield BadRow(row.row, str(fault.args[0]), fault.args[1])
            continue
        key = None if text.key is None else (*text.cell, text.key)
        if key is not None and key in seen:
            yield BadRow(row.row, _REPEATED, (text.key or "")[:80])
            continue
        if key is not None:
            seen.add(key)
        yield row, text


def _read(source: ShapedFile, columns: Columns, catalog: Catalog) -> Survey:
    found, by_prompt = Survey(columns), "condition" not in {*columns.columns, *columns.parts}
    for one in texts_of(source, columns, catalog, found.count):
        found.rows += 1
        if isinstance(one, BadRow):
            if one.lost:
                found.lost[one.reason] += 1
                found.first.setdefault(one.reason, one)
            continue
        text = one[1]
        found.texts += 1
        if text.answer.text is None and is_missing_word(text.text):
            found.absent[text.text.strip()] += 1
        if text.answer.text is None and is_fault(text.text):
            found.faults[shown(text.text)] += 1
        if text.answer.text is not None:
            found.look.add(one[0].row, text.model.removeprefix(PREFIX), text.answer.text, text.prompt)
        if text.answer.ending == "unknown" and text.answer.ending_raw:
            found.endings[text.answer.ending_raw] += 1
        if (other := misread(text.text) or misread(text.prompt or "")) is not None:
            found.misread[other[0]] += 1
            found.first.setdefault(other[0], BadRow(one[0].row, _around(other[1])))
        items = one[0].values.get(ITEMS)
        for item in items if isinstance(items, list) else ():
            read = read_item(item, catalog.topic(text.topic))
            if read.type is not None and read.kind is None and read.surface:
                found.kinds[text.topic, read.type] += 1
        found.conditions[text.condition] += 1
        if text.country is not None:
            found.countries[text.country] += 1
        if by_prompt and text.prompt is not None and text.country is not None:
            found.asked += 1
            found.named += text.condition == "explicit"
            if text.condition == UNSTATED:
                found.unstated[text.language] += 1
                found.unstated_example.setdefault(text.language, (text.country, text.prompt))
    notes = []
    if by_prompt and (found.asked or set(found.conditions) - {UNSTATED}):
        notes.append(f"condition by the countries that rows and prompts name: {_counts(found.conditions)}. "
                     "condition=COLUMN says it otherwise")  # fmt: skip
    if found.unstated:
        notes.append(f"{UNSTATED}: prompts in which the country of their row was not found. {_examples(found)}")
    if by_prompt and found.countries and "country" not in {*columns.columns, *columns.parts}:
        notes.append(f"country by prompts: {_counts(found.countries)}. country=COLUMN says it otherwise")
    if found.absent:
        words = _counts(found.absent)
        notes.append(
            f"failed answers, only words for a missing value: {words}. If a model wrote it: finish_reason==stop"
        )
    if found.faults:
        told = "; ".join(f"{text!r} {count}" for text, count in found.faults.most_common(_MOST_TOLD))
        notes.append(
            f"failed answers, errors that a client or server wrote: {found.faults.total()} of the {found.texts} texts "
            f"({told}). If a model wrote them: finish_reason==stop"
        )
    notes += found.look.notes()
    if found.endings:
        notes.append(f"whole, as it is not known how they ended by these words: {_counts(found.endings)}")
    for encoding, count in found.misread.items():
        first = found.first.pop(encoding)
        notes.append(
            f"UTF-8 that another tool read as {NAMES[encoding]}: {count} of the {found.texts} texts; row {first.row} "
            f"meant {first.reason!r}. They are taken as they stand, and names with such letters will not be found. "
            "Write the file anew as UTF-8, or mend it (ftfy.fix_encoding)"
        )
    found.columns = replace(columns, notes=(*columns.notes, *notes))
    return found


def _around(text: str) -> str:
    """A text near its first letter beyond ASCII."""
    place = next((place for place, letter in enumerate(text) if letter > "\x7f"), 0)
    return shown(text[max(0, place - 20) : place + 40])


def _examples(found: Survey) -> str:
    """By language how many prompts do not name their row's country, with one of them."""
    of_language = []
    for language, count in found.unstated.most_common(_TOLD):
        country, prompt = found.unstated_example[language]
        of_language.append(f"{language} {count}, as of {country}: {shown(prompt[:_LONGEST_EXAMPLE])!r}")
    return "; ".join(of_language)


def _counts(counter: Counter[str]) -> str:
    """The most frequent values with their counts."""
    told = ", ".join(f"{name} {count}" for name, count in counter.most_common(_TOLD))
    return told + (f", and {len(counter) - _TOLD} more" if len(counter) > _TOLD else "")


def _with_language(source: ShapedFile, columns: Columns, catalog: Catalog) -> Columns:
    """The columns with a language: one for all texts where nearly all have it, else each text's own."""
    reader, sample, step, number = TextReader(catalog, columns), list[tuple[str, str | None]](), 1, 0
    for row in source.rows():
        number += 1
        if isinstance(row, BadRow) or number % step:
            continue
        if (words := reader.words(row)) is not None:
            sample.append(words)
        if len(sample) >= 2 * _SAMPLE:
            sample, step = sample[1::2], 2 * step
    detected = [detected_language(*words, catalog) for words in sample]
    languages, witnesses = Counter(one for one, _ in detected), Counter(by for one, by in detected if one is not None)
    undecided = languages.pop(None, 0)
    total = languages.total()
    if not total:  # then each row says why
        return columns.with_field(
            "language", DETECTED, "language is not said, and cannot be detected: language==CODE says it"
        )
    shares = ", ".join(f"{language} {count / total:.1%}" for language, count in languages.most_common(5))
    by = " and ".join(quantity(count, witness) for witness, count in sorted(witnesses.items()))
    of = f"of {by}: {shares}" + (f", {undecided} undecided" if undecided else "")
    best, count = languages.most_common(1)[0]
    if count / total >= ONE_LANGUAGE:
        note = f"language is detected ({of}): all texts count as asked in {best!r}. language=COLUMN says it otherwise"
        return columns.with_field("language", f"={best}", note)
    note = (
        f"language is detected text by text ({of}): none counts as off its language. language=COLUMN says it otherwise"
    )
    return columns.with_field("language", DETECTED, note)


def check(found: Survey, path: Path, skip_rows: bool) -> None:
    """Raises `UserError` where no text can be taken, or rows would be left out that nobody said to leave."""
    worst = found.lost.most_common(1)
    if not found.texts:
        why = ": it has none"
        if worst:
            value = found.first[worst[0][0]].value
            why = f": of {found.rows} rows, {worst[0][1]} because {worst[0][0]}" + (f": {value!r}" if value else "")
        raise UserError(f"no text can be taken{why}", where=path, remedy="See docs/importing.md.")
    found.count.check(path)
    found.look.check(found.columns.cut, path)
    if found.kinds and not skip_rows:
        most = found.kinds.most_common(_MOST_TOLD)
        told = ", ".join(f"{shown(kind)!r} of {topic} ({count})" for (topic, kind), count in most)
        what = f"{found.kinds.total()} items are of kinds that their topics do not have: {told}"
        remedy = (
            "Nothing is imported, as granularity is a share of all items. Name the kinds in a topic of a catalogue "
            "(docs/extending.md), or leave their items: --skip-rows."
        )
        raise UserError(what, where=path, remedy=remedy)
    if worst and not skip_rows:
        reason, count = worst[0]
        value = found.first[reason].value
        row = f"row {found.first[reason].row}" + (f": {value}" if value else "")
        others = f", {found.lost.total() - count} for other reasons" if len(found.lost) > 1 else ""
        what = f"{found.lost.total()} of {found.rows} rows cannot be taken: {count} because {reason} ({row}){others}"
        remedy = (
            "Nothing is imported, as the other rows may differ from these. Correct them, or leave them: --skip-rows."
        )
        raise UserError(what, where=path, remedy=remedy)
