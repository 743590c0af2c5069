"""vLLM, the main engine on GPUs: many prompts in flight, n samples of each, in a separate process.

    models = ["vllm:Qwen/Qwen2.5-7B-Instruct"]

    [options.vllm]
    tensor_parallel_size = 2       # and any other engine argument of the installed vLLM

vLLM: https://docs.vllm.ai
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import Self, TypeVar

from polyculture.cache.errors import EngineError, MissingDependencyError
from polyculture.generate.engines.answer import completed, read_text
from polyculture.generate.engines.base import Completion, ModelSpec, Request, Scored, ScoreRequest, TokenScore
from polyculture.generate.engines.metering import Usage
from polyculture.generate.engines.models import Closing
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.reasoning import TAIL
from polyculture.generate.engines.system_prompt import REFUSES, REMEDY
from polyculture.generate.engines.token_boundary import TokenisedPair, split_pairs
from polyculture.generate.engines.vllm.client import AHEAD, Client, in_short, wrong_folder
from polyculture.generate.engines.vllm.kind import VllmOptions
from polyculture.generate.engines.vllm.worker import JsonLine


class VllmEngine(Closing):
    """A model in vLLM. Entering loads it; leaving ends vLLM's processes and frees the GPU."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(VllmOptions, spec)
        self._python = self._find_python()
        self._template = self._read_template()
        wrong = wrong_folder(spec)
        if wrong:
            raise wrong

    def __enter__(self) -> Self:
        settings = {
            "model": self.spec.place_or_name(self.spec.name),
            "arguments": self.options.arguments,
            "chat_template": self._template,
            "chat_template_kwargs": self.options.chat_template_kwargs,
            "bos": self.options.bos,
        }
        self._client = Client(self.spec, self._python, settings)
        return self

    def close(self) -> None:
        self._client.close()

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields a completion per request and seed as each is finished.

        Each text is a request of vLLM with its own seed, and the same independently of the others. Their common prompt
        is computed once. Raises `EngineError` where the model has no chat template or computes no finite numbers, and
        where vLLM ends.
        """
        return sample(self._client, requests)

    def score(self, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
        """Yields a row per continuation, in the order in which they finish."""
        return score(self._client, requests)

    def _find_python(self) -> str:
        """The interpreter that has vLLM: this one, or that of the option."""
        if self.options.python is None:
            if find_spec("vllm") is None:
                raise MissingDependencyError("vllm", "vllm", f"The model {self.spec.model}")
            return sys.executable
        python = shutil.which(self._program(self.options.python))
        if python is None:
            what = f"python: there is no program {self.options.python}"
            remedy = "Name the python of the environment in which vLLM is installed."
            raise EngineError(what, where=f"options of {self.spec.model}", remedy=remedy)
        return python

    def _program(self, named: str) -> str:
        """A program of the search path; or a path, where it is one."""
        return str(self.spec.place(named)) if "/" in named else named

    def _read_template(self) -> str | None:
        """The experiment's own chat template, where its file names one."""
        if self.options.chat_template is None:
            return None
        file = self.spec.place(self.options.chat_template)
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            what = f"chat_template: {file} cannot be read"
            raise EngineError(what, where=f"options of {self.spec.model}", remedy="Name a Jinja file.") from fault


_OF_SYSTEM = re.compile(r"system (role|prompt|message|instruction)|roles must alternate", re.IGNORECASE)
T = TypeVar("T")


def sample(client: Client, requests: Iterable[Request]) -> Iterator[Completion]:
    """Yields a completion per request and seed; of several seeds that have no effect one text is asked for all."""
    with closing(_answers(client, ((one, _line(client, one), _seeds(one)) for one in requests))) as answers:
        for request, answer, came in answers:
            seeds = request.seeds if request.decoding.temperature == 0 else came
            if "error" in answer:
                _refuse_system(client, request, answer["error"])
                for seed in seeds:
                    yield Completion(request.request_id, seed, None, error=in_short(answer["error"]))
                continue
            if not answer["finite"]:
                what = "computes logits that are no finite numbers: what it wrote would be chance"
                remedy = 'Are its weights broken? Download it again; or set dtype = "float32" under [options.vllm].'
                raise EngineError(what, where=client.spec.model, remedy=remedy)
            read = read_text(
                answer["text"],
                answer["finish_reason"],
                prompt_tail=answer["prompt_tail"],
                specials=answer["specials"],
                usage=Usage(answer["prompt_tokens"], answer["completion_tokens"]),
                version=client.model_version,
            )
            for seed in seeds:
                yield completed(request.request_id, seed, read)


def score(client: Client, requests: Iterable[ScoreRequest]) -> Iterator[Scored]:
    """Yields a row per continuation as each is finished."""
    failed: deque[Scored] = deque()

    def asked() -> Iterator[tuple[tuple[str, TokenisedPair], JsonLine, Sequence[int]]]:
        for request in requests:
            for pair in split_pairs(client, request, bos=client.facts.bos_token_id, first=client.facts.first_token_id):
                if pair.error is None:
                    yield (request.request_id, pair), {"tokens": pair.ids[: pair.end], "start": pair.start}, (0,)
                else:
                    failed.append(Scored(request.request_id, pair.index, error=pair.error))

    with closing(_answers(client, asked())) as answers:
        for (name, pair), answer, _ in answers:
            while failed:
                yield failed.popleft()
            if "error" in answer:
                yield Scored(name, pair.index, boundary=pair.boundary, error=in_short(answer["error"]))
                continue
            tokens = tuple(map(TokenScore, answer["tokens"], answer["log_probabilities"]))
            yield Scored(name, pair.index, tokens, pair.boundary, model_version=client.model_version)
    yield from failed


def _answers(
    client: Client, asked: Iterator[tuple[T, JsonLine, Sequence[int]]]
) -> Generator[tuple[T, JsonLine, Sequence[int]]]:
    """Each answer with what was asked, and the seeds that it answers: of an error all that are still to come.

    Texts in flight are `AHEAD` times as many as vLLM writes at once, plus at most one request.
    """
    waiting: dict[int, tuple[T, set[int]]] = {}
    room = AHEAD * client.facts.max_num_seqs
    try:
        while True:
            while sum(len(left) for _, left in waiting.values()) < room and (one := next(asked, None)) is not None:
                what, line, seeds = one
                number = client.number()
                waiting[number] = what, set(seeds)
                client.send({"id": number, **line})
            if not waiting:
                return
            answer = client.read()
            if answer["id"] not in waiting:  # of an iterator that was closed before it came
                continue
            what, left = waiting[answer["id"]]
            came = sorted(left) if "error" in answer else [answer.get("seed", 0)]
            left.difference_update(came)
            if not left:
                del waiting[answer["id"]]
            yield what, answer, came
    finally:
        if waiting:
            client.abort(list(waiting))


def _seeds(request: Request) -> Sequence[int]:
    return request.seeds[:1] if request.decoding.temperature == 0 else request.seeds


def _line(client: Client, request: Request) -> JsonLine:
    """Raises `EngineError` where the model has no chat template for a chat."""
    if not client.facts.chat_template:
        remedy = (
            "It is a base model: take its chat version ('-Instruct', '-it'), or name a Jinja file with "
            "chat_template in [options.vllm]."
        )
        raise EngineError("has no chat template", where=client.spec.model, remedy=remedy)
    decoding = request.decoding
    return {
        "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
        "decoding": {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "top_k": decoding.top_k or 0,
            "max_tokens": decoding.max_tokens,
            "stop_token_ids": client.stop_token_ids,
        },
        "schema": decoding.schema,
        "seeds": _seeds(request),
        "tail": TAIL,
    }


def _refuse_system(client: Client, request: Request, error: str) -> None:
    """Raises `EngineError` where the chat template has no place for the system prompt: no answer will come."""
    if request.messages[0].role == "system" and _OF_SYSTEM.search(error):
        raise EngineError(f"{REFUSES}: {in_short(error)}", where=client.spec.model, remedy=REMEDY)
