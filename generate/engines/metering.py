"""What an attempt at an answer cost, and who is asked before it is made and told after it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self, cast

from polyculture.cache.text.sanitize import ResponseSanitizer


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of an answer, or of an attempt at one, as the server counts them, and so what it cost.

    `completion` is what is billed: where a server counts the reasoning outside of it, all of the total that is not the
    prompt's.
    """

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    nonsense: str | None = None  # a count that cannot be true
    cost: float | None = None  # money, where the server names what it bills

    @classmethod
    def nothing(cls) -> Self:
        """Of an attempt that the server refused, or that did not reach it."""
        return cls(0, 0)

    @property
    def unknown(self) -> bool:
        """Whether it may have cost any amount."""
        return self.completion is None and self.cost is None


class Settle(Protocol):
    """Told once, at the end of an attempt, what it cost, and why it failed; None: it gave what was asked for."""

    def __call__(self, bill: Usage, fault: str | None = None) -> None: ...


# Who pays for the attempts at a request, asked right before each is sent; waits for its turn. None: it cannot be paid.
# An engine that asks it has the attribute `metered`.
Meter = Callable[[], Awaitable[Settle | None]]


_USAGE = Path(__file__).with_name("usage.toml")
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens")
# As services that count in exact decimals write them: "0.0123".
_DECIMAL = re.compile(r"\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
IGNORED = "no amount of money, and ignored"


def read_usage(usage: object, sanitizer: ResponseSanitizer) -> Usage:
    """A server's `usage` under the names that systems document (`usage.toml`); one that does not add up is noted.

    Billed is the larger of the completion's tokens and the total without the prompt's: some servers count reasoning in
    the total alone. A part that is missing is the total without the other.
    """
    table = usage if isinstance(usage, Mapping) else {}
    if usage is not None and not isinstance(usage, Mapping):
        sanitizer.drop("usage", "no table of counts", usage)
    table = _folded(table)
    within = {name: one for key in _names("within") for name, one in _folded(table.get(key)).items()}
    table = {**within, **table}
    given = {
        name: next((table[key] for key in _names(name.partition("_")[0]) if table.get(key) is not None), None)
        for name in _COUNTS
    }
    # No prompt has 0 tokens; some servers write it where they do not count.
    counts = {name: sanitizer.count(name, value, least=name == "prompt_tokens") for name, value in given.items()}
    wrong = [
        name for name in ("prompt_tokens", "completion_tokens") if given[name] not in (None, 0) and counts[name] is None
    ]
    nonsense = f"its {wrong[0]} is no number of tokens" if wrong else None
    prompt, completion, total, reasoning = (counts[name] for name in _COUNTS)
    if prompt is not None and "prompttokens" not in table:  # gateways count what is cached in OpenAI's name
        prompt += sum(sanitizer.count(name, table.get(name)) or 0 for name in _names("outside"))
    missing = (total or 0) - (prompt or completion or 0)
    if missing > 0 and not wrong and (prompt is None) != (completion is None):
        sanitizer.notes.append(f"usage: of its total of {total} tokens it names {prompt or completion}")
        prompt, completion = (missing, completion) if prompt is None else (prompt, missing)
    elif prompt is not None and completion is not None and total is not None and total != prompt + completion:
        sanitizer.notes.append(f"usage: {prompt} + {completion} tokens are not its total of {total}")
        completion = max(completion, total - prompt)
    # Without a total nothing else says that a server counts reasoning beside the answer.
    beside = total is None and any(
        row.get("beside") and {*map(_fold, row["reasoning"])} & table.keys() for row in _systems()
    )
    if reasoning is not None and completion is not None and (beside or reasoning > completion):
        sanitizer.notes.append(f"usage: {reasoning} tokens of reasoning among {completion} written ones")
        completion += reasoning  # they cannot be a part of these: the server counts them apart, and its total without
    return Usage(prompt, completion, reasoning, nonsense, _cost_in(table, sanitizer))


def _cost_in(table: Mapping[str, Any], sanitizer: ResponseSanitizer) -> float | None:
    """The money that a folded `usage` names; None where it names none, or 0: gateways write it for want of a price."""
    cost, more = 0.0, 0.0
    for row in _systems():
        if "cost" not in row or ("if" in row and table.get(_fold(row["if"])) is not True):
            continue
        value: Any = table
        for name in row["cost"].split("."):
            value = _folded(value).get(_fold(name))
        if isinstance(value, Mapping):
            continue
        amount = _amount(row["cost"], value, sanitizer) / row.get("per_dollar", 1)
        cost, more = (cost, more + amount) if row.get("adds") else (cost or amount, more)
    return cost + more or None


def _amount(name: str, value: object, sanitizer: ResponseSanitizer) -> float:
    """An amount that a server names, as a number or as a text, as who counts in exact decimals sends it; 0 where it is
    none that can be, which is noted."""
    if value is None:
        return 0.0
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    found = math.nan
    with suppress(OverflowError):  # an integer of hundreds of digits
        if is_number or (isinstance(value, str) and _DECIMAL.fullmatch(value)):
            found = float(cast("float | str", value))
    if not 0 <= found < math.inf:
        sanitizer.drop(name, IGNORED, value)
        return 0.0
    return found


def _folded(table: object) -> dict[str, Any]:
    """A table by names without case and underscores; an empty one where it is none."""
    found = table if isinstance(table, Mapping) else {}
    return {_fold(str(name)): value for name, value in found.items()}


def _fold(name: str) -> str:
    return name.replace("_", "").casefold()


@cache
def _names(key: str) -> Sequence[str]:
    """The names that all systems have for a count, or for tables within, folded."""
    return list(dict.fromkeys(_fold(name) for row in _systems() for name in row.get(key, ())))


@cache
def _systems() -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = tomllib.loads(_USAGE.read_text(encoding="utf-8"))["systems"]
    return rows
