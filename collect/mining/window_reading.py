"""A model reads windows of text: which entity stands in each, if any.

In Chinese and Japanese no space says where a name ends. Camellia takes the ten characters beside a pattern and has a
model find the entity in them. An entity counts only if it stands in its window; every other answer is a row with its
reason. Answers are kept beside the output as they come, and none that was usable is asked for again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from polyculture.cache.catalog.read import read_toml
from polyculture.cache.files import store_faults
from polyculture.cache.folding import fold_surface
from polyculture.cache.identity import content_id
from polyculture.cache.model_facts import Price, Purchase
from polyculture.collect.mining.sheet import COUNT_COLUMNS, KEPT_COLUMNS
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import Sampling

PROMPT = Path(__file__).with_name("windows.toml")
FOUND, NONE, FAILED = "found", "none", "failed"
MAX_TOKENS = 64
SCHEMA = {
    "type": "object",
    "properties": {"entity": {"type": ["string", "null"]}},
    "required": ["entity"],
    "additionalProperties": False,
}
LIST_COLUMNS = tuple(dict.fromkeys((*COUNT_COLUMNS, *KEPT_COLUMNS)))
LEFT_OUT_COLUMNS = ("window", "count", "status", "reason", "answer")
Window = Mapping[str, str]  # a row of what `polyculture corpus mine` wrote


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """What a model said of a window."""

    key: str  # hash of model, setup, messages and decoding
    status: str  # 'found' | 'none': no entity stands there | 'failed'
    entity: str | None
    error: str | None  # why it failed, one line
    retryable: bool  # of a failure: another run asks again
    answer: str | None  # as it came
    prompt_tokens: int | None
    completion_tokens: int | None
    model: str  # that was asked
    purchase: Purchase  # 'direct' | 'batch'


@dataclass(frozen=True, slots=True)
class Reader:
    """What is asked, and of which model."""

    model: str
    setup_id: str
    language: str  # its name in English
    kind: str  # what the entities are: 'dish'

    def messages(self, window: Window) -> tuple[Message, ...]:
        """The prompt of a window."""
        texts = read_toml(PROMPT)
        pattern = window.get("patterns", "").split(" | ")[0].rpartition(": ")[0]
        system = texts["system"].strip().format(language=self.language, kind=self.kind)
        return (
            Message("system", system),
            Message("user", texts["user"].strip().format(pattern=pattern, window=window["entity"])),
        )

    def key(self, window: Window) -> str:
        """The key of the answer."""
        messages = [asdict(message) for message in self.messages(window)]
        return content_id(self.model, self.setup_id, messages, asdict(DECODING))

    def request(self, window: Window) -> Request:
        """What the model is sent."""
        return Request(self.key(window), self.messages(window), DECODING, (1,))


DECODING = Decoding(temperature=0.0, top_p=1.0, top_k=None, max_tokens=MAX_TOKENS, schema=SCHEMA)


def read_windows(
    engine: Sampling, reader: Reader, windows: Sequence[Window], known: Mapping[str, WindowAnswer]
) -> Iterator[WindowAnswer]:
    """The answers about the windows that are not known, as they come."""
    asked = {reader.key(window): window for window in windows}
    missing = {key: window for key, window in asked.items() if key not in known}

    requests = (reader.request(window) for window in missing.values())
    for completion in engine.sample(requests):
        yield _read(completion, missing[completion.request_id]["entity"], reader.model)


def kept_answers(journal: Path) -> dict[str, WindowAnswer]:
    """The answers of a journal, but for failures that may pass."""
    answers = {answer.key: answer for answer in bought_answers(journal)}
    return {key: answer for key, answer in answers.items() if not answer.retryable}


def bought_answers(journal: Path) -> Iterator[WindowAnswer]:
    """All answers of a journal, also those that were asked again; a line that was cut off is none."""
    if not journal.exists():
        return
    with store_faults(journal):
        lines = journal.read_bytes().splitlines()
    for line in lines:
        with suppress(orjson.JSONDecodeError, TypeError):
            yield WindowAnswer(**orjson.loads(line))


def cost(answers: Iterable[WindowAnswer], price_of: Callable[[str], Price | None]) -> float | None:
    """What answers have cost. None where one has no price."""
    total = 0.0
    for answer in answers:
        price = price_of(answer.model)
        if price is None:
            return None
        total += price.cost(answer.prompt_tokens or 0, answer.completion_tokens or 0, answer.purchase)
    return total


def keep(journal: Path, answers: Iterable[WindowAnswer]) -> Iterator[WindowAnswer]:
    """Writes each answer to the journal before it is passed on."""
    with store_faults(journal), journal.open("ab") as file:
        for answer in answers:
            file.write(orjson.dumps(asdict(answer)) + b"\n")
            file.flush()
            yield answer


def entity_rows(
    windows: Sequence[Window], reader: Reader, answers: Mapping[str, WindowAnswer]
) -> tuple[list[list[str]], list[list[str]]]:
    """The entities as `polyculture corpus mine` lists n-grams, most frequent first, and the windows without one.

    An entity is known by its folded form. Its `documents` are those of its windows added, an upper bound.
    """
    groups: dict[str, list[tuple[Window, str]]] = {}
    left_out: list[list[str]] = []
    for window in windows:
        answer = answers.get(reader.key(window))
        if answer is not None and answer.status == FOUND and answer.entity:
            groups.setdefault(fold_surface(answer.entity), []).append((window, answer.entity))
        elif answer is None:
            left_out.append([window["entity"], window["count"], "not asked", "", ""])
        else:
            reason = answer.error or "no entity stands there"
            left_out.append([window["entity"], window["count"], answer.status, reason, answer.answer or ""])
    rows = [_entity_row(folded, of_entity) for folded, of_entity in groups.items()]
    return sorted(rows, key=lambda row: (-int(row[LIST_COLUMNS.index("count")]), row[1])), left_out


def _entity_row(folded: str, of_entity: Sequence[tuple[Window, str]]) -> list[str]:
    forms: Counter[str] = Counter()
    for window, form in of_entity:
        forms[form] += int(window["count"])
    language = of_entity[0][0]["language"]
    patterns = dict.fromkeys(window.get("patterns", "").rpartition(": ")[0] for window, _ in of_entity)
    contexts = [window.get("context_1", "") for window, _ in of_entity][:3]
    values = {
        "id": "m" + hashlib.md5(f"{language} {folded}".encode(), usedforsecurity=False).hexdigest()[:11],
        "entity": min(forms, key=lambda form: (-forms[form], form)),
        "language": language,
        "count": str(sum(forms.values())),
        "documents": str(sum(int(window["documents"]) for window, _ in of_entity)),
        "chosen": "True",
        "patterns": " | ".join(filter(None, patterns)),
        **{f"context_{number}": context for number, context in enumerate(contexts, start=1)},
    }
    return [values.get(name, "") for name in LIST_COLUMNS]


def _read(completion: Completion, window: str, model: str) -> WindowAnswer:
    """An answer as it counts: an entity must stand in its window."""

    def answer(
        status: str, entity: str | None = None, error: str | None = None, retryable: bool = False
    ) -> WindowAnswer:
        paid = completion.prompt_tokens, completion.completion_tokens, model, completion.purchase
        return WindowAnswer(completion.request_id, status, entity, error, retryable, completion.as_it_came, *paid)

    if completion.text is None:
        return answer(FAILED, error=completion.error or "no answer")
    try:
        said = orjson.loads(completion.text)
        entity = said["entity"]
    except (orjson.JSONDecodeError, TypeError, KeyError):
        return answer(FAILED, error="the answer is not the JSON that was asked for")
    if entity is None:
        return answer(NONE)
    if not isinstance(entity, str) or not fold_surface(entity):
        return answer(FAILED, error="the answer names nothing")
    if _bare(entity) not in _bare(window):
        return answer(FAILED, error="the entity does not stand in the window")
    return answer(FOUND, entity.strip())


def _bare(text: str) -> str:
    return fold_surface(text).replace(" ", "")
