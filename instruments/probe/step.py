"""The step that probes: questions in; answers, what each layer holds of them, and items in the store out.

The states of all layers are gigabytes and are never stored: a batch of questions is answered, read and patched in one
go. What a layer holds is the text that the model writes with the layer's state in the place of a placeholder's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

from polyculture.cache.errors import EngineError
from polyculture.cache.text.folding import fold
from polyculture.cache.work.worker import AnswerText, Done, Load, StoredRows, Work
from polyculture.generate.engines.base import Completion, Message, Request
from polyculture.generate.engines.capabilities import PATCHING, Patching
from polyculture.generate.engines.models import Models
from polyculture.generate.engines.patching import AnswerStates, Continuation, Patch, StatesRequest
from polyculture.instruments.probe.arms import TEXT, noise
from polyculture.instruments.probe.asking import ProbeJob, ProbeRequest, ProbeRules
from polyculture.instruments.probe.encoder import open_encoder
from polyculture.instruments.probe.layout import (
    PROBE_ITEMS,
    PROBE_READINGS,
    PROBES,
    ItemRow,
    ProbedQuestion,
    ProbeReadingRow,
    ProbeRow,
)
from polyculture.instruments.probe.splitting import echo_of, split_items
from polyculture.instruments.probe.words import content_words, word_rule
from polyculture.instruments.row_step import AnswerStep

PART = 16  # questions that are answered, and whose layers are read, together
MOST_LAYERS = 128  # that `plan` takes where nobody knows: Llama 3.1 405B has 126 (arXiv:2407.21783, Table 3)
_UNKNOWN = (
    "{model}: its settings cannot be read here, so nobody knows how many layers it has. The probe is counted with "
    f"{MOST_LAYERS} layers, which is more than published models have"
)


@dataclass(frozen=True)
class _QuestionStates:
    """A question with its answer and the answer's states, or the reason why there are none."""

    question: ProbedQuestion
    answer: str | None
    words: tuple[str, ...] = ()
    found: AnswerStates | None = None
    error: str | None = None


class ProbingStep(AnswerStep[ProbeRequest, ProbeJob]):
    """Probes models question by question. A failure is a row with its reason, and is not tried again."""

    name = "probe"
    use = "patch"
    tables = (PROBE_READINGS, PROBE_ITEMS, PROBES)

    def __init__(
        self,
        jobs: Sequence[ProbeJob],
        encoders: Collection[str] = (),
        layers: Callable[[str], int | None] = lambda _model: None,
    ) -> None:
        """`layers` says how many layers a model has, where that is known before it is loaded."""
        super().__init__(jobs)
        self._encoders = set(encoders)
        self._layers = cache(layers)

    def loads(self, work: Work[ProbeRequest], items: Iterable[ProbeRequest]) -> Iterator[Load]:
        """A question is read, answered, and read again with its answer; then a text is continued for each layer.

        The text before the placeholder is read once for all layers of some questions, unless the model's cache holds
        more than keys and values.
        """
        probing = self.asked[work.job]
        rules, layers = probing.rules, self._layers(work.job.model)
        answer = AnswerText(None, work.job.model, rules.answering.max_tokens)
        for some in _batches(probing, iter(items)):
            for source in _sources(some):
                yield Load(source.question, answer.most_tokens)
                yield Load(source.question, 0, answer=answer)
            if patched := sum(one.source is not None and one.arm != TEXT for one in some):
                told = "" if layers else _UNKNOWN.format(model=work.job.model)
                most, place = rules.inspection.max_tokens, rules.inspection.placeholder
                yield Load(rules.inspection.prompt, 0, chat=False)
                yield Load(place, most, patched * (layers or MOST_LAYERS), chat=False, assumed=told)
            for one in some:
                if one.arm == TEXT:
                    yield Load(rules.inspection.prompt, rules.inspection.max_tokens, answer=answer, chat=False)

    def ask(
        self, work: Work[ProbeRequest], items: Iterator[ProbeRequest], models: Models, kept: StoredRows
    ) -> Iterator[Done]:
        """The rows of some questions at a time.

        Raises `EngineError` where the model cannot be looked into, or the encoder that is used afterwards is missing.
        """
        probing = self.asked[work.job]
        while self._encoders:
            open_encoder(self._encoders.pop())  # before hours of probing
        engine = models.open(PATCHING)
        engine.depth()  # before anything is answered
        for some in _batches(probing, items):
            answered = {one.question.question_key: one for one in _answers(engine, probing.rules, _sources(some))}
            written = _written(engine, probing.rules, some, answered)
            for one in some:
                said, told = _said(one, answered), written.get(one.probe_id, {})
                if isinstance(told, EngineError):
                    said, told = replace(said, error=f"the answer's words cannot be continued: {told.what}"), {}
                yield Done(_rows(probing, one, said, told, engine.depth()))


def _batches(probing: ProbeJob, items: Iterator[ProbeRequest]) -> Iterator[list[ProbeRequest]]:
    """The items that are probed together."""
    while some := list(islice(items, PART * len(probing.arms))):
        yield some


def _sources(some: Sequence[ProbeRequest]) -> list[ProbedQuestion]:
    """The questions that are answered for some items."""
    return list({one.source.question_key: one.source for one in some if one.source}.values())


def _said(one: ProbeRequest, answered: Mapping[str, _QuestionStates]) -> _QuestionStates:
    """The answer whose vectors an arm puts in place."""
    if one.source is None:
        return _QuestionStates(one.question, None, error=f"{one.arm}: no question of the table can lend it a vector")
    return answered[one.source.question_key]


def _answers(engine: Patching, rules: ProbeRules, questions: Sequence[ProbedQuestion]) -> Iterator[_QuestionStates]:
    """The model's answers with their states."""
    requests = [Request(str(n), _messages(one), rules.answering, (1,)) for n, one in enumerate(questions)]
    said: dict[int, Completion] = {int(one.request_id): one for one in engine.sample(requests)}
    asked, words = [], {}
    for number, one in enumerate(questions):
        text = said[number].text
        if text and text.strip():
            words[number] = content_words(text, one.language, rules.tagger_of(one.language))
            spans = tuple((word.start, word.end) for word in words[number])
            asked.append(StatesRequest(str(number), _messages(one), text, spans))
    states = {int(one.request_id): one for one in engine.answer_states(asked)}
    for number, one in enumerate(questions):
        text, found = said[number].text, states.get(number)
        if found is None:
            yield _QuestionStates(one, text, error=said[number].error or "the answer is empty")
        else:
            yield _QuestionStates(one, text, tuple(word.text for word in words[number]), found, found.error)


def _messages(one: ProbedQuestion) -> tuple[Message, ...]:
    return (Message("user", one.question),)


Layers = dict[int, Continuation]  # what was written, by layer


def _written(
    engine: Patching, rules: ProbeRules, some: Sequence[ProbeRequest], answered: Mapping[str, _QuestionStates]
) -> dict[str, Layers | EngineError]:
    """What the model writes for each layer of each question, in one batch over both; by probe_id."""
    whole = [one for one in some if _said(one, answered).error is None]
    patches = [patch for one in whole for patch in _patches(rules, one, _said(one, answered))]
    patched: dict[str, Layers] = {}
    for written in engine.continue_patched(rules.inspection, patches):
        probe_id, _, layer = written.patch_id.rpartition(" ")
        patched.setdefault(probe_id, {})[int(layer)] = written
    return patched | _of_text(engine, rules, [one for one in whole if one.arm == TEXT], answered)


def _of_text(
    engine: Patching, rules: ProbeRules, some: Sequence[ProbeRequest], answered: Mapping[str, _QuestionStates]
) -> dict[str, Layers | EngineError]:
    """What the model writes behind the answers' words as text; with them it may be longer than the model reads."""
    inspection, texts = rules.inspection, []
    for one in some:
        said = _said(one, answered)
        words = " ".join(said.words) or str(said.answer)
        texts.append((one.probe_id, inspection.prompt.removesuffix(inspection.placeholder) + " ".join(words.split())))
    found: dict[str, Layers | EngineError] = {}
    for written in engine.continue_texts(texts, inspection.max_tokens):
        too_long = written.finish_reason == "window"
        found[written.patch_id] = EngineError("with them the text exceeds its window") if too_long else {0: written}
    return found


def _patches(rules: ProbeRules, one: ProbeRequest, said: _QuestionStates) -> Iterator[Patch]:
    """A patch per layer; none where the arm is text."""
    if said.found is None or said.found.states is None or one.arm == TEXT:
        return
    states = said.found.states
    used = noise(states, one.probe_id, rules.seed) if one.arm == "noise" else states
    for layer in range(1, len(used) + 1):
        yield Patch(f"{one.probe_id} {layer}", {number: used[number - 1] for number in rules.replaced_with(layer)})


def _rows(
    probing: ProbeJob, one: ProbeRequest, answered: _QuestionStates, written: Mapping[int, Continuation], depth: int
) -> tuple[Any, ...]:
    question, found = one.question, answered.found
    rule = word_rule(question.language, probing.rules.tagger_of(question.language))
    row = ProbeRow(
        probe_id=one.probe_id, request_id=one.request_id, question_key=question.question_key,
        model=probing.job.model, language=question.language, topic=probing.job.topic,
        status="failed" if answered.error else "ok", error=answered.error, retryable=False if answered.error else None,
        answer=answered.answer, words=list(answered.words) or None, word_rule=rule,
        tokens=found.tokens if found else None, last_token=found.last_token if found else None, layers=depth,
        model_version=found.model_version if found else None,
        protocol=probing.rules.protocol,
        vector_of=one.source.question_key if one.source and one.source != question else None,
    )  # fmt: skip
    sources = (
        ("prompt", fold(probing.rules.inspection.prompt)), ("culture", fold(question.culture)),
        ("question", fold(question.question)), ("answer", fold(answered.answer or "")),
    )  # fmt: skip
    readings = [
        ProbeReadingRow(one.probe_id, layer, told.text, told.tokens, told.finish_reason)
        for layer, told in written.items()
    ]
    items = [
        ItemRow(one.probe_id, layer, place, part.item, part.item_key, part.rejected, echo_of(part.item_key, sources))
        for layer, told in written.items()
        for place, part in enumerate(split_items(told.text, told.finish_reason, question.language))
    ]
    return (*readings, *items, row)
