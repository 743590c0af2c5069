"""How often and how each prompt is sampled, and the chat that a prompt is sent as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from polyculture.cache.identity import content_id
from polyculture.generate.engines.base import Decoding, Message

# Seeds are 31-bit, the widest that every server takes; half of them leave room for a billion samples a prompt.
_BASE_SEEDS = 2**30


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """The sampling of an experiment; the defaults are those of the MAKIEval study."""

    n: int = 500
    temperature: float = 0.7
    top_p: float = 0.9
    top_k: int | None = 10
    max_tokens: int = 512
    seed: int = 1

    @property
    def decoding(self) -> Decoding:
        return Decoding(self.temperature, self.top_p, self.top_k, self.max_tokens)

    def base_seed(self, text: str) -> int:
        """The seed of sample 0 of a prompt; sample k has this plus k, as an engine's own `n` counts them.

        It hangs on the prompt's text alone: the same request always has the same seed.
        """
        return _base_seed(self.seed, text)


@lru_cache(maxsize=4096)  # prompts that are sampled at the same time
def _base_seed(seed: int, text: str) -> int:
    return int(content_id("seed", seed, text), 16) % _BASE_SEEDS


def chat(text: str, system: str | None = None) -> tuple[Message, ...]:
    """A prompt as the chat that is sent: one turn of the user's, behind a system message only where there is one."""
    turn = Message("user", text)
    return (turn,) if system is None else (Message("system", system), turn)


def with_sentence(text: str, sentence: str) -> str:
    """A text with a sentence behind it; a full-width full stop needs no space before it, any other sign does.

    Below the lines of a text of several the sentence is a line of its own.
    """
    return text + ("\n" if "\n" in text else "" if text.endswith("。") else " ") + sentence


def joined(messages: Sequence[Message]) -> str:
    """All that is read of a chat, to count it."""
    return "\n".join(turn.content for turn in messages)
