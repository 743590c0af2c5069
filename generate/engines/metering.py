"""What an attempt at an answer cost, and who is asked before it is made and told after it."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
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


# A count's names, without case and underscores, whichever service or gateway wrote them.
_NAMES = {
    "prompt_tokens": re.compile(
        "(?:nb|num|total)?(?:prompt|input)(?:text|eval)?(?:tokens?(?:count)?|count)|tokensevaluated"
    ),
    "completion_tokens": re.compile(
        "(?:nb|num|total)?(?:completion|output|candidates|generat(?:ed|ion))(?:text)?tokens?(?:count)?"
        "|evalcount|tokenspredicted"
    ),
    "total_tokens": re.compile("totaltokens?(?:count)?"),
    "reasoning_tokens": re.compile("(?:reasoning|thinking|thoughts?)(?:output)?tokens?(?:count)?"),
}
# Tables within: of the reasoning, and of all counts.
_WITHIN = ("completiontokensdetails", "outputtokensdetails", "tokens", "billedunits")  # Cohere has both
_TICKS = 10**10  # of xAI's, to the dollar
# As services that count in exact decimals write them: "0.0123".
_DECIMAL = re.compile(r"\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
IGNORED = "no amount of money, and ignored"
# What Anthropic counts outside of its `input_tokens`.
_CACHED = ("cachereadinputtokens", "cachecreationinputtokens")


def read_usage(usage: object, sanitizer: ResponseSanitizer) -> Usage:
    """A server's `usage` under any of the names of its counts; one that does not add up is noted.

    Billed is the larger of the completion's tokens and the total without the prompt's: some servers count reasoning in
    the total alone. A part that is missing is the total without the other.
    """
    table = usage if isinstance(usage, Mapping) else {}
    if usage is not None and not isinstance(usage, Mapping):
        sanitizer.drop("usage", "no table of counts", usage)
    table = _folded(table)
    table = {**{name: one for key in _WITHIN for name, one in _folded(table.get(key)).items()}, **table}
    given = {
        name: next((one for key, one in table.items() if one is not None and known.fullmatch(key)), None)
        for name, known in _NAMES.items()
    }
    # No prompt has 0 tokens; some servers write it where they do not count.
    counts = {name: sanitizer.count(name, value, least=name == "prompt_tokens") for name, value in given.items()}
    wrong = [
        name for name in ("prompt_tokens", "completion_tokens") if given[name] not in (None, 0) and counts[name] is None
    ]
    nonsense = f"its {wrong[0]} is no number of tokens" if wrong else None
    prompt, completion, total, reasoning = (counts[name] for name in _NAMES)
    if prompt is not None and "prompttokens" not in table:
        prompt += sum(sanitizer.count(name, table.get(name)) or 0 for name in _CACHED)
    missing = (total or 0) - (prompt or completion or 0)
    if missing > 0 and not wrong and (prompt is None) != (completion is None):
        sanitizer.notes.append(f"usage: of its total of {total} tokens it names {prompt or completion}")
        prompt, completion = (missing, completion) if prompt is None else (prompt, missing)
    elif prompt is not None and completion is not None and total is not None and total != prompt + completion:
        sanitizer.notes.append(f"usage: {prompt} + {completion} tokens are not its total of {total}")
        completion = max(completion, total - prompt)
    # Gemini counts its thoughts beside the answer; without its total nothing else says so.
    beside = total is None and "thoughtstokencount" in table
    if reasoning is not None and completion is not None and (beside or reasoning > completion):
        sanitizer.notes.append(f"usage: {reasoning} tokens of reasoning among {completion} written ones")
        completion += reasoning  # they cannot be a part of these: the server counts them apart, and its total without
    return Usage(prompt, completion, reasoning, nonsense, _cost_in(table, sanitizer))


def _cost_in(table: Mapping[str, Any], sanitizer: ResponseSanitizer) -> float | None:
    """The money that a folded `usage` names; None where it names none, or 0, which gateways write for want of a price.

    OpenRouter names a number, and what the provider bills beside it where the key is the user's own (`is_byok`);
    Perplexity a table with `total_cost`; xAI a number of ticks, ten thousand million to the dollar.
    https://openrouter.ai/docs/use-cases/usage-accounting, https://docs.x.ai/developers/cost-tracking
    """
    if ticks := _amount("cost_in_usd_ticks", table.get("costinusdticks"), sanitizer):
        return ticks / _TICKS
    named = table.get("cost", table.get("totalcost"))
    named = _folded(named).get("totalcost") if isinstance(named, Mapping) else named
    beside = _folded(table.get("costdetails")).get("upstreaminferencecost") if table.get("isbyok") is True else None
    return _amount("cost", named, sanitizer) + _amount("upstream_inference_cost", beside, sanitizer) or None


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
    return {str(name).replace("_", "").casefold(): value for name, value in found.items()}
