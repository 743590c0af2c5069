"""Answers that somebody has, brought together with the questions of a set: by id, or by the prompt's text.

An id may end in the publisher's number of an order, as `age-001a-002-amb-bsd-0`. The prompt's text, where a file has
it, says which question it is, and in which order and under which labels its options stood. A file of likelihoods
(`output_type: multiple_choice` of lm-evaluation-harness) has one of each option.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.generate.engines.answer import Answer
from polyculture.generate.request import request_id
from polyculture.imports.record import BadRow, Record, find, shown
from polyculture.instruments.questions.asking import GENERATED, Method, question_id, topic_of
from polyculture.instruments.questions.model import UNKNOWN, Prompt, Question, QuestionSet
from polyculture.instruments.questions.prompting import Order, labels_of, message, shown_options
from polyculture.instruments.questions.rows import AnswerRow, WantedAnswer

PREFIX = "imported:"  # how the names of models begin whose answers came in a file
UNNAMED = "as given"  # the prompt of answers whose file neither names it nor has its text
NO_ANSWER = "the file has no answer to it"
_IDS = ("sample_id", "guid", "example_id", "question_id", "id")
_IDS_WITHIN = ("", "doc.", "metadata.")
_TEXTS = ("raw", "prediction", "response", "output", "completion", "generated_text", "text", "answer")
_FIELDS = {"model": "model", "prompt": "prompt|prompt_id", "language": "language"}
_LONGEST_NAME = 40  # characters of a prompt's name; what is longer, or of several words, is its text
_ORDERS, _SAMPLES = "permutation|order", "sample|epoch|repeat"
_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_START = 12  # characters by which the question of a prompt is looked up
_LABELLED = re.compile(
    r"^(?:[^\n:：]{0,12}[:：])?\s*([(\[]?(?:[A-Za-z]|\d{1,2})[)\]]?)[.:：)]?[ \t]+(\S.*?)\s*$", re.MULTILINE
)
_NAMED = 3  # rows that a line names


@dataclass
class Taken:
    """The answers of a file, and what of it is none."""

    answers: dict[str, AnswerRow] = field(default_factory=dict)  # by answer_id
    wanted: list[WantedAnswer] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)  # what is answered -> the id that its answers stand under
    unmatched: list[str] = field(default_factory=list)  # rows of no question
    left_out: list[str] = field(default_factory=list)  # rows that cannot be taken, with the reason
    repeated: int = 0  # rows that say the same as another
    conflicts: list[str] = field(default_factory=list)  # rows that say something else: the first one counts

    def lines(self) -> Iterator[str]:
        """What is to be said of the file, a line each."""
        told = Counter(row.prompt for row in self.answers.values())
        yield f"{len(self.answers)} answers taken: " + ", ".join(
            f"{number} to prompt {name!r}" for name, number in sorted(told.items())
        )
        for what, rows in (
            ("rows of no question", self.unmatched),
            ("rows that contradict another, which counts", self.conflicts),
            ("rows not taken", self.left_out),
        ):
            if rows:
                yield f"{len(rows)} {what}: {'; '.join(rows[:_NAMED])}{'; ...' if len(rows) > _NAMED else ''}"
        if self.repeated:
            yield f"{self.repeated} rows that say the same as another"


class UnknownOrderError(ValueError):
    """An order of options that is none: whatever the answer says, nobody can know which option it means."""


@dataclass(frozen=True)
class AnswerFile:
    """Records of a file, as answers to the questions of a set."""

    of: QuestionSet
    columns: Mapping[str, str]  # field -> path; '=VALUE' says it of all rows
    contents: str  # hash of the file and of how it is read
    model: str  # of records that name none
    several: bool = False  # a record's further texts are further answers, not the same again
    skip_rows: bool = False  # a record with an order that is none is left out

    def take(self, rows: Iterable[Record | BadRow]) -> Taken:
        """All answers of the records.

        Raises `UnknownOrderError` where a record names an order that is none, unless such rows are skipped.
        """
        taken, questions = Taken(), _Index(self.of.questions)
        for row in rows:
            if isinstance(row, BadRow):
                taken.left_out.append(f"row {row.row}: {row.reason}")
                continue
            scores = likelihoods_of(row)
            said = None if scores else self._answer(row)
            if said is None and scores is None:
                taken.left_out.append(f"row {row.row}: it has no text; name its column with --text")
                continue
            asked = _asked_text(row, self.columns.get("prompt", ""))
            question, numbered = questions.find(self._names(row), asked, self._said("language", row), self.of.orders)
            if question is None:
                taken.unmatched.append(f"row {row.row} ({shown(next(self._names(row), asked or 'no id'))})")
                continue
            try:
                self._keep(taken, row, question, numbered, asked, said, scores)
            except UnknownOrderError as fault:
                if not self.skip_rows:
                    raise UnknownOrderError(f"row {row.row}: {fault}") from fault
                taken.left_out.append(f"row {row.row}: {fault}")
            except LookupError as fault:
                taken.left_out.append(f"row {row.row}: {fault}")
        return taken

    def _keep(
        self,
        taken: Taken,
        row: Record,
        question: Question,
        numbered: Order | None,
        asked: str | None,
        said: Answer | None,
        scores: Sequence[tuple[str, float]] | None,
    ) -> None:
        prompt, order, labels, options = self._as_shown(row, question, numbered, asked)
        method: Method = GENERATED
        values: list[float] | None = None
        if scores is not None:
            method, values = _of_options(question, order, labels, options, scores)
        model = f"{PREFIX}{self._said('model', row) or self.model}"
        topic = topic_of(question) + ("" if method == GENERATED else f"-{method}")
        slot = " ".join((topic, question.language, "imported", model, method, prompt, ",".join(map(str, order))))
        asked_id = content_id("imported answers", self.contents)
        request = request_id("imported", model, {}, [self.contents, method, prompt, order, labels, options])
        made, sample = question_id(question), self._sample(row)
        key = content_id(request, made, prompt, order, sample)
        while self.several and key in taken.answers:
            sample += 1
            key = content_id(request, made, prompt, order, sample)
        failed = said is not None and said.text is None
        raw = None if said is None or failed else said.text if said.raw is None else said.raw
        answer = AnswerRow(
            key, request, made, model, question.language, topic, method, prompt, list(order), list(labels),
            list(options), sample, raw, values, None, None, None, "failed" if failed else "ok",
            said.error or NO_ANSWER if said and failed else None, False if failed else None, None, None, None, None,
        )  # fmt: skip
        first = taken.answers.setdefault(key, answer)
        if first is not answer:
            if first == answer:
                taken.repeated += 1
            else:
                taken.conflicts.append(f"row {row.row} ({question.name})")
            return
        taken.ids[slot] = asked_id
        taken.wanted.append(WantedAnswer(request, made, prompt, sample + 1, model, "answer", None, asked_id))

    def _said(self, name: str, row: Record) -> str | None:
        """A field of a record as text; None where it does not say it."""
        column = self.columns.get(name, _FIELDS[name])
        value = column[1:] if column.startswith("=") else row.get(column)
        return None if value is None or isinstance(value, (list, dict)) else str(value).strip() or None

    def _answer(self, row: Record) -> Answer | None:
        """The answer, which has no text where the file says that none came; None where no column has one."""
        told = self.columns.get("text")
        column = next((one for one in ((told,) if told else _TEXTS) if row.has(one)), None)
        value = None if column is None else row.get(column)
        if column is None or not isinstance(value, (str, Answer, type(None))):
            return None
        return value if isinstance(value, Answer) else Answer(value)

    def _names(self, row: Record) -> Iterator[str]:
        """What the record may call its question."""
        told = self.columns.get("id")
        for path in (told,) if told else (f"{within}{name}" for within in _IDS_WITHIN for name in _IDS):
            value = row.get(path)
            if isinstance(value, (str, int)):
                category = row.get("category|doc.category|metadata.category")
                yield str(value).strip()
                if category:  # BBQ numbers its examples by category
                    yield f"{str(category).strip()}-{str(value).strip()}"

    def _sample(self, row: Record) -> int:
        value = None if self.several else row.get(_SAMPLES)  # further texts are counted as they come
        return int(str(value)) if str(value).isdecimal() else 0

    def _as_shown(
        self, row: Record, question: Question, numbered: Order | None, asked: str | None
    ) -> tuple[str, Order, tuple[str, ...], tuple[str, ...]]:
        """The prompt's name, and the order, labels and texts of the options as the model saw them."""
        stands = tuple(range(len(question.options)))
        prompts = [prompt for prompt in self.of.prompts if prompt.language == question.language]
        order = _order(row.get(_ORDERS), stands, self.of.orders) or numbered or stands
        name = self._said("prompt", row)
        named = next((prompt for prompt in prompts if prompt.name == name), None)
        if asked is not None:
            seen = shown_in(asked, question) or shown_in(_choices(row), question)
            if seen is None:  # a prompt without options: answers name them in words
                return UNNAMED, stands, (), question.options
            order, labels, options = seen
            same = (prompt.name for prompt in prompts if _is_message(asked, question, prompt, options, labels))
            return next(same, UNNAMED), order, labels, options
        if named is not None:
            return named.name, order, labels_of(question, named), shown_options(question, order, named)
        if name is not None and not name.startswith(UNNAMED) and prompts:
            known = ", ".join(prompt.name for prompt in prompts)
            raise LookupError(f"prompt {shown(name)!r} is none of {known}")
        return UNNAMED, order, tuple(_LABELS[: len(stands)]), shown_options(question, order, None)


class _Index:
    """The questions of a set, by name and by how their texts begin."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._by_name: defaultdict[str, list[Question]] = defaultdict(list)
        self._by_start: defaultdict[str, list[Question]] = defaultdict(list)
        for question in questions:
            self._by_name[question.name].append(question)
            self._by_start[_plain(question.context or question.text)[:_START]].append(question)

    def find(
        self, names: Iterator[str], asked: str | None, language: str | None, orders: Sequence[Order]
    ) -> tuple[Question | None, Order | None]:
        """The one question of these names, or of the text that was asked; and the order that its name ends in."""

        def fits(one: Question) -> bool:
            return language in (None, one.language) and (asked is None or _fits(one, asked))

        for name in names:
            stem, _, number = name.rpartition("-")
            numbered = orders[int(number)] if number.isdecimal() and int(number) < len(orders) else None
            for known, order in ((name, None), (stem, numbered)):
                if known == stem and numbered is None:
                    continue
                fitting = [one for one in self._by_name.get(known, ()) if fits(one)]
                if len(fitting) == 1:
                    return fitting[0], order
        return (None if asked is None else self._of_text(asked)), None

    def _of_text(self, asked: str) -> Question | None:
        """The one question whose context and text are in what was asked: of several the one with the longest texts."""
        plain = _plain(asked)
        found = {
            question.name: question
            for start in range(max(len(plain) - _START, 0) + 1)
            for question in self._by_start.get(plain[start : start + _START], ())
            if _fits(question, plain)
        }
        longest = max((len(one.context) + len(one.text) for one in found.values()), default=0)
        best = [one for one in found.values() if len(one.context) + len(one.text) == longest]
        return best[0] if len(best) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.split())


def _fits(question: Question, asked: str) -> bool:
    plain = _plain(asked)
    return all(_plain(text) in plain for text in (question.context, question.text))


def _asked_text(row: Record, path: str) -> str | None:
    """What the model was asked, where the file has it as a text: the last message of the user, or the prompt."""
    said = find(row.values, "messages[role=user].content")
    value = said[-1][1] if said else None if path.startswith("=") else row.get(path or "prompt|input")
    if isinstance(value, list):  # parts of a message
        value = "".join(one.get("text") or "" for one in value if isinstance(one, Mapping))
    return value if isinstance(value, str) and (len(value.split()) > 1 or len(value) > _LONGEST_NAME) else None


def _choices(row: Record) -> str:
    """The choices that a record lists, as lines under letters."""
    listed = row.get("choices")
    texts = listed if isinstance(listed, list) else []
    return "\n".join(f"{label}: {text}" for label, text in zip(_LABELS, texts, strict=False))


def _order(value: Any, stands: Order, published: Sequence[Order]) -> Order | None:
    """An order as files write it: '021', '[0, 2, 1]', or the number of one of the publisher's; None where none is."""
    if value is None or value == "":
        return None
    text = "".join(map(str, value)) if isinstance(value, list) else str(value).strip()
    digits = [int(one) for one in (value if isinstance(value, list) else re.findall(r"\d+", text))]
    if len(digits) == 1 and len(text) == len(stands) > 1:
        digits = [int(sign) for sign in text]
    if len(digits) == 1 and digits[0] < len(published):
        return published[digits[0]]
    if sorted(digits) != list(stands):
        raise UnknownOrderError(f"{text!r} is no order of {len(stands)} options")
    return tuple(digits)


def shown_in(asked: str, question: Question) -> tuple[Order, tuple[str, ...], tuple[str, ...]] | None:
    """Order, labels and texts of a question's options in a prompt, a labelled line each; None where it has none.

    A line that is no option is the wording of 'unknown' where that alone is missing. Of several lists the last counts.
    """
    lines = [(label, _plain(text)) for label, text in _LABELLED.findall(asked)][-len(question.options) :]
    known = {_plain(option): index for index, option in enumerate(question.options)}
    order = [known.get(text, -1) for _, text in lines]
    missing = set(range(len(question.options))) - set(order)
    if len(missing) == 1 and order.count(-1) == 1 and question.roles[min(missing)] == UNKNOWN:
        order[order.index(-1)] = min(missing)
    if not lines or sorted(order) != list(range(len(question.options))):
        return None
    return tuple(order), tuple(label for label, _ in lines), tuple(text for _, text in lines)


def _is_message(asked: str, question: Question, prompt: Prompt, options: Sequence[str], labels: Sequence[str]) -> bool:
    return _plain(message(question, prompt, options, labels)) == _plain(asked)


def likelihoods_of(row: Record) -> list[tuple[str, float]] | None:
    """Continuations with their log-probabilities of a record of lm-evaluation-harness; None of any other record."""
    responses, arguments = row.values.get("resps"), row.values.get("arguments")
    calls = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    if not isinstance(responses, list) or not isinstance(calls, list) or not responses:
        return None
    found = []
    for response, call in zip(responses, calls, strict=False):
        pair = response[0] if isinstance(response, list) and response and isinstance(response[0], list) else response
        text = call.get("arg_1") if isinstance(call, Mapping) else call[1] if isinstance(call, list) else None
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(text, str):
            return None
        try:
            found.append((text.strip(), float(pair[0])))
        except (TypeError, ValueError):
            return None
    return found


def _of_options(
    question: Question, order: Order, labels: Sequence[str], options: Sequence[str], scores: Sequence[tuple[str, float]]
) -> tuple[Method, list[float]]:
    """The likelihood at each place: of labels, or of texts.

    What is no other option is a wording of 'unknown', of which the likeliest counts, as in lm-evaluation-harness.
    Raises `LookupError` where an option has none.
    """
    by_label = dict(scores)
    if labels and set(by_label) == set(labels):
        return "letter", [by_label[label] for label in labels]
    places = {_plain(option): place for place, option in enumerate(options)}
    unknown = next((place for place, index in enumerate(order) if question.roles[index] == UNKNOWN), None)
    values: dict[int, float] = {}
    for text, score in scores:
        place = places.get(_plain(text), unknown)
        if place is not None:
            values[place] = max(score, values.get(place, score))
    missing = [option for place, option in enumerate(options) if place not in values]
    if missing:
        raise LookupError(f"no likelihood of {shown(missing[0])!r}")
    return "text", [values[place] for place in range(len(options))]
