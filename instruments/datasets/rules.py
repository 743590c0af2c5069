"""The rules by which a data set's files are read, and where it is published: a TOML file each, checked by pydantic.

`Source` says where a data set is published, of contexts and entities or of questions alike. `DatasetRules` adds how
files of contexts and entities are read:

A block names files by a pattern, relative to the data set's folder. `{culture}`, `{type}`, `{setting}` and `{form}`
take what stands there, `*` takes anything but a slash. What a block does not say (which culture, which type, ...) is
taken from the path, else from a column. Columns are named by lists, the first that is there counts; case and spaces do
not. `{language}` and `{code}` in a column's name stand for each language of the culture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import is_folder_name
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import parse_model, read_toml
from polyculture.instruments.datasets.sheets import SUFFIXES
from polyculture.sources.places import Source, fields_of, parse_files, path_expression

RULES = Path(__file__).parent / "rules"
QUESTIONS = Path(__file__).parents[1] / "questions" / "sets"  # where a name may be that is no data set's
Columns = tuple[str, ...]


FIELDS = ("culture", "type", "setting", "form")  # that a path may say


def _known_fields(files: str) -> str:
    for name in fields_of(files):
        if name not in FIELDS:
            raise ValueError(f"has the field {{{name}}}; a path says {', '.join(FIELDS)}")
    return parse_files(files)


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Block(_Data):
    """Files of one form."""

    files: Annotated[str, AfterValidator(_known_fields)]
    text: Columns  # the entity, or the context with its gap
    english: Columns = ()
    language: Columns = ()  # columns that say what is not fixed and not in the path
    culture: Columns = ()
    type: Columns = ()
    gender: Columns = ()
    country: Columns = ()
    qid: Columns = ()
    setting: Columns = ()
    form: Columns = ()
    sentiment: Columns = ()
    phrasing: Columns = ()
    pair: Columns = ()
    question: Columns = ()
    of_culture: str | None = None  # fixed for all rows
    of_type: str | None = None
    of_setting: str | None = None
    of_form: str | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """The files' pattern as a regular expression over paths with forward slashes.

        A table may come in any of the file types that are read, and capitals in names do not count.
        """
        stem, dot, suffix = self.files.rpartition(".")
        known = f"{dot}{suffix}" in SUFFIXES
        ending = f"(?:{'|'.join(map(re.escape, SUFFIXES))})" if known else ""
        return re.compile(path_expression(stem if known else self.files, "[^/]+?") + ending, re.IGNORECASE)


class DatasetRules(Source):
    """A data set: its publisher, its content, and the rules for reading its files."""

    published: Mapping[Literal["entities", "contexts"], int] = {}  # what the paper says there is
    reference: str = "Western"
    masks: tuple[str, ...] = ("[MASK]",)  # the first is right; the others are read as it, and listed
    types: tuple[str, ...] = ()  # of entities: a column of these words is the one of types, whatever its name
    scripts: Mapping[str, tuple[str, ...]] = {}  # language -> its scripts (ISO 15924): tell a column by its content
    cultures: Mapping[str, tuple[str, ...]] = {}  # culture -> its languages
    others: tuple[str, ...] = ()  # cultures that are kept and are neither native nor the reference
    languages: Mapping[str, str] = {}  # code -> the name that columns use
    # 'type', 'culture', 'setting', ...: spelling (lower case) -> word of ours.
    words: Mapping[str, Mapping[str, str]] = {}
    entities: tuple[Block, ...]
    contexts: tuple[Block, ...] = ()

    def word(self, kind: str, spelling: str) -> str:
        """A type, culture, setting or form as we write it; an unknown one is only put in lower case."""
        plain = " ".join(spelling.split())
        known = self.words.get(kind, {}).get(plain.casefold())
        if kind == "culture":
            cultures = (self.reference, *self.cultures, *self.others)
            return known or next((one for one in cultures if one.casefold() == plain.casefold()), plain)
        return known or plain.casefold()


def known_data_sets() -> dict[str, DatasetRules]:
    """The data sets whose rules come along, by name."""
    return {file.stem: read_rules(file) for file in sorted(RULES.glob("*.toml"))}


def rules_of(name: str) -> DatasetRules:
    """The rules of a data set, by name or by the path of a rules file of the user's own.

    'own:breakfast' are the rules of 'own' for a data set that is called 'breakfast'. Raises `DataSetError` where there
    are none.
    """
    if name.endswith(".toml"):
        return read_rules(Path(name))
    name, colon, called = name.partition(":")
    if colon:
        return _called(rules_of(name), called)
    file = RULES / f"{name}.toml"
    if not is_folder_name(name) or not file.exists():
        if (QUESTIONS / f"{name}.toml").is_file():
            what = f"{name!r} holds questions with choices, no contexts and entities"
            raise DataSetError(what, remedy=f"Ask them with `polyculture ask {name}`.")
        known = [path.stem for path in RULES.glob("*.toml")]
        raise DataSetError(f"there is no data set {name!r}", remedy=did_you_mean(name, known))
    return read_rules(file)


def _called(rules: DatasetRules, name: str) -> DatasetRules:
    if not is_folder_name(name):
        remedy = "Give it one of letters, digits, '.', '_' and '-', e.g. own:breakfast."
        raise DataSetError(f"{name!r} is no name for a data set", remedy=remedy)
    return rules.model_copy(update={"name": name})


def read_rules(file: Path) -> DatasetRules:
    """The rules in a file. Raises `DataSetError`, naming file and place, where it is no TOML or does not fit."""
    return parse_model(DatasetRules, read_toml(file, DataSetError), file)
