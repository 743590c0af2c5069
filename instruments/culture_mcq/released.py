"""The study's released sheets: a row is a question with its options, their countries and groups, and the right one.

A sheet may hold resource or region questions, told by the group of the target. Where the cultures at hand place a
country in another level than the sheet, the sheet counts for its own questions, and a line says so.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.folding import fold
from polyculture.instruments.culture_mcq.model import OPTIONS, McqQuestion, McqSet, Option, QuestionType
from polyculture.instruments.cultures.blend import Blend
from polyculture.instruments.cultures.cultures import Culture, Cultures
from polyculture.instruments.datasets.headers import with_header
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.datasets.sheets import Sheet, read_sheets

NAME = "culturescope"
_COLUMNS = ("ID", "target_country", "target_region", "prompt", "region_choices_list", "region_choice_countries_list",
            "region_choice_region_list", "region_answer")  # fmt: skip
_LETTERS = "ABCD"
_REMEDY = "Name the folder of the study's sheets, mcq_hard-negatives, with --sheets."


def load_released(folder: Path, cultures: Cultures, blend: Blend | None = None) -> McqSet:
    """The questions of all sheets (CSV) in a folder, or of one file; with `blend`, what annotators also gave.

    A row that contradicts itself or names a country that is no culture is left out, with the reason. Raises
    `DataSetError` where there is no sheet with these columns, or no row that can be used.
    """
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.csv"))
    root = folder.parent if folder.is_file() else folder
    if not files:
        raise DataSetError("holds no sheet *.csv", where=folder, remedy=_REMEDY)
    found = _Reading(cultures)
    for file in files:
        try:
            sheets = read_sheets(root, file)
        except DataSetError as fault:
            found.left_out.append(LeftOut(_place(root, file), f"left out: {fault.what}"))
            continue
        for sheet in sheets:
            found.read(sheet)
    if not found.questions:
        first = f": {found.left_out[0].place}: {found.left_out[0].reason}" if found.left_out else ""
        raise DataSetError(f"holds no question that can be used{first}", where=folder, remedy=_REMEDY)
    found.tell_levels()
    questions = tuple(found.questions.values())
    if blend is not None:
        questions = tuple(with_given(one, blend) for one in questions)
    whole = tuple(one for one in questions if is_whole(one))
    unasked = tuple(one for one in questions if not is_whole(one))
    empty = [LeftOut(one.place or _NOWHERE, "not asked: an option is empty", one.source_id) for one in unasked]
    return McqSet(NAME, whole, (*found.left_out, *empty), unasked=unasked)


def is_whole(question: McqQuestion) -> bool:
    """Has it a text for each option?"""
    return all(option.text for option in question.options)


def with_given(question: McqQuestion, blend: Blend) -> McqQuestion:
    """The same with the wrong options that the target's annotators gave, too, where their answers are at hand."""
    asked = blend.answered.get((question.source_id, question.target))
    if asked is None:
        return question
    given = asked.given
    also = [
        place for place, option in enumerate(question.options) if place != question.right and fold(option.text) in given
    ]
    return replace(question, also_given=tuple(also), tied=asked.tied)


class _Reading:
    def __init__(self, cultures: Cultures) -> None:
        self.cultures = cultures
        self.questions: dict[tuple[str, str, str], McqQuestion] = {}
        self.left_out: list[LeftOut] = []
        self.otherwise: Counter[tuple[str, str, str]] = Counter()  # (country, the sheet's level, that of the cultures)

    def read(self, sheet: Sheet) -> None:
        """Takes the rows of a sheet, or leaves them with the reason."""
        headed = with_header(sheet, _COLUMNS)
        sheet = headed.sheet
        self.left_out += [LeftOut(sheet.place(sheet.header_row or None), told) for told in headed.told]
        columns = {title.strip(): place for place, title in reversed(list(enumerate(sheet.header)))}
        missing = [name for name in _COLUMNS if name not in columns]
        if missing:
            reason = f"left out: no column {missing[0]!r}; there are: {', '.join(filter(None, sheet.header))}"
            self.left_out.append(LeftOut(sheet.place(sheet.header_row or None), reason))
            return
        for number, cells in sheet.numbered():
            row = {name: cells[place] if place < len(cells) else "" for name, place in columns.items()}
            try:
                question = replace(self._question(row), place=sheet.place(number))
            except ValueError as fault:
                self.left_out.append(LeftOut(sheet.place(number), f"left out: {fault}", row["ID"] or None))
                continue
            first = self.questions.setdefault(question.key, question)
            if first is not question:
                reason = f"left out: the same question and target as in {first.place}"
                self.left_out.append(LeftOut(sheet.place(number), reason, question.source_id))

    def tell_levels(self) -> None:
        """A line per country that stands under another level in the sheets than in the cultures."""
        for (country, told, ours), count in self.otherwise.items():
            reason = f"{country} is {told!r} in {count} questions and {ours!r} in the cultures: read as in the sheet"
            self.left_out.append(LeftOut(next(iter(self.questions.values())).place or _NOWHERE, reason))

    def _question(self, row: Mapping[str, str]) -> McqQuestion:
        """A row as a question. Raises `ValueError` with what is wrong."""
        if not row["ID"] or not row["prompt"]:
            raise ValueError("no ID" if not row["ID"] else "no prompt")
        target = self._culture(row["target_country"])
        group = self._group(row["target_region"])
        kind = QuestionType.RESOURCE if group in self.cultures.levels else QuestionType.REGION
        texts = _list(row, "region_choices_list")
        countries = [self._culture(name) for name in _list(row, "region_choice_countries_list")]
        groups = [self._group(name) for name in _list(row, "region_choice_region_list")]
        right = _right(row, texts)
        if len(set(texts)) < OPTIONS:
            raise ValueError("an option is there twice")
        if (countries[right], groups[right]) != (target, group):
            raise ValueError(f"the right option is of {countries[right].country}, {groups[right]}, not of the target")
        wrong = [name for place, name in enumerate(groups) if place != right]
        biased = self._biased(kind, group, wrong)
        place = next(at for at, name in enumerate(groups) if at != right and name == biased)
        if kind is QuestionType.RESOURCE:
            self._note_levels(countries, groups)
        level = group if kind is QuestionType.RESOURCE else target.level
        region = group if kind is QuestionType.REGION else target.region
        options = tuple(
            Option(text, culture.country, name) for text, culture, name in zip(texts, countries, groups, strict=True)
        )
        return McqQuestion(kind, row["ID"], target.country, level, region, row["prompt"], options, right, place)

    def _biased(self, kind: QuestionType, group: str, wrong: Sequence[str]) -> str:
        """The group of the biased option. Raises `ValueError` where the wrong ones are of other groups than needed."""
        if kind is QuestionType.RESOURCE:
            if sorted(wrong) != sorted(self.cultures.levels):
                raise ValueError(f"the wrong options are of {', '.join(wrong)}, not one of each level")
            return self.cultures.levels[0]
        if wrong.count(group) != 1 or len(set(wrong)) < len(wrong):
            raise ValueError(
                f"the wrong options are of {', '.join(wrong)}, not one of {group} and of two other regions"
            )
        return group

    def _note_levels(self, countries: Sequence[Culture], groups: Sequence[str]) -> None:
        for culture, level in zip(countries, groups, strict=True):
            if culture.level != level:
                self.otherwise[culture.country, level, culture.level] += 1

    def _culture(self, name: str) -> Culture:
        found = self.cultures.country(name)
        if found is None:
            raise ValueError(f"{name!r} is no country of the cultures")
        return found

    def _group(self, name: str) -> str:
        found = self.cultures.group(name)
        if found is None:
            raise ValueError(f"{name!r} is neither a level nor a region of the cultures")
        return found


def _list(row: Mapping[str, str], column: str) -> list[str]:
    """A cell as its list of four texts. Raises `ValueError` where it is none."""
    try:
        found = ast.literal_eval(row[column])
    except (ValueError, SyntaxError, MemoryError, RecursionError) as fault:
        raise ValueError(f"{column} is no list") from fault
    if not isinstance(found, list) or len(found) != OPTIONS:
        raise ValueError(f"{column} is no list of {OPTIONS}")
    return [" ".join(str(one).split()) for one in found]


def _right(row: Mapping[str, str], texts: Sequence[str]) -> int:
    """The index of the right option, which may be told in three columns. Raises `ValueError` where they differ."""
    told = row["region_answer"].removesuffix(".0")
    if told not in map(str, range(OPTIONS)):
        raise ValueError(f"region_answer {told!r} is none of 0 to {OPTIONS - 1}")
    right = int(told)
    letter = row.get("answer_idx", "")
    if letter and letter.upper() != _LETTERS[right]:
        raise ValueError(f"answer_idx {letter!r} contradicts region_answer {right}")
    text = row.get("answer_str", "") or row.get("region_answer_str", "")
    if text and " ".join(text.split()) != texts[right]:
        raise ValueError(f"the answer's text {text!r} contradicts region_answer {right}")
    return right


def _place(root: Path, file: Path) -> SourceLocation:
    return SourceLocation(file.relative_to(root).as_posix())


_NOWHERE = SourceLocation("the sheets")
