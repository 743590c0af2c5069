"""The most tokens that an answer may have by what a server or an engine says of a request for too many.

    room_named("... maximum context length is 4096 tokens and your request has 600 input tokens")       3496
    room_named("max_tokens is too large: 8192. This model supports at most 4096 completion tokens")     4096

Few servers tell the window of a model before they are asked; those that refuse a request say it.
"""

from __future__ import annotations

import re

_NUMBER = r"(?P<number>\d[\d,]*)"
# Bounds on an answer alone: OpenAI's, Anthropic's, Groq's, DeepSeek's.
_OF_ANSWERS = [
    rf"at most {_NUMBER} (?:completion|output) tokens",
    rf"> {_NUMBER}, which is the maximum",
    rf"max_(?:completion_)?tokens`? must be (?:less than or equal to|at most|<=) `?{_NUMBER}",
    rf"valid range of max_tokens is \[\d+, ?{_NUMBER}\]",
]
# Bounds on prompt and answer together: OpenAI's, vLLM's and SGLang's; TGI's; the engine `transformers`.
_OF_WINDOWS = [
    rf"(?:context|model) (?:length|window|size|len) (?:is|of) (?:only )?`?{_NUMBER}",
    rf"max_new_tokens`? must be <= {_NUMBER}",
    rf"answer exceed the {_NUMBER} it reads",
]
# The tokens of the prompt, as the same servers count them.
_OF_PROMPTS = [
    rf"{_NUMBER} (?:input tokens|in the messages|tokens from the input|`inputs` tokens)",
    rf"prompt's {_NUMBER} tokens",
]


def room_named(error: str | None) -> int | None:
    """The tokens that an answer has room for; None where the error does not say it, or the prompt takes all of them."""
    if error is None:
        return None
    bound, window, prompt = _first(_OF_ANSWERS, error), _first(_OF_WINDOWS, error), _first(_OF_PROMPTS, error)
    left = None if window is None or prompt is None else window - prompt
    rooms = [room for room in (bound, left) if room is not None]
    return min(rooms) if rooms and min(rooms) > 0 else None


def _first(patterns: list[str], words: str) -> int | None:
    found = (re.search(pattern, words) for pattern in patterns)
    return next((int(one["number"].replace(",", "")) for one in found if one), None)
