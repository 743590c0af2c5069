"""Which column of a file says what of a text: as the user says, by the file's shape, by usual names, or guessed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from polyculture.cache.catalog.written import built_in_names
from polyculture.cache.errors import UserError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.imports.chats import conversation, is_asked
from polyculture.imports.count import paths_like_texts
from polyculture.imports.places import is_beside, is_said_of_an_answer, is_text_name, outward
from polyculture.imports.shapes import ANSWER, ShapedFile
from polyculture.imports.siblings import LONG
from polyculture.sources.cells import is_value
from polyculture.sources.record import (
    FILE,
    LISTED,
    MOST_COLUMNS,
    Record,
    by_name,
    folded,
    is_model_name,
    known_names,
    listed_names,
    merged,
    missing,
    shown,
)

TOKENS = ("prompt_tokens", "completion_tokens")
FIELDS = (
    "text",
    "language",
    "topic",
    "model",
    "country",
    "condition",
    "prompt",
    "id",
    "seed",
    "finish_reason",
    *TOKENS,
)
ITEM_FIELDS = ("surface", "granularity", "qid", "label", "name", "english")
PARTS = "--parts"  # the pattern among stored columns: no field has this name
DETECTED = "=?"  # the column of a language that is detected text by text
_GAP = re.compile(r"\\\{([a-z_]*)\\\}")
_WITHIN = ("language", "topic", "model", "country", "condition", "prompt")  # fields that are known within tables, too
_LONGER = 2.0  # so many times as long as the next column's are the texts of a column that is guessed


@dataclass(frozen=True)
class Columns:
    """The column of each field, and a pattern that takes fields out of a column."""

    columns: Mapping[str, str]
    pattern: tuple[str, re.Pattern[str]] | None = None
    guessed: tuple[str, ...] = ()  # fields whose column nobody named, and no shape of a file
    notes: tuple[str, ...] = ()  # what was guessed or left, a line each
    of_shape: tuple[str, ...] = ()  # fields that the file's shape has
    unused: tuple[str, ...] = ()  # columns of a plain table that no field is taken from
    alike: Mapping[str, str] = field(default_factory=dict)  # topics by the labels that mean them
    cut: Sequence[str] = ()  # what is taken from the beginning of texts

    @property
    def items(self) -> bool:
        """Whether the file says which items are in a text."""
        return "surface" in self.columns

    def read(self, record: Record) -> dict[str, Any]:
        """The fields of a record; None where it does not say one."""
        values = {
            name: column[1:] if column.startswith("=") else record.get(column) for name, column in self.columns.items()
        }
        if self.pattern is not None:
            column, pattern = self.pattern
            matched = pattern.fullmatch(str(record.get(column) or ""))
            values |= {name: value for name, value in (matched.groupdict() if matched else {}).items() if value}
        return values

    def with_field(self, name: str, column: str, note: str) -> Columns:
        """The same with a column for a field that had none."""
        return replace(self, columns={**self.columns, name: column}, notes=(*self.notes, note))

    def without(self, name: str, note: str) -> Columns:
        """The same without a column for a field."""
        rest = {field: column for field, column in self.columns.items() if field != name}
        return replace(self, columns=rest, notes=(*self.notes, note))

    @property
    def stored(self) -> dict[str, str]:
        """The mapping as a store keeps it: two mappings are the same where these are."""
        pattern = {} if self.pattern is None else {PARTS: f"{self.pattern[0]}={self.pattern[1].pattern}"}
        more = {f"--like {label}": topic for label, topic in self.alike.items()}
        return {**self.columns, **pattern, **more, **{f"--cut {words}": "" for words in self.cut}}

    @property
    def line(self) -> str:
        """What is taken from where, in a line."""
        plain = {name: column for name, column in self.columns.items() if name not in self.of_shape}
        told = [", ".join(self.of_shape) + " as this format has them"] if self.of_shape else []
        for name, column in plain.items():
            if column == DETECTED:
                told.append(f"{name} is detected")
            else:
                told.append(f"{name} is {column[1:]!r}" if column.startswith("=") else f"{name} from {column!r}")
        if self.pattern is not None:
            told.append(f"{', '.join(self.pattern[1].groupindex)} from parts of {self.pattern[0]!r}")
        answers = ("finish_reason", *TOKENS) if self.columns.get("text") == ANSWER else ()
        lacking = [name for name in FIELDS if name not in {*self.columns, *self.parts, *answers}]
        unused = f". Columns not taken: {listed_names(self.unused)} (FIELD=COLUMN takes one)" if self.unused else ""
        return f"{'; '.join(told)}. Not known, and not made up: {', '.join(lacking) or 'nothing'}{unused}"

    @property
    def parts(self) -> Mapping[str, int]:
        """The fields that the pattern takes."""
        return {} if self.pattern is None else self.pattern[1].groupindex


def find_mapping(
    records: Sequence[Record], source: ShapedFile, told: Mapping[str, str], pattern: str | None
) -> Columns:
    """The mapping of a file, by its first records.

    Raises `UserError` where a path that the user names leads nowhere in any of them, and where nothing says the text,
    topic or model. A language that nothing says is left out: it can be detected.
    """
    if not records:  # then each row says why
        return Columns(dict(told))
    first, path = merged(records) or Record("", {}), source.path
    if len(first.values) > MOST_COLUMNS + first.has(FILE):
        what = f"has {len(first.values) - first.has(FILE)} columns in its first rows; at most {MOST_COLUMNS} are read"
        raise UserError(what, where=path, remedy="A text is a row, and what is said of it a column.")
    parts = None if pattern is None else read_pattern(pattern)
    check_told(records, {**told, **({} if parts is None else {PARTS: parts[0]})}, path)
    fields = (*FIELDS, *ITEM_FIELDS) if source.shape.items or set(told) & set(ITEM_FIELDS) else FIELDS
    columns, guessed, of_shape, notes = dict(told), list[str](), list[str](), list[str]()
    taken = {*columns, *(parts[1].groupindex if parts else ())}
    if source.unquoted:
        notes.append(
            "quotation marks do not match: the table is read without them, a row a line, and texts keep theirs"
        )
    if source.shape.found:
        notes.append(f"text is guessed: those at {source.shape.each!r} are so named. text=COLUMN names another")
    columns_of = by_name(first.values)
    usual = {**known_names()["names"], **known_names()["items"]}
    among = next((record for record in records if record.at), None)  # one of several texts
    answers = ("finish_reason", *TOKENS) if source.shape.columns.get("text") == ANSWER else ()
    wanted = {
        name: usual[name] for name in fields if name not in {*taken, *answers, "text"} and name not in ITEM_FIELDS
    }
    own_fields = outward(among, wanted) if among is not None else {}
    for name in fields:
        if name in taken:
            continue
        own = source.shape.columns.get(name)
        of_own = own is not None and any(record.get(own) is not None for record in records)
        if name in own_fields and not (of_own and source.shape.is_harness):
            columns[name] = own_fields[name]
            guessed.append(name)
            continue
        if own is not None and of_own:
            columns[name] = own
            of_shape.append(name)
            continue
        there = [columns_of[one] for one in map(folded, usual.get(name, ())) if one in columns_of]
        there = [one for one in there if one in first.values or name in _WITHIN]
        if name not in ("text", "prompt", *ITEM_FIELDS):
            there = [one for one in there if is_value(first.get(one)) or first.get(one) in (None, "")]
        column = next((one for one in there if first.get(one) not in (None, "")), next(iter(there), None))
        if column is None or column in columns.values():
            continue
        if column.casefold() == "name" and columns.get("surface") not in first.values:
            what = "is not taken as the dictionary form: it does not stand beside the surfaces"
            notes.append(f"{column!r} {what}. If it is: name={column}")
            continue
        if name == "country" and (why := _of_a_person([*first.values, column])):
            notes.append(f"country is not taken from {column!r}: {why}. If texts were asked about it: country={column}")
            continue
        columns[name] = column
        guessed.append(name)
    if "text" not in {*columns, *taken}:
        columns["text"] = _longest_texts(records, columns, path)
        guessed.append("text")
        notes.append(
            f"text is guessed: those of {columns['text']!r} are the longest, or so named. text=COLUMN names another"
        )
    if "text" in guessed:
        _check_chats(records, path)
    if LISTED in first.values and (field := _said_by_lists(records)) is not None and field not in {*columns, *taken}:
        columns[field] = LISTED
        notes.append(f"{field} is guessed: the names of the file's lists. {field}=COLUMN names another")
    lacking = [name for name in ("topic", "model", *(ITEM_FIELDS[:3] if fields != FIELDS else ()))
               if name not in {*columns, *taken}]  # fmt: skip
    if lacking:
        name = lacking[0]
        remedy = f"Write {name}=COLUMN, or {name}==VALUE for all rows. It has: {listed_names(_paths(first.values))}."
        if LISTED in first.values:
            remedy += f" Or of the name of its list: {name}={LISTED}."
        of_file = str(first.get(FILE)) if first.has(FILE) else ""
        if re.search(r"[^\W_][\W_]+[^\W_]", of_file):  # several words, of which one may say it
            remedy += f" Or of its name, {of_file!r}: --parts '{FILE}={{{name}}}_{{language}}'."
        raise UserError(f"read as {source.format}: nothing says the {name} of a text", where=path, remedy=remedy)
    ordered = {name: columns[name] for name in fields if name in columns}
    used = {one for column in [*columns.values(), *(parts[:1] if parts else ())]
            for one in (column, re.split(r"[.\[|]", column)[0])}  # fmt: skip
    of_texts = [*source.shape.wide, *([source.shape.each] if source.shape.each else [])]
    used |= {one for path in of_texts for one in (path, re.split(r"[.\[|]", path)[0])}
    stars = [re.compile(re.escape(one).replace(r"\*", ".+")) for one in used if "*" in one]  # `answer_*`
    used |= {str(column) for column in first.values for star in stars if star.fullmatch(str(column))}
    unused = [str(column) for column in first.values if not str(column).startswith((" ", "@"))]
    unused = [] if source.shape.is_harness or source.shape.templates else unused
    notes += _not_taken(records, [*source.shape.wide] or [columns["text"]], used) if unused else []
    return Columns(
        ordered,
        parts,
        tuple(name for name in ordered if name in guessed),
        tuple(notes),
        tuple(of_shape),
        tuple(column for column in unused if column not in used),
    )


def _not_taken(records: Sequence[Record], texts: Sequence[str], used: Collection[str]) -> list[str]:
    """A line that names what looks like texts, too, and what takes it: strings of the same table as a path of a text,
    and long ones elsewhere."""
    first, found = merged(records) or Record("", {}), []
    tables = {text.rpartition(".")[0] for text in texts if "." in text and text not in first.values}
    for path in _paths(first.values):
        values = [value for record in records if isinstance(value := record.get(path), str) and value]
        is_text = path.rpartition(".")[0] in tables or sum(map(len, values)) >= LONG * len(values)
        known = path in used or path in texts or _is_asked(first, path) or is_beside(path.rpartition(".")[2])
        if not known and is_text and 4 * len(values) >= len(records) / max(1, len(texts)):
            found.append(path)
    if not found or any(text.startswith(" ") or "*" in text for text in texts):
        return []
    remedy = f"'text={','.join([*texts, *found])}' takes them, too"
    return [f"not taken, though they may be texts: {listed_names(found)}. If they are, {remedy}"]


def _said_by_lists(records: Sequence[Record]) -> str | None:
    """What the names of the lists say that records stand in: their language or model; None where nobody knows."""
    names_of = {str(record.values[LISTED]) for record in records if LISTED in record.values}
    if all(built_in_names().language(name) for name in names_of):
        return "language"
    return "model" if any(map(is_model_name, names_of)) else None


def _check_chats(records: Sequence[Record], path: Path) -> None:
    """Raises `UserError` where several columns hold conversations: which answers are meant nobody said."""
    first = merged(records) or Record("", {})
    chats = [str(name) for name in first.values if conversation(first.values[name]) is not None]
    if len(chats) > 1:
        remedy = f"Write text={chats[0]}: its answers are taken, and what stands before them is the prompt."
        raise UserError(f"several columns hold conversations: {listed_names(chats)}", where=path, remedy=remedy)


def check_told(records: Sequence[Record], told: Mapping[str, str], path: Path) -> None:
    """Raises `UserError` where a path leads nowhere, naming the key that is not there and those that are."""
    for name, column in told.items():
        column = re.split(r"[.\[|]", column)[0] if name in ITEM_FIELDS else column  # within are lists of any length
        if column.startswith("=") or not records or any(record.has(column) for record in records):
            continue
        head = next((record for record in records if record.has(re.split(r"[.\[|]", column)[0])), records[0])
        there = [str(name) for name in head.values if not str(name).startswith(("@", " "))]
        near = did_you_mean(column, there) if len(there) < 100 else ""
        remedy = near if near.startswith("Did") else "See docs/importing.md for paths."
        if name not in ("text", "id", PARTS, *ITEM_FIELDS):
            remedy += f" If it is the {name} of all rows: {name}=={column}."
        told_as = f"{name} {column}" if name == PARTS else f"{name}={column}"
        raise UserError(f"{told_as}: {missing(head.values, column)}", where=path, remedy=remedy)


def _of_a_person(columns: Iterable[Any]) -> str | None:
    """Why a country is that of a person rather than the one that was asked about; None where nothing says so."""
    people = known_names()["people"]
    for column in columns:
        words = set(re.split(r"[^a-z]+", str(column).casefold()))
        if words & set(people["words"]) and not words & set(people["texts"]):
            return f"beside {column!r} it is that of a person"
    return None


def _paths(values: Mapping[str, Any]) -> list[str]:
    """Columns, and what is within a table or the first element of a list."""
    found = []
    for name, value in values.items():
        if name.startswith((" ", "@")):
            continue
        first = value[0] if isinstance(value, list) and value else value
        at = f"{name}[0]" if first is not value else name
        found += [f"{at}.{inner}" for inner in first] if isinstance(first, Mapping) and first else [at]
    return found


def _longest_texts(records: Sequence[Record], columns: Mapping[str, str], path: Path) -> str:
    """The column whose texts are by far the longest, or the one with a usual name within.

    Raises `UserError` where no column stands out.
    """
    first, lengths = merged(records) or Record("", {}), dict[str, float]()
    for column in _paths(first.values):
        values = [record.get(column) for record in records]
        texts = [value for value in values if isinstance(value, str)]
        if column not in columns.values() and len(texts) > len(records) / 2 and not _is_asked(first, column):
            lengths[column] = sum(map(len, texts)) / len(texts)
    ranked = sorted(lengths, key=lambda column: -lengths[column])
    others = lengths[ranked[1]] if len(ranked) > 1 else 0
    usual = set(map(folded, known_names()["names"]["text"]))
    ends = {one: re.split(r"[.\[\]]+", one)[-1] for one in ranked}
    named = [one for one in ranked if folded(ends[one]) in usual or (lengths[one] >= LONG and is_text_name(ends[one]))]
    if ranked and lengths[ranked[0]] >= max(LONG, _LONGER * others):
        named = ranked[:1]
    if len(named) == 1:
        head, is_list, _ = named[0].partition("[0]")
        every = named[0].replace("[0]", "[*]", 1)
        # The first text of each record alone would leave the others out in silence.
        if not is_list or not (every.endswith("[*]") or any(_is_several(record.get(head)) for record in records)):
            return named[0]
        what = f"a record has a list of texts in {head!r}"
        raise UserError(what, where=path, remedy=f"Write 'text={every}' for all of them, or {named[0]} for the first.")
    why = f"its longest columns are {listed_names(ranked[:3])}" if ranked else "no column has texts"
    like = paths_like_texts(records)
    strings = f"Strings that look like texts are at {', '.join(map(shown, like))}. " if like else ""
    has = f"It has: {listed_names(_paths(first.values))}."
    remedy = f"Write text=COLUMN; of columns of several models, text=COLUMN,COLUMN. {strings}{has}"
    raise UserError(f"its shape is not known, and no column is clearly the text: {why}", where=path, remedy=remedy)


def _is_asked(record: Record, column: str) -> bool:
    """Whether a column, or a table that holds it, has the question or a remark on the answer, and so no text."""
    steps = re.findall(r"[^.\[\]|]+", column) or [column]  # pandas names its index ""
    within, asked = record.values.get(steps[0]), set(map(folded, known_names()["names"]["prompt"]))
    named = any(folded(step) in asked for step in (steps[0], steps[-1])) or is_said_of_an_answer(steps[0])
    return named or (isinstance(within, Mapping) and is_asked(within))


def _is_several(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1


def read_pattern(pattern: str) -> tuple[str, re.Pattern[str]]:
    """`custom_id={language}-{topic}-{}` as a column and a pattern. Raises `UserError` where it is none."""
    column, equals, form = pattern.partition("=")
    gaps = [name for name in _GAP.findall(re.escape(form)) if name]
    if not equals or not column or not gaps or not set(gaps) <= set(FIELDS) or len(set(gaps)) < len(gaps):
        what = f"--parts {pattern!r} is no COLUMN=PATTERN with fields in braces"
        raise UserError(what, remedy="Write, for example, --parts 'custom_id={language}-{topic}-{}'.")
    # A part ends at the next character of the pattern: no two readings of one text, and no slow one.
    return column, re.compile(_expression(form), re.DOTALL)


def _expression(form: str) -> str:
    made, rest = "", form
    while rest:
        gap = re.match(r"\{([a-z_]*)\}", rest)
        if gap is None:
            made, rest = made + re.escape(rest[0]), rest[1:]
            continue
        rest = rest[gap.end() :]
        until = f"[^{re.escape(rest[0])}]" if rest and not rest.startswith("{") else "."
        made += f"(?P<{gap[1]}>{until}+)" if gap[1] else f"{until}*"
    return made
