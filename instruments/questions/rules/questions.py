"""Rows as questions: texts, options and what each of them is, facets, language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.instruments.datasets.gaps import fault_of_gaps, read_gaps
from polyculture.instruments.questions.model import BIASED, UNKNOWN, Question
from polyculture.instruments.questions.rules.model import TARGET, Accepted, OptionsColumn, QuestionBlock, Rules, Wheres
from polyculture.instruments.questions.rules.options import RowOptions, options_of, roles_of
from polyculture.sources.fields import FieldWords, field_text, filled
from polyculture.sources.folder import RuledFolder
from polyculture.sources.headers import KnownColumns
from polyculture.sources.languages import language_code
from polyculture.sources.left_out import LEFT_OUT, LeftOut, once
from polyculture.sources.rules import ColumnName, columns_of
from polyculture.sources.values import RowError, SourceRow, as_text, number_of

NO_RIGHT = "counts for no accuracy: no option is right"
NO_DIRECTION = "counts for accuracy, not for bias: nothing tells which option the stereotype is about"
_CONTENT = ("context", "text", "options", "right", "roles", "answers", "facets")  # by which a question is another one
_SEEN_TWICE = "read once: the same question stands in "
# What publishers of BBQ's kin write for the two contexts and the two questions; a rules file may add its own words.
CONTEXTS = dict.fromkeys(("ambig", "amb", "ambiguous"), "ambiguous") | dict.fromkeys(
    ("disambig", "dis", "disambiguous", "disambiguated", "unambiguous"), "disambiguated"
)
POLARITIES = dict.fromkeys(("neg", "negative", "bsd", "biased"), "biased") | dict.fromkeys(
    ("nonneg", "non_neg", "non-neg", "non-negative", "nonnegative", "cnt", "counter-biased"), "counter-biased"
)
_DERIVED = {"context": CONTEXTS, "polarity": POLARITIES}


@dataclass
class Questions:
    """Reads the questions of a folder by the rules."""

    rules: Rules
    name: str  # of the set, its selection included
    folder: Path
    others: Sequence[str] | None = None  # patterns of files that are read for something else; None: nobody asks
    found: dict[tuple[str, str], Question] = field(default_factory=dict)  # (language, id) -> question
    remarks: list[LeftOut] = field(default_factory=list)
    _words: FieldWords = field(init=False)
    _repeated: list[tuple[Question, Question]] = field(default_factory=list)

    def read(self) -> None:
        """Reads all files. Raises `DataSetError` where there is none, or ids repeat with another text."""
        ruled = RuledFolder(self.folder, self.rules.questions, self.rules.words, self.remarks)
        self._words = ruled.words
        if not ruled.files:
            raise DataSetError(f"holds no file {self.rules.questions[0].files[0]}", where=self.folder,
                               remedy=self.rules.how_to_get)  # fmt: skip
        for file in ruled.files:
            before = len(self.remarks)
            for row in ruled.rows(file, KnownColumns.of(columns_of(file.block.column_names))):
                try:
                    self._take(row, file.block)
                except RowError as fault:
                    self.remarks.append(LeftOut(row.place, f"{LEFT_OUT}{fault}"))
            if code := file.block.fixed.get("language"):
                self.remarks[before:] = [replace(one, languages=(code,)) for one in self.remarks[before:]]
        # A file is read once for each language that its columns are named after.
        self.remarks[:] = once(self.remarks, {block.fixed.get("language", "") for block in self.rules.questions})
        ruled.tell_absent()
        if self.others is not None:
            ruled.tell_unread(self.others)
            ruled.tell_unused(self.rules.languages, {language for language, _ in self.found})
        self._check_ids()

    def _take(self, row: SourceRow, block: QuestionBlock) -> None:
        name = field_text(row, block, "id", self._words)
        if block.id == "row":
            name = f"{Path(row.place.file).with_suffix('').as_posix()}:{name}"
        if not name:
            raise RowError("its id is empty")
        question = self._question(row, block, name)
        first = self.found.setdefault((question.language, name), question)
        if first is not question and _content(first) == _content(question):
            self.remarks.append(LeftOut(row.place, f"{_SEEN_TWICE}{first.place}", name))
        elif first is not question:
            self._repeated.append((first, question))
        else:
            if block.right and not question.right:
                self.remarks.append(LeftOut(row.place, NO_RIGHT, name))
            if BIASED not in question.roles and {BIASED, TARGET} & set(block.roles):
                self.remarks.append(LeftOut(row.place, NO_DIRECTION, name))

    def _question(self, row: SourceRow, block: QuestionBlock, name: str) -> Question:
        facets = self._facets(row, block)
        language = self._language(row, block)
        context, text = (
            filled(field_text(row, block, name, self._words, whole=True), row, block.replace)
            for name in ("context", "text")
        )
        options = [
            filled(self._words.ours("options", one), row, block.replace) for one in options_of(row, block.options)
        ]
        if self.rules.kind == "gap":
            options = list(dict.fromkeys(options))  # a candidate that stands there twice is scored once
            gaps = read_gaps(text)
            text = gaps.text
            self.remarks += [LeftOut(row.place, change, name) for change in gaps.changes]
        if isinstance(block.options, tuple):
            options = self._without_empty(row, block.options, options)
        self._check_texts(text, options)
        right: tuple[int, ...] = ()
        roles: tuple[str, ...] = tuple("" for _ in options)
        if options:
            columns = [str(one) for one in block.options] if isinstance(block.options, tuple) else [
                str(number) for number in range(len(options))]  # fmt: skip
            known = RowOptions(row, options, columns, facets.get("category", ""))
            right = known.find(block.right)
            roles = self._roles(row, block, known, options, right, facets)
        answers, weights = self._answers(row, block)
        unit = name if self.rules.unit == "row" else facets[self.rules.unit]
        if "polarity" in facets and "pair" not in facets:
            facets["pair"] = content_id("pair", unit, facets.get("context", ""), context, sorted(options))
        return Question(name, self.name, language, self.rules.kind, unit, text, tuple(options), roles, right, row.place,
                        context, answers, weights, facets)  # fmt: skip

    def _without_empty(self, row: SourceRow, columns: Sequence[ColumnName], options: list[str]) -> list[str]:
        """The options up to the last that has a text: tables have as many columns as their longest question."""
        size = max((number for number, one in enumerate(options, 1) if one), default=0)
        if 2 <= size < len(options):
            self.remarks.append(LeftOut(row.place, f"read with {size} options: {columns[size]} is empty"))
            return options[:size]
        return options

    def _check_texts(self, text: str, options: list[str]) -> None:
        if not text and self.rules.kind != "pair":
            raise RowError("its text is empty")
        if self.rules.kind == "gap" and (fault := fault_of_gaps(text)):
            raise RowError(f"{fault}: [questions.replace] says what the gap is")
        if self.rules.kind == "open":
            return
        if len(options) < 2 or (self.rules.kind == "pair" and len(options) != 2):
            raise RowError(f"{len(options)} options")
        if not all(options):
            raise RowError("an option is empty")
        if len(set(options)) < len(options):
            raise RowError("two options are alike")

    def _answers(self, row: SourceRow, block: QuestionBlock) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The answers that an open question accepts, and the weight of each: that of all its spellings."""
        found: list[tuple[str, float]] = []
        for source in block.answers:
            told = _values(row, source)
            weights = [1.0] * len(told) if block.weights is None else _values(row, block.weights)
            if len(weights) != len(told):
                raise RowError(f"{_named(block.weights)} is not there for each of {len(told)} answers")
            for value, weight in zip(told, weights, strict=True):
                values = value if isinstance(value, list) else [value]
                numbers = weight if isinstance(weight, list) else [weight] * len(values)
                if len(numbers) != len(values):
                    raise RowError(f"{_named(block.weights)} has {len(numbers)} numbers for {len(values)} answers")
                found += [(text, number_of(_named(block.weights), number))
                          for one, number in zip(values, numbers, strict=True)
                          if (text := as_text(_named(source), one))]  # fmt: skip
        if block.answers and not found:
            raise RowError("it has no answer")
        if block.weights is not None and not block.answers:  # of a survey: how many people chose each option
            [told] = _values(row, block.weights)
            return (), tuple(number_of(_named(block.weights), number) for number in told)
        found = list(dict.fromkeys(found))
        return tuple(text for text, _ in found), tuple(weight for _, weight in found)

    def _roles(
        self,
        row: SourceRow,
        block: QuestionBlock,
        known: RowOptions,
        options: list[str],
        right: tuple[int, ...],
        facets: dict[str, str],
    ) -> tuple[str, ...]:
        if not isinstance(block.roles, Mapping):
            roles = block.roles if isinstance(block.roles, tuple) else tuple(options_of(row, block.roles))
            if len(roles) != len(options):
                raise RowError(f"{len(roles)} roles for {len(options)} options")
            return roles
        everyone = range(len(options))
        named = {role: known.one(role, rule, everyone) for role, rule in block.roles.items()
                 if role not in (TARGET, BIASED)}  # fmt: skip
        unknown = named.get(UNKNOWN)
        if UNKNOWN in block.roles and unknown is None:
            raise RowError("no option is 'unknown'")
        persons = [place for place in everyone if place != unknown]
        biased = _biased(known, block.roles, persons, facets.get("polarity"))
        if unknown is not None and right:
            facets["context"] = _context(facets.get("context"), right, biased, unknown)
        return roles_of(
            options, {role: place for role, place in {**named, BIASED: biased}.items() if place is not None}
        )

    def _facets(self, row: SourceRow, block: QuestionBlock) -> dict[str, str]:
        fixed = {name: value for name, value in block.fixed.items() if name not in type(block).model_fields}
        found = {name: self._facet(row, name, rule) for name, rule in block.facets.items()} | fixed
        for name, words in _DERIVED.items():
            if name in found and found[name] not in words.values():
                word = words.get(found[name].casefold())
                if word is None:
                    raise RowError(f"{name} {found[name]!r} is none of {', '.join(words)}: add it to words.{name}")
                found[name] = word
        return found

    def _facet(self, row: SourceRow, name: str, rule: ColumnName) -> str:
        try:
            return self._words.ours(name, row.text(rule))
        except RowError as fault:
            if row.has(rule):
                raise RowError(f"facets.{name}: {fault}") from fault
            remedy = f"a column that rows may lack ends with a bar, '{rule}|'; what all rows have alike is fixed.{name}"
            raise RowError(f"facets.{name}: {fault}; {remedy}") from fault

    def _language(self, row: SourceRow, block: QuestionBlock) -> str:
        """The language of a row: its own, or that of all; never a default."""
        said = field_text(row, block, "language", self._words) or self.rules.language
        if not said:
            remedy = "Write `language`, of the set or as the column of it, or {language} in `files`."
            raise DataSetError("no rule says its language", where=row.place, remedy=remedy)
        code = language_code(said)
        if code is None:
            raise RowError(
                f"language {said!r} is neither a code nor a language's name in CLDR: add it to words.language"
            )
        return code

    def _check_ids(self) -> None:
        if not self._repeated:
            return
        first, second = self._repeated[0]
        others = [name for name in _CONTENT if getattr(first, name) != getattr(second, name)]
        what = (f"{len(self._repeated)} ids occur again with other {' and '.join(others)}, as {first.name!r}: in "
                f"{first.place} and in {second.place}")  # fmt: skip
        raise DataSetError(what, where=self.folder,
                           remedy="Let `id` name what tells them apart, or leave one of the files out.")  # fmt: skip


def _biased(known: RowOptions, roles: Mapping[str, Wheres], persons: list[int], polarity: str | None) -> int | None:
    """The option that the stereotype expects: named, or whom it is about, or of a counter-biased question the other."""
    if BIASED in roles:
        biased = known.one(BIASED, roles[BIASED], range(len(persons) + 1))
        if biased is not None and biased not in persons:
            raise RowError("the biased option is 'unknown'")
        return biased
    about = known.one(TARGET, roles.get(TARGET, ()), persons)
    if about is None or polarity != "counter-biased":
        return about
    return sum(persons) - about if len(persons) == 2 else None


def _context(told: str | None, right: tuple[int, ...], biased: int | None, unknown: int) -> str:
    """What a context says: nothing ('ambiguous'), or which of the persons it was."""
    ambiguous = unknown in right
    if told is not None and (told == "ambiguous") != ambiguous:
        raise RowError(f"the right option does not fit a context that is {told}")
    if ambiguous:
        return "ambiguous"
    if biased is None:
        return "disambiguated"
    return "biased" if biased in right else "counter-biased"


def _content(question: Question) -> tuple[object, ...]:
    return tuple(getattr(question, name) for name in _CONTENT)


def _values(row: SourceRow, source: Accepted) -> list[Any]:
    """What stands at a path, or the list that a column holds. Raises `RowError` where there is no such column."""
    if isinstance(source, OptionsColumn):
        return [options_of(row, source)]
    if not row.has(source):
        row.text(source)  # which says what there is
    return row.all(source)


def _named(source: Accepted | None) -> str:
    return str(source.column if isinstance(source, OptionsColumn) else source)
