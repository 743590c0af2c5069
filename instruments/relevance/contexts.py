"""What stands before each question under each condition. All draws follow from the seed and the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from polyculture.cache.folding import fold
from polyculture.cache.identity import content_id
from polyculture.instruments.culture_mcq.model import McqQuestion
from polyculture.instruments.culture_mcq.rows import LANGUAGE, question_id
from polyculture.instruments.probe.splitting import echo_of
from polyculture.instruments.relevance.conditions import (
    ALONE,
    CULTURE,
    NO_ANSWER,
    OTHER_CULTURE,
    PROBE,
    SOURCE,
    Context,
)
from polyculture.instruments.relevance.knowledge import Item, Knowledge, Place, repeats
from polyculture.instruments.relevance.rows import RelevanceContextRow
from polyculture.instruments.relevance.source_table import Source

NOT_PROBED = "the probe kept nothing of the question"
ALL_REPEAT = "every concept repeats the answer"
NO_OTHER = "the probe kept nothing about another culture, of the question or of its topic"
NO_CONCEPTS, NO_TOPIC = "the table has no concepts for it", "its topic is not known"


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides which concepts are shown."""

    most: int = 20  # concepts at most
    draws: int = 3  # of another source, and of other cultures
    seed: int = 1
    without_echoes: bool = (
        False  # leave out items that repeat the inspection prompt, the culture's name or the question
    )


@dataclass(frozen=True)
class Contexts:
    """What stands before questions to one model."""

    model: str
    dataset: str  # of the questions
    knowledge: Knowledge
    rules: Rules
    source: Source | None = None
    topics: Mapping[str, str] | None = None  # question id -> topic, where the probe tells none

    def of(self, question: McqQuestion) -> Iterator[Context]:
        """All conditions of a question, drawn ones draw by draw."""
        yield Context(ALONE)
        yield Context(CULTURE, culture=question.target)
        own = self._own(question)
        yield own
        yield from self._of_source(question, own)
        yield from self._of_others(question, own)
        yield self._without_answer(own)

    def topic(self, question: McqQuestion) -> str | None:
        """The topic of a question, where it is known."""
        found = self.knowledge.topics.get((question.source_id, question.target))
        return found or (self.topics or {}).get(question.source_id)

    def _own(self, question: McqQuestion) -> Context:
        items = self._items.get((question.source_id, question.target), ())
        if not items:
            return Context(PROBE, reason=NOT_PROBED)
        return self._shown(PROBE, question, items, question.target, question.source_id)

    def _without_answer(self, own: Context) -> Context:
        """The concepts of `own` but those that repeat the answer."""
        if own.reason is not None:
            return Context(NO_ANSWER, reason=own.reason)
        left = tuple(one for one in own.concepts if one not in own.repeating)
        if not left:
            return Context(NO_ANSWER, reason=ALL_REPEAT)
        echoing = tuple(one for one in own.echoing if one in left)
        return Context(
            NO_ANSWER, concepts=left, echoing=echoing, origin=own.origin, from_culture=own.from_culture,
            from_question=own.from_question,
        )  # fmt: skip

    def _of_source(self, question: McqQuestion, own: Context) -> Iterator[Context]:
        """As many concepts as the probe's, drawn; once where there is nothing to draw."""
        if self.source is None:
            return
        topic = self.topic(question)
        pool = self.source.of(question.source_id, topic, question.target)
        if not pool:
            lacking = self.source.by_topic and topic is None
            yield Context(SOURCE, reason=NO_TOPIC if lacking else NO_CONCEPTS)
            return
        size = len(own.concepts) or self.rules.most
        gold = self.knowledge.gold((question.source_id, question.target), question.options[question.right].text)
        for draw in range(1, (self.rules.draws if len(pool) > size else 1) + 1):
            seed = self.rules.seed + draw - 1
            random = Random(content_id("relevance source", seed, question.source_id, question.target))
            places = sorted(random.sample(range(len(pool)), min(size, len(pool))))
            concepts = tuple(pool[place] for place in places)
            repeating = tuple(one for one in concepts if repeats(fold(one), gold))
            yield Context(
                SOURCE, draw, seed, concepts=concepts, repeating=repeating, origin=self.source.origin,
                from_culture=question.target, from_question=None if self.source.by_topic else question.source_id,
            )  # fmt: skip

    def _of_others(self, question: McqQuestion, own: Context) -> Iterator[Context]:
        """Items about other cultures, a culture per draw: of the same question, or else of one of the same topic."""
        lent = self._lenders(question)
        if not lent:
            yield Context(OTHER_CULTURE, reason=NO_OTHER)
        size = len(own.concepts) or self.rules.most
        for draw, (source_id, culture) in enumerate(lent[: self.rules.draws], 1):
            items = self._items[source_id, culture][:size]
            yield self._shown(OTHER_CULTURE, question, items, culture, source_id, draw, self.rules.seed)

    def _lenders(self, question: McqQuestion) -> list[Place]:
        """Whose items may stand there, a place per other culture, in an order by the seed."""
        same = [(question.source_id, one) for one in self._probed.get(question.source_id, ())]
        topic = self.topic(question)
        places = [place for place in same if place[1] != question.target]
        if not places and topic is not None:
            places = [place for place in self._by_topic.get(topic, ()) if place[1] != question.target]
        ordered = sorted(
            places, key=lambda one: content_id("relevance other", self.rules.seed, *question.key[1:], *one)
        )
        by_culture = {culture: (source_id, culture) for source_id, culture in reversed(ordered)}
        return sorted(by_culture.values(), key=ordered.index)

    def _shown(
        self, condition: str, question: McqQuestion, items: Sequence[Item], culture: str, source_id: str,
        draw: int = 1, seed: int | None = None,
    ) -> Context:  # fmt: skip
        some = items[: self.rules.most]
        gold = self.knowledge.gold((question.source_id, question.target), question.options[question.right].text)
        return Context(
            PROBE if condition == PROBE else OTHER_CULTURE, draw, seed,
            concepts=tuple(one.text for one in some),
            repeating=tuple(one.text for one in some if repeats(one.key, gold)),
            echoing=tuple(one.text for one in some if one.echoing),
            origin=self.knowledge.origin, from_culture=culture, from_question=source_id,
        )  # fmt: skip

    @cached_property
    def _items(self) -> Mapping[Place, Sequence[Item]]:
        every = self.knowledge.of(self.model)
        if not self.rules.without_echoes:
            return every
        kept = {place: [one for one in some if not one.echoing] for place, some in every.items()}
        return {place: some for place, some in kept.items() if some}

    @cached_property
    def _probed(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for source_id, culture in self._items:
            found[source_id].append(culture)
        return found

    @cached_property
    def _by_topic(self) -> Mapping[str, Sequence[Place]]:
        found: dict[str, list[Place]] = defaultdict(list)
        for place in self._items:
            topic = self.knowledge.topics.get(place) or (self.topics or {}).get(place[0])
            if topic is not None:
                found[topic].append(place)
        return found


def shown_id(context: Context) -> str | None:
    """A hash of what is shown; the same of conditions that show the same. None where nothing is asked."""
    if context.reason is not None:
        return None
    return content_id("relevance shown", context.culture, context.concepts)


def context_row(model: str, dataset: str, question: McqQuestion, context: Context) -> RelevanceContextRow:
    """The row of `relevance_contexts`."""
    return RelevanceContextRow(
        model=model,
        dataset=dataset,
        language=LANGUAGE,
        question_type=question.question_type,
        question_id=question_id(dataset, question),
        source_id=question.source_id,
        target=question.target,
        condition=context.condition,
        draw=context.draw,
        seed=context.seed,
        shown_id=shown_id(context),
        named=context.culture,
        names_target=echo_of(fold(question.target), [("question", fold(question.text))]) is not None,
        concepts=list(context.concepts),
        repeating=list(context.repeating),
        echoing=list(context.echoing),
        origin=context.origin,
        from_culture=context.from_culture,
        from_question=context.from_question,
        reason=context.reason,
    )
