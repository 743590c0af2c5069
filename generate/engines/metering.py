"""What an attempt at an answer cost, and who is asked before it is made and told after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self

from polyculture.cache.sanitize import ResponseSanitizer


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of one attempt, as the server counts them. Where nobody knows them it is `unknown`."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    sent: bool = True  # False: nothing that costs came of it
    nonsense: str | None = None  # a count that cannot be true

    @classmethod
    def nothing(cls) -> Self:
        """Of an attempt that the server refused, or that did not reach it."""
        return cls(0, 0, sent=False)

    @property
    def unknown(self) -> bool:
        """Whether it may have cost any amount."""
        return self.completion_tokens is None

    def doubted(self, nonsense: str) -> Bill:
        """The same without its completion tokens, which cannot be true."""
        return replace(self, completion_tokens=None, nonsense=nonsense)


class Admission(Protocol):
    """The money for one attempt."""

    def settle(self, bill: Bill, *, answered: bool) -> None:
        """Told once, at the end of the attempt; `answered`: it gave what was asked for."""
        ...


class Meter(Protocol):
    """Who pays for the attempts at a request. An engine that asks it before each has the attribute `metered`."""

    async def admit(self) -> Admission | None:
        """Asked before each attempt, right before it is sent; waits for its turn. None: it cannot be paid."""
        ...


def read_usage(usage: object, sanitizer: ResponseSanitizer) -> tuple[Bill, int | None]:
    """The bill of a server's `usage`, and its reasoning tokens, which are among the completion tokens."""
    fields = usage if isinstance(usage, Mapping) else {}
    if usage is not None and not isinstance(usage, Mapping):
        sanitizer.drop("usage", "no table of counts", usage)
    given = {name: fields.get(name) for name in ("prompt_tokens", "completion_tokens")}
    # No prompt has 0 tokens; some servers write it where they do not count.
    counts = {name: sanitizer.count(name, value, least=name == "prompt_tokens") for name, value in given.items()}
    wrong = [name for name in given if given[name] not in (None, 0) and counts[name] is None]
    nonsense = f"its {wrong[0]} is no number of tokens" if wrong else None
    details = fields.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
    bill = Bill(counts["prompt_tokens"], counts["completion_tokens"], nonsense=nonsense)
    return bill, sanitizer.count("reasoning_tokens", reasoning)
