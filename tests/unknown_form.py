"""A server whose answers have a form that no version reads yet, and a later version that reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from polyculture.generate.engines import bodies
from tests.servers import Reply

WORDS = "no answer in a known form: it has utterance"  # in the reason of such an answer


def in_unknown_form(rule: Callable[[str], str]) -> Callable[[Mapping[str, Any], int], Reply]:
    """A server's behaviour: the answer to a message by `rule`, in a form of its own."""

    def behave(body: Mapping[str, Any], _before: int) -> Reply:
        said = {"utterance": {"phrase": rule(body["messages"][-1]["content"])}, "closing": "stop", "key": "sk"}
        return Reply(body=json.dumps({**said, "usage": {"prompt_tokens": 7, "completion_tokens": 5}}).encode())

    return behave


@contextmanager
def later_version() -> Iterator[None]:
    """While it lasts, the walk through bodies knows the form."""

    def forget() -> None:
        for known in (bodies._leads_on, bodies._singular, bodies._is_ending):
            known.cache_clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "_NAMES", bodies._NAMES | {"phrase"})
        patch.setattr(bodies, "_WAY", bodies._WAY | {"utterance", "phrase"})
        patch.setattr(bodies, "_ENDING", re.compile("^closing$"))
        forget()
        yield
    forget()
