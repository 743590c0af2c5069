"""What the files hold beside the study's descriptive statistics: `polyculture culture-mcq --check`."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from polyculture.cache.folding import fold
from polyculture.instruments.culture_mcq.model import McqQuestion, McqSet, Option, QuestionType
from polyculture.instruments.cultures.blend import Blend
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.datasets.model import LeftOut

_FILE = Path(__file__).with_name("published.toml")
_ROUNDING = {"mean": 0.005, "sd": 0.05}  # the study prints one SD with one digit
FIRST = 4000  # questions whose overlap with the annotators' answers is printed apart
ALL = "all"


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A count or a statistic, the published one, and what is to be said of it."""

    part: str
    group: str
    found: float
    published: float | None = None
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Equal as far as the study prints it; None where it prints nothing."""
        if self.published is None:
            return None
        tolerance = _ROUNDING.get(self.part.rpartition(" ")[2], 0.0)
        return abs(self.found - self.published) <= tolerance + 1e-9


def written(number: float | None) -> str | None:
    """A count without decimals, a statistic with two, as the study prints them."""
    return None if number is None else f"{number}" if isinstance(number, int) else f"{number:.2f}"


@cache
def _published() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def check_sheets(found: McqSet, cultures: Cultures) -> Iterator[CheckRow]:
    """The study's tables 4 and 5 from its sheets, and what its questions have in them that a reader should know."""
    questions = [*found.questions, *found.unasked]
    yield from _counts(questions, cultures)
    yield from _options(questions, cultures)
    yield from _overlap(questions)
    yield from _oddities(questions)
    yield from _remarks(found.left_out)


def check_blend(blend: Blend, cultures: Cultures) -> Iterator[CheckRow]:
    """How many questions stay of each country, and why others do not."""
    for country in cultures.countries:
        if not blend.asked.get(country):
            yield CheckRow("BLEnD questions that stay", country, 0, note="no answers of it are in the folder")
            continue
        some = {reason: count for (name, reason), count in blend.excluded.items() if name == country}
        note = ", ".join(f"{count} {reason}" for reason, count in sorted(some.items()))
        yield CheckRow("BLEnD questions that stay", country, blend.of_country(country), note=f"left out: {note}")
    reasons: Counter[str] = Counter()
    for (_, reason), count in blend.excluded.items():
        reasons[reason] += count
    for reason, count in sorted(reasons.items()):
        yield CheckRow("BLEnD questions left out", reason, count)
    yield CheckRow("BLEnD questions that stay", ALL, len(blend.questions), _published()["blend_questions"])
    tied = sum(one.tied > 1 for one in blend.questions.values())
    note = "the first in the file is the right one, as in the study's questions"
    yield CheckRow("BLEnD questions with a tie", ALL, tied, note=note)
    yield from _remarks(blend.left_out)


def _counts(questions: Sequence[McqQuestion], cultures: Cultures) -> Iterator[CheckRow]:
    types = Counter(one.question_type for one in questions)
    for kind in QuestionType:
        yield CheckRow("questions", kind, types[kind], _published()["questions"][kind])
    levels = Counter(one.target_level for one in questions if one.question_type is QuestionType.RESOURCE)
    for level in cultures.levels:
        published = _published()["levels"].get(level)
        note = "the study's table has mid and low exchanged" if level in ("mid", "low") else ""
        yield CheckRow("resource questions by level", level, levels[level], published, note)
    for kind in QuestionType:
        places = Counter(one.right for one in questions if one.question_type is kind)
        told = ", ".join(str(places[place]) for place in sorted(places))
        yield CheckRow(f"{kind}: right option by place", "fewest", min(places.values(), default=0), note=told)


def _options(questions: Sequence[McqQuestion], cultures: Cultures) -> Iterator[CheckRow]:
    resource, region = (
        [one for one in questions if one.question_type is kind] for kind in (QuestionType.RESOURCE, QuestionType.REGION)
    )
    yield from _per_country("right, resource", resource, lambda one, option: one.options[one.right] is option)
    yield from _per_country("right, region", region, lambda one, option: one.options[one.right] is option)
    yield from _per_country(
        "of another region, region", region, lambda one, option: option.group != one.options[one.right].group
    )
    for level in cultures.levels:
        name = f"wrong of level {level}, resource"
        yield from _per_country(name, resource, _wrong_of(level))


def _wrong_of(level: str) -> Callable[[McqQuestion, Option], bool]:
    return lambda one, option: one.options[one.right] is not option and option.group == level


def _per_country(
    name: str, questions: Sequence[McqQuestion], counted: Callable[[McqQuestion, Option], bool]
) -> Iterator[CheckRow]:
    """How often a country gives such an option: mean and SD over the countries that do."""
    counts = Counter(option.country for one in questions for option in one.options if counted(one, option))
    if not counts:
        return
    published = _published()["options"].get(name, {})
    note = f"{len(counts)} countries"
    yield CheckRow("options per country: mean", name, fmean(counts.values()), published.get("mean"), note)
    yield CheckRow("options per country: sd", name, pstdev(counts.values()), published.get("sd"), note)


def _overlap(questions: Sequence[McqQuestion]) -> Iterator[CheckRow]:
    """Questions of which annotators of the target gave a wrong option as well."""
    for kind in QuestionType:
        checked = [one for one in questions if one.question_type is kind and one.also_given is not None]
        missing = sum(one.question_type is kind and one.also_given is None for one in questions)
        if not checked:
            yield CheckRow("a wrong option also given", kind, 0, note="name the folder of BLEnD with --blend to count")
            continue
        for name, some in ((f"{kind}, first {FIRST}", checked[:FIRST]), (kind, checked)):
            also = sum(bool(one.also_given) for one in some)
            note = f"of {len(some)}; the answers of {missing} questions' targets are not at hand"
            yield CheckRow("a wrong option also given", name, also, note=note)


def _oddities(questions: Sequence[McqQuestion]) -> Iterator[CheckRow]:
    numeric = sum("Provide" in one.text for one in questions)
    yield CheckRow("asks for a number", ALL, numeric, note="the study's rule leaves such questions of BLEnD out")
    alike = [one for one in questions if len({fold(option.text) for option in one.options}) < len(one.options)]
    yield CheckRow("two options that differ in case alone", ALL, len(alike), note=_named(alike))


def _remarks(left_out: Iterable[LeftOut]) -> Iterator[CheckRow]:
    for one in left_out:
        yield CheckRow("remark", one.text or "", 1, note=f"{one.place}: {one.reason}")


def _named(questions: Sequence[McqQuestion]) -> str:
    return ", ".join(f"{one.source_id} {one.target}" for one in questions)
