"""A line of a batch's output file: https://platform.openai.com/docs/guides/batch#5-retrieve-the-results"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from polyculture.cache.faults import CONTENT_POLICY, kind_of
from polyculture.cache.model_facts import BATCH
from polyculture.cache.sanitize import parse
from polyculture.generate.engines.answer import completed
from polyculture.generate.engines.base import Completion
from polyculture.generate.engines.openai.chat import ChatApi, ChatCall
from polyculture.generate.engines.openai.faults import RequestError, codes_of


class _Response(BaseModel):
    status_code: int
    body: Mapping[str, Any] | str | None = None


class _Error(BaseModel):
    code: str | None = None
    message: str | None = None


class AnswerLine(BaseModel):
    """The result of one request of a batch."""

    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


def read_lines(*files: Path) -> Iterator[AnswerLine]:
    """The lines of the existing files. A line that cannot be parsed is skipped: its request has no answer."""
    for path in files:
        if not path.exists():
            continue
        with path.open("rb") as file:
            for line in file:
                try:
                    yield AnswerLine.model_validate(parse(line))
                except ValueError:  # pydantic's own is one
                    continue


def completion(line: AnswerLine, ask: ChatCall, chat: ChatApi) -> Completion:
    """A line as a completion, with the same errors as a direct request."""
    response = line.response
    if line.error is not None or response is None:
        error = line.error or _Error()
        return failed(ask, chat.server.in_short(f"{error.code or 'no answer'}: {error.message or ''}".rstrip(": ")))
    if response.status_code != 200:
        words = chat.server.in_short(f"HTTP {response.status_code}: {_words(response.body)}")
        kind = kind_of(response.status_code, codes_of(response.body), words)
        fault = failed(ask, words, retryable=not kind.final)
        return replace(fault, ending="withheld") if kind.name == CONTENT_POLICY else fault
    try:
        answer = chat.read(response.body)
    except RequestError as fault:
        return replace(chat.failure(ask, fault), purchase=BATCH)
    return completed(ask.request_id, ask.seed, answer, purchase=BATCH)


def failed(ask: ChatCall, reason: str, *, retryable: bool = True) -> Completion:
    """A request of a batch that has no answer."""
    return Completion(ask.request_id, ask.seed, None, error=reason, retryable=retryable, purchase=BATCH)


def _words(body: Mapping[str, Any] | str | None) -> str:
    error = body.get("error") if isinstance(body, Mapping) else None
    return str(error["message"] if isinstance(error, Mapping) and "message" in error else error or body)
