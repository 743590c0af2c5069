"""Answers to questions for tests: of templates in all kinds of contexts, and a store with the views over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from polyculture.cache.store.manifest import CurrentId, Manifest, write_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema.measured import Number
from polyculture.cache.store.shards import JobShards
from polyculture.instruments.questions.layout import (
    ANSWERS,
    LAYOUT,
    QUESTIONS,
    READINGS,
    WANTED_ANSWERS,
    AnswerRow,
    QuestionRow,
    ReadingRow,
    WantedAnswer,
)
from polyculture.instruments.questions.numbers.measure import families_of, measure_questions, number_rows
from polyculture.instruments.questions.numbers.tally import count_answers

ROLES = ("biased", "other", "unknown")
ORDERS = ((0, 2, 1), (1, 0, 2), (2, 1, 0))
RIGHT = {"ambiguous": 2, "biased": 0, "counter-biased": 1}
PERSONS = ("person", "person", "unknown")  # where nobody knows whom the stereotype is about
# What a set of another kind has: sentence pairs, gaps, open questions.
PAIRS: dict[str, Any] = {
    "numbers": ("pairs",), "kind": "pair", "roles": ("more", "less"), "right": (), "order": (0, 1), "prompt": "",
    "method": "sentence", "reader": "sum",
}  # fmt: skip
GAPS: dict[str, Any] = {
    **PAIRS, "numbers": ("cloze",), "kind": "gap", "roles": ("", ""), "right": (0,), "method": "gap",
}  # fmt: skip
OPEN: dict[str, Any] = {
    "numbers": ("exact_match",), "kind": "open", "roles": (), "right": (), "order": (), "reader": "exact",
}  # fmt: skip
REFUSAL, UNREAD, FAILED = "refusal", "unread", "failed"  # what is said where no option is


@dataclass(frozen=True)
class Said:
    """What one reader makes of an answer of a model: the index of an option, or why there is none."""

    said: int | str
    unit: str = "t1"
    facets: Mapping[str, str] = field(default_factory=lambda: {"context": "ambiguous", "polarity": "biased"})
    name: str = ""  # of the question; made of unit and facets
    roles: tuple[str, ...] = ROLES
    right: tuple[int, ...] = (2,)
    order: tuple[int, ...] = (0, 1, 2)
    prompt: str = "1"
    model: str = "m"
    method: str = "generated"
    reader: str = "ours"
    dataset: str = "kobbq"
    language: str = "ko"
    kind: str = "choice"
    numbers: tuple[str, ...] = ("kobbq", "bbq")
    sample: int = 0
    matched: float | None = None
    scores: tuple[float, ...] | None = None  # of likelihoods, by place; the tokens of each are its place and one

    @property
    def question(self) -> QuestionRow:
        facets = dict(self.facets)
        name = self.name or f"{self.unit} {sorted(facets.items())} {self.roles}"
        return QuestionRow(
            f"{self.dataset} {self.language} {name}", self.dataset, self.language, self.kind, name, self.unit,
            context="Context.", text="Who?", options=[f"option {index}" for index in range(len(self.roles))],
            roles=list(self.roles), right=list(self.right), answers=[], weights=[], facets=facets,
            numbers=list(self.numbers),
        )  # fmt: skip

    @property
    def answer(self) -> AnswerRow:
        asked = self.question.question_id
        failed = self.said == FAILED
        place = (asked, self.prompt, str(self.order), self.model, self.method, str(self.sample))
        return AnswerRow(
            answer_id="|".join(place), request_id="|".join(place), question_id=asked, model=self.model,
            language=self.language, topic=self.dataset, method=self.method, prompt=self.prompt, order=list(self.order),
            labels=["A", "B", "C"], shown=[f"option {index}" for index in self.order], sample=self.sample,
            raw=None if failed else f"I say {self.said}", status="failed" if failed else "ok",
            error="no answer" if failed else None, scores=None if self.scores is None else list(self.scores),
            tokens=None if self.scores is None else [1.0 + place for place in range(len(self.scores))],
            finish_reason=None,
            retryable=None, prompt_tokens=None, completion_tokens=None, model_version=None, purchase=None,
        )  # fmt: skip

    @property
    def reading(self) -> ReadingRow | None:
        if self.said == FAILED:
            return None
        picked = self.said if isinstance(self.said, int) else None
        ground = "letter" if picked is not None else str(self.said)
        read_id = f"{self.answer.answer_id} {self.reader}"
        return ReadingRow(read_id, self.answer.answer_id, self.reader, "rules", picked, ground, self.matched)


def designed(
    choose: Callable[[str, str], str | None],
    templates: int = 4,
    prompts: Sequence[str] = ("1", "2"),
    orders: Sequence[tuple[int, ...]] = ORDERS,
) -> Iterator[Said]:
    """Every template in all contexts and both polarities; `choose` gives the role from context and template."""
    for number in range(templates):
        unit = f"t{number}"
        for variant, direction in (("a", "counter-biased"), ("b", "biased")):
            for context in ("ambiguous", direction):
                role = choose(context, unit)
                for polarity in ("biased", "counter-biased"):
                    facets = {
                        "category": f"c{number % 2}", "label": f"L{number // 2 % 2}", "context": context,
                        "polarity": polarity, "pair": f"{unit}{variant}-{context}",
                    }  # fmt: skip
                    for prompt in prompts:
                        for order in orders:
                            said = UNREAD if role is None else ROLES.index(role)
                            yield Said(said, unit, facets, right=(RIGHT[context],), order=order, prompt=prompt)


def right_role(context: str) -> str:
    return ROLES[RIGHT[context]]


def of(rows: Iterable[Said], **changes: Any) -> list[Said]:
    return [replace(row, **changes) for row in rows]


def tables_of(rows: Iterable[Said]) -> tuple[list[QuestionRow], list[AnswerRow], list[ReadingRow]]:
    """The questions, answers and readings of these rows, each once."""
    given = list(rows)
    questions = {one.question_id: one for one in (row.question for row in given)}
    answers = {one.answer_id: one for one in (row.answer for row in given)}
    return list(questions.values()), list(answers.values()), [one for one in (row.reading for row in given) if one]


def opened(rows: Iterable[Said]) -> duckdb.DuckDBPyConnection:
    """A database with the views over these answers."""
    store = duckdb.connect()
    for table, found in zip((QUESTIONS, ANSWERS, READINGS), tables_of(rows), strict=True):
        store.from_arrow(objects_to_table(table, found)).create(table.name)
    store.execute(LAYOUT.views.files[0].read_text(encoding="utf-8"))
    count_answers(store)
    return store


def numbers(rows: Iterable[Said]) -> list[Number]:
    """All rows of `numbers` of these answers."""
    store = opened(rows)
    return list(number_rows(store, families_of(store), ""))


def stored(rows: Iterable[Said], folder: Path, n: int = 10) -> RunFolder:
    """A run that asked these questions, each `n` times, and has measured the answers."""
    run, (questions, answers, readings) = RunFolder(folder), tables_of(rows)
    wanted = [
        WantedAnswer(one.request_id, one.model, None, one.question_id, one.prompt, n, "answer", "asked", 0.0, 30)
        for one in answers
    ]
    run.root.mkdir(parents=True, exist_ok=True)
    write_parquet(objects_to_table(QUESTIONS, questions), run.table(QUESTIONS.name))
    write_parquet(objects_to_table(WANTED_ANSWERS, wanted), run.table(WANTED_ANSWERS.name))
    for job in {Job(one.model, one.language, one.topic) for one in answers}:
        own = [one for one in answers if Job(one.model, one.language, one.topic) == job]
        ids = {one.answer_id for one in own}
        for table, some in ((ANSWERS, own), (READINGS, [one for one in readings if one.answer_id in ids])):
            with JobShards(run, job, [table]) as shards:
                shards.append_part({table.name: objects_to_table(table, some)})
    models = list(dict.fromkeys(one.model for one in answers))
    sets = {one.question_id: one.set for one in questions}
    asked = {(f"{sets[one.question_id]} {one.language} {one.method}", one.prompt) for one in answers}
    settings = {"temperature": 0.0, "max_tokens": 30}
    ids = [
        CurrentId(what=what, prompt=prompt, id="asked", settings={"prompt": f"text of {prompt}", **settings})
        for what, prompt in sorted(asked)
    ]
    ids.append(CurrentId(what="ours", id="rules", reads=True))
    write_manifest(Manifest(experiment="test", polyculture="0", models=models, asked={"questions": ids}), run.manifest)
    measure_questions(run)
    return run
