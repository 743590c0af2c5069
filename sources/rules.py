"""The part of a rules file that says which files of a publisher are read, and which rows and fields they have.

Each kind of data set adds what its rows are: `instruments/datasets/rules.py` entities and contexts,
`instruments/questions/rules/model.py` questions. See docs/datasets.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from polyculture.cache.errors import DataSetError
from polyculture.cache.validation import describe_fault
from polyculture.sources.places import parse_files
from polyculture.sources.values import parse_name, parse_pattern


def one_or_several(value: Any) -> Any:
    """One in place of a list of one."""
    return (value,) if isinstance(value, (str, dict)) else value


Name = Annotated[str, AfterValidator(parse_name)]  # a column, a path or, with braces, a template of columns
Names = Annotated[tuple[Name, ...], BeforeValidator(one_or_several)]
Texts = Annotated[tuple[str, ...], BeforeValidator(one_or_several)]
Files = Annotated[tuple[Annotated[str, AfterValidator(parse_files)], ...], BeforeValidator(one_or_several)]


class TableRules(BaseModel):
    """A table of a rules file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    shape: ClassVar[str] = "table"  # of several forms that a value may have: `shape_of`


def shape_of(value: Any) -> str:
    """Which of several forms a value has, so that an error is about the one that was meant."""
    if isinstance(value, dict):
        whole = isinstance(value.get("column"), str) or isinstance(value.get("text"), (str, list, tuple))
        return "in a column" if whole else "from" if "from" in value else "table"
    if isinstance(value, TableRules):
        return value.shape
    return "list" if isinstance(value, (list, tuple)) else "name"


SHAPES = ("in a column", "from", "table", "list", "name")


class From(TableRules):
    """A value in other words: `{ from = "polarity", bsd = "biased", cnt = "counter-biased" }`."""

    shape: ClassVar[str] = "from"
    source: Name = Field(alias="from")
    cldr: bool = False  # the English name of a language as its code
    words: Mapping[str, str] = {}  # any other key is a word; a value without one stays

    @model_validator(mode="before")
    @classmethod
    def _other_keys_are_words(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        words = {key: value for key, value in data.items() if key not in ("from", "cldr", "words")}
        kept = {key: value for key, value in data.items() if key not in words}
        return {**kept, "words": {**words, **kept.get("words", {})}} if words else kept


# A column's number (from 0), or a name.
_NumberOrName = Annotated[int | str, AfterValidator(lambda told: parse_name(told) if isinstance(told, str) else told)]
Value = Annotated[Annotated[_NumberOrName, Tag("name")] | Annotated[From, Tag("from")], Discriminator(shape_of)]


class Join(TableRules):
    """Columns of a second file, for the row with the same key."""

    files: Annotated[Files, Field(min_length=1)]  # the first that is there
    on: Name  # its key
    key: Name | None = None  # ours; None: the id
    take: tuple[Name, ...]
    optional: bool = False  # True: a remark where the file is missing, not an error


class Skip(TableRules):
    """Rows that are left out, and why: where a column is empty, has one of some values, holds a text, or is as high.

    Of several columns the numbers are added.
    """

    column: Names
    empty: bool = False
    value: Texts = Field(default=(), alias="is")
    contains: str = ""
    at_least: float | None = None
    reason: str

    @model_validator(mode="after")
    def _one_way(self) -> Skip:
        if sum((self.empty, bool(self.value), bool(self.contains), self.at_least is not None)) != 1:
            raise ValueError("needs one of: empty, is, contains, at_least")
        return self


class FileRules(TableRules):
    """Files of one form, and the rows that count in them."""

    files: Annotated[Files, Field(min_length=1)]
    without: Files = ()  # of these files, none that fits one of these patterns
    rows: str | None = None  # 'object': a row each value of one object, by `key`; a path: a list inside the file
    header: bool = True  # False: tables have no row of names, and columns are known by their numbers, from 0
    quotes: bool = True  # False: in a CSV or TSV a quotation mark is a sign like any other
    turns: tuple[str, ...] = ()  # what rows take turns in: {turn} of a row, {round} from 1
    split: Mapping[str, Annotated[str, AfterValidator(parse_pattern)]] = {}
    join: Annotated[tuple[Join, ...], BeforeValidator(one_or_several)] = ()
    skip: Annotated[tuple[Skip, ...], BeforeValidator(one_or_several)] = ()

    @property
    def columns(self) -> set[str]:
        """What the columns of its tables are called, of all that is read: the row with most of these is the header."""
        fields = {column for name, value in self if name not in _NO_COLUMNS for column in _columns_of(value)}
        return {*fields, *self.split, *(name for join in self.join for name in _columns_of(join.key or ""))}


_NO_COLUMNS = frozenset(FileRules.model_fields) - {"skip"} | {"expand", "roles", "replace"}


def _columns_of(value: Any) -> Iterator[str]:
    """The columns that a field's rule names: of a path its first part, of a template those in braces."""
    if isinstance(value, str):
        for name in re.findall(r"\{([^{}]+)\}", value) if "{" in value else [value]:
            yield re.split(r"[.\[]", name)[0]
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _columns_of(inner)
    elif isinstance(value, TableRules):
        named = ("source", "column", "of", "groups", "key")
        yield from (name for key in named if (inner := getattr(value, key, None)) for name in _columns_of(inner))


M = TypeVar("M", bound=BaseModel)
TABLES: tuple[type[BaseModel], ...] = (FileRules, From, Join, Skip)


def checked(model: type[M], data: Mapping[str, Any], where: object, tables: Sequence[type[BaseModel]] = ()) -> M:
    """A rules file as a `model`, which has `tables` beside those of files. Raises `DataSetError`, naming the place."""
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        first = fault.errors()[0]
        steps = [str(step) for step in first["loc"] if step not in SHAPES and "[" not in str(step)]
        every: list[type[BaseModel]] = [model, *TABLES, *tables]
        known = {field.alias or name for one in every for name, field in one.model_fields.items()}
        what, remedy = describe_fault(first, steps, known, "See docs/datasets.md.")
        if first["type"] == "union_tag_invalid":
            what = f"{'.'.join(steps)}: must be one of these forms: {first['ctx']['expected_tags']}"
        raise DataSetError(what, where=where, remedy=remedy) from fault
