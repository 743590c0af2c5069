"""Where the texts of a record are: every one with its own path, and what stands around it.

    {"outputs": [{"text": "Pizza."}, {"text": "Sushi."}]}                  outputs[*].text, at 0 and at 1
    {"response_a": "Pizza.", "response_b": "Sushi."}                       response_*, at a and at b
    {"generations": [[{"text": "Pizza."}], [{"text": "Sushi."}]]}          generations[*][*].text

Paths that differ in what stands in place of a star are siblings: all of them are texts of the record. What is said of a
text (its model, its ending) is looked for from the text outwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from polyculture.generate.engines.bodies import content_of
from polyculture.imports.chats import conversation, has_role, is_answer
from polyculture.sources.cells import is_value, opened
from polyculture.sources.record import Record, by_name, find, folded, known_names

_FEWEST_REPEATED = 3  # texts in another column: of two models one answer may be the same by chance
STAR = None  # a step into any element of a list
_DEEPEST = 12  # tables within tables
_NUMBERED = re.compile(r"(?P<stem>.*[^\W\d_])(?P<sign>[_ .-]?)(?P<number>\d{1,3}|(?<=[_ .-])[a-hA-H])")
_ASKED = re.compile(r"prompt|request|input|question|instruction|query|context|system|params|arguments")
_BESIDE = re.compile(
    r"reason|thought|think|reference|gold|target|judg|annotat|rationale|retriev|source(?:node|document)"
    r"|comment|remark|feedback|justif|explan|notes?$|usage|logprob|tool|error|token|score|critique|type$|doc$"
)
_PART = re.compile(r"text|reason|think|tool|function|image|audio|refusal|message")  # types of parts of a text
_NO_PATH = re.compile(r"[\[\]|*]")  # of a name that no path can have
_COUNTS = frozenset({"usage", "usagemetadata", "meta"})  # of tokens: those of all alternatives are no single one's


@dataclass(frozen=True, slots=True)
class Place:
    """A text of a record: the steps of its path, and what stands in place of each star."""

    steps: tuple[str | None, ...]
    at: tuple[Any, ...]
    text: str

    @property
    def path(self) -> str:
        return path_of(self.steps)


def path_of(steps: Sequence[str | None]) -> str:
    """Steps as a path that a user can write."""
    return "".join("[*]" if step is STAR else f".{step}" for step in steps).lstrip(".")


def places(values: Mapping[str, Any]) -> list[Place]:
    """All texts of a record that a name says to be one, also within lists, tables, and cells that hold these."""
    found: list[Place] = []
    for name, value in values.items():
        if name.startswith((" ", "@")) or _NO_PATH.search(name) or is_beside(name):
            continue
        stem, path, number = _sibling(name, values) or (name, name, None)
        at = () if number is None else (number,)
        found += _within(value, (path,), at, stem.rpartition(".")[2])
    return found


def paths_of_texts(records: Sequence[Record]) -> list[str]:
    """The paths at which records have texts, the one that stands highest first.

    A path whose texts are all found at another one, too, is left out: logs repeat an answer. Of two that have the same
    texts the one is kept beside which a model is named, where nothing else names it; else the higher.
    """
    every = [places(record.values) for record in records]
    counts = Counter(place.path for found in every for place in found)
    first = {place.path: (place, record) for found, record in zip(every, records, strict=True) for place in found}
    texts = [_texts_by_path(found) for found in every]
    has_model = any(names & by_name(record.values).keys() for names in [_usual("model")] for record in records)

    def rank(path: str) -> tuple[bool, int]:
        place, record = first[path]
        own = not has_model and bool(outward(replace(record, place=path, at=place.at), {"model": [*_usual("model")]}))
        return not own, len(place.steps)

    order = sorted(first, key=lambda path: len(first[path][0].steps))
    distinct = {path: set[str]().union(*(one.get(path, set()) for one in texts)) for path in order}
    covered = {
        (a, b): (first[a][0].steps[0] == first[b][0].steps[0] or len(distinct[b]) >= _FEWEST_REPEATED)
        and all(one[b] <= one.get(a, set()) for one in texts if b in one)
        for a in order for b in order if a != b
    }  # fmt: skip
    ranks = {path: rank(path) for path in order} if any(covered.values()) else {}
    repeats = {b for (a, b), same in covered.items()
               if same and (not covered[b, a] or (ranks[a], order.index(a)) < (ranks[b], order.index(b)))}  # fmt: skip
    most = max(counts.values(), default=0)
    return [path for path in order if path not in repeats and 4 * counts[path] >= most]


def _texts_by_path(found: Sequence[Place]) -> dict[str, set[str]]:
    texts = dict[str, set[str]]()
    for place in found:
        texts.setdefault(place.path, set()).add(place.text.strip())
    return texts


@lru_cache(maxsize=16)
def _usual(field: str) -> frozenset[str]:
    return frozenset(map(folded, known_names()["names"][field]))


def may_have_alternatives(value: Any, depth: int = 0) -> bool:
    """Whether there is any list of two or more in a body, which most bodies have not."""
    if isinstance(value, list):
        if len(value) > 1:
            return True
        within: Iterable[Any] = value
    elif isinstance(value, dict) and depth < _DEEPEST:
        within = value.values()
    else:
        return False
    for one in within:  # noqa: SIM110 (twice as fast as `any`, and each body comes by)
        if isinstance(one, (dict, list)) and may_have_alternatives(one, depth + 1):
            return True
    return False


def alternatives(body: Mapping[str, Any], first: object) -> list[tuple[tuple[Any, ...], str, Mapping[str, Any]]]:
    """A body per alternative answer in it: where it stands, the path with stars, and the body with no other.

    `first` is the text that a reader of the whole body takes.
    """
    place = next((one for one in places(body) if one.text == first and STAR in one.steps), None)
    if place is None:
        lists = (name for name in ("choices", "candidates") if isinstance(body.get(name), list) and body[name][1:])
        steps: tuple[str | None, ...] = (name, STAR) if (name := next(lists, None)) else ()
    else:
        steps = place.steps[: len(place.steps) - place.steps[::-1].index(STAR)]
    every = find(body, path_of(steps)) if steps else []
    if len(every) < 2:
        return [((0,), "", body)]
    return [(at, path_of(steps), _alone(body, steps, at)) for at, _ in every]


def _alone(value: Any, steps: Sequence[str | None], at: Sequence[Any]) -> Any:
    """A value in which each list on a way has one element, without the counts that are of all."""
    value = opened(value)
    if not steps:
        return value
    if steps[0] is STAR:
        return [_alone(value[at[0]], steps[1:], at[1:])]
    rest = {key: one for key, one in value.items() if folded(str(key)) not in _COUNTS} if STAR in steps else value
    return {**rest, steps[0]: _alone(value[steps[0]], steps[1:], at)}


def outward(record: Record, fields: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The paths of what is said of one of several texts: in its own table, in those around it, and in lists and columns
    that run beside its own."""
    found: dict[str, str] = {}
    for path, table in _around(record):
        columns = by_name(table)
        for field, usual in fields.items():
            inner = next((columns[one] for one in map(folded, usual) if one in columns), None)
            if inner is not None and is_value(Record("", table).get(inner)):
                found.setdefault(field, f"{path}.{inner}")
    for field, usual in fields.items():
        beside = next(filter(None, (_beside(record, str(name), usual) for name in record.values)), None)
        if beside is not None:
            found.setdefault(field, beside)
    return found


def _beside(record: Record, name: str, usual: Sequence[str]) -> str | None:
    """The path of a column that runs beside that of the text: `model_*` beside `response_*`, `models[*]` beside
    `completions[*].text`."""
    names = set(map(folded, usual))
    numbered = _NUMBERED.fullmatch(name)
    if name.startswith((" ", "@")) or record.place.startswith("@"):
        return None
    if record.place.partition(".")[0].partition("[")[0].endswith("*"):
        same = numbered is not None and numbered["number"] == record.at[0] and folded(numbered["stem"]) in names
        return f"{numbered['stem']}{numbered['sign']}*" if numbered and same else None
    one = folded(name).removesuffix("s")
    of_text = folded(record.place.partition("[")[0]).removesuffix("s")  # `generation_models` beside `generations`
    listed = opened(record.values[name]) if names & {one, one.removeprefix(of_text)} and len(record.at) == 1 else None
    siblings = opened(record.get(record.place.partition("[")[0])) if isinstance(listed, list) else None
    same = isinstance(listed, list) and isinstance(siblings, list) and len(siblings) == len(listed)
    return f"{name}[*]" if same else None


def _around(record: Record) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables on the way to a text, the innermost first, without the record itself."""
    steps = re.findall(r"\[\*\]|\.?[^.\[\]]+", record.place)
    for end in range(len(steps), 0, -1):
        path = "".join(steps[:end])
        table = opened(record.get(path))
        if isinstance(table, Mapping):
            yield path, table


def was_asked(record: Record) -> bool:
    """Whether one of several texts is a message of who asks."""
    return any(has_role(table) and not is_answer(table) for _, table in _around(record))


def _sibling(name: str, values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Of one of several numbered columns: their common name, their path, and its own number."""
    numbered = _NUMBERED.fullmatch(name)
    if numbered is None or not (is_text_name(numbered["stem"]) or _is_a_models_chat(numbered, values)):
        return None
    before = f"{numbered['stem']}{numbered['sign']}"
    others = sum((other := _NUMBERED.fullmatch(str(one))) is not None and f"{other['stem']}{other['sign']}" == before
                 for one in values)  # fmt: skip
    return (numbered["stem"], f"{before}*", numbered["number"]) if others > 1 else None


def _is_a_models_chat(numbered: re.Match[str], values: Mapping[str, Any]) -> bool:
    """Whether a column is a conversation whose model a column beside names: `conversation_a` beside `model_a`."""
    beside = (f"{one}{numbered['sign']}{numbered['number']}" for one in known_names()["names"]["model"])
    return any(isinstance(values.get(one), str) for one in beside) and conversation(values[numbered[0]]) is not None


def _within(value: Any, steps: tuple[str | None, ...], at: tuple[Any, ...], name: str) -> Iterator[Place]:
    """The texts in a value whose nearest name is `name`."""
    inside, found = opened(value), list[Place]()
    if len(steps) > _DEEPEST:
        return
    if isinstance(inside, Mapping) and not (has_role(inside) and not is_answer(inside)):
        for key, one in inside.items():
            if not is_beside(str(key)) and not _NO_PATH.search(str(key)):
                inner = name if key == "parts" else str(key).rpartition(".")[2]
                found += _within(one, (*steps, str(key)), at, inner)
    elif isinstance(inside, list) and not _are_parts(inside, steps[-1]):
        for number, one in enumerate(inside):
            found += _within(one, (*steps, STAR), (*at, number), name)
    elif is_text_name(name):
        text = content_of(inside)[0] if isinstance(inside, list) else inside
        found = [Place(steps, at, text)] if isinstance(text, str) and text.strip() else []
    if not found and isinstance(value, str) and not isinstance(inside, str) and is_text_name(name):
        found = [Place(steps, at, value)]  # a table that a model wrote is a text
    yield from found


def _are_parts(values: Sequence[Any], name: str | None) -> bool:
    """Whether a list has the parts of one text."""
    typed = all(isinstance(one, Mapping) and _PART.search(str(one.get("type", "")).casefold()) for one in values)
    return bool(values) and (typed or name == "parts")


@lru_cache(maxsize=4096)
def is_beside(name: str) -> bool:
    """Whether what stands under a name was asked, or is said of an answer."""
    return _ASKED.search(folded(name)) is not None or is_said_of_an_answer(name)


@lru_cache(maxsize=4096)
def is_said_of_an_answer(name: str) -> bool:
    """Whether fields of this name hold a judgment, a reference or another companion of an answer."""
    return _BESIDE.search(folded(name)) is not None


@lru_cache(maxsize=4096)
def is_text_name(name: str) -> bool:
    """Whether a name is one that texts have, or a list of them."""
    small = folded(name)
    return small in _text_names() or small.removesuffix("s") in _text_names()


@lru_cache(maxsize=1)
def _text_names() -> frozenset[str]:
    return frozenset(map(folded, [*known_names()["names"]["text"], *known_names()["lists"]["text"]]))
