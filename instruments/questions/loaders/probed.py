"""What the probe of a run read out of models' layers: the items that a filter keeps, by model, question and culture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.errors import DataSetError, did_you_mean
from polyculture.cache.folding import fold
from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.schema import CORE
from polyculture.cache.store import open_store
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.probe.layout import PROBE
from polyculture.instruments.probe.questions import HumanAnswer, OpenQuestion
from polyculture.instruments.probe.splitting import echo_of

FILTERS = ("none", "paper", "released")
Asked = tuple[str, str]  # question id, culture
_LANGUAGE = "en"  # in which what is read out is shown before questions
_ITEMS = Path(__file__).with_name("probed_items.sql").read_text(encoding="utf-8")
_FILTERS = "SELECT DISTINCT filter FROM probe_judged WHERE arm = 'patched' AND language = ?"
_QUESTIONS = """
SELECT DISTINCT p.dataset, p.model, q.question_key, q.question_id, q.culture, q.question, q.topic, q.region, q.level
FROM probes AS p INNER JOIN probe_questions AS q ON p.question_key = q.question_key
WHERE p.arm = 'patched' AND p.language = ? ORDER BY ALL
"""
_ANSWERS = """
SELECT a.question_key, a.spellings, a.votes
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
class Probed:
    """A data set that a run probed, and what was read out."""

    dataset: str
    filter: str
    questions: Mapping[Asked, OpenQuestion]
    items: Mapping[str, Mapping[Asked, Sequence[Item]]]  # model -> question -> items, the most frequent ones first

    @property
    def origin(self) -> str:
        """Where its items come from."""
        return f"probe of {self.dataset}, patched, filter {self.filter}"

    def gold(self, asked: Asked, right: Sequence[str]) -> list[str]:
        """Right answers, and their other spellings where people's answers tell them; folded."""
        found = [fold(one) for one in right]
        known = self.questions.get(asked)
        for answer in known.answers if known else ():
            folded = [fold(one) for one in answer.spellings]
            if not set(found).isdisjoint(folded):
                found += folded
        return list(dict.fromkeys(filter(None, found)))


def repeats(key: str, gold: Sequence[str]) -> bool:
    """Whether an item holds the right answer as whole words, or stands in it."""
    return any(echo_of(key, [("", one)]) is not None or echo_of(one, [("", key)]) is not None for one in gold)


def read_probed(
    folder: Path, cultures: Cultures, named: str | None, filter_: str | None, asked: Collection[Asked] | None = None
) -> Probed:
    """What the run in `folder` probed in English.

    Of several data sets the one that is `named`, or that has the questions that are `asked`. Without a filter it is
    'paper' where items have similarities. Raises `DataSetError` where there is none, or several, or no similarities.
    """
    run = RunFolder(folder)
    remedy = "Run `polyculture probe` with the same questions first: see docs/question-sets.md."
    if not run.manifest.exists():
        raise DataSetError("is no run, and relevance asks what a run probed", where=folder, remedy=remedy)
    with open_store(run, compose(CORE, PROBE)) as store:
        questions = store.execute(_QUESTIONS, [_LANGUAGE]).fetchall()
        given = store.execute(_ANSWERS, [_LANGUAGE]).fetchall()
        filters = {name for (name,) in store.execute(_FILTERS, [_LANGUAGE]).fetchall()}
        filter_ = filter_ or ("paper" if "paper" in filters else "none")
        rows = store.execute(_ITEMS, {"language": _LANGUAGE, "filter": filter_}).fetchall()
    if not questions:
        raise DataSetError("the run has probed nothing in English", where=folder, remedy=remedy)
    if filters and filter_ not in filters:
        what = f"the probe's items have no similarities for the filter {filter_!r}"
        raise DataSetError(what, where=folder, remedy="Run `polyculture probe` with --encoder first, or take 'none'.")

    def place(question_id: str, culture: str) -> Asked:
        known = cultures.country(culture)
        return question_id, known.country if known else culture

    places = {(row[0], place(row[3], row[4])) for row in questions}
    dataset = _dataset(folder, places, named, asked)
    answers: dict[str, list[HumanAnswer]] = defaultdict(list)
    for key, spellings, votes in given:
        answers[key].append(HumanAnswer(tuple(spellings), votes))
    found = {
        place(one, culture): OpenQuestion(
            one, place(one, culture)[1], _LANGUAGE, text, topic, region, level, tuple(answers[key])
        )
        for name, _, key, one, culture, text, topic, region, level in questions
        if name == dataset
    }
    items: dict[str, dict[Asked, list[Item]]] = {row[1]: defaultdict(list) for row in questions if row[0] == dataset}
    for model, name, culture, one, text, key, echoing in rows:
        if name == dataset:
            items[model][place(one, culture)].append(Item(text, key, bool(echoing)))
    return Probed(dataset, filter_, found, items)


def _dataset(
    folder: Path, places: Collection[tuple[str, Asked]], named: str | None, asked: Collection[Asked] | None
) -> str:
    names = sorted({name for name, _ in places})
    if named is not None:
        if named not in names:
            what = f"the run has no probe of the data set {named!r}"
            raise DataSetError(what, where=folder, remedy=did_you_mean(named, names))
        return named
    shared = sorted({name for name, one in places if asked is None or one in asked})
    if len(shared) != 1:
        what = f"several probes have the questions: {', '.join(shared)}" if shared else "no question was probed"
        remedy = "Name one with `probed`." if shared else "Probe the same questions first: see docs/question-sets.md."
        raise DataSetError(what, where=folder, remedy=remedy)
    return shared[0]
