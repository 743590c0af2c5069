"""A line of a batch's output file: https://platform.openai.com/docs/guides/batch#5-retrieve-the-results"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from polyculture.cache.model_facts import BATCH
from polyculture.cache.sanitize import parse
from polyculture.generate.engines.answer import completed
from polyculture.generate.engines.base import Completion
from polyculture.generate.engines.openai.chat import ChatApi, ChatCall
from polyculture.generate.engines.openai.error_body import read_error
from polyculture.generate.engines.openai.faults import RequestError


class _Response(BaseModel):
    status_code: int
    body: Any = None


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
        fault = chat.server.fault(response.status_code, read_error(response.body))
        return replace(failed(ask, str(fault), retryable=fault.retryable), ending=fault.ending)
    try:
        answer = chat.read(response.body)
    except RequestError as fault:
        return replace(chat.failure(ask, fault), purchase=BATCH)
    return completed(ask.request_id, ask.seed, answer, purchase=BATCH)


def failed(ask: ChatCall, reason: str, *, retryable: bool = True) -> Completion:
    """A request of a batch that has no answer."""
    return Completion(ask.request_id, ask.seed, None, error=reason, retryable=retryable, purchase=BATCH)
