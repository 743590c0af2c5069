"""A folder of files, read by rules into a data set."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.datasets.columns import (
    DataSheet,
    known_columns,
    languages_without,
    present_fields,
    text_columns,
)
from polyculture.instruments.datasets.gaps import fault_of_gaps, own_spelling, read_gaps
from polyculture.instruments.datasets.model import (
    BOTH,
    CAUSAL,
    LABELS,
    MASK,
    OF_CAUSAL,
    OF_ENGLISH,
    OF_SENTIMENT,
    CulturalEntity,
    DataSet,
    MaskedContext,
    again_of,
    read_sentiment,
)
from polyculture.instruments.datasets.rules import (
    SHELF,
    WORDS,
    ContextBlock,
    DataBlock,
    DatasetRules,
    EntityBlock,
    none_of,
)
from polyculture.instruments.datasets.sides import of_one_side
from polyculture.sources.fields import field_text, filled
from polyculture.sources.folder import MissingColumnError, RuledFolder
from polyculture.sources.headers import titles
from polyculture.sources.left_out import LeftOut, SourceLocation
from polyculture.sources.rows import RuledFile, ruled_files
from polyculture.sources.rules import ColumnName
from polyculture.sources.tables import TITLE
from polyculture.sources.values import RowError, SourceRow

FIXED = ("culture", "type", "setting", "form")  # in words of ours: the rules', or in small letters
GENDERS = {"female": "female", "f": "female", "male": "male", "m": "male", "both": BOTH, "neutral": BOTH,
           "unisex": BOTH}  # fmt: skip
_QID = re.compile(r"(?:^|/)(Q[1-9][0-9]*)$")
_NAME_IT = (
    "Name the column so, or give rules of your own; a bar at the end of a name, 'Gender|', says there that sheets may "
    "lack it: see docs/datasets.md."
)
ANY = "any"  # the form of a context without one
QA = (
    "qa"  # the setting of contexts that ask for extraction; whole texts, in which no comparison of likelihoods is meant
)


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
    """Reads one folder, and collects the rows that it leaves out.

    A file or a sheet that cannot be read is a line among these; all others are read. What a comparison cannot use and
    the publisher's own counts hold is marked: rows that stand twice, and names on both sides.
    """

    def __init__(self, rules: DatasetRules, folder: Path) -> None:
        self.rules, self.folder = rules, folder
        self.left_out: list[LeftOut] = []
        self._ruled = RuledFolder(folder, rules.blocks, rules.words, self.left_out)
        self._entities: dict[str, CulturalEntity] = {}
        self._contexts: dict[str, MaskedContext] = {}

    def load(self) -> DataSet:
        for file in self._ruled.files:
            self._read(file)
        if not SHELF.comes_along(self.rules):  # whose names are of several editions
            self._ruled.tell_absent()
            read = {one.language for one in self._entities.values()}
            read |= {one.language for one in self._contexts.values()}
            self._ruled.tell_unused(self.rules.languages, read)
        self._ruled.tell_unread()
        entities = tuple(of_one_side([*self._entities.values()], self.rules.reference, self.left_out))
        contexts = tuple(self._contexts.values())
        return DataSet(self.rules.name, self.rules.reference, self.folder, entities, contexts, tuple(self.left_out))

    def _read(self, file: RuledFile[DataBlock]) -> None:
        """Reads a file by a block's rules. A sheet that cannot be read is listed as left out; the others are read."""
        for sheet in self._ruled.sheets(file, known_columns(self.rules, file.block)):
            try:
                self._add([*self._rows(sheet)], file.block)
            except MissingColumnError as fault:
                self._leave_out(sheet.place, f"the sheet is not read: {fault}. {_NAME_IT}")

    def _add(self, rows: Sequence[DatasetRow], block: DataBlock) -> None:
        if block.target == "entities":
            for row in rows:
                self._add_entity(row)
            return
        gaps = own_spelling([row.text for row in rows if row.text])
        for row in rows:
            self._add_context(row, gaps)

    def _rows(self, sheet: DataSheet) -> Iterator[DatasetRow]:
        """The rows of a sheet, each once in every language that the sheet has."""
        block, said = sheet.block, {**sheet.rows[0].of_path, **sheet.block.fixed}
        known = {one.name: said[one.name] for one in block.target_fields() if said.get(one.name)}
        culture, languages = self._culture_and_languages(known.get("culture", ""))
        words = {name: self._word(name, word) for name, word in known.items()}
        if unknown := self._fault_of_type(words.get("type", "")) or _fault_of_words(words):
            self._leave_out(sheet.place, f"the sheet is not read: {unknown}")
            return
        fields = [*present_fields(sheet, known), *known]
        texts = text_columns(self.rules, sheet, culture)
        for code in languages_without(self.rules, sheet, culture, texts):
            there = ", ".join(titles(sheet.rows[0].record.values))
            told = f"no column for {self.rules.languages.get(code, code)}; there are {there}"
            self._leave_out(sheet.place, told, languages=self.rules.cultures.get(culture, ()))
        texts = {code: column for code, column in texts.items() if not languages or code in languages}
        for row in sheet.rows:
            try:
                yield from self._row(row, block, fields, texts, culture)
            except RowError as fault:
                self._leave_out(row.place, str(fault))

    def _row(
        self, row: SourceRow, block: DataBlock, fields: Sequence[str], texts: Mapping[str, ColumnName], culture: str
    ) -> Iterator[DatasetRow]:
        """The row in each language. `fields` are those that the sheet has, `culture` is what block or path say."""
        said = {name: field_text(row, block, name, self._ruled.words, whole=True, optional=True) for name in fields}
        values = said | {name: self._word(name, said.get(name, "")) for name in FIXED}
        own = row.text(block.culture, optional=True) if culture and block.culture is not None else ""
        if own and self._word("culture", own) != culture:
            reason = f"culture {own!r} in a file of {culture} entities"
            self._leave_out(row.place, reason, _text(row, next(iter(texts.values()))), tuple(texts))
            return
        values["culture"] = culture or values["culture"]
        for name in {"english", "question"} & values.keys() if block.replace else ():
            values[name] = filled(values[name], row, block.replace)
        for language, column in texts.items():
            text = filled(_text(row, column), row, block.replace)
            yield DatasetRow(row.place, language or values.get("language", ""), text, values)

    def _culture_and_languages(self, said: str) -> tuple[str, tuple[str, ...]]:
        """The culture that block or path say, in our words; and the languages, where one is named in its place."""
        culture = self._word("culture", said)
        spoken = {name.casefold(): code for code, name in self.rules.languages.items()}
        code = spoken.get(culture.casefold())
        if culture in (*self.rules.cultures, self.rules.reference) or code is None:
            return culture, ()
        return next(culture for culture, codes in self.rules.cultures.items() if code in codes), (code,)

    def _word(self, kind: str, spelling: str) -> str:
        return self.rules.word(kind, self._ruled.words.ours(kind, spelling)) if spelling else ""

    def _add_entity(self, row: DatasetRow) -> None:
        kind, of_sheet = _split_gender(row.values["type"], None)
        own = _split_gender(row.values["type"], row.get("gender"))[1]
        culture = row.values["culture"]
        reason = self._fault_of_entity(row, culture)
        if reason:
            self._leave_out(row.place, reason, row.text or row.get("english"), (row.language,))
            return
        qid = _QID.search(row.get("qid") or "")
        self._keep_entity(CulturalEntity(
            self.rules.name, row.language, culture, kind, row.text, row.get("english"), own, row.get("country"),
            qid.group(1) if qid else None, row.place, of_sheet or own,
        ))  # fmt: skip

    def _fault_of_entity(self, row: DatasetRow, culture: str) -> str | None:
        if not row.text:
            return f"no entity in {self.rules.languages.get(row.language, row.language)}"
        if not any(sign.isprintable() and not sign.isspace() for sign in row.text):
            return "the entity has no visible sign"
        if not row.language:
            return "no language"
        if missing := EntityBlock.missing(row.values):
            return f"no {missing}"
        if any(unicodedata.category(sign) == "Cc" for sign in row.text):
            return "the entity has a line break or another control sign"
        known = (*self.rules.cultures, self.rules.reference, *self.rules.others)
        if self.rules.cultures and culture not in known:
            return f"culture {culture!r} is none of the data set's"
        return self._fault_of_type(row.values["type"]) or _fault_of_gender(row.get("gender"))

    def _keep_entity(self, entity: CulturalEntity) -> None:
        """Keeps a row; one that stands there again gives the first its gender, and is left out."""
        first = self._entities.setdefault(entity.entity_id, entity)
        if first is entity:
            return
        again = next(one for one in again_of(entity) if one.entity_id not in self._entities)
        self._entities[again.entity_id] = replace(again, left_out=frozenset({entity.language}))
        if first.gender != entity.gender:
            self._entities[first.entity_id] = replace(first, gender=BOTH)
        reason = f"the same entity as in {first.place}"
        self._leave_out(entity.place, reason, entity.surface, (entity.language,), is_published=True)

    def _add_context(self, row: DatasetRow, gaps: tuple[str, ...]) -> None:
        read = read_gaps(row.text, gaps)
        fault = self._fault_of_context(read.text, row)
        if fault:
            self._leave_out(row.place, fault, row.text, (row.language,))
            return
        english = read_gaps(row.get("english") or "")
        kind, gender = _split_gender(row.values["type"], row.get("gender"))
        context = MaskedContext(
            self.rules.name, row.language, row.values["culture"], kind, gender, row.values["setting"],
            row.values["form"] or ANY, read.text, english.text or None,
            row.get("sentiment"), row.place, row.get("phrasing"), row.get("pair"), question=row.get("question"),
        )  # fmt: skip
        of_english = (f"{change}, in its translation" for change in english.changes)
        for change in (*read.changes, *of_english, *_remarks(context, "sentiment" in row.values)):
            self._leave_out(row.place, change, row.text, (row.language,))
        self._keep_context(context, row.text)

    def _keep_context(self, context: MaskedContext, text: str) -> None:
        first = self._contexts.setdefault(context.context_id, context)
        if first is context:
            return
        again = next(one for one in again_of(context) if one.context_id not in self._contexts)
        self._contexts[again.context_id] = replace(again, left_out=True)
        reason = f"the same context as in {first.place}"
        self._leave_out(context.place, reason, text, (context.language,), is_published=True)

    def _fault_of_context(self, text: str, row: DatasetRow) -> str | None:
        if not text:
            return f"no context in {self.rules.languages.get(row.language, row.language)}"
        if fault := fault_of_gaps(text):
            return fault
        if missing := ContextBlock.missing(row.values) or ("" if row.language else "language"):
            return f"no {missing}"
        fault = self._fault_of_type(row.values["type"]) or _fault_of_words(row.values)
        return fault or _fault_of_gender(row.get("gender"))

    def _fault_of_type(self, kind: str) -> str | None:
        """Why a type is none of the data set's; None for one of them, and where the rules name none."""
        plain, known = _split_gender(kind, None)[0], self.rules.types
        if not plain or not known or plain in known:
            return None
        own = "Write one of these, or give rules of your own: see docs/datasets.md."
        return f"type {plain!r} is none of {', '.join(known)}. {did_you_mean(plain, known, otherwise=own)}"

    def _leave_out(
        self,
        place: SourceLocation,
        reason: str,
        text: str | None = None,
        languages: tuple[str, ...] = (),
        *,
        is_published: bool = False,
    ) -> None:
        self.left_out.append(LeftOut(place, reason, text, tuple(filter(None, languages)), is_published))


def load(rules: DatasetRules, folder: Path, *, as_published: bool = False) -> DataSet:
    """The data set in `folder`. Raises `DataSetError` where none of its entities or contexts is read.

    What is read in spite of a file or sheet that is not stands beside a line about that, in `left_out`.
    """
    found = replace(Loader(rules, folder).load(), as_published=as_published)
    if not found.entities or not found.contexts:
        lacking, blocks = ("contexts", rules.contexts) if found.entities else ("entities", rules.entities)
        why = _why_none(lacking, blocks, found)
        raise DataSetError(f"holds no {lacking} of {rules.title}{why}", where=folder, remedy="See docs/datasets.md.")
    return found


def _why_none(lacking: str, blocks: Sequence[DataBlock], found: DataSet) -> str:
    """Why a data set has no entities, or no contexts: no rule, no file, or what is wrong in the first of its files."""
    if not blocks:
        return f": its rules have no [[{lacking}]]"
    theirs = tuple(file.path.relative_to(found.folder).as_posix() for file in ruled_files(found.folder, blocks))
    lines = [line for line in found.left_out if not theirs or line.place.file.startswith(theirs)]
    # What is wrong with a whole file or sheet says more, and a title says nothing.
    lines.sort(key=lambda line: (line.reason == TITLE, line.place.row is not None))
    patterns = dict.fromkeys(pattern for block in blocks for pattern in block.files)
    why = "" if theirs else f": there is no file {' or '.join(patterns)}"
    return f"{why}; {len(lines)} left out, the first: {lines[0].place}: {lines[0].reason}" if lines else why


def _text(row: SourceRow, column: ColumnName) -> str:
    return row.text(column, whole=True, optional=True)


def _remarks(context: MaskedContext, has_sentiments: bool) -> Iterator[str]:
    """What is particular about a context that is kept."""
    said, label = (context.sentiment or "").strip(), read_sentiment(context.sentiment)
    if context.setting != QA and has_sentiments and not said:
        yield f"kept: no sentiment, {OF_SENTIMENT}"
    elif context.setting != QA and said and label is None:
        yield f"kept: sentiment {said!r} is none of {', '.join(LABELS)}, {OF_SENTIMENT}"
    elif label and said.casefold() != label:
        yield f"kept: its sentiment {said!r} is read as {label}"
    if context.starts_with_gap and context.form in (CAUSAL, ANY):
        yield f"kept: it begins with its gap, {OF_CAUSAL}"
    if context.english and (gaps := context.english.count(MASK)) != 1:
        yield f"kept: {gaps} gaps {MASK} in its translation, {OF_ENGLISH}"


def _split_gender(kind: str, column: str | None) -> tuple[str, str | None]:
    """'names/female' as the type 'names' of gender 'female'; a column's word goes before the type's."""
    plain, _, gender = kind.partition("/")
    own = GENDERS.get((column or "").casefold())
    return plain, own or gender or None


def _fault_of_words(values: Mapping[str, str]) -> str | None:
    """Which setting or form of a context no command knows; None where each is known or left out."""
    for name, known in WORDS.items():
        if (word := values.get(name)) and word not in known:
            return none_of(name, word)
    return None


def _fault_of_gender(word: str | None) -> str | None:
    known = not word or word.casefold() in GENDERS
    return None if known else f"gender {word!r} is none of {', '.join(dict.fromkeys(GENDERS.values()))}"
