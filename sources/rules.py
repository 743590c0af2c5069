"""The part of a rules file that says which files of a publisher are read, and which rows and fields they have.

Each kind of data set declares what its rows become, as a class with a `field` for each thing that is known of a row:
`instruments/datasets/rules.py` entities and contexts, `instruments/questions/rules/model.py` questions. What is needed,
the errors where it is missing, the tables of docs/datasets.md and `polyculture data new` follow from the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from polyculture.cache.errors import DataSetError
from polyculture.cache.validation import describe_fault
from polyculture.sources.places import Source, fields_of, parse_files
from polyculture.sources.record import Expand, alternatives
from polyculture.sources.values import parse_name, parse_pattern, spelling


def one_or_several(value: Any) -> Any:
    """One in place of a list of one."""
    return (value,) if isinstance(value, (str, int, dict)) else value


def _parsed(name: Any) -> int | str:
    if isinstance(name, bool) or not isinstance(name, int | str):
        raise ValueError("must be a column, a path or a template of columns; write several as 'this one|or this one'")
    return parse_name(name) if isinstance(name, str) else name


# A column, its number from 0, a path, or, with braces, a template of columns; of several between bars the first that
# is there.
ColumnName = Annotated[int | str, BeforeValidator(_parsed)]
ColumnNames = Annotated[tuple[ColumnName, ...], BeforeValidator(one_or_several)]
SeveralTexts = Annotated[tuple[str, ...], BeforeValidator(one_or_several)]
Files = Annotated[tuple[Annotated[str, AfterValidator(parse_files)], ...], BeforeValidator(one_or_several)]


KEY = "id"  # the field by which second files are joined, where a target has it and a join names no column


def _in_spelling(words: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
    return {name: {spelling(said): ours for said, ours in of_field.items()} for name, of_field in words.items()}


def field(
    meaning: str, *, needed: bool | Collection[str] = False, default: Any = None, example: str = '"column"'
) -> Any:
    """A field of a target's rows, and a rule for it as an example. `needed`: no row does without it; names of kinds of
    data sets: no row of these does."""
    more: Any = {"needed": needed, "example": example, "is_text": not isinstance(default, tuple | dict)}
    return Field(default=default, description=meaning, json_schema_extra=more)


class TableRules(BaseModel):
    """A table of a rules file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    shape: ClassVar[str] = "table"  # of several forms that a value may have: `shape_of`


def shape_of(value: Any) -> str:
    """Which of several forms a value has, so that an error is about the one that was meant."""
    if isinstance(value, dict):
        whole = isinstance(value.get("column"), str) or isinstance(value.get("text"), (str, list, tuple))
        return "in a column" if whole else "table"
    if isinstance(value, TableRules):
        return value.shape
    return "list" if isinstance(value, (list, tuple)) else "name"


SHAPES = ("in a column", "table", "list", "name")


def _by_their_names(columns: Any) -> Any:
    """Columns of a list keep their names, without the bar of one that may be missing; a table names them anew."""
    several = [columns] if isinstance(columns, str) else columns
    if not isinstance(several, list | tuple):
        return columns
    if not all(isinstance(one, str) for one in several):
        raise ValueError('must be columns, or a table of names for them: { country_of_meta = "country" }')
    return {name.removesuffix("|"): name for name in several}


class Join(TableRules):
    """Columns of a second file, for the row with the same key."""

    files: Annotated[Files, Field(min_length=1)]  # the first that is there
    rows: str | None = None  # as of `FileRules`
    on: ColumnName  # its key
    key: ColumnName | None = None  # ours; None: the id
    # What its columns are called here -> its columns.
    take: Annotated[Mapping[str, str], BeforeValidator(_by_their_names)]
    optional: bool = False  # True: a remark where the file is missing, not an error


class Skip(TableRules):
    """Rows that are left out, and why: where a column is empty, has one of some values, holds a text, or is as high.

    Of several columns the numbers are added.
    """

    column: ColumnNames
    empty: bool = False
    value: SeveralTexts = Field(default=(), alias="is")
    contains: str = ""
    at_least: float | None = None
    reason: str

    @model_validator(mode="after")
    def _one_way(self) -> Skip:
        if sum((self.empty, bool(self.value), bool(self.contains), self.at_least is not None)) != 1:
            raise ValueError("needs one of: empty, is, contains, at_least")
        return self


class SourceRules(Source):
    """A rules file: where a data set is published, and its publisher's words. A kind of data set adds its blocks."""

    # By field: what a publisher writes, in any case, and what it is called here.
    words: Annotated[Mapping[str, Mapping[str, str]], AfterValidator(_in_spelling)] = {}
    languages: Mapping[str, str] = {}  # code -> what columns call the language: `sources/languages.py`
    files_of: str = ""  # the data set whose files these are, where it is another one

    @property
    def blocks(self) -> Sequence[FileRules]:
        """The blocks of all kinds."""
        return ()

    @property
    def called(self) -> Collection[str]:
        """The names of what is read by the rules."""
        return (self.name,)

    def check_words(self, fields: Iterable[str]) -> None:
        """Raises `ValueError` where there are words for something that is no field."""
        known = [*dict.fromkeys(fields)]
        if unknown := next((name for name in self.words if name not in known), None):
            raise ValueError(f"words.{unknown}: is no field of these rules; these are {', '.join(known)}")


class TargetField(NamedTuple):
    """A field as a target declares it."""

    name: str
    meaning: str
    needed: bool | Collection[str]
    example: str
    is_text: bool  # read as a text; False: the target has a form of its own for it

    def is_needed(self, kind: str = "") -> bool:
        """Whether rows of a kind of data set do without it."""
        return self.needed if isinstance(self.needed, bool) else kind in self.needed


class FileRules(TableRules):
    """Files of one form, the rows that count in them, and, in a subclass, the fields of what these rows become."""

    target: ClassVar[str] = ""  # the table of a rules file: 'entities'

    files: Annotated[Files, Field(min_length=1)]
    without: Files = ()  # of these files, none that fits one of these patterns
    rows: str | None = None  # 'object': a row each value of one object, by `key`; a path: a list inside the file
    header: bool = True  # False: tables have no row of names, and columns are known by their numbers, from 0
    quotes: bool = True  # False: in a CSV or TSV a quotation mark is a sign like any other
    turns: tuple[str, ...] = ()  # what rows take turns in: {turn} of a row, {round} from 1
    split: Mapping[str, Annotated[str, AfterValidator(parse_pattern)]] = {}
    join: Annotated[tuple[Join, ...], BeforeValidator(one_or_several)] = ()
    skip: Annotated[tuple[Skip, ...], BeforeValidator(one_or_several)] = ()
    fixed: Mapping[str, str] = {}  # fields that all rows have alike
    # In texts: a publisher's placeholder -> '', a text, or a template of columns: { "$OCCUPATION" = "{occupation}" }
    replace: Mapping[Annotated[str, Field(min_length=1)], Annotated[str, AfterValidator(parse_name)]] = {}

    @model_validator(mode="after")
    def _consistent(self) -> FileRules:
        formed = next((one.name for one in self.target_fields() if one.name in self.fixed and not one.is_text), None)
        if formed is not None:
            raise ValueError(f"fixed.{formed}: only a text can be fixed for all rows; write {formed} in the block")
        if KEY not in type(self).model_fields and any(join.key is None for join in self.join):
            raise ValueError("join: needs `key`, the column that its rows are found by")
        return self

    @property
    def expanding(self) -> Expand | None:
        """Code that makes rows of a file's records, where a target has some."""
        return None

    @classmethod
    @cache
    def target_fields(cls) -> tuple[TargetField, ...]:
        """The fields that a row of the target has."""
        every: list[tuple[str, str | None, Any]] = [
            (name, one.description, one.json_schema_extra) for name, one in cls.model_fields.items()
        ]
        return tuple(
            TargetField(name, meaning, **more) for name, meaning, more in every if meaning is not None and more
        )

    @classmethod
    def missing(cls, values: Mapping[str, str], kind: str = "") -> str | None:
        """The first needed field that a row has nothing of; None where it has all."""
        needed = (one.name for one in cls.target_fields() if one.is_needed(kind) and one.name in values)
        return next((name for name in needed if not values[name]), None)

    def says(self, name: str) -> bool:
        """Whether the block says of a field what it is: by a column, for all rows, or by the paths of its files."""
        paths = (fields_of(pattern) for pattern in self.files)
        return getattr(self, name) not in (None, ()) or name in self.fixed or all(name in named for named in paths)

    def lacking(self, kind: str = "") -> str | None:
        """Which field that rows of a kind of data set need the block says nothing of, and what would; None: of none."""
        for one in self.target_fields():
            if one.is_needed(kind) and not self.says(one.name):
                others = f", fixed.{one.name} for all rows, or {{{one.name}}} in files" if one.is_text else ""
                return f"needs {one.name!r}, {one.meaning}: {one.name} = {one.example}{others}"
        return None

    @property
    def column_names(self) -> list[str]:
        """The columns, paths and templates by which it reads a row."""
        named = [inner for name, value in self if name not in _NO_COLUMNS for inner in _names_in(value)]
        return [*named, *self.split, *(name for join in self.join for name in _names_in(join.key or ""))]


_NO_COLUMNS = frozenset(FileRules.model_fields) - {"skip"} | {"expand", "roles"}


def _names_in(value: Any) -> Iterator[str]:
    """The columns, paths and templates that a field's rule has."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _names_in(inner)
    elif isinstance(value, TableRules):
        named = ("column", "of", "groups", "key")
        yield from (name for key in named if (inner := getattr(value, key, None)) for name in _names_in(inner))


def columns_of(names: Iterable[str]) -> set[str]:
    """The columns that are read by these names: of a path its first part, of a template those in braces. The row of a
    table that has most of them is its header."""
    parts = (part for name in names for one in alternatives(name)
             for part in (re.findall(r"\{([^{}]+)\}", one) if "{" in one else [one]))  # fmt: skip
    return {re.split(r"[.\[]", column)[0] for part in parts for column in alternatives(part)}


def _places(model: type[BaseModel], key: str) -> Iterator[str]:
    """Where in a file a key belongs."""
    if key in _keys(model):
        yield "at the top of the file, above all blocks"
    for name, field in model.model_fields.items():
        is_list = get_origin(field.annotation) is tuple
        of = get_args(field.annotation)[0] if is_list else field.annotation
        block = f"[[{name}]]" if is_list else f"[{name}]"
        if isinstance(of, type) and issubclass(of, BaseModel) and key in _keys(of):
            yield f"under {block}"


def _keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


M = TypeVar("M", bound=BaseModel)
TABLES: tuple[type[BaseModel], ...] = (FileRules, Join, Skip)


def checked(model: type[M], data: Mapping[str, Any], where: object, tables: Sequence[type[BaseModel]] = ()) -> M:
    """A rules file as a `model`, which has `tables` beside those of files. Raises `DataSetError`, naming the place."""
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        errors = fault.errors()
        # What is missing may stand there under a misspelt name.
        misspelt = (
            one for one in errors if one["type"] == "extra_forbidden" and one["loc"][:-1] == errors[0]["loc"][:-1]
        )
        first = next(misspelt, errors[0]) if errors[0]["type"] == "missing" else errors[0]
        within = first["loc"][1:]  # the first step is a key, even `name`
        steps = [str(step) for step in first["loc"][:1]]
        steps += [str(step) for step in within if step not in SHAPES and "[" not in str(step)]
        every: list[type[BaseModel]] = [model, *TABLES, *tables]
        known = {field.alias or name for one in every for name, field in one.model_fields.items()}
        what, remedy = describe_fault(first, steps, known - {*steps[-1:]}, "See docs/datasets.md.")
        if first["type"] == "extra_forbidden" and (places := list(_places(model, steps[-1]))):
            remedy = f"Write {steps[-1]!r} {' or '.join(places)}."
        if first["type"] == "union_tag_invalid":
            what = f"{'.'.join(steps)}: must be one of these forms: {first['ctx']['expected_tags']}"
        raise DataSetError(what, where=where, remedy=remedy) from fault
