"""What questions of `relevance` ask about: what a run's probe read out of layers, or another source's concepts.

The items of a probe are those that a filter keeps, by model, question and culture. Concepts about cultures come from a
table of tabs that a user gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.layout import compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.cache.text.folding import fold
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.probe.layout import PROBE
from polyculture.instruments.probe.splitting import separators
from polyculture.instruments.questions.model import Question
from polyculture.sources.headers import KnownColumns
from polyculture.sources.left_out import SourceLocation
from polyculture.sources.record import BadRow
from polyculture.sources.rows import placed_records
from polyculture.sources.values import SourceRow

_COLUMNS = ("culture", "concepts")
_FORM = "Give a table of tabs with the columns culture and concepts, concepts between commas."


def read_concepts(file: Path, cultures: Cultures) -> Mapping[str, tuple[str, ...]]:
    """The concepts of each culture, each once. Raises `DataSetError` that names file, line and remedy."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name, text in _rows(file):
        known = cultures.country(name)
        of_culture = found[known.country if known else name]
        for one in (" ".join(part.split()) for part in separators().split(text)):
            of_culture.setdefault(fold(one), one)
    if not found:
        raise DataSetError("line 2: there is no row", where=file, remedy=_FORM)
    return {name: tuple(one for one in some.values() if one) for name, some in found.items()}


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    """The culture and the concepts of each row."""
    for place, record in placed_records(file.parent, file, KnownColumns.of(_COLUMNS), quoted=False):
        if isinstance(record, BadRow):
            raise DataSetError(f"line {record.row}: {record.reason}", where=file, remedy=_FORM)
        row = SourceRow(place, record, {})
        if missing := [name for name in _COLUMNS if not row.has(name)]:
            raise DataSetError(f"line 1: has no column {', '.join(missing)}", where=file, remedy=_FORM)
        culture, concepts = map(row.text, _COLUMNS)
        if not culture or not separators().sub("", concepts).strip():
            raise DataSetError(f"line {record.row}: a culture and its concepts are needed", where=file, remedy=_FORM)
        yield culture, concepts


AskedPlace = tuple[str, str]  # question id, culture
_LANGUAGE = "en"  # in which what is read out is shown before questions
_ITEMS = Path(__file__).with_name("probed_items.sql").read_text(encoding="utf-8")
_FILTERS = "SELECT DISTINCT filter FROM probe_judged WHERE arm = 'patched' AND language = ?"
_QUESTIONS = """
SELECT DISTINCT p.dataset, p.model, q.question_key, q.question_id, q.culture, q.question, q.topic, q.region, q.level
FROM probes AS p INNER JOIN probe_questions AS q ON p.question_key = q.question_key
WHERE p.arm = 'patched' AND p.language = ? ORDER BY ALL
"""
_ANSWERS = """
SELECT a.question_key, a.answer, a.votes
FROM probe_human_answers AS a INNER JOIN probe_questions AS q ON a.question_key = q.question_key
WHERE q.language = ? ORDER BY a.question_key, a.place
"""


@dataclass(frozen=True)
class ProbedDataSet:
    """A data set that a run probed, and what was read out."""

    questions: Mapping[AskedPlace, Question]  # open ones, with what people answered
    items: Mapping[
        str, Mapping[AskedPlace, Sequence[str]]
    ]  # model -> question -> items as it wrote them, the most frequent ones first


def read_probed(folder: Path, cultures: Cultures, named: str | None) -> tuple[str, ProbedDataSet]:
    """What the run in `folder` probed in English, and the name of its data set.

    Of several data sets the one that is `named`. The filter of items is the paper's where they have similarities.
    Raises `DataSetError` where there is none, or several.
    """
    run = RunFolder(folder)
    remedy = "Run `polyculture probe` with the same questions first: see docs/question-sets.md."
    if not run.manifest.exists():
        raise DataSetError("is no run, and relevance asks what a run probed", where=folder, remedy=remedy)
    with open_store(run, compose(CORE, PROBE)) as store:
        questions = store.execute(_QUESTIONS, [_LANGUAGE]).fetchall()
        given = store.execute(_ANSWERS, [_LANGUAGE]).fetchall()
        filters = {name for (name,) in store.execute(_FILTERS, [_LANGUAGE]).fetchall()}
        wanted = {"language": _LANGUAGE, "filter": "paper" if "paper" in filters else "none"}
        rows = store.execute(_ITEMS, wanted).fetchall()
    if not questions:
        raise DataSetError("the run has probed nothing in English", where=folder, remedy=remedy)

    def place(question_id: str, culture: str) -> AskedPlace:
        known = cultures.country(culture)
        return question_id, known.country if known else culture

    dataset = _dataset(folder, sorted({row[0] for row in questions}), named)
    answers: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for key, answer, votes in given:
        answers[key].append((answer, float(votes)))
    found: dict[AskedPlace, Question] = {}
    for name, _, key, one, culture, text, topic, region, level in questions:
        if name == dataset:
            facets = {"country": place(one, culture)[1], "topic": topic, "level": level, "region": region}
            found[place(one, culture)] = Question(
                f"{one} {facets['country']}", "", _LANGUAGE, "open", one, text, (), (), (), SourceLocation(folder.name),
                answers=tuple(answer for answer, _ in answers[key]),
                weights=tuple(weight for _, weight in answers[key]),
                facets={facet: value for facet, value in facets.items() if value is not None},
            )  # fmt: skip
    items: dict[str, dict[AskedPlace, list[str]]] = {
        row[1]: defaultdict(list) for row in questions if row[0] == dataset
    }
    for model, name, culture, one, text in rows:
        if name == dataset:
            items[model][place(one, culture)].append(text)
    return dataset, ProbedDataSet(found, items)


def _dataset(folder: Path, names: Sequence[str], named: str | None) -> str:
    if named is None and len(names) > 1:
        raise DataSetError(
            f"has several probes: {', '.join(names)}", where=folder, remedy=f"Name one: relevance:{names[0]}."
        )
    if named is not None and named not in names:
        what = f"the run has no probe of the data set {named!r}"
        raise DataSetError(what, where=folder, remedy=did_you_mean(named, names))
    return named or names[0]
