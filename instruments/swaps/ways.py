"""Whether answers were asked in the same way: only such are added up over languages and over types.

The words of a question differ between languages by nature. What must be the same is the name of its wording, the
schema, the temperature and the other limits, the seed, and whether each text is asked about in its own language or
all in one; in one language the words, too, but for the name of the text's language in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

TEMPLATES = ("prompt", "question")


@dataclass(frozen=True, slots=True)
class Way:
    """How the texts of a type were asked about; '' where nothing was asked in words."""

    task: str
    answer_method: str
    model: str
    dataset: str
    setting: str
    language: str
    culture: str
    entity_type: str
    wording: str
    settings: str  # JSON, as in `swap_questions`
    seed: int | None
    labels: str | None  # of a classifier or tagger: a hash of what its labels mean


def differences(ways: Sequence[Way]) -> list[str]:
    """What is not the same in all of them, with its values; empty where their answers may be added up."""
    said = [dict(_said(way)) for way in ways]
    names = dict.fromkeys(name for one in said for name in one)
    values = {name: sorted({one[name] for one in said if name in one}) for name in names}
    found = [f"{name}: {', '.join(each)}" for name, each in values.items() if len(each) > 1]
    if _asked_differently(ways):
        found.append("asked in the text's language, or in another")
    if not found and _worded_differently(ways):
        found.append("the words of the question")
    return found


def is_sampled(way: Way) -> bool:
    """Whether its answers could have been others: at a temperature above 0."""
    return way.labels is None and _settings(way)["temperature"] != 0


def _said(way: Way) -> Iterator[tuple[str, str]]:
    """What decides the answers in every language, as words."""
    if way.labels is not None:
        yield "labels", way.labels
        return
    yield "wording", way.wording
    yield "seed", str(way.seed)
    for name, value in _settings(way).items():
        if name not in (*TEMPLATES, "ask", "named"):
            yield name.replace("_", "-"), _word(value)


def _asked_differently(ways: Sequence[Way]) -> bool:
    """Of texts in several languages: neither each in its own nor all in one."""
    asked = {(way.language, str(found["ask"])) for way in ways if (found := _settings(way))}
    return len({ask for _, ask in asked}) > 1 and any(language != ask for language, ask in asked)


def _worded_differently(ways: Sequence[Way]) -> bool:
    """In one language, other words than for the name of the text's language."""
    words: dict[str, set[tuple[str, ...]]] = {}
    for way in ways:
        settings = _settings(way)
        ask = str(settings.get("ask", ""))
        name = settings.get("named")
        templates = (str(settings.get(template, "")) for template in TEMPLATES)
        without = tuple(text.replace(name, "{language}") if name else text for text in templates)
        words.setdefault(ask, set()).add(without)
    return any(len(each) > 1 for each in words.values())


def _settings(way: Way) -> dict[str, Any]:
    return dict(orjson.loads(way.settings)) if way.settings else {}


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
