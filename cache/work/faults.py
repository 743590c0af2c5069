"""The table of faults, `faults.toml`: what each kind is known by, and what it ends.

kind_of(status=402).final       False: it passes
kind_of_error("HTTP 400: the prompt is too long").name      'context length'
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from polyculture.cache.validation import ClosedModel

FILE = Path(__file__).with_name("faults.toml")
CONTENT_POLICY, CONNECTION = "content policy", "connection"
RATE_LIMIT = "rate limit"
WITHHELD = "refused: "  # how the reason of an answer begins that a content policy withheld

Then = Literal["stop", "retry", "wait", "wait from the start"]
_HTTP = re.compile(r"HTTP ([0-9]{3})\b(?:: )?", re.ASCII)
_CODE = re.compile(r"([a-z_]+): ")  # the server's own, where it stands before its message
_LEFT_OUT = re.compile("[#…]+")  # what the view `failures` writes in place of numbers, names and ids


class FaultKind(ClosedModel):
    """A row of the table: what a fault is known by, and what it ends. The file explains the columns."""

    name: str
    system: str  # who says so
    source: str
    codes: tuple[str, ...] = ()
    statuses: tuple[int | str, ...] = ()
    words: str = ""
    then: Then
    final: bool
    billable: bool = True
    doubtful: bool = False
    counts: Literal["always", "if asked", "never"] = "always"
    says: str
    remedy: str

    @property
    def waits(self) -> bool:
        """Whether the fault may pass by itself, so that the service is waited for."""
        return self.then in ("wait", "wait from the start")

    def has_status(self, status: int) -> bool:
        """Whether this is one of its statuses."""
        return any(_is_in(status, one) for one in self.statuses)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The words as an expression; one that nothing matches where there are none."""
        return re.compile(self.words or r"(?!)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StopLimits:
    """When a stage stops itself."""

    answers: int  # prompts in a row that meet one fault; 0: however many
    minutes: float  # that a service is waited for which had answered; 0: however long


class FaultTable(ClosedModel):
    """The whole table."""

    stop: StopLimits
    levels: tuple[Mapping[str, str], ...]
    kinds: tuple[FaultKind, ...]


@cache
def fault_table() -> FaultTable:
    """The table, read once."""
    return FaultTable.model_validate(tomllib.loads(FILE.read_text(encoding="utf-8")))


def kind_of(status: int | None = None, codes: Collection[str | None] = (), message: str = "") -> FaultKind:
    """The kind of a fault with this HTTP status, error codes of the server, and message."""
    kinds = fault_table().kinds
    by_code = next((kind for kind in kinds if set(kind.codes) & set(codes)), None)
    return by_code or next((kind for kind in kinds if _fits(kind, status, message)), kinds[-1])


def kind_of_error(error: str | None) -> FaultKind:
    """The kind of a failure by the reason in its row. Failures of one kind are the same fault, whatever they say."""
    words = error or ""
    http = _HTTP.match(words)
    code = _CODE.match(words, http.end()) if http else None
    return kind_of(int(http[1]) if http else None, (code[1],) if code else (), words)


def is_withheld(error: str | None, ending: str | None) -> bool:
    """Whether a content policy is why an answer is missing."""
    refused = ending == "withheld" or (error or "").startswith(WITHHELD)
    return refused or kind_of_error(error).name == CONTENT_POLICY


def _fits(kind: FaultKind, status: int | None, message: str) -> bool:
    by_words = bool(kind.pattern.search(message))
    if not kind.statuses:
        return by_words or not (kind.words or kind.codes)
    return status is not None and kind.has_status(status) and (by_words or not kind.words)


def _is_in(status: int, one: int | str) -> bool:
    if isinstance(one, int):
        return status == one
    first, _, last = one.partition("-")
    return int(first) <= status <= int(last)


@dataclass(frozen=True, slots=True)
class RetryFailed:
    """Which final failures are asked again: those of a reason, or all but those that a content policy withheld."""

    reason: str = ""  # a kind of the table of faults, words of the error, or a reason as the view `failures` has it

    def names(self, error: str | None, ending: str | None = None) -> bool:
        """Whether a failure is one of them."""
        wanted = self.reason.casefold().strip()
        if not wanted:
            return not is_withheld(error, ending)
        if wanted == CONTENT_POLICY:
            return is_withheld(error, ending)
        words = ".*".join(map(re.escape, _LEFT_OUT.split(wanted)))
        said = (error or "no reason given").casefold()
        return wanted == kind_of_error(error).name or re.search(words, said, re.DOTALL) is not None
