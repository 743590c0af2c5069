"""Answers of servers that only stream, as their services document the events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from polyculture.cache.work.faults import kind_of_error
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, open_engine
from polyculture.generate.engines.answer import read_answer
from polyculture.generate.engines.event_stream import BrokenStreamError, assemble
from polyculture.generate.engines.openai.servers import advice
from tests.servers import Reply, StubServer


def stream(*events: Any, end: str = "data: [DONE]\n\n", line: str = "\n") -> bytes:
    """Events as Server-Sent Events; a pair is the event's name and its data."""
    written = ""
    for event in events:
        name, data = event if isinstance(event, tuple) else (None, event)
        written += (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"
    return (": keep-alive\n\n" + written + end).replace("\n", line).encode()


def chunk(**delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}


LAST = {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
USAGE = {"model": "m", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}
OPENAI = (
    chunk(role="assistant", content=""),
    chunk(reasoning_content="H"),
    chunk(reasoning_content="m."),
    chunk(content="Ra"),
    chunk(content="men."),
    LAST,
    USAGE,
)
ANTHROPIC = (
    (
        "message_start",
        {
            "type": "message_start",
            "message": {
                "model": "m",
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 3, "output_tokens": 1},
            },
        },
    ),
    (
        "content_block_start",
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    ),
    (
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    ),
    ("content_block_stop", {"type": "content_block_stop", "index": 0}),
    ("content_block_start", {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
    ("ping", {"type": "ping"}),
    ("content_block_delta", {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Ra"}}),
    (
        "content_block_delta",
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "men."}},
    ),
    ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 4}}),
    ("message_stop", {"type": "message_stop"}),
)
GEMINI = (
    {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}], "role": "model"}}]},
    {"candidates": [{"content": {"parts": [{"text": "Ra"}], "role": "model"}}]},
    {
        "candidates": [{"content": {"parts": [{"text": "men."}], "role": "model"}, "finishReason": "MAX_TOKENS"}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
    },
)
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "Ramen."}]}
HIDDEN = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
RESPONSE = {
    "object": "response",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "output": [HIDDEN, MESSAGE],
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
RESPONSES = (
    {"type": "response.output_text.delta", "delta": "Ra"},
    {"type": "response.incomplete", "response": RESPONSE},
)


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("events", "end"),
    [(OPENAI, "data: [DONE]\n\n"), (OPENAI, ""), (ANTHROPIC, ""), (GEMINI, ""), (RESPONSES, "")],
    ids=["OpenAI", "OpenAI without [DONE]", "Anthropic", "Gemini", "Responses"],
)
def test_the_events_of_a_stream_make_the_answer_that_comes_as_a_whole(events: Any, end: str, line: str) -> None:
    answer = read_answer(assemble(stream(*events, end=end, line=line)))
    assert (answer.text, answer.reasoning, answer.ending) == ("Ramen.", "Hm.", "cut")
    assert (answer.usage.prompt, answer.usage.completion) == (3, 4)


@pytest.mark.parametrize("events", [OPENAI[:4], ANTHROPIC[:7], GEMINI[:2], ()])
def test_a_stream_that_breaks_off_is_no_answer(events: Any) -> None:
    with pytest.raises(BrokenStreamError):
        assemble(stream(*events, end=""))


THINKING = [{"type": "thinking", "thinking": [{"type": "text", "text": "H"}]}]
MISTRAL = (
    chunk(content=THINKING),
    chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "m."}], "closed": True}]),
    chunk(content=[{"type": "text", "text": "Ra"}]),
    chunk(content="me"),
    chunk(content="n."),
    LAST,
)


def test_content_in_parts_goes_on_as_a_text() -> None:
    """Mistral streams the thinking in parts, and the answer in parts or as a text: its beginning was lost."""
    answer = read_answer(assemble(stream(*MISTRAL)))
    assert (answer.text, answer.reasoning, answer.ending) == ("Ramen.", "Hm.", "cut")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b'{"message": {"content": "Ra"}, "done": false}\n{"message": {"content": "men."}, "done": true}\n'),
        Reply(body=b"404 page not found", status=404, content_type="text/plain"),
    ],
    ids=["its stream", "no such path"],
)
def test_ollamas_own_api_is_no_openai_compatible_one(reply: Reply) -> None:
    completion = ask(reply)
    assert completion.text is None
    assert "/v1" in kind_of_error(completion.error).remedy


def ask(body: bytes | Reply) -> Any:
    reply = body if isinstance(body, Reply) else Reply(body=body, content_type="text/event-stream; charset=utf-8")
    with StubServer(behaviour=lambda *_: reply) as server:
        options = {"base_url": server.url, "max_retries": 0, "extra_body": {"stream": True}}
        with open_engine(ModelSpec("openai:stub", options)) as engine:
            (completion,) = engine.sample([Request("r", (Message("user", "Ask."),), Decoding(), (1,))])
        assert server.bodies[0]["stream"] is True
    return completion


def test_a_server_that_only_streams_is_read() -> None:
    whole = ask(stream(*OPENAI))
    assert (whole.text, whole.ending, whole.completion_tokens, whole.model_version) == ("Ramen.", "cut", 4, "m")
    broken = ask(stream(*OPENAI[:4], end=""))
    assert (broken.text, broken.retryable) == (None, True)
    assert "breaks off" in broken.error
    failed = ask(stream(*OPENAI[:4], {"error": {"code": 502, "message": "Provider disconnected"}}, end=""))
    assert failed.text is None
    assert "Provider disconnected" in failed.error


def test_who_rejects_whole_answers_is_asked_for_a_stream() -> None:
    remedy = advice("HTTP 400: This model only support stream mode, please enable the stream parameter.")
    assert "stream = true" in (remedy or "")
    assert "extra_body" in (remedy or "")
