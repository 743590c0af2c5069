"""Files that are known by the shape of their records: `shapes.toml` says which, and where their texts are.

A record of such a file becomes a record per text: `@` is the text's own part of it, and what has to be computed (the
prompt, the answer, the key) stands under names that begin with a space, as no column does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from polyculture.cache.errors import UserError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.generate.engines.answer import Answer, NoAnswerError, read_answer
from polyculture.generate.engines.bodies import has_answer, parts_of, small
from polyculture.imports.chats import (
    asked_in,
    asked_words,
    conversation,
    has_chat,
    has_other_words,
    has_role,
    is_answer,
    is_asked,
    messages_before,
    transcript,
    words_of,
)
from polyculture.imports.count import Count, paths_of_strings
from polyculture.imports.places import (
    alternatives,
    is_beside,
    is_text_name,
    may_have_alternatives,
    paths_of_texts,
    places,
    was_asked,
)
from polyculture.imports.siblings import Siblings, find_siblings, told_siblings
from polyculture.sources.cells import opened
from polyculture.sources.encoding import NAMES, encoding_of
from polyculture.sources.files import data_files, kind_of, read_file
from polyculture.sources.lm_eval import model_of
from polyculture.sources.record import (
    FILE,
    LONGEST_LINE,
    BadRow,
    Found,
    ReadRecords,
    Record,
    by_name,
    find,
    folded,
    known_names,
    listed_names,
    merged,
    missing,
    shown,
)
from polyculture.sources.rules import columns_of
from polyculture.sources.tables import unmatched_quotes, usual_columns

ANSWER, TEXT, PROMPT, KEY, CHAT, COLUMN = " answer", " text", " prompt", " key", " chat", " column"
CHAT_FILE = "chat"  # the kind of a text file that is one conversation
PLAIN = "plain"
LOOKED_AT = 200  # records whose shape and columns are known before the first text is taken
_OWN = {"needs", "rows", "each", "text", "message", "body", "before", "failed", "scores", "only", "once", "id",
        "id_more", "chat", "prompt", "items"}  # fmt: skip
_SAID = {"system", "source"}  # of a row, for people
_PROMPTFOO = re.compile(r"\[(?P<model>[^\[\]]+)\] (?P<prompt>.+)", re.DOTALL)
_OF_TEST = re.compile(r"\A\[(?:PASS\] |(?:FAIL|ERROR)\] (?:.*?\n---\n)?)", re.DOTALL)  # of its former versions
_GAP = re.compile(r"\{\{ ?(\w+) ?\}\}")


@dataclass(frozen=True)
class Shape:
    """A shape of `shapes.toml`; the plain one has columns alone."""

    name: str
    needs: Sequence[str] = ()
    rows: Sequence[str] = ()
    each: str | None = None
    text: str | None = None
    message: str | None = None
    body: str | None = None
    before: str | None = None
    failed: str | None = None
    scores: Sequence[str] = ()
    only: Sequence[str] = ()
    once: Sequence[str] = ()
    id: str | None = None
    id_more: str | None = None
    prompt: str | None = None
    chat: bool = False
    at: str | None = None  # of a chat: where its messages are, as the user says
    found: bool = False  # whether nobody said where the texts are: names of tables and lists do
    items: bool = False
    wide: Mapping[str, str] = field(default_factory=dict)  # paths of texts: of which language or model each is
    says: str | None = None  # which of the two that is; None where another column says the model
    beside: frozenset[str] = frozenset()  # paths of the first records, whose strings are listed if they are not taken
    templates: Mapping[str, str] = field(default_factory=dict)  # columns of texts: what was asked
    fields: Mapping[str, str] = field(default_factory=dict)  # of a text: the paths where they are

    @property
    def columns(self) -> dict[str, str]:
        """Where the fields of a text are in the records that `texts` yields."""
        if self.wide:
            prompt = {"prompt": PROMPT} if self.templates else {}
            said = {self.says: COLUMN} if self.says else {}
            return {**self.fields, "text": TEXT, **said, **prompt}
        if not (self.text or self.message or self.body):
            return dict(self.fields)
        computed = {"text": ANSWER if self.body or self.message else TEXT, "prompt": PROMPT}
        return {**self.fields, **computed, **({"id": KEY} if self.id else {})}

    @property
    def is_harness(self) -> bool:
        """Whether it is the log of one tool, which says itself where all fields of a text are."""
        return self.name not in (PLAIN, "answers")

    @property
    def finds_texts(self) -> bool:
        """Whether it knows itself where in a record the texts are that a user named."""
        return bool(self.each or self.wide) or self.at is not None

    def fits(self, record: Record) -> bool:
        """Whether a record is of this shape."""
        if self.body is not None:
            return _body(record, self.body) is not None
        if self.chat:
            return has_chat(record.values)
        return record.has_all(self.needs)

    @property
    def walks(self) -> bool:
        """Whether it looks for texts within records, rather than in a column that is known."""
        return bool(self.each or self.body or self.chat or (self.wide and self.beside))

    def texts(self, rows: ReadRecords, count: Count | None = None) -> ReadRecords:
        """A record per text of each record; what is none is a `BadRow`.

        `count` sees each record and what is made of it.
        """
        first: dict[Any, Any] = {}
        for row in rows:
            if isinstance(row, BadRow):
                yield row
            elif _is_piece(row.values):
                yield BadRow(row.row, "is a piece of an answer that was streamed: join the pieces to whole answers")
            elif count is None or not self.walks:
                yield from self._of_record(row, first)
            else:
                made = list(self._of_record(row, first))
                texts = [_as_it_came(one) for one in made if isinstance(one, Record)]
                if self.wide:
                    count.add_siblings(row.row, row.values, texts, tuple(self.wide), self.beside)
                else:
                    count.add(row.row, row.values, texts, len(made) - len(texts))
                yield from made

    def _of_record(self, record: Record, first: dict[Any, Any]) -> ReadRecords:
        for one in self.read_rows(record):
            if self.once:
                key, under = one.get(self.once[0]), one.get(self.once[1])
                if first.setdefault(str(key), under) != under:
                    yield BadRow(one.row, f"the same texts under another {self.once[1]}", shown(under), lost=False)
                    continue
            yield from self._texts(one)

    def read_rows(self, record: Record) -> Iterator[Record]:
        """The records within a record; itself where it has none."""
        return record.within(self.rows)

    def _texts(self, record: Record) -> Iterator[Record | BadRow]:
        if self.failed is not None and (error := record.get(self.failed)):
            words = Record("", error).get("message|error.message") if isinstance(error, Mapping) else error
            yield BadRow(record.row, "failed when it was generated", shown(words or error), lost=False)
            return
        if self.scores and str(record.get(self.scores[0])) in self.scores[1:]:
            yield BadRow(record.row, "is a score of a given answer, not a text", lost=False)
            return
        if self.only and str(record.get(self.only[0])) not in self.only[1:]:
            yield BadRow(record.row, f"is no {self.only[1]}, whose records have the texts", lost=False)
            return
        if self.wide:
            beside = {name: value for name, value in record.values.items() if name not in self.wide}
            for name, of in self.wide.items():
                text = record.get(name)
                asked = _filled(self.templates[name], beside) if name in self.templates else None
                text = _OF_TEST.sub("", text, count=1) if asked is not None and isinstance(text, str) else text
                values = {**beside, TEXT: text, COLUMN: of, PROMPT: asked}
                one = replace(record, row=f"{record.row}/{name}", values=values)
                yield BadRow(one.row, "has no text", lost=False) if text in (None, "") else one
            return
        if not (self.each or self.text or self.message or self.body):
            # A row per message: what a user says is no answer.
            by_user = is_asked(record.values)
            yield BadRow(record.row, "is what was asked, not an answer", lost=False) if by_user else record
            return
        if not (self.each or self.body or self.chat):
            yield self._one(record, (), record.values)
            return
        if self.chat:
            chat = conversation(record.values if self.at is None else record.get(self.at)) or []
            found: Found = [((place,), one) for place, one in enumerate(chat) if is_answer(one)]
            record = Record(record.row, {**record.values, CHAT: chat})
        else:
            found = find(record.values, self.each) if self.each else []
            if self.each and not found and isinstance(alone := record.get(self.each.removesuffix("[*]")), str):
                found = [((0,), alone)]  # one text, where other records have a list
            if not self.each and (body := _body(record, self.body or "")) is not None:
                several = may_have_alternatives(body)
                every = alternatives(body, parts_of(body).text) if several else [((0,), "", body)]
                found = [(at, one) for at, _, one in every]
                # What is said of one alternative stands in it: the body has no other.
                record = replace(record, place=f"@.{every[0][1]}", at=(0,) * len(every[0][0])) if every[1:] else record
        if not found:
            path = self.each or (self.body or "").partition("|")[0]
            # A request of a batch that expired, and a chat that nobody answered, have no text.
            no_answer = self.name != PLAIN and (self.each is not None or record.has(self.id or ""))
            no_answer = no_answer and not has_other_words(record.values)
            why = None if no_answer else missing(record.values, path)
            yield BadRow(record.row, why or "has no answer", lost=not no_answer)
        for at, one in found:
            if self.each and at and was_asked(replace(record, place=self.each, at=at)):
                yield BadRow(record.row, "is what was asked, not an answer", lost=False)
                continue
            try:
                yield self._one(record, at, one)
            except NoAnswerError as fault:
                yield BadRow(record.row, "failed when it was generated", shown(fault), lost=False)

    def _one(self, record: Record, at: Sequence[Any], own: Any) -> Record | BadRow:
        values = {**record.values, "@": own}
        one = replace(record, values=values)
        if self.each is not None and "*" in self.each:
            one = replace(one, place=self.each, at=tuple(at))
        if self.body is not None:
            values[ANSWER] = read_answer(own)
        elif self.message is not None:
            ending = one.get(path) if (path := self.fields.get("finish_reason")) else None
            message = one.get(self.message)
            if self.chat and not isinstance(message.get("content"), str | list):  # of other names than OpenAI's
                message = {"content": words_of(message)}
            values[ANSWER] = read_answer({"choices": [{"message": message, "finish_reason": ending}]})
        elif self.text is not None:
            if not one.has(self.text):
                return BadRow(record.row, missing(values, self.text) or "has no text")
            text = one.get(self.text)
            values[TEXT] = text = (
                words_of({"content": text}) if isinstance(text, list) and (self.before or self.found) else text
            )
            if text is not None and not isinstance(text, str):
                scores = isinstance(text, list) and any(map(_is_number, text))
                what = f"is a {type(text).__name__}{', as scores are' if scores else ''}, not a text"
                return BadRow(record.row, what, shown(text), lost=not scores)
        values[PROMPT] = asked_words(self._prompt(one, at, own))
        if self.id is not None and (key := one.get(self.id)) is not None:
            more = one.get(self.id_more) if self.id_more else None
            values[KEY] = "/".join(map(str, (key, *([] if more is None else [more]), *at)))
        return one

    def _prompt(self, record: Record, at: Sequence[Any], own: Any) -> Any:
        if self.before is not None or self.chat:
            return messages_before(record.values.get(self.before or CHAT), at, own)
        if self.found and self.each and self.each.rpartition("[*]")[0]:  # one of several conversations of a record
            messages = opened(record.get(self.each.rpartition("[*]")[0]))
            if isinstance(messages, list) and all(isinstance(one, Mapping) and has_role(one) for one in messages):
                return messages_before(messages, at[-1:], own)
        if self.prompt is None:
            return None
        parts = [record.get(path) for path in self.prompt.format(*at, *"00").split(" + ")]
        if self.body is not None and parts == [None]:
            return asked_in(record.values)
        return parts[0] if len(parts) == 1 else "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _as_it_came(record: Record) -> str | None:
    """The text of a record as its file has it."""
    said = record.values.get(ANSWER, record.values.get(TEXT))
    said = (said.text if said.raw is None else said.raw) if isinstance(said, Answer) else said
    return said if isinstance(said, str) else None


def _is_piece(values: Mapping[str, Any]) -> bool:
    """Whether a record is an event of a stream: of Ollama, of TGI, of OpenAI, or of Anthropic."""
    ollama = values.get("done") is False and "created_at" in values and "model" in values
    tgi = isinstance(values.get("token"), Mapping) and values.get("generated_text", "") is None
    of_openai = str(values.get("object")).endswith(".chunk")
    return ollama or tgi or of_openai or str(values.get("type")).endswith((".delta", "_delta"))


def _body(record: Record, path: str) -> Mapping[str, Any] | None:
    """The body of an answer: at a path, else in a column or table, whatever its name, where no column has a text."""
    for one in path.split("|"):
        for _, value in find(record.values, one):
            value = opened(value)
            if isinstance(value, Mapping) and has_answer(value) and not (one == "." and _is_plain(value)):
                return value
    within = [record.values] if not any(map(is_text_name, record.values)) else []
    for _ in range(2):
        named = [opened(value) for table in within for name, value in table.items() if not is_beside(str(name))]
        tables = [one for one in named if isinstance(one, Mapping) and not has_role(one)]
        found = next(filter(has_answer, tables), None)
        if found is not None:
            return found
        within = tables
    return None


def _is_plain(values: Mapping[str, Any]) -> bool:
    """Whether what a record says of its answer is in columns of usual names: then all of it is columns."""
    usual, own = known_names()["names"], parts_of(values).names
    if own is None or any(
        name not in map(small, usual[field]) for name, field in zip(own, ("text", "finish_reason"), strict=True)
    ):
        return False
    counted = read_answer(values).usage.completion is not None
    return not counted or any(name in values for name in usual["completion_tokens"])


@dataclass(frozen=True)
class ShapedFile:
    """A file as it is read: its records, in its shape."""

    path: Path
    shape: Shape
    kind: str  # of the file: see `kind_of`
    inputs: Path | None = None  # the requests of a batch
    named: frozenset[str] = frozenset()  # the columns that the user names

    @property
    def format(self) -> str:
        """The name of the shape, or of the kind of file where it has columns alone."""
        name = self.kind if self.shape.name == PLAIN else self.shape.name
        name += f", a text in each of {listed_names(self.shape.wide)}" if self.shape.wide else ""
        return f"{name}, {self.shape.each}" if self.shape.text == "@" and self.shape.name == PLAIN else name

    @property
    def encodings(self) -> list[str]:
        """The encodings that are not UTF-8, by their usual names."""
        texts = [one for one in data_files(self.path) if kind_of(one) in ("csv", "json")]
        return sorted({NAMES[encoding] for one in texts if (encoding := encoding_of(one)) in NAMES})

    @property
    def unquoted(self) -> bool:
        """Whether it is a table whose quotation marks do not match, so that it is read without them."""
        return self.kind == "csv" and unmatched_quotes(self.path, encoding_of(self.path), usual_columns(self.named))

    def records(self) -> ReadRecords:
        """The records of the file as they stand in it, with what stands beside them."""
        rows = _with_requests(_read(self.path, self.named), self.inputs)
        if self.shape.name == "lm-eval":
            more = {"model_name": model_of(self.path)}
            rows = (replace(row, values={**more, **row.values}) if isinstance(row, Record) else row for row in rows)
        whole = self.path.name if self.kind != "folder" else None
        named = lru_cache(maxsize=64)(lambda file: Path(file).with_suffix("").as_posix())
        for row in _without_head(rows):
            name = named(whole or row.row.partition(":")[0])
            yield replace(row, values={**row.values, FILE: name}) if isinstance(row, Record) else row

    def rows(self, count: Count | None = None) -> ReadRecords:
        """The records of the file, one per text."""
        return self.shape.texts(self.records(), count)


def find_source(path: Path, name: str | None, inputs: Path | None, told: Mapping[str, str]) -> ShapedFile:
    """A file in the shape of this name, or in that of its first records.

    `told`: the columns of fields that a user names. By these a header is known, too. With `text`, where its texts are,
    they are taken from there, the other fields as the shape has them. A path with
    `[*]` leads to several texts of a record. Of one object with a list of objects the records are these.

    Raises `UserError` where there is no such shape, or the file cannot be read.
    """
    known = {shape.name: shape for shape in shapes()}
    if name is not None and name not in known:
        near = did_you_mean(name, known)
        raise UserError(f"no format is called {name!r}", remedy=f"{near} Without --format it is told by the content.")
    kind = CHAT_FILE if _conversation_in(path) else kind_of(path)
    text, columns = told.get("text"), frozenset(columns_of(one for path in told.values() for one in path.split(",")))
    first = [row for row in islice(_read(path, columns), LOOKED_AT) if isinstance(row, Record)]
    shape = known[name] if name else next((one for one in known.values() if _fits(one, first)), known[PLAIN])
    wrapped = len(first) == 1 and shape.name in (PLAIN, "answers") and not (text and first[0].has(text))
    lists = {at: [Record("", one) for one in first[0].get(at)] for at in _lists(first[0].values)} if wrapped else {}
    if shape.name != PLAIN or len(lists) > 1:  # those with texts, and not the alternatives or parts of one answer
        lists = {at: inner for at, inner in lists.items() if _are_texts(at, inner, known.values())}
    if len(lists) == 1:
        (at, inner), *_ = lists.items()
        shape = next((one for one in known.values() if any(map(one.fits, inner[:LOOKED_AT]))), known[PLAIN])
        shape = replace(shape, rows=[at, *(key for key in first[0].values if not at.startswith(key))])
    if shape.rows:
        first = [one for row in first for one in shape.read_rows(row)]
    if text is not None and _most(conversation(row.get(text)) is not None for row in first if row.has(text)):
        fields = shape.fields or known["chat"].fields
        shape = replace(known["chat"], rows=shape.rows, at=text, fields=fields)
    elif named := _by_promptfoo(first) if shape.name == PLAIN and text is None else {}:
        wide, templates = ({name: one[key] for name, one in named.items()} for key in ("model", "prompt"))
        shape = replace(shape, wide=wide, says="model", templates=templates)
    elif (siblings := _siblings(first, path, text) if shape.name == PLAIN else Siblings()).of:
        beside = frozenset(paths_of_strings(first)) if text is None else frozenset()
        shape = replace(shape, wide=siblings.of, says=siblings.says, beside=beside)
    elif text is not None:
        each = text if "*" in text and not any(text in record.values for record in first) else None
        shape = replace(shape, each=each, text="@" if each else None, message=None, body=None, before=None, chat=False)
    elif shape.name == PLAIN and (each := _place_of_texts(first, path)) is not None:
        shape = replace(shape, each=each, text="@", found=True)
    return ShapedFile(path, shape, kind, inputs, columns)


def _siblings(records: Sequence[Record], path: Path, text: str | None) -> Siblings:
    return find_siblings(records, path) if text is None else told_siblings(records, text)


def _without_head(rows: ReadRecords) -> ReadRecords:
    """The rows, of which the first may be what is said of all: SillyTavern's, which shares no column with a message."""
    first, second = next(rows, None), next(rows, None)
    if isinstance(first, Record) and isinstance(second, Record) and _is_head(first.values, second.values):
        first = BadRow(first.row, "is a head: it shares no column with the rows below it", lost=False)
    yield from (one for one in (first, second) if one is not None)
    yield from rows


def _is_head(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return not first.keys() & second.keys() and not places(first)


def _read(path: Path, named: frozenset[str]) -> ReadRecords:
    """The records of a file; of one conversation in a text file one record."""
    said = _conversation_in(path)
    return iter([Record("1", {"conversation": said})]) if said else read_file(path, tables=True, told=named)


def _conversation_in(path: Path) -> str | None:
    """The conversation that a text file is, with a label before each turn; None where it is none."""
    if path.suffix.lower() != ".txt" or path.is_dir():
        return None
    with path.open(encoding=encoding_of(path), errors="replace") as file:
        text = file.read(LONGEST_LINE).lstrip("\ufeff \r\n\t")
    return text if transcript(text) is not None else None


def _place_of_texts(records: Sequence[Record], path: Path) -> str | None:
    """Where the texts are within lists, tables or numbered columns; None where a column has them.

    Raises `UserError` where they may be at several places.
    """
    every = paths_of_texts(records)
    paths = [one for one in every if f"{one}[*]" not in every]  # a text here, and a list of some there
    columns, within = [one for one in paths if _is_column(one)], [one for one in paths if not _is_column(one)]
    lists = [one for one in within if "*" in one]
    if not within or (columns and not lists):
        return None
    several = [*columns, *lists] if columns else within if len(within) > 1 else []
    if several:
        what = f"its records have texts at several places: {listed_names(several)}"
        remedy = f"Write 'text={several[-1]}' for those, or 'text={several[0]}'. Other texts are then not taken."
        raise UserError(what, where=path, remedy=remedy)
    return within[0]


def _is_column(path: str) -> bool:
    return re.search(r"[.*\[]", path) is None


def _by_promptfoo(records: Sequence[Record]) -> dict[str, re.Match[str]]:
    """The columns of answers in a table of promptfoo, each named by the model and the template of its prompt."""
    columns = merged(records) or Record("", {})
    return {name: named for name in columns.values if (named := _PROMPTFOO.fullmatch(str(name)))}


def _filled(template: str, values: Mapping[str, Any]) -> str:
    """A template of promptfoo with the variables of a row, which are the columns beside."""
    return _GAP.sub(lambda gap: str(values.get(gap[1], gap[0])), template)


def _are_texts(at: str, records: Sequence[Record], known: Iterable[Shape]) -> bool:
    if at.rpartition(".")[2] in ("choices", "candidates") or any("type" in record.values for record in records):
        return False
    usual = set(map(folded, known_names()["names"]["text"])).intersection(*(by_name(one.values) for one in records[:1]))
    return bool(usual) or any(shape.fits(one) for shape in known for one in records[:1])


def _fits(shape: Shape, records: Sequence[Record]) -> bool:
    """Whether a file has a shape. One text may look like a conversation: most must be one."""
    return _most(map(shape.fits, records)) if shape.chat else any(map(shape.fits, records))


def _most(answers: Iterable[bool]) -> bool:
    found = list(answers)
    return 2 * sum(found) >= len(found) > 0


def _lists(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The paths to lists of objects in an object."""
    for name, value in values.items():
        if isinstance(value, Mapping) and before.count(".") < 3:
            yield from _lists(value, f"{before}{name}.")
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            yield from [] if all(map(has_role, value)) else [f"{before}{name}"]  # messages are no records


@cache
def shapes() -> tuple[Shape, ...]:
    """The shapes of `shapes.toml`, and the plain one."""
    table = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text(encoding="utf-8"))
    found = []
    for name, keys in table.items():
        own = {key: value for key, value in keys.items() if key in _OWN}
        found.append(Shape(name, **own, fields={key: path for key, path in keys.items() if key not in _OWN | _SAID}))
    return (*found, Shape(PLAIN))


def _with_requests(rows: ReadRecords, inputs: Path | None) -> ReadRecords:
    """The rows, each with its `request` of the file that was sent, joined by the request's id."""
    if inputs is None:
        return rows
    asked = {
        _request_key(row): row.get("body|params|request|modelInput")
        for row in read_file(inputs)
        if isinstance(row, Record)
    }
    return (
        replace(row, values={"request": asked.get(_request_key(row)), **row.values}) if isinstance(row, Record) else row
        for row in rows
    )


def _request_key(row: Record) -> str:
    return str(row.get("custom_id|key|recordId"))


def _is_number(value: object) -> bool:
    """Also as logs write one, in a string."""
    try:
        float(str(value))
    except ValueError:
        return False
    return True
