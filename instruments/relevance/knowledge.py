"""What the probe of a run read out of models' layers: the items that a filter keeps, by model, culture and question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from polyculture.cache.errors import DataSetError, did_you_mean
from polyculture.cache.folding import fold
from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.probe.layout import PROBE
from polyculture.instruments.probe.splitting import echo_of

Filter = Literal["none", "paper", "released"]
Place = tuple[str, str]  # question id, culture
_ITEMS = Path(__file__).with_name("knowledge.sql").read_text(encoding="utf-8")
_FILTERS = "SELECT DISTINCT filter FROM probe_judged WHERE arm = 'patched'"
_QUESTIONS = """
SELECT DISTINCT p.dataset, p.question_id, p.culture, q.topic
FROM probes AS p INNER JOIN probe_questions AS q ON p.question_key = q.question_key
WHERE p.arm = 'patched' AND p.language = $language AND list_contains($models, p.model)
ORDER BY ALL
"""
_ANSWERS = """
SELECT q.dataset, q.question_id, q.culture, a.spellings
FROM probe_human_answers AS a INNER JOIN probe_questions AS q ON a.question_key = q.question_key
WHERE q.language = ? ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a question, as the model first wrote it."""

    text: str
    key: str  # folded
    echoing: bool  # it repeats the inspection prompt, the culture's name or the question


@dataclass(frozen=True)
class Knowledge:
    """What a probe read out, and what is known of its questions."""

    dataset: str | None  # of the probe; None: nothing is probed
    filter: Filter
    items: Mapping[str, Mapping[Place, Sequence[Item]]]  # model -> question and culture -> items, the first ones first
    probed: frozenset[Place]  # questions that the probe asked any of the models
    topics: Mapping[Place, str]
    spellings: Mapping[Place, Sequence[Sequence[str]]]  # human answers, each in all its spellings

    @property
    def origin(self) -> str:
        """Where its items come from, for the store."""
        return f"probe of {self.dataset}, patched, filter {self.filter}"

    def of(self, model: str) -> Mapping[Place, Sequence[Item]]:
        """What is known of a model."""
        return self.items.get(model, {})

    def gold(self, place: Place, right: str) -> list[str]:
        """The right answer, and its other spellings where people's answers tell them; folded."""
        found = [fold(right)]
        for some in self.spellings.get(place, ()):
            folded = [fold(one) for one in some]
            if found[0] in folded:
                found += folded
        return list(dict.fromkeys(filter(None, found)))


def repeats(key: str, gold: Sequence[str]) -> bool:
    """Whether an item holds the right answer as whole words, or stands in it."""
    return any(echo_of(key, [("", one)]) is not None or echo_of(one, [("", key)]) is not None for one in gold)


def read_knowledge(
    run: RunFolder,
    models: Sequence[str],
    asked: Iterable[Place],
    cultures: Cultures,
    dataset: str | None = None,
    filter_: Filter = "none",
    language: str = "en",
) -> Knowledge:
    """What the run's probe kept of these models; nothing where it has none.

    Without a `dataset` that of which questions are asked. Raises `DataSetError` where several have them, where the run
    has no such data set, or where its items have no similarities for the filter.
    """
    if not run.manifest.exists():
        return Knowledge(None, filter_, {}, frozenset(), {}, {})
    values = {"language": language, "models": list(models)}
    with open_store(run, compose(CORE, PROBE)) as store:
        questions = store.execute(_QUESTIONS, values).fetchall()
        answers = store.execute(_ANSWERS, [language]).fetchall()
        filters = {name for (name,) in store.execute(_FILTERS).fetchall()}
        rows = store.execute(_ITEMS, {**values, "filter": filter_}).fetchall()
    if filters and filter_ not in filters:
        remedy = "Run `polyculture probe` with --encoder first, or take --filter none."
        raise DataSetError(f"relevance: the probe's items have no similarities for the filter {filter_}", remedy=remedy)

    def place(question_id: str, culture: str) -> Place:
        known = cultures.country(culture)
        return question_id, known.country if known else culture

    wanted = frozenset(asked)
    chosen = _dataset({(name, place(one, culture)) for name, one, culture, _ in questions}, wanted, dataset)
    items: dict[str, dict[Place, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for model, name, culture, one, text, key, echoing in rows:
        if name == chosen:
            items[model][place(one, culture)].append(Item(text, key, bool(echoing)))
    probed = frozenset(place(one, culture) for name, one, culture, _ in questions if name == chosen)
    topics = {place(one, culture): topic for name, one, culture, topic in questions if topic and name == chosen}
    spellings: dict[Place, list[Sequence[str]]] = defaultdict(list)
    for name, one, culture, some in answers:
        if name == chosen:
            spellings[place(one, culture)].append(some)
    return Knowledge(chosen, filter_, items, probed & wanted, topics, spellings)


def _dataset(there: set[tuple[str, Place]], wanted: frozenset[Place], named: str | None) -> str | None:
    names = sorted({name for name, _ in there})
    if named is not None:
        if named not in names:
            remedy = did_you_mean(named, names) or "Probe its questions first: polyculture probe --help."
            raise DataSetError(f"relevance: the run has no probe of the data set {named!r}", remedy=remedy)
        return named
    shared = sorted({name for name, place in there if place in wanted})
    if len(shared) > 1:
        told = ", ".join(shared)
        raise DataSetError(f"relevance: several probes have the questions: {told}", remedy="Name one with --probed.")
    return shared[0] if shared else None
