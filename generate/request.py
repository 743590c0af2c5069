"""The identity of a request: one hash of what is sent to a model and decides its answer.

Rows are kept by it, and an answer is reused by looking it up: in this run, then in the runs beside it. A change of
anything below makes another request, so rows made before do not count; when it is changed back they are found again.

In it: the use ('sample', 'extract', 'score', 'imported'), the model as the experiment names it, its setup
(`engines/setup.py`: server or revision, hashes of files, templates, options that decide answers), the rendered messages
with the system prompt, the decoding settings, and the experiment's seed. What the model is not sent is null.

Not in it: how many samples are asked (`n`), their order, batches, concurrency, prices, retries, timeouts, API keys, the
names of the experiment, the run and the prompt. The sample's number stands beside the hash: a row is known by both
(`response_id`), so that `wanted_responses` has a row a request and not a row a sample.

Which rows count, and what is reused of sibling runs, follows from `wanted_responses`: `cache/store/answers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import Prompt, WantedResponse
from polyculture.generate.engines.base import Decoding, Message
from polyculture.generate.engines.options import SAMPLING_SEED, SYSTEM
from polyculture.generate.sampling import SamplingSettings, chat, with_sentence

SAMPLE = "sample "  # how the keys of the setups of texts begin
FORMAT = 1  # raise it when what is hashed, or how, changes
_OMIT = "omit"  # in a setup: the fields that its server is not sent
_DECODING = tuple(one.name for one in fields(Decoding))


def request_id(
    use: str,
    model: str,
    setup: Mapping[str, Any],
    content: Any,
    decoding: Any = None,
    seed: int | None = None,
) -> str:
    """24 hexadecimal digits. `content` is what the model reads: messages as [role, text], or the parts of a score.

    The system prompt of a setup is left out: it is one of the messages.
    """
    options = {name: value for name, value in setup.items() if name != SYSTEM}
    return content_id(FORMAT, use, model, options, content, decoding, seed)


def response_id(request: str, sample: int) -> str:
    """The key of a row: the request and the number of its sample."""
    return f"{request}-{sample}"


def imported_request_id(model: str, prompt_id: str) -> str:
    """The request that imported texts answer: nobody knows more of it than the model and the prompt."""
    return request_id("imported", model, {}, prompt_id)


def as_lists(messages: Sequence[Message]) -> list[list[str]]:
    """Messages as they are hashed."""
    return [[turn.role, turn.content] for turn in messages]


@dataclass(frozen=True)
class PromptRequests:
    """How a model is sent the prompts of a language: what makes requests of their texts."""

    model: str
    setup: Mapping[str, Any] = field(default_factory=dict)
    sentence: str | None = None  # what stands behind each prompt of the language, for this model alone

    @cached_property
    def seeded(self) -> bool:
        """Is the model sent the seed? Else none is recorded."""
        return is_seeded(self.setup)

    def asked(self, text: str) -> str:
        """A prompt's text as this model reads it."""
        return text if self.sentence is None else with_sentence(text, self.sentence)

    def chat(self, text: str) -> tuple[Message, ...]:
        """A prompt as the chat that is sent."""
        return chat(self.asked(text), self.setup.get(SYSTEM))

    def base_seed(self, text: str, sampling: SamplingSettings) -> int:
        """The seed of sample 0 of a prompt of this model."""
        return self._seeded(sampling).base_seed(self.asked(text))

    def request_id(self, text: str, sampling: SamplingSettings) -> str:
        """The identity of a prompt as this model is sent it."""
        decoding, seed = as_sent(sampling.decoding, self._seeded(sampling).seed, self.setup)
        return request_id("sample", self.model, self.setup, as_lists(self.chat(text)), decoding, seed)

    def _seeded(self, sampling: SamplingSettings) -> SamplingSettings:
        """The settings with this model's own seed, where it has one."""
        return replace(sampling, seed=self.setup.get(SAMPLING_SEED, sampling.seed))


def as_sent(decoding: Decoding, seed: int | None, setup: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Decoding settings and a seed for the id of a request: null where the model's server is not sent them."""
    omitted = setup.get(_OMIT, ())
    sent = {name: None if name in omitted else getattr(decoding, name) for name in _DECODING}
    return sent, seed if is_seeded(setup) else None


def is_seeded(setup: Mapping[str, Any]) -> bool:
    """Whether a model is sent the seed."""
    return "seed" not in setup.get(_OMIT, ())


def prompt_requests(manifest: Manifest) -> dict[tuple[str, str], PromptRequests]:
    """By model and language, how prompts are sent in a run."""
    return {
        (model, language): PromptRequests(
            model, manifest.setups[f"{SAMPLE}{model}"], manifest.appended.get(model, {}).get(language)
        )
        for model in manifest.models
        for language in manifest.languages
    }


def wanted_responses(manifest: Manifest, prompts: Sequence[Prompt]) -> list[WantedResponse]:
    """Every prompt as every model of a run is asked it: which responses count."""
    sampling, requests = SamplingSettings(**manifest.sampling), prompt_requests(manifest)
    return [
        WantedResponse(requests[model, p.language].request_id(p.text, sampling), sampling.n, model, p.prompt_id)
        for model in manifest.models
        for p in prompts
        if p.language in manifest.languages_of.get(model, (p.language,))
    ]
