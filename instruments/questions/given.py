"""Answers that somebody has, brought together with the questions of a set: by id, or by the prompt's text.

An id may end in the publisher's number of an order, as `age-001a-002-amb-bsd-0`. The prompt's text, where a file has
it, says which question it is, and in which order and under which labels its options stood. A file of likelihoods
(`output_type: multiple_choice` of lm-evaluation-harness) has one of each option.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase

from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import CurrentId
from polyculture.cache.text.quantity import quantity
from polyculture.generate.engines.answer import Answer
from polyculture.generate.request import request_id
from polyculture.instruments.questions.asking import (
    GENERATED,
    WORDING,
    Method,
    Order,
    labels_of,
    shown_options,
    topic_of,
    wording_id,
)
from polyculture.instruments.questions.layout import AnswerRow, WantedAnswer
from polyculture.instruments.questions.matching import (
    QuestionIndex,
    UnknownOrderError,
    asked_path,
    asked_text,
    choices_of,
    is_message,
    likelihoods_of,
    order_of,
    scores_of_options,
)
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.option_lists import ShownOptions, shown_in
from polyculture.sources.cells import is_value
from polyculture.sources.faults import is_fault
from polyculture.sources.record import BadRow, Record, listed_names, shown

PREFIX = "imported:"  # how the names of models begin whose answers came in a file
UNNAMED = "as given"  # the prompt of answers whose file neither names it nor has its text
NO_ANSWER = "the file has no answer to it"
_IDS = ("sample_id", "guid", "example_id", "question_id", "id")
_IDS_WITHIN = ("", "doc.", "metadata.")
_TEXTS = ("raw", "prediction", "response", "output", "completion", "generated_text", "text", "answer")
_FIELDS = {"model": "model", "prompt": "prompt|prompt_id", "language": "language"}
_CATEGORIES = "category|doc.category|metadata.category"
_ORDERS, _SAMPLES = "permutation|order", "sample|epoch|repeat"
_MADE = ("@", " ")  # how columns begin that are no file's own
_NAMED = 3  # rows that a line names


@dataclass
class GivenAnswers:
    """The answers of a file, and what of it is none."""

    answers: dict[str, AnswerRow] = field(default_factory=dict)  # by answer_id
    wanted: list[WantedAnswer] = field(default_factory=list)
    ids: dict[str, CurrentId] = field(default_factory=dict)  # by what is answered
    unmatched: list[str] = field(default_factory=list)  # rows of no question
    left_out: list[str] = field(default_factory=list)  # rows that cannot be taken, with the reason
    unlabelled: list[str] = field(default_factory=list)  # rows whose prompt shows no option under a label
    repeated: int = 0  # rows that say the same as another
    conflicts: list[str] = field(default_factory=list)  # rows that say something else: the first one counts
    sources: dict[str, dict[str, None]] = field(default_factory=dict)  # of each field of the answers, where it is from
    columns: dict[str, bool] = field(default_factory=dict)  # of a table: whether a field is taken from it

    def lines(self) -> Iterator[str]:
        """What is to be said of the file, a line each."""
        if self.sources:
            unused = [name for name, is_taken in self.columns.items() if not is_taken]
            more = f". Columns not taken: {listed_names(unused)} (FIELD=COLUMN takes one)" if unused else ""
            yield "; ".join(f"{name} {' or '.join(said)}" for name, said in self.sources.items()) + more
        told = Counter(row.prompt for row in self.answers.values())
        yield f"{quantity(len(self.answers), 'answer')} taken: " + ", ".join(
            f"{number} to prompt {name!r}" for name, number in sorted(told.items())
        )
        for what, rows in (
            ("of no question", self.unmatched),
            ("left out, as it contradicts another row", self.conflicts),
            ("not taken", self.left_out),
        ):
            if rows:
                yield f"{len(rows)} x {what}: {'; '.join(rows[:_NAMED])}{'; ...' if len(rows) > _NAMED else ''}"
        if self.repeated:
            yield f"{self.repeated} x the same as another row"
        if self.unlabelled:
            first = "; ".join(self.unlabelled[:_NAMED]) + ("; ..." if len(self.unlabelled) > _NAMED else "")
            show = "prompt shows" if len(self.unlabelled) == 1 else "prompts show"
            what = f"{len(self.unlabelled)} {show} no label before each of the question's options"
            yield f"{what}: {first}; answers in words can be read, letters and numbers cannot"


@dataclass(frozen=True)
class AnswerFile:
    """Records of a file, as answers to the questions of a set."""

    of: QuestionSet
    columns: Mapping[str, str]  # field -> path; '=VALUE' says it of all rows
    contents: str  # hash of the file and of how it is read
    model: str  # of records that name none
    several: bool = False  # a record's further texts are further answers, not the same again
    skip_rows: bool = False  # a record with an order that is none is left out

    def take(self, rows: Iterable[Record | BadRow]) -> GivenAnswers:
        """All answers of the records.

        Raises `UnknownOrderError` where a record names an order that is none, unless such rows are skipped.
        """
        taken, questions = GivenAnswers(), QuestionIndex(self.of.questions)
        for row in rows:
            if isinstance(row, BadRow):
                taken.left_out.append(f"row {row.row}: {row.reason}")
                continue
            lower = {name.casefold(): value for name, value in row.values.items()}
            row = replace(row, values={**lower, **row.values})
            scores = likelihoods_of(row)
            said = None if scores else self._answer(row)
            if said is None and scores is None:
                taken.left_out.append(f"row {row.row}: it has no text; name its column: text=COLUMN")
                continue
            asked = asked_text(row, self.columns.get("prompt", ""))
            try:
                language = self._said("language", row)
                question, numbered = questions.find(
                    (name for name, _ in self._names(row)), asked, language, self.of.orders
                )
                if question is None:
                    first = next((name for name, _ in self._names(row)), asked or "no id")
                    taken.unmatched.append(f"row {row.row} ({shown(first)})")
                    continue
                self._keep(taken, row, question, numbered, asked, said, scores)
                self._note_columns(taken, row, question, numbered, asked)
            except UnknownOrderError as fault:
                if not self.skip_rows:
                    raise UnknownOrderError(f"row {row.row}: {fault}") from fault
                taken.left_out.append(f"row {row.row}: {fault}")
            except LookupError as fault:
                taken.left_out.append(f"row {row.row}: {fault}")
        return taken

    def _keep(
        self,
        taken: GivenAnswers,
        row: Record,
        question: Question,
        numbered: Order | None,
        asked: str | None,
        said: Answer | None,
        scores: Sequence[tuple[str, float]] | None,
    ) -> None:
        prompt, seen = self._as_shown(row, question, numbered, asked)
        order, labels, options = seen.order, seen.labels, seen.texts
        if question.kind == "choice" and asked is not None and scores is None and not labels:
            taken.unlabelled.append(f"row {row.row} ({question.name})")
        method: Method = GENERATED
        values: list[float] | None = None
        if scores is not None:
            method, values = scores_of_options(question, order, labels, options, scores)
        model = f"{PREFIX}{self._said('model', row) or self.model}"
        topic = topic_of(question, method)
        slot = " ".join((topic, question.language, "imported", model, method, prompt, ",".join(map(str, order))))
        asked_id = content_id("imported answers", self.contents, slot)  # a newer file may have some of the slots alone
        request = request_id("imported", model, {}, [self.contents, method, prompt, order, labels, options])
        made, sample = question.question_id, self._sample(row)
        key = content_id(request, made, prompt, order, sample)
        while (self.several or row.at) and key in taken.answers:
            sample += 1
            key = content_id(request, made, prompt, order, sample)
        failed = said is not None and said.text is None
        raw = None if said is None or failed else said.text if said.raw is None else said.raw
        answer = AnswerRow(
            answer_id=key, request_id=request, question_id=made, model=model, language=question.language, topic=topic,
            method=method, prompt=prompt, order=list(order), labels=list(labels), shown=list(options), sample=sample,
            raw=raw, scores=values, status="failed" if failed else "ok",
            error=said.error or NO_ANSWER if said and failed else None, retryable=False if failed else None,
        )  # fmt: skip
        first = taken.answers.setdefault(key, answer)
        if first is not answer:
            if first == answer:
                taken.repeated += 1
            else:
                taken.conflicts.append(f"row {row.row} ({question.name})")
            return
        own = next((one for one in self.of.prompts if (one.name, one.language) == (prompt, question.language)), None)
        settings = {WORDING: wording_id(own)} if own else {}
        taken.ids[slot] = CurrentId(what=slot, id=asked_id, settings=settings)
        taken.wanted.append(WantedAnswer(request, model, None, made, prompt, sample + 1, "answer", asked_id))

    def _note_columns(
        self, taken: GivenAnswers, row: Record, question: Question, numbered: Order | None, asked: str | None
    ) -> None:
        """Notes where the fields of an answer are from: columns of the file, the set, or the file's name."""
        ids = (paths for name, paths in self._names(row) if question.name in (name, name.rpartition("-")[0]))
        asked_at = None if asked is None else row.column(asked_path(row, self.columns.get("prompt", "")))
        of_order = "in the prompt" if asked is not None else "in the set"
        sources: Mapping[str, tuple[Sequence[str | None], str]] = {
            "id": (next(ids, ()), "by the text of the prompt"),
            "text": (["resps" if likelihoods_of(row) else self._text_column(row)], ""),
            "model": ([self._column("model", row)], f"is {self.model!r}, the file's name"),
            "prompt": ([asked_at or self._column("prompt", row)], "is not known"),
            "language": ([self._column("language", row)], "as in the set"),
            "order": ([row.column(_ORDERS)], "from the end of the id" if numbered else f"as {of_order}"),
            "sample": ([None if self.several or row.at else row.column(_SAMPLES)], ""),
        }
        spelled = {name.casefold(): name for name in row.values}
        for name, (found, otherwise) in sources.items():
            paths = [spelled.get(path, path) for path in found if path]
            if said := _said_of(paths) or otherwise:
                taken.sources.setdefault(name, {})[said] = None
            taken.columns |= {re.split(r"[.\[]", path)[0]: True for path in paths if path not in row.values}
            taken.columns |= {path: True for path in paths if path in row.values}
        if not self.several and not row.at:
            own = (name for name in spelled.values() if not name.startswith(_MADE))
            taken.columns = {**dict.fromkeys(own, False), **taken.columns}

    def _column(self, name: str, row: Record) -> str | None:
        """The column that says a field of a record; None where it does not say it."""
        column = self.columns.get(name, _FIELDS[name])
        return None if self._said(name, row) is None else column if column.startswith("=") else row.column(column)

    def _said(self, name: str, row: Record) -> str | None:
        """A field of a record as text; None where it does not say it."""
        column = self.columns.get(name, _FIELDS[name])
        value = column[1:] if column.startswith("=") else row.get(column)
        return str(value).strip() or None if is_value(value) else None

    def _answer(self, row: Record) -> Answer | None:
        """The answer, which has no text where the file says that none came; None where no column has one."""
        column = self._text_column(row)
        value = None if column is None else row.get(column)
        if column is None or not isinstance(value, (str, Answer, type(None))):
            return None
        if isinstance(value, str) and is_fault(value):
            return Answer(None, ending="broken", raw=value, error=f"broken: {shown(value)}")
        return value if isinstance(value, Answer) else Answer(value)

    def _text_column(self, row: Record) -> str | None:
        told = self.columns.get("text")
        return next((one for one in ((told,) if told else _TEXTS) if row.has(one)), None)

    def _names(self, row: Record) -> Iterator[tuple[str, Sequence[str]]]:
        """What the record may call its question, each with the columns that say so."""
        told = self.columns.get("id")
        for path in (told,) if told else (f"{within}{name}" for within in _IDS_WITHIN for name in _IDS):
            value = row.get(path)
            if isinstance(value, (str, int)):
                category = row.column(_CATEGORIES)
                yield str(value).strip(), (path,)
                if category:  # BBQ numbers its examples by category
                    yield f"{str(row.get(category)).strip()}-{str(value).strip()}", (category, path)

    def _sample(self, row: Record) -> int:
        value = None if self.several or row.at else row.get(_SAMPLES)  # further texts are counted as they come
        return int(str(value)) if str(value).isdecimal() else 0

    def _as_shown(
        self, row: Record, question: Question, numbered: Order | None, asked: str | None
    ) -> tuple[str, ShownOptions]:
        """The prompt's name, and the options as the model saw them."""
        stands = tuple(range(len(question.options)))
        prompts = [prompt for prompt in self.of.prompts if prompt.language == question.language]
        order = order_of(row.get(_ORDERS), stands, self.of.orders) or numbered or stands
        name = self._said("prompt", row)
        named = next((prompt for prompt in prompts if prompt.name == name), None)
        if asked is not None:
            seen = shown_in(asked, question)
            if seen is None or not seen.labels:
                seen = shown_in(choices_of(row), question) or seen
            if seen is None:  # a prompt without options: answers name them in words
                seen = ShownOptions(stands, (), question.options)
            same = (prompt.name for prompt in prompts if is_message(asked, question, prompt, seen.texts, seen.labels))
            return next(same, UNNAMED), seen
        if named is not None:
            options = ShownOptions(order, labels_of(question, named), shown_options(question, order, named))
            return named.name, options
        if name is not None and not name.startswith(UNNAMED) and prompts:
            known = ", ".join(prompt.name for prompt in prompts)
            raise LookupError(f"prompt {shown(name)!r} is none of {known}")
        shared = {labels_of(question, prompt) for prompt in prompts}  # what all prompts of the set show, the model saw
        labels = (shared.pop() if len(shared) == 1 else ()) or tuple(ascii_uppercase[: len(stands)])
        return UNNAMED, ShownOptions(order, labels, shown_options(question, order, None))


def _said_of(paths: Sequence[str]) -> str:
    """'from 'id'', 'is 'en'', 'as this format has it'; empty where no column says it."""
    if any(path.startswith(_MADE) for path in paths):
        return "as this format has it"
    said = [f"is {path[1:]!r}" if path.startswith("=") else f"{path!r}" for path in paths]
    return "" if not said else said[0] if said[0].startswith("is ") else f"from {' and '.join(said)}"
