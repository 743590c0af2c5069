"""The rules by which a data set's files are read, and where it is published: a TOML file each, checked by pydantic.

`sources` reads what all rules files have: where a data set is published, its files, their rows, joins and skips.
`DatasetRules` adds entities and contexts. What a block does not say (which culture, which type, ...) is taken from the
path (`{culture}`, `{type}`, `{setting}`, `{form}`), else from a column. Columns are named by lists, the first that is
there counts; case and spaces do not. `{language}` and `{code}` in a column's name stand for each language of the
culture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import model_validator

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import is_folder_name
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import read_toml
from polyculture.sources.files import RECORDS, WORKBOOKS
from polyculture.sources.places import Source, fields_of, path_expression
from polyculture.sources.rules import FileRules, Names, checked

RULES = Path(__file__).parent / "rules"
QUESTIONS = Path(__file__).parents[1] / "questions" / "sets"  # where a name may be that is no data set's
SUFFIXES = (*WORKBOOKS, ".csv", ".tsv", *RECORDS)  # of the files that are read
FIELDS = ("culture", "type", "setting", "form")  # that a path may say


class DataBlock(FileRules):
    """Files of entities, or of contexts, of one form. A field is the first of its columns that is there."""

    text: Names  # the entity, or the context with its gap
    english: Names = ()
    language: Names = ()  # columns that say what is not fixed and not in the path
    culture: Names = ()
    type: Names = ()
    gender: Names = ()
    country: Names = ()
    qid: Names = ()
    setting: Names = ()
    form: Names = ()
    sentiment: Names = ()
    phrasing: Names = ()
    pair: Names = ()
    question: Names = ()
    of_culture: str | None = None  # fixed for all rows
    of_type: str | None = None
    of_setting: str | None = None
    of_form: str | None = None

    @model_validator(mode="after")
    def _known(self) -> DataBlock:
        unknown = next((name for files in self.files for name in fields_of(files) if name not in FIELDS), None)
        if unknown is not None:
            raise ValueError(f"files: has the field {{{unknown}}}; a path says {', '.join(FIELDS)}")
        if any(join.key is None for join in self.join):
            raise ValueError("join: needs `key`, the column that its rows are found by")
        return self

    def match(self, path: str) -> re.Match[str] | None:
        """What a path, with forward slashes, says of its file; None where the block does not read it.

        A table may come in any of the file types that are read, and capitals in names do not count.
        """
        if any(re.fullmatch(path_expression(one), path, re.IGNORECASE) for one in self.without):
            return None
        return next((match for files in self.files if (match := _pattern(files).fullmatch(path))), None)


@lru_cache(maxsize=256)
def _pattern(files: str) -> re.Pattern[str]:
    stem, dot, suffix = files.rpartition(".")
    known = f"{dot}{suffix}" in SUFFIXES
    ending = f"(?:{'|'.join(map(re.escape, SUFFIXES))})" if known else ""
    return re.compile(path_expression(stem if known else files, "[^/]+?") + ending, re.IGNORECASE)


class DatasetRules(Source):
    """A data set: its publisher, its content, and the rules for reading its files."""

    published: Mapping[Literal["entities", "contexts"], int] = {}  # what the paper says there is
    reference: str = "Western"
    masks: tuple[str, ...] = ("[MASK]",)  # the first is right; the others are read as it, and listed
    types: tuple[str, ...] = ()  # of entities, all that there are; (): any
    cultures: Mapping[str, tuple[str, ...]] = {}  # culture -> its languages
    others: tuple[str, ...] = ()  # cultures that are kept and are neither native nor the reference
    languages: Mapping[str, str] = {}  # code -> the name that columns use
    # 'type', 'culture', 'setting', ...: spelling (lower case) -> word of ours.
    words: Mapping[str, Mapping[str, str]] = {}
    entities: tuple[DataBlock, ...]
    contexts: tuple[DataBlock, ...] = ()

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
    return checked(DatasetRules, read_toml(file, DataSetError), file, (DataBlock,))
