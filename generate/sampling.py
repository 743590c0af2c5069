"""How often and how each prompt is sampled, and the keys that its answers are kept by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache

from polyculture.cache.identity import content_id
from polyculture.generate.engines.base import Decoding, Message

IMPORTED_ID = content_id("imported")  # the sampling_id of imported texts: nobody knows their settings
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
    def sampling_id(self) -> str:
        """The hash of these settings; not of `n`, which only says how many are asked for."""
        return _sampling_id(self, None)

    def id_under(self, setup_id: str | None) -> str:
        """The hash of all that decides an answer: these settings and the model's setup."""
        return _sampling_id(self, setup_id)

    @property
    def decoding(self) -> Decoding:
        return Decoding(self.temperature, self.top_p, self.top_k, self.max_tokens)

    def base_seed(self, text: str) -> int:
        """The seed of sample 0 of a prompt; sample k has this plus k, as an engine's own `n` counts them.

        It hangs on the prompt's text, like `response_id`: the same key always has the same seed.
        """
        return _base_seed(self.seed, text)


@dataclass(frozen=True, slots=True)
class SamplingIdentity:
    """What a model's responses are known by in a run."""

    sampling_id: str  # of the settings and the setup; of the settings alone where rows without a setup are of this one
    setup_id: str | None = None  # None where nobody keeps setups apart
    system: str | None = None  # the system prompt, which is part of the setup
    sentence: str | None = None  # what stands behind each prompt of a language, for this model alone
    seeded: bool = True  # does the model receive the seed? Else none is recorded

    def asked(self, text: str) -> str:
        """A prompt's text as this model reads it."""
        return text if self.sentence is None else with_sentence(text, self.sentence)

    def chat(self, text: str) -> tuple[Message, ...]:
        """A prompt as the chat that is sent."""
        return chat(self.asked(text), self.system)


@cache  # asked for with every answer
def _sampling_id(sampling: SamplingSettings, setup_id: str | None) -> str:
    settings = asdict(sampling)
    del settings["n"]
    return content_id("sampling", settings, *([setup_id] if setup_id else []))


@lru_cache(maxsize=4096)  # prompts that are sampled at the same time
def _base_seed(seed: int, text: str) -> int:
    return int(content_id("seed", seed, text), 16) % _BASE_SEEDS


def chat(text: str, system: str | None = None) -> tuple[Message, ...]:
    """A prompt as the chat that is sent: one turn of the user's, behind a system message only where there is one."""
    turn = Message("user", text)
    return (turn,) if system is None else (Message("system", system), turn)


def with_sentence(text: str, sentence: str) -> str:
    """A text with a sentence behind it; a full-width full stop needs no space before it, any other sign does."""
    return text + ("" if text.endswith("。") else " ") + sentence


def joined(messages: Sequence[Message]) -> str:
    """All that is read of a chat, to count it."""
    return "\n".join(turn.content for turn in messages)


def response_id(model: str, text: str, sampling_id: str, sample: int) -> str:
    """The key of one answer: what was asked of whom, how, and which sample; never how it was transported.

    `text` is what the model read as the user's turn. A system prompt is part of the setup, and so of `sampling_id`.
    """
    return content_id("response", model, [[turn.role, turn.content] for turn in chat(text)], sampling_id, sample)
