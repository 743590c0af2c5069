"""A folder of files, read by rules into a data set."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.model import (
    BOTH,
    MASK,
    CulturalEntity,
    DataSet,
    LeftOut,
    MaskedContext,
    SourceLocation,
)
from polyculture.instruments.datasets.rules import Block, DatasetRules
from polyculture.instruments.datasets.sheets import HEADER, SUFFIXES, Sheet, read_sheets

FIXED = ("culture", "type", "setting", "form")
ANY = "any"  # the form of a context without one
GENDERS = {"female": "female", "f": "female", "male": "male", "m": "male", "both": BOTH}
QID = re.compile(r"(?:^|/)(Q[1-9][0-9]*)$")


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A row under one language: its text, and its attributes from block, path and columns."""

    place: SourceLocation
    language: str
    text: str
    values: Mapping[str, str]

    def get(self, name: str) -> str | None:
        return self.values.get(name) or None


class Loader:
    """Reads one folder, and collects the rows that it leaves out."""

    def __init__(self, rules: DatasetRules, folder: Path) -> None:
        self.rules, self.folder = rules, folder
        self.left_out: list[LeftOut] = []
        self._entities: dict[tuple[str, str, str, str], CulturalEntity] = {}
        self._contexts: dict[str, MaskedContext] = {}

    def load(self) -> DataSet:
        for path in sorted(self.folder.rglob("*")):
            if path.suffix.lower() in SUFFIXES and not path.name.startswith(("~", ".")):
                self._read(path)
        found = tuple(self._entities.values()), tuple(self._contexts.values())
        return DataSet(self.rules.name, self.rules.reference, self.folder, *found, tuple(self.left_out))

    def _read(self, path: Path) -> None:
        name = path.relative_to(self.folder).as_posix()
        for blocks, add in ((self.rules.entities, self._add_entity), (self.rules.contexts, self._add_context)):
            for block in blocks:
                match = block.pattern.fullmatch(name)
                if match is None:
                    continue
                for sheet in read_sheets(self.folder, path):
                    for row in self._rows(block, sheet, match.groupdict()):
                        add(row)
                return
        self._leave_out(SourceLocation(name), "no rule of the data set reads this file")

    def _rows(self, block: Block, sheet: Sheet, path: Mapping[str, str]) -> Iterator[DatasetRow]:
        fixed = {name: getattr(block, f"of_{name}") or path.get(name, "") for name in FIXED}
        columns = {name: sheet.column(getattr(block, name)) for name in _OPTIONAL if getattr(block, name)}
        self._check_columns(block, sheet, fixed, columns)
        texts = self._text_columns(block, sheet, fixed["culture"])
        for number, cells in sheet.numbered():
            own = {name: _cell(cells, column) for name, column in columns.items()}
            values = {**own, **{name: self._word(name, fixed[name] or own.get(name, "")) for name in FIXED}}
            if fixed["culture"] and own.get("culture") and self._word("culture", own["culture"]) != values["culture"]:
                self._leave_out(
                    sheet.place(number),
                    f"culture {own['culture']!r} in a file of {values['culture']} entities",
                    _cell(cells, next(iter(texts.values()))),
                )
                continue
            for language, column in texts.items():
                yield DatasetRow(sheet.place(number), language or own.get("language", ""), _cell(cells, column), values)

    def _check_columns(
        self, block: Block, sheet: Sheet, fixed: Mapping[str, str], columns: Mapping[str, int | None]
    ) -> None:
        """Raises `DataSetError` where a column is missing without which no row can be used."""
        for name in ("language", "culture", "type", "setting"):
            wanted = getattr(block, name)
            if wanted and columns[name] is None and not fixed.get(name):
                raise _missing(sheet, self.folder, wanted)

    def _text_columns(self, block: Block, sheet: Sheet, culture: str) -> dict[str, int]:
        """The column of the text in each language; '' where a column says the language."""
        if block.language:
            column = sheet.column(block.text)
            if column is None:
                raise _missing(sheet, self.folder, block.text)
            return {"": column}
        word = self._word("culture", culture)
        languages = self.rules.cultures.get(word) or tuple(dict.fromkeys(self._all_languages()))
        found = {code: sheet.column(self._names(block.text, code, languages)) for code in languages}
        for code in [code for code, column in found.items() if column is None]:
            if word != self.rules.reference:
                reason = f"no column for {self.rules.languages.get(code, code)}; there are {', '.join(sheet.header)}"
                self._leave_out(sheet.place(HEADER), reason)
        texts = {code: column for code, column in found.items() if column is not None}
        if not texts:
            raise _missing(sheet, self.folder, self._names(block.text, languages[0], languages))
        return texts

    def _names(self, templates: Sequence[str], code: str, languages: Sequence[str]) -> list[str]:
        """Column names for one language; a name that says no language fits where there is but one."""
        spoken = self.rules.languages.get(code, code)
        told = [name.format(language=spoken, code=code) for name in templates if "{" in name]
        return told + [name for name in templates if "{" not in name and len(languages) == 1]

    def _all_languages(self) -> Iterator[str]:
        return (code for languages in self.rules.cultures.values() for code in languages)

    def _word(self, kind: str, spelling: str) -> str:
        return self.rules.word(kind, spelling) if spelling else ""

    def _add_entity(self, row: DatasetRow) -> None:
        kind, gender = _split_gender(row.values["type"], row.get("gender"))
        culture = row.values["culture"]
        reason = self._fault_of_entity(row, culture)
        if reason:
            self._leave_out(row.place, reason, row.text or row.get("english"))
            return
        qid = QID.search(row.get("qid") or "")
        entity = CulturalEntity(
            self.rules.name, row.language, culture, kind, row.text, row.get("english"), gender, row.get("country"),
            qid.group(1) if qid else None, row.place,
        )  # fmt: skip
        self._keep_entity(entity)

    def _fault_of_entity(self, row: DatasetRow, culture: str) -> str | None:
        if not row.text:
            return f"no entity in {self.rules.languages.get(row.language, row.language)}"
        if not any(sign.isprintable() and not sign.isspace() for sign in row.text):
            return "the entity has no visible sign"
        if not row.language:
            return "no language"
        if not culture:
            return "no culture"
        if any(unicodedata.category(sign) == "Cc" for sign in row.text):
            return "the entity has a line break or another control sign"
        known = (*self.rules.cultures, self.rules.reference, *self.rules.others)
        if self.rules.cultures and culture not in known:
            return f"culture {culture!r} is none of the data set's"
        return _fault_of_gender(row.get("gender"))

    def _keep_entity(self, entity: CulturalEntity) -> None:
        key = (entity.language, entity.culture, entity.entity_type, entity.surface)
        first = self._entities.setdefault(key, entity)
        if first is entity:
            return
        if first.gender != entity.gender and BOTH not in (first.gender, entity.gender):
            self._entities[key] = replace(first, gender=BOTH)
        self._leave_out(entity.place, f"the same entity as in {first.place}", entity.surface)

    def _add_context(self, row: DatasetRow) -> None:
        text, repaired = self._mask(row.text)
        fault = self._fault_of_context(text, row)
        if fault:
            self._leave_out(row.place, fault, row.text)
            return
        if repaired:
            self._leave_out(row.place, f"kept: its gap, written {repaired}, is read as {MASK}", row.text)
        kind, gender = _split_gender(row.values["type"], row.get("gender"))
        context = MaskedContext(
            self.rules.name, row.language, row.values["culture"], kind, gender, row.values["setting"],
            row.values["form"] or ANY, text, row.get("english"), row.get("sentiment"), row.place,
            row.get("phrasing"), row.get("pair"), question=row.get("question"),
        )  # fmt: skip
        first = self._contexts.setdefault(context.context_id, context)
        if first is not context:
            self._leave_out(row.place, f"the same context as in {first.place}", row.text)

    def _mask(self, text: str) -> tuple[str, str | None]:
        """The text with its gap as `MASK`, and the spelling that had to be read as it, if one had."""
        right, *others = self.rules.masks
        repaired = None
        for other in others:
            if other in text:
                text, repaired = text.replace(other, MASK), other
        return text.replace(right, MASK), repaired

    def _fault_of_context(self, text: str, row: DatasetRow) -> str | None:
        if not text:
            return f"no context in {self.rules.languages.get(row.language, row.language)}"
        gaps = text.count(MASK)
        if gaps != 1:
            return f"no gap {MASK}" if gaps == 0 else f"{gaps} gaps {MASK} where one is needed"
        missing = [name for name in ("culture", "type", "setting") if not row.values[name]]
        if missing or not row.language:
            return f"no {(missing or ['language'])[0]}"
        return _fault_of_gender(row.get("gender"))

    def _leave_out(self, place: SourceLocation, reason: str, text: str | None = None) -> None:
        self.left_out.append(LeftOut(place, reason, text))


_OPTIONAL = ("english", "language", "culture", "type", "gender", "country", "qid", "setting", "form", "sentiment",
             "phrasing", "pair", "question")  # fmt: skip


def load(rules: DatasetRules, folder: Path) -> DataSet:
    """The data set in `folder`. Raises `DataSetError` where there is none, or where a sheet lacks a column."""
    if not folder.is_dir():
        fetched = f"Get it with `polyculture data fetch {rules.name}`, or name" if rules.repository else "Name"
        remedy = f"{fetched} its folder with --folder."
        raise DataSetError(f"there is no folder with the data set {rules.name!r}", where=folder, remedy=remedy)
    found = Loader(rules, folder).load()
    if not found.entities or not found.contexts:
        lacking = "entities" if not found.entities else "contexts"
        first = next(iter(found.left_out), None)
        why = f"; {len(found.left_out)} left out, the first: {first.place}: {first.reason}" if first else ""
        raise DataSetError(f"holds no {lacking} of {rules.title}{why}", where=folder, remedy="See docs/datasets.md.")
    return found


def _split_gender(kind: str, column: str | None) -> tuple[str, str | None]:
    """'names/female' as the type 'names' of gender 'female'; a column's word goes before the type's."""
    plain, _, gender = kind.partition("/")
    own = GENDERS.get((column or "").casefold())
    return plain, own or gender or None


def _fault_of_gender(word: str | None) -> str | None:
    known = not word or word.casefold() in GENDERS
    return None if known else f"gender {word!r} is none of {', '.join(dict.fromkeys(GENDERS.values()))}"


def _cell(cells: Sequence[str], column: int | None) -> str:
    return "" if column is None or column >= len(cells) else cells[column]


def _missing(sheet: Sheet, folder: Path, wanted: Sequence[str]) -> DataSetError:
    there = ", ".join(title for title in sheet.header if title) or "none"
    named = f"sheet {sheet.name!r} " if sheet.name else ""
    return DataSetError(
        f"{named}row {HEADER}: no column {' or '.join(map(repr, wanted))}; there are: {there}",
        where=folder / sheet.file,
        remedy="Name the column so, or give rules of your own: see docs/datasets.md.",
    )
