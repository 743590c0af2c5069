"""The conversation with vLLM's process: what it says of the model, questions with numbers, answers in any order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.vllm.faults import in_short, why_it_did_not_open
from polyculture.generate.engines.vllm.process import Line, Process, WorkerDiedError

# Texts under way for each that vLLM works on at the same time: while one is kept here, the next stands ready there.
AHEAD = 2


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What vLLM says of a model that it has loaded."""

    vllm: str  # its version
    revision: str | None  # the commit of the model on the hub
    dtype: str
    quantization: str | None
    max_num_seqs: int  # texts that it works on at the same time
    max_model_len: int  # tokens of a text, prompt and answer together
    chat_template: bool
    block_size: int  # tokens that the prefix cache keeps together
    bos_token_id: int | None  # that is put before what is scored, where the tokenizer puts nothing
    unk_token_id: int | None


class Client:
    """A model in vLLM's process, loaded when this is made. Raises `EngineError` where it does not open or ends."""

    def __init__(self, spec: ModelSpec, python: str, settings: Line) -> None:
        self.spec = spec
        self._numbers = count()
        self._early: deque[Line] = deque()  # answers that came while another was waited for
        self._process = Process(python)
        try:
            self.send(settings)
            answer = self.read()
            if "fatal" in answer:
                raise self._ended(answer["trace"], f"vLLM cannot open it: {in_short(answer['fatal'])}")
            self.facts = ModelFacts(**answer["ready"])
            self.unk_token_id = self.facts.unk_token_id
        except BaseException:
            self._process.close()
            raise

    @cached_property
    def model_version(self) -> str:
        """The model, its commit, how it is computed, and by which vLLM."""
        facts = self.facts
        parts = (self.spec.name, facts.revision, facts.dtype, facts.quantization, f"vllm {facts.vllm}")
        return " ".join(part for part in parts if part)

    def number(self) -> int:
        """A number that no question had before."""
        return next(self._numbers)

    def send(self, line: Line) -> None:
        """Asks something."""
        try:
            self._process.send(line)
        except WorkerDiedError as fault:
            raise self._ended("", "vLLM's process has ended") from fault

    def read(self) -> Line:
        """The next answer, whichever it is."""
        return self._early.popleft() if self._early else self._read()

    def abort(self, numbers: list[int]) -> None:
        """Takes questions back. What was answered before may still come."""
        try:
            self._process.send({"abort": numbers})
        except WorkerDiedError:
            return  # nothing is under way any more

    def __call__(self, text: list[str], **options: Any) -> Mapping[str, Any]:
        """Texts as the model's own tokenizer reads them; `options` are those of `transformers`."""
        number = self.number()
        self.send({"id": number, "tokenize": text, "options": options})
        while (answer := self._read())["id"] != number:
            self._early.append(answer)
        if "error" in answer:
            raise EngineError(f"cannot be tokenised: {in_short(answer['error'])}", where=self.spec.model)
        encoded: Mapping[str, Any] = answer["encoded"]
        return encoded

    def close(self) -> None:
        """Ends vLLM's processes."""
        self._process.close()

    def _read(self) -> Line:
        try:
            return self._process.read()
        except WorkerDiedError as fault:
            raise self._ended("", "vLLM's process has ended") from fault

    def _ended(self, said: str, otherwise: str) -> EngineError:
        """Why it ended, as far as that is known; if not, `otherwise` and where its log is."""
        known = why_it_did_not_open(self.spec, said, self._process.read_log())
        if known:
            return known
        remedy = f"Its log says why: {self._process.keep_log()}. The same command run again resumes."
        return EngineError(otherwise, where=self.spec.model, remedy=remedy)
