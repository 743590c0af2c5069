"""The chat API of an OpenAI-compatible server, for direct calls and batches: key, request bodies, answers.

API: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import openai

from polyculture.cache.errors import EngineError
from polyculture.cache.network.http_answers import proxy_variable
from polyculture.cache.text.sanitize import hide_keys, learn, mended, user_of, without_password
from polyculture.generate.engines import find_kind
from polyculture.generate.engines.answer import Answer, NoAnswerError, read_answer
from polyculture.generate.engines.base import Completion, ModelSpec, Request
from polyculture.generate.engines.error_body import ANOTHER_API, looks_like_html
from polyculture.generate.engines.event_stream import BrokenStreamError, is_json_lines
from polyculture.generate.engines.kept_answers import as_kept, parse_body
from polyculture.generate.engines.metering import Meter, Usage
from polyculture.generate.engines.openai.faults import RequestError, Server, useless
from polyculture.generate.engines.openai.options import OpenAIOptions
from polyculture.generate.engines.openai.transport import open_client
from polyculture.generate.engines.options import read_options

PATH = "/chat/completions"
OPENAI_ENGINE = "openai"
More = Callable[[Request], Mapping[str, Any]]
# What an engine that runs the server itself knows of an answer beside its body, as `read_answer` takes it.
BodyReader = Callable[[Any], Mapping[str, Any]]
_QUOTED = 2_000  # bytes of a useless answer that an error may quote


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One call: a request and one of its seeds."""

    request_id: str
    seed: int
    body: Mapping[str, Any]  # all but the seed, shared by the request's calls
    meter: Meter | None = None  # who pays for each attempt
    seeded: bool = True  # is the seed sent along?

    @property
    def whole(self) -> dict[str, Any]:
        return {**self.body, "seed": self.seed} if self.seeded else dict(self.body)


class ChatApi:
    """A model behind an OpenAI-compatible server: builds requests and parses answers."""

    def __init__(
        self,
        spec: ModelSpec,
        key: str | None = None,
        more: More | None = None,
        look: BodyReader | None = None,
    ) -> None:
        """`more` gives what else a request's body has; `look` sees each parsed answer first, may mend it, and raise."""
        self.spec, self._more, self._look = spec, more, look
        self.options: OpenAIOptions = read_options(find_kind(spec).options, spec)
        host = urlsplit(self.options.base_url).hostname or ""
        self._official = host == "openai.com" or host.endswith(".openai.com")
        self.local = host in ("localhost", "127.0.0.1", "::1")
        # DeepSeek knows JSON, but no schema.
        self._schema = self.options.schema_form or ("json_object" if host.endswith("deepseek.com") else "json_schema")
        self._length = self.options.length_field or ("max_completion_tokens" if self._official else "max_tokens")
        self.key = self._read_key() if key is None else key
        learn(self.key)
        # The password goes in a header; a query, as `?api-version=`, is sent with every call.
        self._address, _, query = without_password(self.options.base_url).partition("?")
        self._query: dict[str, object] = dict(parse_qsl(query, keep_blank_values=True))
        self._headers = self._authorization()
        proxy = None if self.local else proxy_variable(self.options.base_url)
        self.server = Server(self.options.base_url, spec.name, self._key_remedy(), self.key, proxy)

    def asks(self, request: Request) -> Iterator[ChatCall]:
        """The calls for a request, one per seed."""
        body = self.body(request)
        seeded = "seed" not in self.options.omit
        return (ChatCall(request.request_id, seed, body, request.meter, seeded) for seed in request.seeds)

    def body(self, request: Request) -> dict[str, Any]:
        """The request body for the server, without the seed."""
        decoding = request.decoding
        body: dict[str, Any] = {
            "model": self.spec.name,
            "messages": [{"role": turn.role, "content": turn.content} for turn in request.messages],
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            # OpenAI's newer models accept only the longer name, other servers often only the older one.
            self._length: decoding.max_tokens,
        }
        if decoding.top_k is not None and not (self._official and self.options.server is None):
            body["top_k"] = decoding.top_k
        if decoding.schema is not None and self._schema == "json_schema":
            schema = {"name": "answer", "strict": True, "schema": dict(decoding.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif decoding.schema is not None and self._schema == "json_object":
            body["response_format"] = {"type": "json_object"}
        sent = {name: value for name, value in body.items() if name not in self.options.omit}
        return {**sent, **(self._more(request) if self._more else {}), **self.options.extra_body}

    def connect(self, connections: int, most: int | None = None) -> openai.AsyncOpenAI:
        """A client of the server, for use within one event loop. `most` is the size of an answer in bytes."""
        return openai.AsyncOpenAI(
            api_key=self.key or "none",
            base_url=self._address,
            max_retries=0,  # `outage` and `retry_policy` own the retries
            http_client=open_client(local=self.local, connections=connections, most=most),
            default_headers=self._headers,
            default_query=self._query,
        )

    def parse(self, content: bytes) -> Answer:
        """The answer in a body, whole or as an event stream. Raises `RequestError`."""
        try:
            body = parse_body(content)
        except ValueError as error:
            if looks_like_html(content):
                raise self.server.not_an_api() from error
            came = content.decode("utf-8", "replace")
            if is_json_lines(content):
                raise useless(ANOTHER_API, Usage(), as_kept(came)) from error
            words = str(error) if isinstance(error, BrokenStreamError) else came
            raise self._useless(words, Usage(), came) from error
        return self.read(body)

    def read(self, body: object) -> Answer:
        """The answer in a parsed body. The key is removed from what the server wrote: some servers echo the request."""
        known = self._look(body) if self._look is not None else {}
        try:
            answer = read_answer(body, **known)
        except NoAnswerError as fault:
            words = f"HTTP {fault.status}: {fault}" if fault.status else str(fault) or str(body)
            named = fault.status is not None
            raise self._useless(words, fault.bill, None if named else body, named=named) from fault
        said = ("text", "reasoning", "ending_raw", "version", "raw")
        clean: dict[str, Any] = {name: hide_keys(words) for name in said if (words := getattr(answer, name))}
        return replace(answer, **clean, error=self.server.in_short(answer.error) if answer.error else None)

    def failure(self, ask: ChatCall, fault: RequestError) -> Completion:
        """The completion of a request that has no answer, with what the last attempt cost."""
        bill = fault.bill or Usage()
        return Completion(
            ask.request_id,
            ask.seed,
            None,
            ending=fault.ending,
            prompt_tokens=bill.prompt,
            completion_tokens=bill.completion,
            error=str(fault),
            retryable=fault.retryable or fault.later,
            named_cost=bill.cost,
            body=fault.body,
        )

    def _useless(self, words: str, bill: Usage, body: object = None, *, named: bool = False) -> RequestError:
        """`named`: the words begin with the status of an error, which says what kind of fault it is. `body` is one in
        an unknown form, kept for a later reader."""
        short = self.server.in_short(mended(words[:_QUOTED]))
        reason = short if named else f"the answer is not a complete chat completion: {short}"
        return useless(reason, bill, None if body is None else as_kept(body))

    def _authorization(self) -> dict[str, str]:
        """User and password of the address as a header; without them, the key as a header."""
        user = user_of(self.options.base_url)
        if user is None:
            return {}
        if self.options.api_key_env is not None:
            what = "base_url holds a user and a password, and api_key_env names a key: a request has room for one"
            raise EngineError(what, where=self.spec.model, remedy="Remove either of them.")
        return {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}

    def _read_key(self) -> str:
        """The key, or nothing where a server needs none. One's own server never receives another provider's key."""
        own = self.local or self.spec.engine != OPENAI_ENGINE
        variable = self.options.api_key_env or (None if own else "OPENAI_API_KEY")
        key = os.environ.get(variable, "").strip() if variable else ""
        if not key and (self._official or self.options.api_key_env):
            what = f"no API key: the environment variable {variable} is not set"
            raise EngineError(what, where=self.spec.model, remedy=f"Set it: export {variable}=...")
        if not (key.isascii() and key.isprintable()):
            raise EngineError(f"the key in {variable} holds a character that no key has", where=self.spec.model)
        return key

    def _key_remedy(self) -> str:
        if self.local and self.options.api_key_env is None:
            return "Name the environment variable that holds its key in the option api_key_env."
        variable = self.options.api_key_env or "OPENAI_API_KEY"
        return f"Set the environment variable {variable} to a key that is valid there."
