"""Questions alone, and with what a probe read out of a model's layers before them: CultureScope (2025, section 7).

The facet `condition` says what stands before a question:
- 'alone': nothing; 'culture': its culture is named
- 'probe': what the probe kept of this question; 'source': concepts of a table
- 'other-culture': what the probe kept of the same question about another culture, or of one of the same topic
- 'no-answer': what of 'probe' does not repeat the right answer

Asked openly, they are the study's: before concepts the culture is named, too (Figure 5), all that the probe kept is
shown, and of a table 20 concepts a culture are drawn, three times. By choice, words stand alone, as many as the probe
kept. The last two are not in the study: they tell apart what any such words do, and what the answer itself gives away.
`pair` is the question that several stand for, `version` the draw, `model` whose layers were read: another model is not
asked it. All draws follow from the seed and the question.
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
from polyculture.instruments.questions.loaders.concepts import BY_CULTURE, BY_TOPIC, Source, read_source
from polyculture.instruments.questions.loaders.culture import (
    CHOICES,
    RELEASED,
    chosen,
    culture_mcq,
    open_question,
    prompt,
    wordings,
)
from polyculture.instruments.questions.loaders.probed import FILTERS, Asked, Item, Probed, read_probed, repeats
from polyculture.instruments.questions.model import Kind, Question, QuestionSet

ALONE, CULTURE, PROBE, SOURCE, OTHER_CULTURE, NO_ANSWER = (
    "alone", "culture", "probe", "source", "other-culture", "no-answer"
)  # fmt: skip
NAME, OPEN = "relevance", "open"
FEW = 20  # concepts of a culture that the study draws
NOT_PROBED = "the probe kept nothing of the question"
ALL_REPEAT = "every concept repeats the answer"
NO_OTHER = "the probe kept nothing about another culture, of the question or of its topic"
NO_CONCEPTS, NO_TOPIC = "the table has no concepts for it", "its topic is not known"
UNANSWERED = "the run has no answer of people to it"


def relevance(
    folder: Path | None,
    selection: str | None = None,
    *,
    by_choice: bool = False,
    sheets: Path | None = None,
    blend: Path | None = None,
    cultures: Path | None = None,
    probed: str | None = None,
    filter: str | None = None,
    concepts: Path | None = None,
    most: int | None = None,
    draws: int = 3,
    without_echoes: bool = False,
    seed: int = 1,
) -> QuestionSet:
    """The questions that the run in `folder` probed in English, under all conditions.

    They are open, as the run probed them, with the answers of people that it holds; or `by_choice`, with the options
    and the selections of `culture-mcq` and its folders `sheets` and `blend`. `probed` names the probe's data set where
    the run has several, `filter` is one of the probe's: the study's where the run has it. `concepts` is a table of
    another source. At most `most` concepts are shown (20 of a table, and by choice; else all that the probe kept);
    those of the table and of other cultures are drawn `draws` times. `without_echoes` leaves out
    items that repeat the inspection prompt, the culture's name or the question. Raises `DataSetError` where the run
    probed none of the questions.
    """
    if folder is None:
        remedy = "Name the run that was probed: --folder runs/NAME, or `folder` under [options]."
        raise DataSetError("relevance asks what a run probed, and no run is named", remedy=remedy)
    form, kept = chosen(selection, CHOICES if by_choice else (OPEN,)), filter and chosen(filter, FILTERS)
    known = read_cultures(cultures)
    if not by_choice:
        found = read_probed(folder, known, probed, kept)
        every = [open_question(NAME, SourceLocation(folder.name), one) for one in found.questions.values()]
        asked = [one for one in every if one.answers]
        remarks = _counted(folder, Counter({UNANSWERED: len(every) - len(asked)}), "")
    else:
        place = sheets if form == RELEASED else blend
        origin = culture_mcq(place, form, blend=blend, cultures=cultures, seed=seed)
        every = list(origin.questions)
        found = read_probed(folder, known, probed, kept, {_asked(one) for one in every})
        asked = [one for one in every if _asked(one) in found.questions]
        left = Counter({"the question was not probed": len(every) - len(asked)})
        remarks = [*origin.remarks, *_counted(folder, left, "")]
    if not asked:
        remedy = "Probe the same questions first." if by_choice else "Ask relevance-mcq: its options are the answers."
        raise DataSetError("no question that the run probed can be asked", where=folder, remedy=remedy)
    name = NAME if form in (OPEN, RELEASED) else f"{NAME}-{form}"
    source = None if concepts is None else read_source(concepts, known)
    made: dict[str, Question] = {}
    for model in found.items:
        some = Contexts(model, found, {one.unit: t for one in asked if (t := one.facets.get("topic"))}, source,
                        most, draws, seed, without_echoes, by_choice)  # fmt: skip
        if source is not None:
            source.check_used([(one.unit, some.topic(one), one.facets["country"]) for one in asked])
        left = Counter()
        for question in asked:
            for context in some.of(question):
                if context.reason is not None:
                    left[f"{context.condition}: {context.reason}"] += 1
                else:
                    one = _with(question, name, context, model)
                    made[one.name] = one
        remarks += _counted(folder, left, f"{model} ")
    named = sum(echo_of(fold(one.facets["country"]), [("", fold(one.text))]) is not None for one in asked)
    remarks += _counted(folder, Counter({"the question names its culture itself": named}), "", "of all asked")
    kind: Kind = "choice" if by_choice else "open"
    return QuestionSet(
        name, "Whether what its layers hold helps it", kind, folder, tuple(made.values()), (prompt(kind),),
        ("gains",), tuple(remarks),
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
    draw: int = 1  # from 1; of conditions that draw nothing always 1
    culture: str | None = None  # that is named
    concepts: tuple[str, ...] = ()
    repeating: tuple[str, ...] = ()  # concepts that repeat the right answer
    origin: str = ""  # where the concepts come from
    about: Asked | None = None  # the question that they are about
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


def _with(question: Question, name: str, context: Context, model: str) -> Question:
    """The question with something before it; the same for all models where that hangs on none."""
    facets = {**question.facets, "condition": context.condition, "pair": question.name, "version": str(context.draw)}
    called = f"{question.name} [{context.condition} {context.draw}]"
    if context.concepts:
        called += f" {model}"
        facets |= {
            "model": model,
            "concepts": str(len(context.concepts)),
            "repeating": "; ".join(context.repeating),
            "gives_away": "yes" if context.repeating else "no",
            "origin": context.origin,
        }
    if context.about:
        facets["about"] = " ".join(context.about)
    return replace(question, name=called, set=name, context=context.text, facets=facets)


@dataclass(frozen=True)
class Contexts:
    """What stands before questions to one model."""

    model: str
    probed: Probed
    topics: Mapping[str, str]  # question id -> topic, where the probe tells none
    source: Source | None
    most: int | None
    draws: int
    seed: int
    without_echoes: bool
    by_choice: bool

    def of(self, question: Question) -> Iterator[Context]:
        """All conditions of a question, drawn ones draw by draw."""
        yield Context(ALONE)
        yield Context(CULTURE, culture=question.facets["country"])
        own = self._own(question)
        yield own
        yield from self._of_source(question, own)
        yield from self._of_others(question, own)
        yield self._without_answer(own)

    def topic(self, question: Question) -> str | None:
        """The topic of a question, where it is known."""
        return self._topic(_asked(question))

    def _topic(self, asked: Asked) -> str | None:
        known = self.probed.questions.get(asked)
        return (known.topic if known else None) or self.topics.get(asked[0])

    def _own(self, question: Question) -> Context:
        items = self._items.get(_asked(question), ())
        if not items:
            return Context(PROBE, reason=NOT_PROBED)
        return self._shown(PROBE, question, items, _asked(question))

    def _without_answer(self, own: Context) -> Context:
        """The concepts of `own` but those that repeat the answer."""
        left = tuple(one for one in own.concepts if one not in own.repeating)
        reason = own.reason or (None if left else ALL_REPEAT)
        return replace(own, condition=NO_ANSWER, concepts=left, repeating=(), reason=reason)

    def _of_source(self, question: Question, own: Context) -> Iterator[Context]:
        """As many concepts as the probe's, drawn; once where there is nothing to draw."""
        if self.source is None:
            return
        topic = self.topic(question)
        pool = self.source.of(question.unit, topic, question.facets["country"])
        if not pool:
            lacking = self.source.columns == BY_TOPIC and topic is None
            yield Context(SOURCE, reason=NO_TOPIC if lacking else NO_CONCEPTS)
            return
        most = self.most or FEW
        size, gold = (len(own.concepts) or most) if self.by_choice else most, self._gold(question)
        about = ("", question.facets["country"]) if self.source.columns == BY_CULTURE else _asked(question)
        for draw in range(1, (self.draws if len(pool) > size else 1) + 1):
            random = Random(content_id("relevance source", self.seed + draw - 1, *about))
            places = sorted(random.sample(range(len(pool)), min(size, len(pool))))
            shown = tuple(pool[place] for place in places)
            repeating = tuple(one for one in shown if repeats(fold(one), gold))
            yield Context(
                SOURCE, draw, self._named(question), shown, repeating=repeating, origin=self.source.file.name
            )  # fmt: skip

    def _of_others(self, question: Question, own: Context) -> Iterator[Context]:
        """Items about other cultures, a culture per draw: of the same question, or else of one of the same topic."""
        lent = self._lenders(question)
        if not lent:
            yield Context(OTHER_CULTURE, reason=NO_OTHER)
        size = len(own.concepts) or self.most or FEW
        for draw, about in enumerate(lent[: self.draws], 1):
            yield self._shown(OTHER_CULTURE, question, self._items[about][:size], about, draw)

    def _lenders(self, question: Question) -> list[Asked]:
        """Whose items may stand there, a question per other culture, in an order by the seed."""
        source_id, target = _asked(question)
        places = [one for one in self._items if one[0] == source_id and one[1] != target]
        topic = self.topic(question)
        if not places and topic is not None:
            places = [one for one in self._by_topic.get(topic, ()) if one[1] != target]
        ordered = sorted(places, key=lambda one: content_id("relevance other", self.seed, source_id, target, *one))
        by_culture = {culture: (source_id, culture) for source_id, culture in reversed(ordered)}
        return sorted(by_culture.values(), key=ordered.index)

    def _shown(self, condition: str, question: Question, items: Sequence[Item], about: Asked, draw: int = 1) -> Context:
        some, gold = items[: self.most or (FEW if self.by_choice else None)], self._gold(question)
        repeating = tuple(one.text for one in some if repeats(one.key, gold))
        return Context(
            condition, draw, self._named(question), tuple(one.text for one in some), repeating,
            origin=self.probed.origin, about=about,
        )  # fmt: skip

    def _named(self, question: Question) -> str | None:
        """The culture that is named before concepts, too."""
        return None if self.by_choice else question.facets["country"]

    def _gold(self, question: Question) -> list[str]:
        right = question.answers or tuple(question.options[place] for place in question.right)
        return self.probed.gold(_asked(question), right)

    @cached_property
    def _items(self) -> Mapping[Asked, Sequence[Item]]:
        every = self.probed.items[self.model]
        if not self.without_echoes:
            return every
        kept = {place: [one for one in some if not one.echoing] for place, some in every.items()}
        return {place: some for place, some in kept.items() if some}

    @cached_property
    def _by_topic(self) -> Mapping[str, Sequence[Asked]]:
        found: dict[str, list[Asked]] = defaultdict(list)
        for place in self._items:
            topic = self._topic(place)
            if topic is not None:
                found[topic].append(place)
        return found
