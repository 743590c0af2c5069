"""The step that samples: prompts in, responses in the store out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from polyculture.cache.answers import find_answers, sibling_parts
from polyculture.cache.catalog import Catalog
from polyculture.cache.identity import appended_id
from polyculture.cache.layout import Table
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import RESPONSES, Prompt, Response
from polyculture.cache.worker import Done, Kept, Load, Span, Work
from polyculture.generate.detection import Detection, detect
from polyculture.generate.engines.base import Completion, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.refusals import is_refusal
from polyculture.generate.sampling import SamplingIdentity, SamplingSettings, joined, response_id

_WANTED = pa.schema(
    [(name, pa.string()) for name in ("source_id", "response_id", "sampling_id", "prompt_id", "condition", "country")]
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a prompt, and the key of its answer."""

    response_id: str
    prompt: Prompt
    number: int
    read: str  # all that the model reads: a system prompt, the prompt's text, a sentence behind it


class SamplingStep:
    """Samples the prompts of jobs. Reuses answers of neighbouring runs without new requests.

    `identities` says, by model and language, what is sent and what responses are known by; what is not among them has
    no setup.
    """

    name = "generate"
    tables: tuple[Table[Any], ...] = (RESPONSES,)
    span: Span = "job"

    def __init__(
        self,
        jobs: Sequence[Job],
        prompts: Sequence[Prompt],
        sampling: SamplingSettings,
        catalog: Catalog,
        identities: Mapping[tuple[str, str], SamplingIdentity] = MappingProxyType({}),
    ) -> None:
        self._jobs, self._sampling, self._catalog = jobs, sampling, catalog
        self._identities = identities
        self._prompts: dict[tuple[str, str], list[Prompt]] = {}
        for prompt in prompts:
            self._prompts.setdefault((prompt.language, prompt.topic), []).append(prompt)

    def works(self) -> Iterator[Work[Sample]]:
        """A work per job."""
        for job in self._jobs:
            prompts = self._prompts.get((job.language, job.topic), [])
            size = len(prompts) * self._sampling.n
            yield Work(job, {MODEL: job.model}, partial(self._samples, job, prompts), size)

    def keys(self, item: Sample) -> tuple[str, ...]:
        return (item.response_id,)

    def adopt(self, run: RunFolder, work: Work[Sample], missing: Sequence[Sample]) -> dict[str, pa.Table] | None:
        """The responses that runs beside this one hold for samples that are missing here."""
        if not sibling_parts(run, work.job, RESPONSES):
            return None
        rows = [row for sample in missing for row in self._sources(work.job, sample)]
        wanted = pa.Table.from_pylist([dict(zip(_WANTED.names, row, strict=True)) for row in rows], _WANTED)
        return {RESPONSES.name: find_answers(run, work.job, wanted)}

    def ask(self, work: Work[Sample], items: Iterator[Sample], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per sample, as the answers come."""
        samples = list(items)
        prompts = {sample.prompt.prompt_id: sample.prompt for sample in samples}
        language = self._catalog.language(work.job.language)
        # The detector loads its models at its first text: before an answer has to wait for it unwritten.
        detect(samples[0].prompt.text, language, self._catalog)
        for completion in models.open(SAMPLING).sample(self._requests(samples, self._identity(work.job))):
            yield Done((self._row(completion, prompts[completion.request_id], work.job),))

    def load(self, item: Sample) -> Load:
        return Load(item.read, self._sampling.max_tokens)

    def _samples(self, job: Job, prompts: Sequence[Prompt]) -> Iterator[Sample]:
        """All samples of a job, prompt by prompt."""
        identity = self._identity(job)
        for prompt in prompts:
            text, read = identity.asked(prompt.text), joined(identity.chat(prompt.text))
            for number in range(self._sampling.n):
                yield Sample(response_id(job.model, text, identity.sampling_id, number), prompt, number, read)

    def _identity(self, job: Job) -> SamplingIdentity:
        return self._identities.get((job.model, job.language)) or SamplingIdentity(self._sampling.sampling_id)

    def _sources(self, job: Job, sample: Sample) -> Iterator[tuple[str | None, ...]]:
        """A sample as neighbouring runs may know it.

        A sentence behind the prompt may stand in the prompts of another run, which asks it of all of its models.
        """
        identity, prompt = self._identity(job), sample.prompt
        cell = (sample.response_id, identity.sampling_id, prompt.prompt_id, prompt.condition, prompt.country)
        settings = self._sampling.id_under(identity.setup_id)
        for sampling_id in dict.fromkeys((appended_id(settings, identity.sentence), settings)):
            key = response_id(job.model, identity.asked(prompt.text), sampling_id, sample.number)
            yield (key, *cell)

    def _requests(self, samples: Sequence[Sample], identity: SamplingIdentity) -> Iterator[Request]:
        """A request per gap, i.e. per run of consecutive samples of a prompt, made when it is taken."""
        numbered = enumerate(samples)
        for _, gap in groupby(numbered, key=lambda pair: (pair[1].prompt.prompt_id, pair[1].number - pair[0])):
            together = [sample for _, sample in gap]
            prompt = together[0].prompt
            base = self._sampling.base_seed(identity.asked(prompt.text))
            seeds = tuple(base + sample.number for sample in together)
            yield Request(prompt.prompt_id, identity.chat(prompt.text), self._sampling.decoding, seeds)

    def _row(self, completion: Completion, prompt: Prompt, job: Job) -> Response:
        text, identity = completion.text, self._identity(job)
        asked = identity.asked(prompt.text)
        number = completion.seed - self._sampling.base_seed(asked)
        language = self._catalog.language(job.language)
        found = Detection(None, None, None, None) if text is None else detect(text, language, self._catalog)
        return Response(
            response_id=response_id(job.model, asked, identity.sampling_id, number),
            prompt_id=prompt.prompt_id,
            sampling_id=identity.sampling_id,
            model=job.model,
            language=job.language,
            topic=job.topic,
            condition=prompt.condition,
            country=prompt.country,
            sample=number,
            seed=completion.seed if identity.seeded else None,
            status="failed" if text is None else "ok",
            text=text,
            error=completion.error,
            retryable=completion.retryable if text is None else None,
            finish_reason=completion.finish_reason,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            detected_language=found.language,
            language_confidence=found.confidence,
            script=found.script,
            script_share=found.script_share,
            model_version=completion.model_version,
            purchase=completion.purchase,
            reasoning=completion.reasoning,
            reasoning_tokens=completion.reasoning_tokens,
            refused=None if text is None else is_refusal(text, job.language),
            setup_id=identity.setup_id,
            note=completion.note,
        )
