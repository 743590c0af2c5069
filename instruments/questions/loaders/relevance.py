"""Questions alone, and with what a probe read out of a model's layers before them: CultureScope (2025, section 7).

The facet `condition` says what stands before a question (Tables 2 and 9):
- 'alone': nothing; 'culture': its culture is named
- 'probe': all that the probe kept of this question
- 'source': 20 concepts about the culture from a table, drawn three times

Before concepts the culture is named, too (Figure 5). `pair` is the question that several stand for, `version` the draw,
`model` whose layers were read: another model is not asked it. All draws follow from the seed and the question.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.text.folding import fold
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.probe.splitting import echo_of
from polyculture.instruments.questions.model import PromptTemplate, Question, QuestionSet
from polyculture.instruments.questions.probed import AskedPlace, read_concepts, read_probed
from polyculture.sources.left_out import LeftOut, SourceLocation

ALONE, CULTURE, PROBE, SOURCE = "alone", "culture", "probe", "source"
NAME = "relevance"
FEW, DRAWS = 20, 3  # concepts of a culture that the study draws, and how often
SEED = 1
NOT_PROBED = "the probe kept nothing of the question"
NO_CONCEPTS = "the table has no concepts of its culture"
UNANSWERED = "the run has no answer of people to it"


def question_set(folder: Path | None, selection: str | None, concepts: Path | None) -> QuestionSet:
    """The questions that the run in `folder` probed in English, open, under all conditions.

    The answers of people are those that the run holds. `selection` is the probe's data set, which the run may have
    several of. `concepts` is a table of another source, of which samples are shown. Raises `DataSetError` where the run
    probed no question that people answered.
    """
    if folder is None:
        remedy = "Name the run that was probed: --folder runs/NAME."
        raise DataSetError("relevance asks what a run probed, and no run is named", remedy=remedy)
    known = read_cultures()
    dataset, found = read_probed(folder, known, selection)
    name = f"{NAME}-{dataset}"
    every = [replace(one, set=name) for one in found.questions.values()]
    asked = [one for one in every if one.answers]
    if not asked:
        remedy = "Probe a set with people's answers: blend or camel2-open."
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
        left: Counter[str] = Counter()
        for question in asked:
            items, country = found.items[model].get(_asked(question), ()), question.facets["country"]
            of_source = () if source is None else _drawn(country, source.get(country, ()))
            for context in _contexts(question, items, of_source):
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
        name, "Whether what its layers hold helps it", "open", folder, tuple(made.values()),
        (PromptTemplate("house", "en", _wordings()["open"]["template"].strip()),), ("exact_match",), tuple(remarks),
        unasked=unasked,
    )  # fmt: skip


@cache
def _wordings() -> Mapping[str, Mapping[str, Any]]:
    """Our wordings of the questions, and of what stands before them."""
    return tomllib.loads(Path(__file__).with_name("relevance.toml").read_text(encoding="utf-8"))


def _asked(question: Question) -> AskedPlace:
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
    draw: int = 1
    reason: str | None = None  # why the question is not asked

    @property
    def text(self) -> str:
        """The line before the question; empty: none."""
        told, lines = _wordings()["context"], list[str]()
        if self.culture is not None:
            lines.append(told["culture"].replace("{culture}", self.culture))
        if self.concepts:
            lines.append(told["concepts"].replace("{concepts}", told["separator"].join(self.concepts)))
        return " ".join(lines)


def _with(question: Question, context: Context, model: str) -> Question:
    """The question with something before it; the same for all models unless their layers were read for it."""
    facets = {**question.facets, "condition": context.condition, "pair": question.name, "version": str(context.draw)}
    called = f"{question.name} [{context.condition} {context.draw}]"
    if context.condition == PROBE:
        called, facets = f"{called} {model}", {**facets, "model": model}
    return replace(question, name=called, context=context.text, facets=facets)


def _contexts(question: Question, items: Sequence[str], source: Iterable[Context]) -> Iterator[Context]:
    """All conditions of a question: `items` are what the probe kept of it, `source` the draws of its culture."""
    culture = question.facets["country"]
    yield Context(ALONE)
    yield Context(CULTURE, culture)
    yield Context(PROBE, culture, tuple(items)) if items else Context(PROBE, reason=NOT_PROBED)
    yield from source


def _drawn(culture: str, pool: Sequence[str]) -> Iterator[Context]:
    """As many draws of every culture, however few concepts it has: so every question weighs alike."""
    if not pool:
        yield Context(SOURCE, reason=NO_CONCEPTS)
        return
    for draw in range(1, DRAWS + 1):
        random = Random(content_id("relevance source", SEED + draw - 1, "", culture))
        places = sorted(random.sample(range(len(pool)), min(FEW, len(pool))))
        yield Context(SOURCE, culture, tuple(pool[place] for place in places), draw)
