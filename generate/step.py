"""The step that samples: prompts in, responses in the store out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from types import MappingProxyType

import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.store.answers import find_answers, sibling_parts
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES, Prompt, Response
from polyculture.cache.work.worker import Done, Kept, Load, Step, Work
from polyculture.generate.detection import detect
from polyculture.generate.engines.base import Completion, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.request import PromptRequests, response_id
from polyculture.generate.response import response_row
from polyculture.generate.sampling import SamplingSettings, joined

_CELL = ("response_id", "prompt_id", "condition", "country")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a prompt, and the request that it answers."""

    request_id: str
    prompt: Prompt
    number: int
    read: str  # all that the model reads: a system prompt, the prompt's text, a sentence behind it

    @property
    def response_id(self) -> str:
        """The key of its row."""
        return response_id(self.request_id, self.number)


class SamplingStep(Step[Sample, Models]):
    """Samples the prompts of jobs. Reuses answers of neighbouring runs without new requests.

    `requests` says, by model and language, how prompts are sent; what is not among them is sent as it is.
    """

    name = "generate"
    tables = (RESPONSES,)

    def __init__(
        self,
        jobs: Sequence[Job],
        prompts: Sequence[Prompt],
        sampling: SamplingSettings,
        catalog: Catalog,
        requests: Mapping[tuple[str, str], PromptRequests] = MappingProxyType({}),
    ) -> None:
        self._jobs, self._sampling, self._catalog = jobs, sampling, catalog
        self._requests = requests
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
        if not missing or not sibling_parts(run, work.job, RESPONSES):
            return None
        cells = [(one.response_id, one.prompt.prompt_id, one.prompt.condition, one.prompt.country) for one in missing]
        columns = zip(*cells, strict=True)
        wanted = pa.table({name: pa.array(column, pa.string()) for name, column in zip(_CELL, columns, strict=True)})
        return {RESPONSES.name: find_answers(run, work.job, RESPONSES, wanted)}

    def ask(self, work: Work[Sample], items: Iterator[Sample], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per sample, as the answers come."""
        samples = list(items)
        prompts = {sample.request_id: sample.prompt for sample in samples}
        language = self._catalog.language(work.job.language)
        # The detector loads its models at its first text: before an answer has to wait for it unwritten.
        detect(samples[0].prompt.text, language, self._catalog)
        for completion in models.open(SAMPLING).sample(self._asks(samples, self._sent(work.job))):
            yield Done((self._row(completion, prompts[completion.request_id], work.job),))

    def load(self, item: Sample) -> Load:
        return Load(item.read, self._sampling.max_tokens)

    def _samples(self, job: Job, prompts: Sequence[Prompt]) -> Iterator[Sample]:
        """All samples of a job, prompt by prompt."""
        sent = self._sent(job)
        for prompt in prompts if self._sampling.n else ():  # a plan of nothing that is stored hashes nothing
            request, read = sent.request_id(prompt.text, self._sampling), joined(sent.chat(prompt.text))
            for number in range(self._sampling.n):
                yield Sample(request, prompt, number, read)

    def _sent(self, job: Job) -> PromptRequests:
        return self._requests.get((job.model, job.language)) or PromptRequests(job.model)

    def _asks(self, samples: Sequence[Sample], sent: PromptRequests) -> Iterator[Request]:
        """A request per prompt for its missing samples, made when it is taken."""
        for request_id, missing in groupby(samples, key=lambda sample: sample.request_id):
            together = list(missing)
            text = together[0].prompt.text
            base = self._sampling.base_seed(sent.asked(text))
            seeds = tuple(base + sample.number for sample in together)
            yield Request(request_id, sent.chat(text), self._sampling.decoding, seeds)

    def _row(self, completion: Completion, prompt: Prompt, job: Job) -> Response:
        sent = self._sent(job)
        number = completion.seed - self._sampling.base_seed(sent.asked(prompt.text))
        seed = completion.seed if sent.seeded else None
        return response_row(completion, prompt, job, number, seed, self._catalog)
