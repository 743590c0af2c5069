"""Bodies of answers as services document them, whole and as event streams, written without a look at the code.

`server_bodies.jsonl` is ours. A case is a body with its status, and the text, ending and reasoning of its answer, or
`failure` where it has none. Where it is read otherwise than its writer expected, `today` says how, and `why`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.generate.engines import Completion, Decoding, Message, ModelSpec, Request, open_engine
from tests.servers import Reply, StubServer

FILE = Path(__file__).with_name("server_bodies.jsonl")
CASES = {case["case"]: case for case in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())}


@pytest.fixture(scope="module")
def completions() -> Iterator[dict[str, Completion]]:
    """What the engine makes of each body, asked by its name."""

    def behaviour(body: Any, _: int) -> Reply:
        case = CASES[body["messages"][-1]["content"]]
        if "stream" in case:
            return Reply(body=case["stream"].encode(), content_type="text/event-stream")
        return Reply(status=case["status"], body=json.dumps(case["body"]).encode())

    asked = [Request(name, (Message("user", name),), Decoding(), (1,)) for name in CASES]
    with (
        StubServer(behaviour=behaviour) as server,
        open_engine(ModelSpec("openai:stub", {"base_url": server.url, "max_retries": 0})) as engine,
    ):
        yield {completion.request_id: completion for completion in engine.sample(asked)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_documented_body_is_read(case: dict[str, Any], completions: dict[str, Completion]) -> None:
    wanted, found = case.get("today", case["expect"]), completions[case["case"]]
    if "failure" in wanted:
        assert (found.text, bool(found.error)) == (None, True)
        return
    assert (found.text, found.ending, found.reasoning) == (wanted["text"], wanted["ending"], wanted["reasoning"])
    if "tokens" in wanted:
        assert found.completion_tokens == wanted["tokens"]
