"""CultureScope's released sheets: a row is a question with its options, their countries and groups, and the right one.

A sheet holds resource or region questions, told by the group of the target. Where the cultures at hand place a country
in another level than the sheet, the sheet counts for its own questions, and a remark says so.

A question whose wrong options are what other cultures answer to it, as in CultureScope (2025, section 3.2.3).

A `resource` question has a wrong option of each resource level, of another culture than the target; that of the highest
level is the biased one. Of a `region` question one is of the target's own region, the biased one, and two are of two
other regions. Roles are 'own', 'biased' and 'other'.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from string import ascii_uppercase

from polyculture.cache.errors import DataSetError, UserError
from polyculture.cache.folding import fold
from polyculture.imports.files import read_file
from polyculture.imports.record import BadRow, Record
from polyculture.instruments.cultures.blend import Blend
from polyculture.instruments.cultures.cultures import Culture, Cultures
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.questions.model import BIASED, OTHER, Question
from polyculture.instruments.questions.rules.files import row_place

OPTIONS = 4
OWN = "own"  # the role of the target's answer
LANGUAGE = "en"  # of questions and options: BLEnD has the options of other cultures in English alone
NOT_KNOWN = "not known"


class QuestionType(StrEnum):
    """Where the wrong options are from."""

    RESOURCE = "resource"
    REGION = "region"


_COLUMNS = ("ID", "target_country", "target_region", "prompt", "region_choices_list", "region_choice_countries_list",
            "region_choice_region_list", "region_answer")  # fmt: skip
_REMEDY = "Name the folder of the study's sheets, mcq_hard-negatives: see docs/question-sets.md."
_EMPTY = "not asked: an option is empty"


def sheet_questions(
    folder: Path, cultures: Cultures, name: str, blend: Blend | None = None
) -> tuple[list[Question], list[LeftOut]]:
    """The questions of all sheets (CSV) in a folder, or of one file, for the set `name`, and remarks on rows that
    cannot be used.

    With BLEnD it is known of which topic a question is, and whether annotators of the target gave a wrong option as
    well, so that there are several right ones. A row that contradicts itself or names a country that is no culture is
    left out, with the reason; one with an empty option is there with a remark. Raises `DataSetError` where there is no
    row that can be used.
    """
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.csv"))
    root = folder.parent if folder.is_file() else folder
    found = _Reading(cultures, name, blend)
    for file in files:
        path = file.relative_to(root).as_posix()
        try:
            for row in read_file(file):
                found.read(row_place(path, row.row), row)
        except (UserError, OSError) as fault:
            found.remarks.append(LeftOut(SourceLocation(path), f"left out: {fault}"))
    if not found.questions:
        first = f": {found.remarks[0].place}: {found.remarks[0].reason}" if found.remarks else ": no sheet *.csv"
        raise DataSetError(f"holds no question that can be used{first}", where=folder, remedy=_REMEDY)
    questions = list(found.questions.values())
    for (country, told, ours), count in found.otherwise.items():
        reason = f"{country} is {told} in {count} questions and {ours} in the cultures: read as in the sheet"
        found.remarks.append(LeftOut(questions[0].place, reason))
    found.remarks += [LeftOut(one.place, _EMPTY, one.unit) for one in questions if not all(one.options)]
    return questions, found.remarks


class _Reading:
    def __init__(self, cultures: Cultures, name: str, blend: Blend | None) -> None:
        self.cultures, self.name, self.blend = cultures, name, blend
        self.questions: dict[str, Question] = {}
        self.remarks: list[LeftOut] = []
        self.otherwise: Counter[tuple[str, str, str]] = Counter()  # (country, the sheet's level, that of the cultures)

    def read(self, place: SourceLocation, told: Record | BadRow) -> None:
        """Takes a row, or leaves it with the reason."""
        if isinstance(told, BadRow):
            self.remarks.append(LeftOut(place, f"left out: {told.reason}", told.value))
            return
        row = {name: str(value or "").strip() for name, value in told.values.items()}
        try:
            question = self._question(row, place)
        except ValueError as fault:
            self.remarks.append(LeftOut(place, f"left out: {fault}", row.get("ID")))
            return
        first = self.questions.setdefault(question.name, question)
        if first is not question:
            reason = f"left out: the same question and target as in {first.place}"
            self.remarks.append(LeftOut(place, reason, question.unit))

    def _question(self, row: Mapping[str, str], place: SourceLocation) -> Question:
        """A row as a question. Raises `ValueError` with what is wrong."""
        if missing := [name for name in _COLUMNS if name not in row]:
            raise ValueError(f"no column {missing[0]!r}; there are: {', '.join(row)}")
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
        wrong = [name for at, name in enumerate(groups) if at != right]
        wanted = self._biased(kind, group, wrong)
        biased = next(at for at, name in enumerate(groups) if at != right and name == wanted)
        if kind is QuestionType.RESOURCE:
            for culture, level in zip(countries, groups, strict=True):
                if culture.level != level:
                    self.otherwise[culture.country, level, culture.level] += 1
        facets = {
            "type": str(kind),
            "country": target.country,
            "level": group if kind is QuestionType.RESOURCE else target.level,
            "region": group if kind is QuestionType.REGION else target.region,
            "levels": "; ".join(self.cultures.levels),  # all, from the most resources to the least
            "countries": "; ".join(one.country for one in countries),  # of the options, in their order
            "groups": "; ".join(groups),
            **self._of_blend(row["ID"], target, [text for at, text in enumerate(texts) if at != right]),
        }
        roles = [OTHER] * len(texts)
        roles[right], roles[biased] = OWN, BIASED
        return Question(
            name=" ".join((row["ID"], target.country, kind)),
            set=self.name,
            language=LANGUAGE,
            kind="choice",
            unit=row["ID"],  # BLEnD's, the same for all targets
            text=row["prompt"],
            options=tuple(texts),
            roles=tuple(roles),
            right=(right,),
            place=place,
            facets=facets,
        )

    def _of_blend(self, source_id: str, target: Culture, wrong: Sequence[str]) -> Mapping[str, str]:
        """The topic, and whether annotators of the target gave a wrong option as well."""
        asked = self.blend.answered.get((source_id, target.country)) if self.blend else None
        if asked is None:
            return {"also_given": NOT_KNOWN}
        also = "yes" if any(fold(text) in asked.given for text in wrong) else "no"
        return {"also_given": also, **({"topic": asked.topic} if asked.topic else {})}

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
    if letter and letter.upper() != ascii_uppercase[right]:
        raise ValueError(f"answer_idx {letter!r} contradicts region_answer {right}")
    text = row.get("answer_str", "") or row.get("region_answer_str", "")
    if text and " ".join(text.split()) != texts[right]:
        raise ValueError(f"the answer's text {text!r} contradicts region_answer {right}")
    return right
