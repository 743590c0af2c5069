"""Questions with hard negatives made from BLEnD, by the rule of the study.

Options differ, folded. A `strict` question has no wrong option that an annotator of the target gave as well: to such a
question there are several right answers. All draws follow from the seed, the question, the target and the type. All 24
orders of the options come equally often, so that a model that prefers a place prefers no kind of option.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from polyculture.cache.folding import fold
from polyculture.cache.identity import content_id
from polyculture.instruments.cultures.blend import Blend, BlendQuestion
from polyculture.instruments.cultures.cultures import Culture, Cultures
from polyculture.instruments.datasets.model import SourceLocation
from polyculture.instruments.questions.loaders.hard_negatives import OPTIONS, HardQuestion, Option, QuestionType

Answers = Mapping[str, BlendQuestion]  # country -> its answers to one question


class NoOptionError(Exception):
    """A question cannot be made; the message is the reason."""


def made_questions(
    blend: Blend, cultures: Cultures, *, strict: bool = False, seed: int = 1
) -> tuple[list[HardQuestion], Counter[str]]:
    """All questions of both types that can be made, and how many cannot, by reason."""
    by_id: dict[str, dict[str, BlendQuestion]] = defaultdict(dict)
    for (source_id, country), question in blend.questions.items():
        by_id[source_id][country] = question
    questions: list[HardQuestion] = []
    reasons: Counter[str] = Counter()
    for kind in QuestionType:
        made = list(_of_type(by_id, cultures, kind, strict, seed, reasons))
        made.sort(key=lambda one: (one.target.country, content_id("culture mcq place", seed, *one.key)))
        questions += [_placed(one, number) for number, one in enumerate(made)]
    return questions, reasons


def _of_type(
    by_id: Mapping[str, Answers],
    cultures: Cultures,
    kind: QuestionType,
    strict: bool,
    seed: int,
    reasons: Counter[str],
) -> Iterator[HardQuestion]:
    for source_id, answers in by_id.items():
        for country in answers:
            draw = Random(content_id("culture mcq", seed, kind, source_id, country))
            try:
                yield _made(answers, cultures.countries[country], cultures, kind, strict, draw)
            except NoOptionError as fault:
                reasons[f"{kind}: {fault}"] += 1


def _made(
    answers: Answers, target: Culture, cultures: Cultures, kind: QuestionType, strict: bool, draw: Random
) -> HardQuestion:
    """A question, the right option first, and the biased one after it. Raises `NoOptionError`."""
    asked = answers[target.country]
    known = asked.given if strict else frozenset([asked.gold_text])
    others = [cultures.countries[name] for name in answers if name != target.country]
    usable = [other for other in others if not _known(answers[other.country], known, strict)]
    draw.shuffle(usable)
    if kind is QuestionType.RESOURCE:
        groups, group_of = [cultures.levels], {name: one.level for name, one in cultures.countries.items()}
    else:
        groups, group_of = (
            _regions(target, usable, draw),
            {name: one.region for name, one in cultures.countries.items()},
        )
    by_group: dict[str, list[Culture]] = defaultdict(list)
    for one in usable:
        by_group[group_of[one.country]].append(one)
    wrong = next((found for some in groups if (found := _distinct(answers, by_group, some))), None)
    if wrong is None:
        raise NoOptionError(_reason(kind, by_group, cultures, target))
    options = tuple(
        Option(answers[one.country].gold.spellings[0], one.country, group_of[one.country]) for one in (target, *wrong)
    )
    place = SourceLocation(f"annotations/{target.country.replace(' ', '_')}_data.json")
    return HardQuestion(kind, asked.source_id, target, asked.text, options, 0, 1, place)


def _known(other: BlendQuestion, known: frozenset[str], strict: bool) -> bool:
    """Is another culture's answer one of the target's, under its first spelling, or strictly under any?"""
    spellings = other.gold.spellings if strict else other.gold.spellings[:1]
    return any(fold(text) in known for text in spellings)


def _regions(target: Culture, usable: Sequence[Culture], draw: Random) -> list[tuple[str, ...]]:
    """The target's region with two others, every pair of these in a drawn order."""
    others = sorted({one.region for one in usable} - {target.region})
    pairs = list(combinations(others, 2))
    draw.shuffle(pairs)
    return [(target.region, *pair) for pair in pairs]


def _distinct(
    answers: Answers, by_group: Mapping[str, Sequence[Culture]], groups: Sequence[str]
) -> list[Culture] | None:
    """A culture of each group, of which no two have one answer; None where there are none."""
    if not groups:
        return []
    *before, last = groups
    for one in by_group.get(last, ()):
        text = answers[one.country].gold_text
        left = {
            group: [other for other in by_group.get(group, ()) if answers[other.country].gold_text != text]
            for group in before
        }
        rest = _distinct(answers, left, before)
        if rest is not None:
            return [*rest, one]
    return None


def _reason(kind: QuestionType, by_group: Mapping[str, Sequence[Culture]], cultures: Cultures, target: Culture) -> str:
    needed = cultures.levels if kind is QuestionType.RESOURCE else (target.region,)
    empty = [group for group in needed if not by_group.get(group)]
    if empty:
        return f"no culture of {empty[0]} has another answer"
    return "the other cultures' answers are too alike"


def _placed(question: HardQuestion, number: int) -> HardQuestion:
    """The same with its options in the order of this number: every order comes once in 24 questions."""
    places = list(range(OPTIONS))
    right = places.pop(number % OPTIONS)
    biased = places.pop(number // OPTIONS % (OPTIONS - 1))
    others = places if number // (OPTIONS * (OPTIONS - 1)) % 2 == 0 else places[::-1]
    stands = (right, biased, *others)  # where each option goes: the right one is the first, the biased one the second
    options = tuple(option for _, option in sorted(zip(stands, question.options, strict=True), key=lambda one: one[0]))
    return replace(question, options=options, right=right, biased=biased)
