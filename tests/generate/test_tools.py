"""Answers as servers write them, through the engine that asks: what must become of each text, or that there is none.

They were written by a reader who had not seen how answers are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from polyculture.generate.engines import Completion, Decoding, Message, ModelSpec, Request, open_engine
from tests.servers import Reply, StubServer

PIZZA = "Pizza."
JSON, EVENTS, NDJSON = "application/json", "text/event-stream", "application/x-ndjson"


@dataclass(frozen=True)
class Case:
    """A body, and what is right: text, reasoning and ending; without a text, how it ends, or that it failed."""

    name: str
    body: Any
    text: str | None = PIZZA
    reasoning: str | None = None
    ending: str = "whole"
    failed: bool = False  # an error stands where the text would
    kind: str = JSON
    retried: bool | None = None  # of a failure: whether asking again may help; None: either will do


def chat(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, **message}
    return {"id": "c", "object": "chat.completion", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 4},
            "choices": [{"index": 0, "message": said, "finish_reason": finish}]}  # fmt: skip


def responses(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"object": "response", "status": status, "model": "m", "error": None, "output": list(output), **more}


def said(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": content, **more}


def claude(*content: Any, stop: str | None = "end_turn") -> dict[str, Any]:
    return {"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": list(content),
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 4}}  # fmt: skip


def events(*data: Any, done: bool = True) -> bytes:
    written = "".join(f"data: {json.dumps(one)}\n\n" for one in data)
    return (written + ("data: [DONE]\n\n" if done else "")).encode()


def delta(finish: str | None = None, index: int = 0, **part: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": index, "delta": part, "finish_reason": finish}]}


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


TEXT = {"type": "text", "text": PIZZA}
CALL = [{"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "pizza"}'}}]
COHERE = (
    {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant", "content": []}}},
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Piz"}}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "za."}}}},
    {"type": "content-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"output_tokens": 4}}}},
)
OLLAMA = (
    {"model": "m", "message": {"role": "assistant", "content": "Piz"}, "done": False},
    {"model": "m", "message": {"role": "assistant", "content": "za."}, "done": False},
    {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
)

BODIES = [
    Case("plain", chat(PIZZA)),
    Case("content in parts", chat([{"type": "text", "text": "Piz"}, {"type": "text", "text": "za."}])),
    Case("Mistral's parts", chat([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
         TEXT, {"type": "reference", "reference_ids": [1]}]), PIZZA, "Hm."),
    Case("reasoning twice", chat(PIZZA, reasoning="Hm.", reasoning_content="Hm."), PIZZA, "Hm."),
    Case("all tokens spent on reasoning", chat(None, "length", reasoning_content="Hm."), None, failed=True),
    Case("nothing said after reasoning", chat("", "stop", reasoning_content="Hm."), None, failed=True),
    Case("null content", chat(None), None, failed=True),
    Case("a refusal beside", chat(None, refusal="I cannot help with that."), None, failed=True),
    Case("tool calls", chat(None, "tool_calls", tool_calls=CALL), None, failed=True),
    Case("a tool call with no reason", chat("", "stop", tool_calls=CALL), None, failed=True),
    Case("a null content and a tool call with no reason", chat(None, "stop", tool_calls=CALL), None, failed=True,
         retried=True),
    Case("function call", chat(None, "function_call", function_call=CALL[0]["function"]), None, failed=True),
    Case("filtered in its middle", chat("Pi", "content_filter"), None, failed=True),
    Case("no reason", chat(PIZZA, None), ending="unknown"),
    Case("vLLM's stop token", {**chat(PIZZA), "choices": [{**chat(PIZZA)["choices"][0], "stop_reason": 128009}]}),
    Case("no choices", {**chat(PIZZA), "choices": []}, None, failed=True),
    Case("null choices", {**chat(PIZZA), "choices": None}, None, failed=True),
    Case("a provider's failure in a choice", {"id": "c", "model": "m", "choices": [{"index": 0, "error": {"code": 502,
         "message": "Upstream died"}, "finish_reason": "error", "message": {"role": "assistant", "content": "Piz"}}]},
         None, failed=True),
    Case("DeepSeek out of room", chat("Piz", "insufficient_system_resource"), None, failed=True),
    Case("error within 200", {"error": {"message": "Rate limit exceeded", "code": 429}}, None, failed=True),
    Case("Zhipu's error", {"error": {"code": "1302", "message": "您当前使用该API的并发数过高"}}, None, failed=True),
    Case("Baidu's error", {"error_code": 336003, "error_msg": "messages empty", "id": "x"}, None, failed=True),
    Case("MiniMax's error", {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, None,
         failed=True),
    Case("DashScope's error", {"code": "Throttling", "message": "Requests throttling", "request_id": "x"}, None,
         failed=True),
    Case("Anthropic's error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, None,
         failed=True),
    Case("a gateway's words", b'"upstream connect error or disconnect/reset before headers"', None, failed=True),
    Case("a gateway's page", b"<html><body><h1>502 Bad Gateway</h1></body></html>", None, failed=True,
         kind="text/html"),
    Case("nothing", b"", None, failed=True),
    Case("Baidu, cut", {"id": "as-x", "object": "chat.completion", "result": "Pizz", "is_truncated": True,
         "need_clear_history": False, "usage": {"completion_tokens": 4}}, "Pizz", ending="cut"),
    Case("Gemini, numbered", {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}, {"text": PIZZA}]},
         "finishReason": 2, "index": 0}]}, PIZZA, "Hm.", "cut"),
    Case("Gemini, thought only", {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}],
         "usageMetadata": {"thoughtsTokenCount": 99}}, None, failed=True, retried=False),
    Case("Gemini, blocked", {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}, None, failed=True),
    Case("Gemini, recited", {"candidates": [{"finishReason": "RECITATION", "index": 0}]}, None, failed=True),
    Case("Cohere's chat", {"id": "x", "finish_reason": "MAX_TOKENS", "message": {"role": "assistant", "content": [
         {"type": "thinking", "thinking": "Hm."}, TEXT], "citations": []}}, PIZZA, "Hm.", "cut"),
    Case("Ollama's chat", {"model": "m", "message": {"role": "assistant", "content": PIZZA, "thinking": "Hm."},
         "done": True, "done_reason": "length", "eval_count": 4}, PIZZA, "Hm.", "cut"),
    Case("TGI", [{"generated_text": PIZZA, "details": {"finish_reason": "length", "generated_tokens": 4}}],
         ending="cut"),
    Case("Responses", responses({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
         said(PIZZA)), PIZZA, "Hm."),
    Case("Responses, raw reasoning", responses({"type": "reasoning", "summary": [], "content": [
         {"type": "reasoning_text", "text": "Hm."}]}, said(PIZZA)), PIZZA, "Hm."),
    Case("Responses, phases", responses(said("Let me see.", phase="commentary"), said(PIZZA, phase="final_answer")),
         PIZZA, "Let me see."),
    Case("Responses, two messages", responses(said("Pasta."), {"type": "web_search_call", "status": "completed"},
         said(PIZZA)), "Pasta.\n\nPizza."),
    Case("Responses, a refusal", responses({"type": "message", "role": "assistant", "content": [
         {"type": "refusal", "refusal": "I cannot."}]}), None, failed=True),
    Case("Responses, filtered", responses(said("Pi"), status="incomplete",
         incomplete_details={"reason": "content_filter"}), None, failed=True),
    Case("Responses, cut in reasoning", responses({"type": "reasoning", "summary": []}, status="incomplete",
         incomplete_details={"reason": "max_output_tokens"}), None, failed=True, retried=False),
    Case("Responses, a call", responses({"type": "function_call", "name": "search", "arguments": "{}"}), None,
         failed=True),
    Case("Responses, failed", {**responses(status="failed"), "error": {"code": "server_error", "message": "no"}}, None,
         failed=True),
    Case("Responses, queued", responses(status="queued"), None, failed=True),
    Case("Anthropic", claude({"type": "thinking", "thinking": "Hm.", "signature": "x"},
         {"type": "redacted_thinking", "data": "abc"}, TEXT), PIZZA, "Hm."),
    Case("Anthropic, stop sequence", claude(TEXT, stop="stop_sequence")),
    Case("Anthropic, refused", claude(stop="refusal"), None, failed=True),
    Case("Anthropic, a tool", claude(TEXT, {"type": "tool_use", "id": "1", "name": "s", "input": {}}, stop="tool_use"),
         None, failed=True),
    Case("Anthropic, paused", claude(TEXT, {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}},
         stop="pause_turn"), ending="cut"),
    Case("Anthropic, window full", claude(TEXT, stop="model_context_window_exceeded"), ending="cut"),
    Case("a stream", events(delta(role="assistant", content=""), delta(reasoning="H"), delta(reasoning="m."),
         delta(content="Piz"), delta(content="za."), delta("stop")), PIZZA, "Hm.", kind=EVENTS),
    Case("a stream of two choices", events(delta(content="Piz"), delta(index=1, content="no"), delta(content="za."),
         delta("stop"), delta("stop", 1)), kind=EVENTS),
    Case("a stream with tags in pieces", events(delta(content="<thi"), delta(content="nk>Hm.</th"),
         delta(content="ink>Pizza."), delta("length")), PIZZA, "Hm.", "cut", kind=EVENTS),
    Case("a stream that fails", events(delta(content="Piz"), {"error": {"message": "died", "code": 500}}), None,
         failed=True, kind=EVENTS),
    Case("a stream with [DONE] and no reason", events(delta(content="Pizza.")), ending="unknown", kind=EVENTS),
    Case("a stream that breaks off", events(delta(content="Piz"), done=False), None, failed=True, kind=EVENTS),
    Case("a stream that breaks off in an event", events(delta(content="Piz"), done=False) + b'data: {"id": "c", "cho',
         None, failed=True, kind=EVENTS),
    Case("Cohere's stream", events(*COHERE, done=False), kind=EVENTS),
    Case("Ollama's stream", lines(*OLLAMA), None, failed=True, kind=NDJSON),  # /v1 has none
    Case("Ollama's stream, broken off", lines(*OLLAMA[:2]), None, failed=True, kind=NDJSON),
    Case("a stream called JSON", events(delta(content=PIZZA), delta("stop")), kind=JSON),
]  # fmt: skip


def marks(
    name: str,
    text: str,
    answer: str | None = PIZZA,
    reasoning: str | None = "Hm.",
    finish: str = "stop",
) -> Case:
    ending = "cut" if finish == "length" else "whole"
    return Case(name, chat(text, finish), answer, reasoning, ending, failed=answer is None)


TEXTS = [
    marks("plain tags", "<think>\nHm.\n</think>\n\nPizza."),
    marks("closed only", "Hm.\n</think>\n\nPizza."),
    marks("several closings", "<think>Tea</think>Hm.</think>Pizza.", PIZZA, "Tea\n\nHm."),
    marks("several closings, none opened", "Tea\n</think>\nHm.\n</think>\nPizza.", PIZZA, "Tea\n\nHm."),
    marks("an orphan before", "</think>\n\nPizza.", PIZZA, None),
    marks("an orphan behind", "Pizza.\n</think>", None),
    marks("an opening behind", "Pizza.\n<think>", PIZZA, None),
    marks("nothing behind", "<think>Hm.</think>", None),
    marks("cut in reasoning", "<think>\nHm.", None, "Hm.", "length"),
    marks("cut in an answer", "<think>Hm.</think>Piz", "Piz", "Hm.", "length"),
    marks("Nemotron without thinking", "<think></think>Pizza.", PIZZA, None),
    marks("Hunyuan", "<think>\nHm.\n</think>\n<answer>\nPizza.\n</answer>"),
    marks("Ernie", "<think>\nHm.\n</think>\n\n<response>\nPizza.\n</response>\n"),
    marks("Seed-OSS", "<seed:think>Hm.<seed:cot_budget_reflect>I have used 3 tokens.</seed:cot_budget_reflect>"
          "</seed:think>Pizza.", PIZZA,
          "Hm.<seed:cot_budget_reflect>I have used 3 tokens.</seed:cot_budget_reflect>"),
    marks("EXAONE", "<thought>\nHm.\n</thought>\n\nPizza."),
    marks("Reka", "<reasoning>Hm.</reasoning> Pizza.<sep>"),
    marks("Harmony", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Pizza."
          "<|return|>"),
    marks("Harmony with a preamble", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary"
          "<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>Pizza.", PIZZA, "Hm.\nI look."),
    marks("Harmony cut", "<|channel|>analysis<|message|>Hm.", None, "Hm.", "length"),
    marks("Gemma", "<|channel>thought\nHm.\n<channel|>Pizza.<turn|>"),
    marks("Magistral", "[THINK]Hm.[/THINK]Pizza.</s>"),
    marks("Command A", "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Pizza.<|END_RESPONSE|>"),
    marks("Command A Plus, text", "<|START_THINKING|>Hm.<|END_THINKING|><|START_TEXT|>Pizza.<|END_TEXT|>"),
    marks("Apertus", "<|inner_prefix|>Hm.<|inner_suffix|>Pizza.<|assistant_end|>"),
    marks("Kimi", "◁think▷Hm.◁/think▷Pizza."),
    marks("LLaVA-CoT", "<SUMMARY>Tea.</SUMMARY><CAPTION>Cup.</CAPTION><REASONING>Hm.</REASONING>"
          "<CONCLUSION>Pizza.</CONCLUSION>", PIZZA, "Tea.\n\nCup.\n\nHm."),
    marks("LLaVA-CoT, with line breaks", "<SUMMARY> Tea. </SUMMARY>\n\n<CAPTION> Cup. </CAPTION>\n\n<REASONING> Hm. "
          "</REASONING>\n\n<CONCLUSION> Pizza. </CONCLUSION>", PIZZA, "Tea.\n\nCup.\n\nHm."),
    marks("LLaVA-CoT, cut in its conclusion", "<SUMMARY>Tea.</SUMMARY><REASONING>Hm.</REASONING><CONCLUSION>Piz", "Piz",
          "Tea.\n\nHm.", "length"),
    marks("LLaVA-CoT, cut in its reasoning", "<SUMMARY>Tea.</SUMMARY><REASONING>Hm.", None, "Tea.\n\nHm.", "length"),
    marks("an answer in sections", "<SUMMARY>Pizza.</SUMMARY><CONCLUSION>Tea.</CONCLUSION>",
          "<SUMMARY>Pizza.</SUMMARY><CONCLUSION>Tea.</CONCLUSION>", None),
    marks("an answer with a section of its own", "Pizza.\n<REASONING>Hm.</REASONING>\n<CONCLUSION>Tea.</CONCLUSION>",
          "Pizza.\n\n<CONCLUSION>Tea.</CONCLUSION>", "Hm."),
    marks("Skywork", "<think>Hm.</think><answer>Pizza.</answer><|im_end|>"),
    marks("a scratchpad", "<scratchpad>Hm.</scratchpad>\n<answer>Pizza.</answer>"),
    marks("an end of turn", "Pizza.<|im_end|>", PIZZA, None),
    marks("a turn that goes on", "Pizza.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nMore?", PIZZA, None),
    marks("Gemma 3's end", "Pizza.<end_of_turn>\n<start_of_turn>user\nMore?", PIZZA, None),
    marks("a word about a tag", "I write `</think>` by hand. Pizza.", "I write `</think>` by hand. Pizza.", None),
    marks("HTML", "I love <b>pizza</b> and <i>tea</i>.", "I love <b>pizza</b> and <i>tea</i>.", None),
    marks("upper case", "<THINK>Hm.</THINK>Pizza."),
    marks("a tag with attributes", '<think time="3">Hm.</think>Pizza.'),
    marks("a fence around all", "```\n<think>Hm.</think>\n```\nPizza.", "```\n\n```\nPizza.", "Hm."),
    marks("Chinese reasoning", "<思考>嗯。</思考>\n披萨。", "披萨。", "嗯。"),
    marks("bold heads", "**Thinking:** Hm.\n\n**Answer:** Pizza."),
]  # fmt: skip
CASES = [*BODIES, *TEXTS]


@pytest.fixture(scope="module")
def completions() -> Iterator[dict[str, Completion]]:
    """What the engine makes of all cases, each asked by its name.

    Each is of a model of its own: where one answer shows that the template opens the reasoning, all of a model are so.
    """
    bodies = {case.name: case for case in CASES}

    def behaviour(body: Any, _: int) -> Reply:
        case = bodies[body["messages"][-1]["content"]]
        content = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
        return Reply(body=content, content_type=case.kind)

    asked = [Request(case.name, (Message("user", case.name),), Decoding(), (1,)) for case in CASES]
    with StubServer(behaviour=behaviour) as server:
        options = {"base_url": server.url, "max_retries": 0}
        found = {}
        for one in asked:
            with open_engine(ModelSpec("openai:stub", options)) as engine:
                found[one.request_id] = next(iter(engine.sample([one])))
        yield found


def seen(completion: Completion) -> tuple[str | None, str | None, str | None, bool]:
    return completion.text, completion.reasoning, completion.ending, completion.error is not None


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_becomes_of_an_answer(case: Case, completions: dict[str, Completion]) -> None:
    text, reasoning, ending, failed = seen(completions[case.name])
    assert (text, failed) == (case.text, case.failed)
    if not failed:
        assert (reasoning, ending) == (case.reasoning, case.ending)
    if case.retried is not None:
        assert completions[case.name].retryable is case.retried
