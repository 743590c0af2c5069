"""The step that samples: prompts in, responses in the store out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from types import MappingProxyType

import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.cache.store.answers import REQUEST_COLUMNS, find_answers, sibling_parts, wanted_rows
from polyculture.cache.store.parquet import largest
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import RESPONSES, Prompt, Response
from polyculture.cache.store.shards import JobShards, part_files, value_of
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.worker import (
    Done,
    Load,
    Remaining,
    Step,
    StoredRows,
    Work,
    WorkCount,
    count_rows,
    work_state,
)
from polyculture.generate.detection import detect
from polyculture.generate.engines.answer import Answer, completed
from polyculture.generate.engines.base import Completion, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.kept_answers import rows_of_kept
from polyculture.generate.engines.models import MODEL, Models
from polyculture.generate.request import PromptRequests, response_id
from polyculture.generate.response import response_row
from polyculture.generate.sampling import SamplingSettings, joined
from polyculture.generate.wording import Length, read_wording

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

    @property
    def condition(self) -> str:
        """That of its prompt."""
        return self.prompt.condition

    @property
    def country(self) -> str | None:
        """That of its prompt."""
        return self.prompt.country


class SamplingStep(Step[Sample, Models]):
    """Samples the prompts of jobs. Reuses answers of neighbouring runs without new requests.

    `requests` says, by model and language, how prompts are sent; what is not among them is sent as it is.
    """

    name = "generate"
    tables = (RESPONSES,)
    slot = ("condition", "country")  # texts about other countries replace none
    use, in_batches = "sample", True

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
        self._lengths: dict[tuple[str, str | None], Length | None] = {}  # by language and wording
        self._prompts: dict[tuple[str, str], list[Prompt]] = {}
        for prompt in prompts:
            self._prompts.setdefault((prompt.language, prompt.topic), []).append(prompt)

    def works(self) -> Iterator[Work[Sample]]:
        """A work per job."""
        for job in self._jobs:
            yield self._work(job, self._sampling.n)

    def keys(self, item: Sample) -> tuple[str, ...]:
        return (item.response_id,)

    def adopt(self, run: RunFolder, work: Work[Sample], missing: Sequence[Sample]) -> dict[str, pa.Table] | None:
        """The responses that runs beside this one hold for samples that are missing here."""
        if not missing or not sibling_parts(run, work.job, RESPONSES):
            return None
        cells = [(one.response_id, one.prompt.prompt_id, one.prompt.condition, one.prompt.country) for one in missing]
        columns = zip(*cells, strict=True)
        wanted = pa.table({name: pa.array(column, pa.string()) for name, column in zip(_CELL, columns, strict=True)})
        return find_answers(run, work.job, RESPONSES, wanted)

    def read_again(self, work: Work[Sample], missing: Sequence[Sample], failed: pa.Table) -> dict[str, pa.Table] | None:
        """The responses whose answers nobody could read when they came, and which can be read now."""
        sent = self._sent(work.job)

        def row(sample: Sample, answer: Answer) -> Response:
            seed = sent.base_seed(sample.prompt.text, self._sampling) + sample.number
            return self._row(completed(sample.request_id, seed, answer), sample.prompt, work.job)

        return rows_of_kept(RESPONSES, {sample.response_id: sample for sample in missing}, failed, row)

    def ask(self, work: Work[Sample], items: Iterator[Sample], models: Models, kept: StoredRows) -> Iterator[Done]:
        """A row per sample, as the answers come."""
        samples = list(items)
        prompts = {sample.request_id: sample.prompt for sample in samples}
        language = self._catalog.language(work.job.language)
        # The detector loads its models at its first text: before an answer has to wait for it unwritten.
        detect(samples[0].prompt.text, language, self._catalog)
        for completion in models.open(SAMPLING).sample(self._asks(samples, self._sent(work.job))):
            yield Done((self._row(completion, prompts[completion.request_id], work.job),))

    def loads(self, work: Work[Sample], items: Iterable[Sample]) -> Iterator[Load]:
        """What is read of each chat, and an answer of the length that its prompt asks for."""
        return (self._load(item.prompt, item.read) for item in items)

    def remaining(self, run: RunFolder, work: Work[Sample], retry: RetryFailed | None = None) -> Remaining:
        """As of any step, in a time that hangs on what is stored, not on how many samples are asked for."""
        stored = self._stored(run, work.job)
        found = super().remaining(run, stored, retry)
        return Remaining(found.settled, chain(found.loads, self._later_loads(work, stored)))

    def count(self, run: RunFolder, work: Work[Sample]) -> WorkCount:
        """As of any step, by the requests of the job's prompts."""
        sent = self._sent(work.job)
        prompts = self._prompts.get((work.job.language, work.job.topic), ())
        requests = pa.array([sent.request_id(prompt.text, self._sampling) for prompt in prompts], pa.string())
        wanted = pa.table({"request_id": requests, "n": pa.repeat(self._sampling.n, len(requests))})
        shards = JobShards(run, work.job, self.tables)
        return count_rows(shards, REQUEST_COLUMNS, partial(wanted_rows, wanted=wanted), work.size)

    def taken_over(self, run: RunFolder, job: Job) -> pa.Table | None:
        """The responses of runs beside this one that it will take over; None where they hold none of the job."""
        if not sibling_parts(run, job, RESPONSES):
            return None
        work = self._stored(run, job)
        adopted = self.adopt(run, work, work_state(run, self, work).missing)
        return None if adopted is None else adopted[RESPONSES.name]

    def _work(self, job: Job, n: int) -> Work[Sample]:
        """The first `n` samples of each prompt of a job."""
        prompts = self._prompts.get((job.language, job.topic), [])
        samples = partial(self._samples, job, prompts, n)
        return Work(job, {MODEL: job.model}, samples, len(prompts) * n, prompts=len(prompts))

    def _stored(self, run: RunFolder, job: Job) -> Work[Sample]:
        """A job as far as this run or one beside it holds any sample: no later one is done or can be taken over."""
        return self._work(job, min(self._sampling.n, _known(run, job)))

    def _later_loads(self, work: Work[Sample], stored: Work[Sample]) -> Iterator[Load]:
        """What is read and written for the samples of a job behind those that may be stored, prompt by prompt."""
        later = (work.size - stored.size) // (work.prompts or 1)
        sent = self._sent(work.job)
        for prompt in self._prompts.get((work.job.language, work.job.topic), ()) if later else ():
            yield replace(self._load(prompt, joined(sent.chat(prompt.text))), times=later)

    def _load(self, prompt: Prompt, read: str) -> Load:
        return Load(read, self._sampling.max_tokens, length=self._length(prompt, read))

    def _length(self, prompt: Prompt, read: str) -> float | None:
        """The tokens of an answer for each one that is read: as long as its prompt asks for, in words or letters like
        those that are read. None where the prompt says no length."""
        length = self._asked_length(prompt.language, prompt.wording)
        if length is None or length.amount not in map(int, re.findall(r"\d+", prompt.text)):
            return None
        return length.amount / (len(read.split()) if length.unit == "words" else len(read))

    def _asked_length(self, language: str, name: str | None) -> Length | None:
        """The length that prompts in a language and a wording may ask for, read once."""
        if (language, name) not in self._lengths:
            wording = read_wording(self._catalog.language(language), self._catalog.countries)
            self._lengths[language, name] = wording.length_of(name)
        return self._lengths[language, name]

    def _samples(self, job: Job, prompts: Sequence[Prompt], n: int) -> Iterator[Sample]:
        """The first `n` samples of each prompt of a job, prompt by prompt."""
        sent = self._sent(job)
        for prompt in prompts if n else ():  # a plan of nothing that is stored hashes nothing
            request, read = sent.request_id(prompt.text, self._sampling), joined(sent.chat(prompt.text))
            for number in range(n):
                yield Sample(request, prompt, number, read)

    def _sent(self, job: Job) -> PromptRequests:
        return self._requests.get((job.model, job.language)) or PromptRequests(job.model)

    def _asks(self, samples: Sequence[Sample], sent: PromptRequests) -> Iterator[Request]:
        """A request per prompt for its missing samples, made when it is taken."""
        for request_id, missing in groupby(samples, key=lambda sample: sample.request_id):
            together = list(missing)
            text = together[0].prompt.text
            base = sent.base_seed(text, self._sampling)
            seeds = tuple(base + sample.number for sample in together)
            yield Request(request_id, sent.chat(text), self._sampling.decoding, seeds)

    def _row(self, completion: Completion, prompt: Prompt, job: Job) -> Response:
        sent = self._sent(job)
        number = completion.seed - sent.base_seed(prompt.text, self._sampling)
        seed = completion.seed if sent.seeded else None
        return response_row(completion, prompt, job, number, seed, self._catalog)


def _known(run: RunFolder, job: Job) -> int:
    """One more than the highest number of a stored sample of a job, in this run or beside it; 0 without any."""
    column = "sample"
    own = part_files(run.shards(RESPONSES.name, job))
    parts = [*own, *(part for _, part in sibling_parts(run, job, RESPONSES))]
    journal = JobShards(run, job, [RESPONSES]).read_journal()
    waiting = (int(value_of(row, column)) for record in journal for row in record.get(RESPONSES.name, ()))
    return 1 + max([*(largest(part, column) for part in parts), *waiting], default=-1)
