"""A GGUF file in this process, on a CPU or a GPU, through xllamacpp: llama.cpp's own server without its program.

    models = ["llamacpp:smollm2", "llamacpp:models/qwen2.5-7b-instruct-q4_k_m.gguf"]

llama.cpp keeps its slots full by itself and answers on a port of the loopback interface; it is asked there by the
`openai` engine, with a key made up for this process.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Self
from urllib.request import ProxyHandler, build_opener
from urllib.request import Request as UrlRequest

import orjson
from pydantic import Field

from polyculture.cache.errors import EngineError, SystematicFaultError
from polyculture.cache.extras import Extra
from polyculture.cache.identity import model_sha256
from polyculture.cache.work.faults import CONNECTION, kind_of_error
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.capabilities import SAMPLING, TOKENIZING
from polyculture.generate.engines.kind import EngineKind, Offer
from polyculture.generate.engines.model_files import find_gguf, let_waiting_threads_sleep, model_files
from polyculture.generate.engines.models import Closing
from polyculture.generate.engines.options import PACE, Decides, Options, read_options
from polyculture.generate.engines.stop_token import end_of_turn
from polyculture.generate.engines.system_prompt import REFUSES, REMEDY, SystemPrompts, Turn
from polyculture.generate.engines.transformers.options import EXTRA

# Seconds for an answer. The model works in this process for as long as it takes, and a busy machine takes long: only a
# fault of llama.cpp takes a day.
_A_DAY = 86_400.0
_STOPPED = "the model in this process stopped answering"  # as the table of faults knows it
_WITH_LOGPROBS = {"logprobs": True, "top_logprobs": 1}
_LIKE_SPECIAL = re.compile(r"\s*[<\[◁].+[>\]▷]\s*")  # what a special token looks like
_WAITING = 4  # requests that stand ready for the next free slot


class LlamaCppOptions(Options):
    """Options of the `llamacpp` engine."""

    n_parallel: Annotated[int, PACE] = Field(default=16, ge=1)  # slots: texts that are written at the same time
    # Tokens of prompt and answer together, per slot: a text ends where they do.
    context: Annotated[int, Decides("sample")] = Field(default=2048, ge=64)
    threads: Annotated[int | None, PACE] = Field(default=None, ge=1)  # all cores unless told
    # With a GPU build of xllamacpp; as many layers as fit unless told.
    gpu_layers: Annotated[int | None, PACE] = Field(default=None, ge=0)


class GroupSlots:
    """Sends requests of one group to one slot, which has read their common beginning; groups take the slots in turn."""

    def __init__(self, slots: int) -> None:
        self._slots, self._turn = slots, 0
        self._of: dict[str, int] = {}

    def of(self, request: Request) -> Mapping[str, Any]:
        """What the request's body has besides: a slot, or nothing where it has no group."""
        if request.group is None:
            return {}
        if request.group not in self._of:
            if len(self._of) == self._slots:  # the group whose beginning the slot no longer has
                del self._of[next(iter(self._of))]
            self._of[request.group] = self._turn % self._slots
            self._turn += 1
        return {"id_slot": self._of[request.group]}


class LlamaCppEngine(Closing):
    """A GGUF model. Loaded when entered, freed when left."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.options = read_options(LlamaCppOptions, spec)
        self.file = find_gguf(spec.name, spec.folder)

    def __enter__(self) -> Self:
        from polyculture.generate.engines.openai.chat import ChatApi
        from polyculture.generate.engines.openai.engine import OpenAIEngine

        self.model_version = f"{self.file.name} sha256:{model_sha256(self.file)[:16]}"
        self._key = key = secrets.token_urlsafe(24)
        self._system: SystemPrompts | None = None
        self._specials: dict[int, bool] = {}
        self._pieces: dict[int, str] = {}
        self._server = self._load(key)
        options = {
            "base_url": f"{self._server.listening_address}/v1",
            "concurrency": self.options.n_parallel + _WAITING,
            "max_retries": 2,
            "deadline": _A_DAY,
            "outage_faults": 0,
            "outage_minutes": 0,
            "schema_form": "none",  # it is sent under llama.cpp's own name: see `_schema`
        }
        slots = GroupSlots(self.options.n_parallel)
        spec = ModelSpec(f"openai:{self.spec.name}", options)
        # The log-probabilities show whether the model computes numbers at all.
        api = ChatApi(
            spec,
            key,
            lambda request: {**slots.of(request), **_schema(request), **_WITH_LOGPROBS, **self._stop},
            self._look,
        )
        self._client = OpenAIEngine(spec, api=api)
        self._client.__enter__()
        return self

    def close(self) -> None:
        self._client.close()
        del self._server

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        """Yields an answer, or the reason why there is none, per request and seed, as they come.

        Raises `SystematicFaultError` where llama.cpp's server in this process has ended.
        """
        try:
            for completion in self._client.sample(map(self._checked, requests)):
                yield self._told(completion)
        except SystematicFaultError as fault:
            what, remedy = f"{_STOPPED} ({fault.what})", kind_of_error(_STOPPED).remedy
            raise SystematicFaultError(what, where=self.spec.model, remedy=remedy) from fault

    def _told(self, completion: Completion) -> Completion:
        """An answer with the file's version; of a lost connection, that no server or network of the user's was it."""
        if completion.text is not None:
            return replace(completion, model_version=self.model_version)
        if kind_of_error(completion.error).name == CONNECTION:
            return replace(completion, error=f"{_STOPPED} ({completion.error})")
        return completion

    def _look(self, body: Any) -> Mapping[str, Any]:
        """The special tokens of an answer and the end of its prompt, as `read_answer` takes them; takes the token that
        ended the text out of the body.

        Raises `EngineError` where a token's log-probability is no finite number: JSON has null for it.
        """
        specials: set[str] = set()
        for choice in body.get("choices") or ():
            written = (choice.get("logprobs") or {}).get("content") or ()
            if any(token["logprob"] is None for token in written):
                what = "computes logits that are no finite numbers: what it wrote would be chance"
                raise EngineError(what, where=self.file, remedy="Are its weights broken? Download it again.")
            tokens = [(token["id"], token["token"]) for token in written]
            # Where the stop word ended the text, log-probabilities lack as many tokens as that word has letters.
            numbers = (body.get("__verbose") or {}).get("tokens") or ()
            tokens += [(number, self._piece(number)) for number in numbers[len(tokens) :]]
            if tokens and choice["finish_reason"] == "stop":  # the model stops by a token, and nothing else stops it
                message = choice["message"]
                message["content"] = (message["content"] or "").removesuffix(tokens.pop()[1])
            specials.update(text for number, text in tokens if self._is_special(number, text))
        return {"specials": specials, "prompt_tail": self._prompt_tail}

    def _piece(self, number: int) -> str:
        """The text of a token."""
        if number not in self._pieces:
            self._pieces[number] = self._served("/detokenize", {"tokens": [number]})["content"]
        return self._pieces[number]

    def _is_special(self, number: int, text: str) -> bool:
        """Whether a token is a special one: the tokenizer does not make it of its own text."""
        if not _LIKE_SPECIAL.fullmatch(text):
            return False
        if number not in self._specials:
            made = self._served("/tokenize", {"content": text, "add_special": False, "parse_special": False})
            self._specials[number] = made["tokens"] != [number]
        return self._specials[number]

    @cached_property
    def _prompt_tail(self) -> str:
        """The end of each prompt, where a chat template may open the reasoning."""
        return self._render([{"role": "user", "content": "?"}]).rpartition("?")[2]

    @cached_property
    def _stop(self) -> Mapping[str, Any]:
        """What a request's body has besides where the template ends a turn by another token than the configuration:
        the token as a stop word, and that the answer has the numbers of all its tokens."""
        token = end_of_turn(lambda turns: self._render(turns, answers=False), self._marks)
        if token is None or token == self._served("/props")["eos_token"]:
            return {}
        return {"stop": [token], "return_tokens": True, "verbose": True}

    def _marks(self, text: str) -> set[str]:
        """What looks like special tokens in a text and is one token each, added ones among them."""
        asked = {"content": text, "add_special": False, "parse_special": True, "with_pieces": True}
        pieces = [token["piece"] for token in self._served("/tokenize", asked)["tokens"]]
        return {piece for piece in pieces if isinstance(piece, str) and _LIKE_SPECIAL.fullmatch(piece)}

    def _checked(self, request: Request) -> Request:
        """The request. Raises `EngineError` where the model's template has no place for its system prompt.

        llama.cpp would put it into the user's turn in silence. An extractor's instructions may stand there.
        """
        if request.messages[0].role == "system" and request.decoding.schema is None:
            if self._system is None:
                caps = self._served("/props").get("chat_template_caps", {})
                if caps.get("supports_system_role") is False:
                    raise EngineError(REFUSES, where=self.spec.model, remedy=REMEDY)
                self._system = SystemPrompts(self.spec.model, self._render)
            self._system.check([{"role": turn.role, "content": turn.content} for turn in request.messages])
        return request

    def _render(self, turns: Sequence[Turn], *, answers: bool = True) -> str:
        """A chat as the template writes it; `answers`: with the beginning of the model's own turn behind it."""
        return str(
            self._served("/apply-template", {"messages": list(turns), "add_generation_prompt": answers})["prompt"]
        )

    def _served(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the server in this process says of its model."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        content = None if body is None else orjson.dumps(body)
        address = self._server.listening_address  # of the loopback interface
        asked = UrlRequest(f"{address}{path}", data=content, headers=headers)  # noqa: S310
        with build_opener(ProxyHandler({})).open(asked, timeout=_A_DAY) as answer:
            parsed: dict[str, Any] = orjson.loads(answer.read())
        return parsed

    def _load(self, key: str) -> Any:
        let_waiting_threads_sleep()
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self.file)
        params.verbosity = -1  # nothing on stderr
        # All that the model writes, as it writes it: its marks are told apart by our own reader, as everywhere.
        params.special = params.force_pure_content_parser = True
        params.ui = params.endpoint_slots = params.prefill_assistant = False
        params.api_keys = [key]
        params.n_parallel = self.options.n_parallel
        params.n_ctx = self.options.n_parallel * self.options.context
        params.n_threads_http = self.options.n_parallel + _WAITING + 2
        params.cache_ram_mib = 0  # prompts that were answered are not kept: memory stays constant
        if self.options.gpu_layers is not None:
            params.n_gpu_layers = self.options.gpu_layers
        if self.options.threads is not None:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.options.threads
        try:
            return xllamacpp.Server(params)
        except RuntimeError as fault:
            raise EngineError(
                "is not a model that llama.cpp can load",
                where=self.file,
                remedy="Is the download whole, and its template valid? Otherwise lower n_parallel or context: it may "
                "not fit into memory.",
            ) from fault


def _schema(request: Request) -> Mapping[str, Any]:
    """A schema as a grammar of the whole text. llama.cpp reads OpenAI's `response_format` in its parser of answers,
    which is off here: it takes marks out of texts, and fails at special tokens."""
    if request.decoding.schema is None:
        return {}
    import xllamacpp

    return {"grammar": xllamacpp.json_schema_to_grammar(orjson.dumps(dict(request.decoding.schema)).decode())}


KIND = EngineKind(
    name="llamacpp",
    options=LlamaCppOptions,
    paid=False,
    offers=(
        Offer(SAMPLING, LlamaCppEngine, Extra("llamacpp", ("xllamacpp",))),
        Offer(TOKENIZING, "transformers.loading:ModelTokenizer", EXTRA),
    ),
    files=model_files,
)
