"""Questions alone, and with what a probe read out of a model's layers before them: CultureScope (2025, section 7).

The facet `condition` says what stands before a question. Four are the study's (Tables 2 and 9):
- 'alone': nothing; 'culture': its culture is named
- 'probe': all that the probe kept of this question
- 'source': 20 concepts about the culture from a table, drawn three times

Two are not in the study. They tell apart what any such words do, and what the answer itself gives away:
- 'other-culture': what the probe kept of the same question about another culture, or of one of the same topic
- 'no-answer': what of 'probe' does not repeat the right answer

Before concepts the culture is named, too (Figure 5). `pair` is the question that several stand for, `version` the draw,
`model` whose layers were read: another model is not asked it. All draws follow from the seed and the question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from random import Random

from polyculture.cache.errors import DataSetError
from polyculture.cache.folding import fold
from polyculture.cache.identity import content_id
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.probe.splitting import echo_of
from polyculture.instruments.questions.loaders.culture import chosen, open_question, prompt, wordings
from polyculture.instruments.questions.loaders.probed import (
    FILTERS,
    Asked,
    Item,
    Probed,
    read_concepts,
    read_probed,
    repeats,
)
from polyculture.instruments.questions.model import Question, QuestionSet

ALONE, CULTURE, PROBE, SOURCE, OTHER_CULTURE, NO_ANSWER = (
    "alone", "culture", "probe", "source", "other-culture", "no-answer"
)  # fmt: skip
NAME = "relevance"
FEW = 20  # concepts of a culture that the study draws
NOT_PROBED = "the probe kept nothing of the question"
ALL_REPEAT = "every concept repeats the answer"
NO_OTHER = "the probe kept nothing about another culture, of the question or of its topic"
NO_CONCEPTS = "the table has no concepts of its culture"
UNANSWERED = "the run has no answer of people to it"


def relevance(
    folder: Path | None,
    selection: str | None = None,
    *,
    cultures: Path | None = None,
    filter: str | None = None,
    concepts: Path | None = None,
    draws: int = 3,
    seed: int = 1,
) -> QuestionSet:
    """The questions that the run in `folder` probed in English, open, under all conditions.

    The answers of people are those that the run holds. `selection` is the probe's data set, which the run may have
    several of; `filter` is one of the probe's: the study's where the run has it. `concepts` is a table of another
    source, of which `draws` samples are shown. Raises `DataSetError` where the run probed no question that people
    answered.
    """
    if folder is None:
        remedy = "Name the run that was probed: --folder runs/NAME, or `folder` under [options]."
        raise DataSetError("relevance asks what a run probed, and no run is named", remedy=remedy)
    known = read_cultures(cultures)
    dataset, found = read_probed(folder, known, selection, filter and chosen(filter, FILTERS))
    name = f"{NAME}-{dataset}"
    every = [open_question(name, SourceLocation(folder.name), one) for one in found.questions.values()]
    asked = [one for one in every if one.answers]
    if not asked:
        remedy = "Probe a data set with people's answers: --data blend or camel2."
        raise DataSetError("no question that the run probed has an answer of people", where=folder, remedy=remedy)
    remarks = _counted(folder, Counter({UNANSWERED: len(every) - len(asked)}), "")
    source = None if concepts is None else read_concepts(concepts, known)
    if concepts is not None and source is not None and not any(one.facets["country"] in source for one in asked):
        what = (
            f"line 2: no culture that is asked about has concepts in it; its first are {', '.join(sorted(source)[:3])}"
        )
        raise DataSetError(what, where=concepts, remedy="Use the names of the questions' cultures.")
    made: dict[str, Question] = {}
    unasked: dict[str, str] = {}
    for model in found.items:
        contexts = Contexts(model, found, source, draws, seed)
        left: Counter[str] = Counter()
        for question in asked:
            for context in contexts.of(question):
                if context.reason is not None:
                    left[f"{context.condition}: {context.reason}"] += 1
                    unasked[context.condition] = context.reason
                else:
                    one = _with(question, context, model)
                    made[one.name] = one
        remarks += _counted(folder, left, f"{model} ")
    named = sum(echo_of(fold(one.facets["country"]), [("", fold(one.text))]) is not None for one in asked)
    remarks += _counted(folder, Counter({"the question names its culture itself": named}), "", "of all asked")
    return QuestionSet(
        name, "Whether what its layers hold helps it", "open", folder, tuple(made.values()), (prompt("open"),),
        ("exact_match",), tuple(remarks), unasked=unasked,
    )  # fmt: skip


def _asked(question: Question) -> Asked:
    return question.unit, question.facets["country"]


def _counted(folder: Path, left: Counter[str], of: str, what: str = "not asked") -> list[LeftOut]:
    return [
        LeftOut(SourceLocation(folder.name), f"{of}{reason}: {n} {what}") for reason, n in sorted(left.items()) if n
    ]


@dataclass(frozen=True, slots=True)
class Context:
    """What stands before a question under a condition, or why the question cannot be asked under it."""

    condition: str
    culture: str | None = None  # that is named
    concepts: tuple[str, ...] = ()
    gives_away: bool = False  # whether a concept repeats the right answer
    about: Asked | None = None  # the question that the probe's items are about
    draw: int = 1
    reason: str | None = None  # why the question is not asked

    @property
    def text(self) -> str:
        """The line before the question; empty: none."""
        told, lines = wordings()["context"], list[str]()
        if self.culture is not None:
            lines.append(told["culture"].replace("{culture}", self.culture))
        if self.concepts:
            lines.append(told["concepts"].replace("{concepts}", told["separator"].join(self.concepts)))
        return " ".join(lines)


def _with(question: Question, context: Context, model: str) -> Question:
    """The question with something before it; the same for all models unless their layers were read for it."""
    facets = {**question.facets, "condition": context.condition, "pair": question.name, "version": str(context.draw)}
    called = f"{question.name} [{context.condition} {context.draw}]"
    if context.concepts:
        facets["gives_away"] = "yes" if context.gives_away else "no"
    if context.about is not None:
        called += f" {model}"
        facets |= {"model": model, "about": " ".join(context.about)}
    return replace(question, name=called, context=context.text, facets=facets)


@dataclass(frozen=True)
class Contexts:
    """What stands before questions to one model."""

    model: str
    probed: Probed
    source: Mapping[str, Sequence[str]] | None  # concepts of a table, by culture
    draws: int
    seed: int

    def of(self, question: Question) -> Iterator[Context]:
        """All conditions of a question, drawn ones draw by draw."""
        asked, culture = _asked(question), question.facets["country"]
        gold = [folded for one in question.answers if (folded := fold(one))]
        items = self._items.get(asked, ())
        yield Context(ALONE)
        yield Context(CULTURE, culture)
        yield _shown(PROBE, culture, items, asked, gold) if items else Context(PROBE, reason=NOT_PROBED)
        yield from self._of_source(culture, gold)
        lender = self._lender(asked)
        if lender is None:
            yield Context(OTHER_CULTURE, reason=NO_OTHER)
        else:  # as many as the probe kept of the question itself
            yield _shown(OTHER_CULTURE, culture, self._items[lender][: len(items) or FEW], lender, gold)
        left = [one for one in items if not repeats(one.key, gold)]
        reason = ALL_REPEAT if items else NOT_PROBED
        yield _shown(NO_ANSWER, culture, left, asked, gold) if left else Context(NO_ANSWER, reason=reason)

    def _of_source(self, culture: str, gold: Sequence[str]) -> Iterator[Context]:
        """As many draws of every culture, however few concepts it has: so every question weighs alike."""
        if self.source is None:
            return
        pool = self.source.get(culture, ())
        if not pool:
            yield Context(SOURCE, reason=NO_CONCEPTS)
            return
        for draw in range(1, self.draws + 1):
            random = Random(content_id("relevance source", self.seed + draw - 1, "", culture))
            places = sorted(random.sample(range(len(pool)), min(FEW, len(pool))))
            shown = tuple(pool[place] for place in places)
            gives_away = any(repeats(fold(one), gold) for one in shown)
            yield Context(SOURCE, culture, shown, gives_away, draw=draw)

    def _lender(self, asked: Asked) -> Asked | None:
        """Whose items stand before a question instead of its own, by the seed; None where there is none."""
        source_id, target = asked
        same, topic = self._lenders[source_id, None], self._topic(asked)
        alike = [] if topic is None else self._lenders["", topic]
        others = [one for one in same if one[1] != target] or [one for one in alike if one[1] != target]
        order = {one: content_id("relevance other", self.seed, source_id, target, *one) for one in others}
        return min(others, key=order.__getitem__, default=None)

    def _topic(self, asked: Asked) -> str | None:
        known = self.probed.questions.get(asked)
        return known.topic if known else None

    @property
    def _items(self) -> Mapping[Asked, Sequence[Item]]:
        return self.probed.items[self.model]

    @cached_property
    def _lenders(self) -> Mapping[tuple[str, str | None], list[Asked]]:
        """The questions that have items, by their id, and by their topic."""
        found: dict[tuple[str, str | None], list[Asked]] = defaultdict(list)
        for one in self._items:
            found[one[0], None].append(one)
            found["", self._topic(one)].append(one)
        return found


def _shown(condition: str, culture: str, items: Sequence[Item], about: Asked, gold: Sequence[str]) -> Context:
    gives_away = any(repeats(one.key, gold) for one in items)
    return Context(condition, culture, tuple(one.text for one in items), gives_away, about)
