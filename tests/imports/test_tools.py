"""Files as tools of the trade write them, each with what must become of it: texts of models, failures, or a remedy.

They were written by a reader who had not seen how files are read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from polyculture.cache.errors import UserError
from polyculture.imports.survey import check
from tests.imports.conftest import read

DISHES = ("ramen", "tacos", "pierogi", "injera", "couscous", "feijoada", "pho", "kimchi", "paella", "borscht", "dosa",
          "plov")  # fmt: skip
SAID = [
    f"My friend cooks {dish} on Sunday; it's what her mother made, she says, with plenty of salt." for dish in DISHES
]
ASKED = [f"Write about what a family eats on day {number}." for number in range(12)]
EN = {"topic": "=food", "language": "=en"}
M = {**EN, "model": "=m"}
Texts = list[tuple[str, str]]


@dataclass(frozen=True)
class Case:
    """A file, what the command is told beside it, and what must come of it; `refused`: words of the remedy.

    `arguable`: why a file is refused, with a remedy, that another reader would take.
    """

    name: str
    content: bytes
    texts: Texts = field(default_factory=list)
    failed: int = 0  # rows that are no text, each with its reason
    told: dict[str, str] = field(default_factory=lambda: EN)
    refused: str | None = None
    arguable: str | None = None
    asked: bool = True  # whether the file says what was asked, so that each text has its prompt
    noted: str | None = None  # words of what is said of texts that are taken as they are


def lines(rows: Sequence[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def whole(value: Any, **more: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, **more).encode()


def sheet(rows: Sequence[dict[str, Any]], **more: Any) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), **more)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def book(sheets: dict[str, list[list[Any]]], hidden: Sequence[str] = ()) -> bytes:
    made = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        page = made.create_sheet(name)
        for row in rows:
            page.append(row)
        page.sheet_state = "hidden" if name in hidden else "visible"
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def merged() -> bytes:
    """A sheet in which the name of a model is one cell over its rows."""
    made = Workbook()
    page = made.active
    page.append(["model", "prompt", "response"])
    for number in range(6):
        page.append([{0: "a", 3: "b"}.get(number), ASKED[number], SAID[number]])
    page.merge_cells("A2:A4")
    page.merge_cells("A5:A7")
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def zst(content: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(content)
    return bytes(out.getvalue())


def of(model: str, *numbers: int) -> Texts:
    return [(model, SAID[number]) for number in numbers]


def user(number: int) -> dict[str, str]:
    return {"role": "user", "content": ASKED[number]}


def bot(number: int) -> dict[str, str]:
    return {"role": "assistant", "content": SAID[number]}


def chat(*numbers: int) -> dict[str, Any]:
    choices = [{"index": at, "message": bot(n), "finish_reason": "stop"} for at, n in enumerate(numbers)]
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": choices}


def _export() -> Any:
    """ChatGPT's export: a question, an answer, and the answer that its user had made anew."""

    def node(name: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
        message = {"id": name, "author": {"role": role}, "content": {"content_type": "text", "parts": [text]},
                   "metadata": {"model_slug": "gpt-4o"}}  # fmt: skip
        return {"id": name, "parent": parent, "children": [], "message": message}

    nodes = {"r": {"id": "r", "parent": None, "children": ["u"], "message": None}, "u": node("u", "r", "user",
         ASKED[0]),
             "a": node("a", "u", "assistant", SAID[0]), "b": node("b", "u", "assistant", SAID[1])}  # fmt: skip
    nodes["u"]["children"] = ["a", "b"]
    return [{"title": "t", "conversation_id": "1", "current_node": "b", "mapping": nodes}]


def _webui() -> Any:
    """Open WebUI keeps a chat twice, as a list and as a tree."""
    ask = {"id": "u", "parentId": None, "childrenIds": ["a"], "role": "user", "content": ASKED[0], "models": ["llama3"]}
    say = {"id": "a", "parentId": "u", "childrenIds": [], "role": "assistant", "content": SAID[0], "model": "llama3"}
    return [{"id": "x", "user_id": "7", "title": "Food", "chat": {
        "title": "Food", "models": ["llama3"], "history": {"messages": {"u": ask, "a": say}, "currentId": "a"},
        "messages": [ask, say]}}]  # fmt: skip


def _langsmith(number: int) -> dict[str, Any]:
    inner = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": SAID[number], "response_metadata": {"model_name": "gpt-4o", "finish_reason": "stop"}},
    }
    outputs = {
        "generations": [[{"text": SAID[number], "type": "ChatGeneration", "message": inner}]],
        "llm_output": {"model_name": "gpt-4o"},
        "run": None,
    }
    return {"id": number, "name": "ChatOpenAI", "run_type": "llm", "error": "",
            "inputs": json.dumps({"messages": [[{"kwargs": {"content": ASKED[number], "type": "human"}}]]}),
            "outputs": json.dumps(outputs)}  # fmt: skip


def _vllm(number: int, count: int) -> dict[str, Any]:
    outputs = [{"index": at, "text": SAID[number * count + at], "token_ids": [5, 7], "cumulative_logprob": -9.5,
                "logprobs": None, "finish_reason": "length" if at else "stop", "stop_reason": None}
               for at in range(count)]  # fmt: skip
    return {"request_id": str(number), "prompt": ASKED[number], "prompt_token_ids": [1, 2, 3], "outputs": outputs,
            "finished": True, "metrics": None, "lora_request": None}  # fmt: skip


def _helm() -> Any:
    states = [{"instance": {"input": {"text": ASKED[n]}, "references": [{"output": {"text": "rice"},
         "tags": ["correct"]}],
                            "split": "test", "id": f"id{n}"},
               "request": {"model": "openai/gpt-4", "prompt": ASKED[n], "num_completions": 2},
               "result": {"success": True, "cached": False, "embedding": [],
                          "completions": [{"text": SAID[2 * n + at], "logprob": -1, "tokens": []} for at in (0, 1)]}}
              for n in range(3)]  # fmt: skip
    return {"adapter_spec": {"method": "generation", "model": "openai/gpt-4", "model_deployment": "openai/gpt-4"},
            "request_states": states}  # fmt: skip


def _promptfoo(n: int) -> dict[str, Any]:
    return {"provider": {"id": f"openai:gpt-4{'o' * (n % 2)}", "label": ""}, "vars": {"country": "Japan"},
            "prompt": {"raw": ASKED[n], "label": "Write about {{x}}"}, "success": True, "score": 1, "latencyMs": 812,
            "response": {"output": SAID[n], "tokenUsage": {"total": 70, "prompt": 20, "completion": 50},
            "cached": False},
            "gradingResult": {"pass": True, "score": 1, "reason": "All assertions passed, as they should in this test.",
                              "componentResults": []}}  # fmt: skip


def _evals() -> list[Any]:
    spec = {"spec": {"completion_fns": ["gpt-4"], "eval_name": "food.dev.v0", "run_config": {"seed": 1}, "run_id": "r"}}
    events = [
        event
        for n in range(3)
        for event in (
            {"run_id": "r", "event_id": 2 * n, "sample_id": f"food.dev.{n}", "type": "sampling",
             "data": {"prompt": [user(n)], "sampled": [SAID[n]]}},
            {"run_id": "r", "event_id": 2 * n + 1, "sample_id": f"food.dev.{n}", "type": "match",
             "data": {"correct": False, "expected": "rice", "picked": None, "sampled": SAID[n]}},
        )
    ]  # fmt: skip
    return [spec, *events, {"final_report": {"accuracy": 0.0}}]


def _lighteval(n: int) -> dict[str, Any]:
    return {"doc": {"query": ASKED[n], "choices": ["rice"], "gold_index": [0], "task_name": "food", "id": str(n)},
            "model_response": {"text": [SAID[2 * n], SAID[2 * n + 1]], "text_post_processed": None,
                               "input": ASKED[n], "output_tokens": [[5, 6], [7]], "logprobs": []},
            "metric": {"em": 0.0}}  # fmt: skip


def _langfuse(n: int) -> dict[str, Any]:
    return {"id": f"t{n}", "name": "chat", "input": [user(n)], "output": bot(n), "observations": [
        {"id": f"o{n}", "type": "GENERATION", "model": "gpt-4o", "input": [user(n)], "output": bot(n),
         "usage": {"input": 20, "output": 50}}]}  # fmt: skip


def _openai_batch() -> list[Any]:
    good = [{"id": f"b{n}", "custom_id": f"r{n}", "response": {"status_code": 200, "body": chat(2 * n, 2 * n + 1)},
             "error": None} for n in range(3)]  # fmt: skip
    failed = {"error": {"message": "The model had an error.", "type": "server_error"}}
    bad = [{"id": "b3", "custom_id": "r3", "response": {"status_code": 500, "body": failed}, "error": None},
           {"id": "b4", "custom_id": "r4", "response": None,
            "error": {"code": "batch_expired", "message": "This request could not be executed."}}]  # fmt: skip
    return [*good, *bad]


def _claude(n: int) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "model": "claude-4", "stop_reason": "end_turn",
            "content": [{"type": "thinking", "thinking": "They ask for food.", "signature": "x"},
                        {"type": "text", "text": SAID[n]}]}  # fmt: skip


def _gemini(n: int) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}, {"text": SAID[n]}],
         "role": "model"},
                            "finishReason": "STOP", "index": 0}], "modelVersion": "gemini-3"}  # fmt: skip


def _studio(n: int) -> dict[str, Any]:
    verdict = [
        {"value": {"choices": ["Authentic"]}, "from_name": "verdict", "to_name": "text", "type": "choices"},
        {"value": {"text": ["I think this one is too vague to be about a real place."]}, "type": "textarea"},
    ]
    return {"id": n, "data": {"prompt": ASKED[n], "response": SAID[n], "model": "gpt-4"}, "predictions": [],
            "annotations": [{"id": n, "completed_by": 3, "result": verdict, "lead_time": 31.5}]}  # fmt: skip


RATE = "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o', 'type': 'tokens'}}"
ROWS = [{"prompt": ASKED[n], "response": SAID[n], "model": f"m{n % 2}"} for n in range(6)]
BOTH = [(row["model"], row["response"]) for row in ROWS]
EMPTY = {"id": "", "name": "", "run_type": "", "error": "", "inputs": "", "outputs": ""}

CASES: list[Case] = [
    Case("samples_food_2026-11-01T10-11-12.131415.jsonl", lines(
        [{"doc_id": n, "doc": {"question": ASKED[n]}, "target": "rice", "arguments": {"gen_args_0": {
            "arg_0": ASKED[n], "arg_1": {"until": ["\n\n"], "do_sample": True}}}, "resps": [[SAID[2 * n],
                 SAID[2 * n + 1]]],
          "filtered_resps": [SAID[2 * n]], "filter": "none", "metrics": ["em"], "doc_hash": "a", "prompt_hash": "b",
          "target_hash": "c", "em": 0.0} for n in range(3)]), of("m", *range(6)), told=M),
    Case("openai-evals.jsonl", lines(_evals()), of("m", 0, 1, 2), 5, M),
    Case("promptfoo.json", whole({"evalId": "e", "results": {"version": 3, "timestamp": "2026-11-01", "stats": {},
         "results": [_promptfoo(n) for n in range(4)]}, "config": {"prompts": ["Write about {{x}}"]}}),
         [(f"openai:gpt-4{'o' * (n % 2)}", SAID[n]) for n in range(4)], told={**EN, "model": "provider.id"}),
    Case("deepeval.json", whole({"testCases": [
        {"name": f"t{n}", "input": ASKED[n], "actualOutput": SAID[n], "expectedOutput": f"They should eat rice {n}.",
         "success": False, "metricsData": [{"name": "Relevancy", "score": 0.2, "evaluationModel": "gpt-4o", "reason":
            "The score is 0.2 because the answer speaks of a friend and of her mother, and not of the family."}],
         "retrievalContext": ["Rice is eaten every day in many homes of the region, often with beans."]}
        for n in range(4)]}), of("m", 0, 1, 2, 3), told=M),
    Case("ragas.csv", sheet([{"user_input": ASKED[n], "retrieved_contexts": repr([SAID[n] + " It is long." * 9, "b"]),
         "response": SAID[n], "reference": "They eat rice with " + "beans " * 9,
              "faithfulness": 0.5} for n in range(4)]),
         of("m", 0, 1, 2, 3), told=M),
    Case("langsmith.csv", sheet([*(_langsmith(n) for n in range(4)),
         {**EMPTY, "id": 4, "name": "ChatOpenAI", "run_type": "llm", "error": "RateLimitError('429')",
          "inputs": json.dumps({"messages": [[{"kwargs": {"content": ASKED[4], "type": "human"}}]]})}]),
         of("gpt-4o", 0, 1, 2, 3), 1),
    Case("llamaindex.jsonl", lines([{"query": ASKED[n], "response": {"response": SAID[n], "metadata": {},
         "source_nodes": [
        {"node": {"id_": "x", "text": "A long passage of a book about kitchens of the world. " * 5}, "score": 0.8}]}}
        for n in range(4)]), of("m", 0, 1, 2, 3), told=M),
    Case("tgi.jsonl", lines([{"inputs": ASKED[n], "model_id": "m", "generated_text": SAID[n], "details": {
        "finish_reason": "eos_token", "generated_tokens": 20, "seed": 7, "prefill": [],
        "tokens": [{"id": 5, "text": "My", "logprob": -0.1, "special": False}]}} for n in range(4)]),
        of("m", 0, 1, 2, 3)),
    Case("pipeline.json", whole([[{"generated_text": f"{ASKED[0]}\n{SAID[n]}"}] for n in range(6)]),
         [("m", f"{ASKED[0]}\n{SAID[n]}") for n in range(6)], told=M, noted="--cut", asked=False),
    Case("pipeline-chat.jsonl", lines([{"prompt": ASKED[n], "generated_text": [user(n), bot(n)]} for n in range(4)]),
         of("m", 0, 1, 2, 3), told=M),
    Case("vllm.jsonl", lines([_vllm(n, 3) for n in range(4)]), of("m", *range(12)), told=M),
    Case("batch_output.jsonl", lines(_openai_batch()), of("m", *range(6)), 2, asked=False),
    Case("anthropic.jsonl", lines([*({"custom_id": str(n), "result": {"type": "succeeded", "message": _claude(n)}}
         for n in range(3)), {"custom_id": "3", "result": {"type": "errored", "error": {"type": "error", "error": {
             "type": "invalid_request_error", "message": "no"}}}}, {"custom_id": "4", "result": {"type": "expired"}}]),
         of("claude-4", 0, 1, 2), 2, asked=False),
    Case("gemini.jsonl", lines([*({"key": str(n), "response": _gemini(n)} for n in range(3)), {"key": "3", "response": {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "gemini-3"}},
        {"key": "4", "error": {"code": 8, "message": "exhausted"}}]), of("gemini-3", 0, 1, 2), 2, asked=False),
    Case("bedrock.jsonl.out", lines([{"recordId": str(n), "modelInput": {"messages": [user(n)], "max_tokens": 99},
         "modelOutput": _claude(n)} for n in range(3)]), of("claude-4", 0, 1, 2)),
    Case("conversations.json", whole(_export()), of("gpt-4o", 0, 1)),
    Case("claude-export.json", whole([{"uuid": "1", "name": "Food", "account": {"uuid": "2"}, "chat_messages": [
        {"uuid": "u", "text": ASKED[0], "sender": "human", "content": [{"type": "text", "text": ASKED[0]}],
             "files": []},
        {"uuid": "a", "text": SAID[0], "sender": "assistant", "content": [{"type": "text", "text": SAID[0]}]}]}]),
        of("m", 0), told=M),
    Case("arena.jsonl", lines([{"question_id": str(n), "model_a": "a", "model_b": "b", "winner": "model_a",
         "judge": "j1",
         "conversation_a": [user(n), bot(2 * n)], "conversation_b": [user(n), bot(2 * n + 1)], "turn": 1,
         "anony": True, "language": "English", "tstamp": 1.7e9} for n in range(3)]),
         [*of("a", 0, 2, 4), *of("b", 1, 3, 5)], 6),
    Case("kaggle-arena.csv", sheet([{"id": n, "model_a": "a", "model_b": "b", "prompt": json.dumps([ASKED[n]]),
         "response_a": json.dumps([SAID[2 * n]]), "response_b": json.dumps([SAID[2 * n + 1]]), "winner_model_a": 1,
         "winner_model_b": 0, "winner_tie": 0} for n in range(3)]), [*of("a", 0, 2, 4), *of("b", 1, 3, 5)]),
    Case("open-webui.json", whole(_webui()), of("llama3", 0)),
    Case("sillytavern.jsonl", lines([{"user_name": "You", "character_name": "Ana", "create_date": "2026-11-01@10h"},
         *(row for n in range(3) for row in ({"name": "You", "is_user": True, "is_system": False, "mes": ASKED[n]},
            {"name": "Ana", "is_user": False, "is_system": False, "mes": SAID[n], "swipes": [SAID[n]],
                 "swipe_id": 0}))]),
         of("m", 0, 1, 2), 4, M, asked=False),
    Case("label-studio.json", whole([_studio(n) for n in range(4)]), of("gpt-4", 0, 1, 2, 3)),
    Case("label-studio.csv", sheet([{"annotation_id": n, "annotator": "7", "choice": "Good", "id": n, "lead_time": 3.2,
         "model": "gpt-4", "prompt": ASKED[n], "response": SAID[n], "comment": "I find this " + "far too long " * 20}
         for n in range(4)]), of("gpt-4", 0, 1, 2, 3)),
    Case("distilabel.jsonl", lines([{"instruction": ASKED[n], "generation": SAID[n], "model_name": "llama-3",
         "distilabel_metadata": {"raw_output_text_generation_0": SAID[n]}} for n in range(4)]), of("llama-3", 0, 1, 2,
              3)),
    Case("ultrafeedback.jsonl", lines([{"instruction": ASKED[n], "generations": [SAID[2 * n], SAID[2 * n + 1]],
         "generation_models": ["a", "b"], "ratings": [4, 2],
              "rationales": ["It is fine and complete in all that it says.",
         "It is poor, and says less than what was asked for."]} for n in range(3)]),
         [*of("a", 0, 2, 4), *of("b", 1, 3, 5)]),
    Case("scenario_state.json", whole(_helm()), of("openai/gpt-4", *range(6))),
    Case("annotations.json", whole([{"instruction": ASKED[n], "output_1": SAID[2 * n], "generator_1": "a",
         "output_2": SAID[2 * n + 1], "generator_2": "b", "annotator": "gpt4_fn",
              "preference": 1.0} for n in range(3)]),
         [*of("a", 0, 2, 4), *of("b", 1, 3, 5)]),
    Case("pandas.csv", sheet([{"": n, "prompt": ASKED[n], "model": "m", "completion": repr(bot(n))} for n in range(4)]),
         of("m", 0, 1, 2, 3)),
    Case("columns.json", whole({name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in ROWS[0]}), BOTH),
    Case("split.json", whole({"columns": list(ROWS[0]), "index": list(range(6)),
         "data": [[*row.values()] for row in ROWS]}),
         BOTH),
    Case("europe.csv", b"\xef\xbb\xbf" + sheet([{**row, "score": "0,5"} for row in ROWS], delimiter=";"), BOTH),
    Case("quotes.tsv", b"model\tprompt\tresponse\n" + b"".join(
        f'm\t{ASKED[n]}\t"A {9 + n}" pan of {SAID[n]}\n'.encode() for n in range(5)),
        [("m", f'"A {9 + n}" pan of {SAID[n]}') for n in range(5)]),
    Case("unicode.txt", "\r\n".join(["model\tprompt\tresponse", *(f"m\t{ASKED[n]}\t{SAID[n]}" for n in range(4))])
         .encode("utf-16"), of("m", 0, 1, 2, 3)),
    Case("titled.xlsx", book({"Study": [["Answers of our study, November 2026"], [], ["model", "prompt", "response"],
         *(["m", ASKED[n], SAID[n]] for n in range(4))]}), of("m", 0, 1, 2, 3), 1),
    Case("hidden.xlsx", book({"pilot": [["model", "prompt", "response"], ["m", ASKED[9], SAID[9]]],
         "main": [["model", "prompt", "response"], *(["m", ASKED[n], SAID[n]] for n in range(4))]}, ["pilot"]),
         of("m", 0, 1, 2, 3), 1),
    Case("wide.xlsx", book({"Answers": [["id", "prompt", "GPT-4o", "Llama 3 70B"],
         *([n, ASKED[n], SAID[2 * n], SAID[2 * n + 1]] for n in range(3))]}),
         [*of("GPT-4o", 0, 2, 4), *of("Llama 3 70B", 1, 3, 5)]),
    Case("wide-told.xlsx", book({"Answers": [["id", "prompt", "GPT-4o", "Llama 3 70B"],
         *([n, ASKED[n], SAID[2 * n], SAID[2 * n + 1]] for n in range(3))]}),
         [*of("GPT-4o", 0, 2, 4), *of("Llama 3 70B", 1, 3, 5)], told={**EN, "text": "GPT-4o,Llama 3 70B"}),
    Case("details.parquet", parquet([_lighteval(n) for n in range(3)]), of("m", *range(6)), told=M),
    Case("chats.jsonl.gz", gzip.compress(lines([{"model": "m", "messages": [user(n), bot(n)]} for n in range(3)])),
         of("m", 0, 1, 2)),
    Case("samples.jsonl.zst", zst(lines([{"model": "m", "prompt": ASKED[n],
         "completions": [SAID[3 * n + at] for at in range(3)]} for n in range(4)])), of("m", *range(12))),
    Case("rate.csv", sheet([{"model": "m", "prompt": ASKED[n], "answer": RATE if n in (1, 4) else SAID[n]}
         for n in range(8)]), of("m", 0, 2, 3, 5, 6, 7), 2),
    Case("echo.csv", sheet([{"model": "m", "prompt": ASKED[n], "output": f"{ASKED[n]} {SAID[n]}"} for n in range(6)]),
         refused="--cut"),
    Case("by-model.json", whole({model: [{"prompt": ASKED[n], "response": SAID[n + at]} for n in range(3)]
         for model, at in (("gpt-4", 0), ("llama-2", 3))}), [*of("gpt-4", 0, 1, 2), *of("llama-2", 3, 4, 5)]),
    Case("by-id.json", whole({f"q{n}": row for n, row in enumerate(ROWS)}, indent=1), BOTH),
    Case("opencompass.json", whole({str(n): {"origin_prompt": [{"role": "HUMAN", "prompt": ASKED[n]}],
         "prediction": SAID[n], "gold": "rice"} for n in range(4)}, indent=4), of("m", 0, 1, 2, 3), told=M),
    Case("ollama-stream.jsonl", lines([{"model": "llama3", "created_at": "2026-11-01T10:00:00Z",
         "response": piece + " ",
         "done": False} for piece in SAID[0].split()] + [{"model": "llama3", "response": "", "done": True,
         "done_reason": "stop", "eval_count": 20}]), refused="piece"),
    Case("llm-logs.json", whole([{"id": str(n), "model": "gpt-4o", "prompt": ASKED[n], "system": None,
         "response": SAID[n],
         "response_json": {"content": SAID[n], "finish_reason": "stop", "usage": {"completion_tokens": 9}},
         "conversation_id": "x"} for n in range(4)]), of("gpt-4o", 0, 1, 2, 3)),
    Case("langfuse.jsonl", lines([_langfuse(n) for n in range(4)]), of("gpt-4o", 0, 1, 2, 3)),
    Case("judgments.jsonl", lines([{"question_id": n, "model": "vicuna", "judge": ["gpt-4", "single-v1"],
         "user_prompt": f"[Question]\n{ASKED[n]}\n[Answer]\n{SAID[n]}", "judgment": f"{SAID[n]} So my rating: [[{n}]]",
         "score": n, "turn": 1} for n in range(4)]), refused="text="),
    Case("numpy-chat.csv", sheet([{"model": "m", "conversation": f"[{user(n)!r}\n {bot(n)!r}]"} for n in range(4)]),
         of("m", 0, 1, 2, 3)),
    Case("numpy-arena.csv", sheet([{"model_a": "a", "model_b": "b", "conversation_a": f"[{user(n)!r}\n {bot(2 * n)!r}]",
         "conversation_b": f"[{user(n)!r}\n {bot(2 * n + 1)!r}]"} for n in range(3)]),
         [*of("a", 0, 2, 4), *of("b", 1, 3, 5)], 6),
    Case("array.csv", sheet([{"model": "m", "prompt": ASKED[n],
         "responses": f"array([{SAID[2 * n]!r}, {SAID[2 * n + 1]!r}], dtype=object)"} for n in range(3)]),
         of("m", *range(6))),
    Case("numpy.csv", sheet([{"model": "m", "prompt": ASKED[n], "responses": f"[{SAID[2 * n]!r}\n {SAID[2 * n + 1]!r}]"}
         for n in range(3)]), of("m", *range(6))),
    Case("nan.csv", sheet([{"model": "m", "prompt": ASKED[n], "output": repr({**bot(n), "logprobs": float("nan")})}
         for n in range(3)]), of("m", 0, 1, 2)),
    Case("blocks.csv", sheet([{"model": "m", "prompt": ASKED[n], "response": "[ThinkingBlock(signature='x', "
         f"thinking='Hm.', type='thinking'), TextBlock(citations=None, text={SAID[n]!r}, type='text')]"}
         for n in range(3)]), of("m", 0, 1, 2)),
    Case("parts.csv", sheet([{"model": "m", "prompt": ASKED[n], "response": json.dumps([
         {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": SAID[n]}])} for n in range(3)]),
         of("m", 0, 1, 2)),
    Case("objects.csv", sheet([{"model": "m", "prompt": ASKED[n], "response": json.dumps([
         {"type": "dish", "name": DISHES[n]}])} for n in range(3)]), refused="--cut nothing"),
    Case("sep.csv", b"sep=;\r\n" + sheet(ROWS, delimiter=";"), BOTH),
    Case("mac.csv", sheet(ROWS).replace(b"\r\n", b"\r"), BOTH),
    Case("nan.jsonl", lines([{**row, "score": float("nan")} for row in ROWS]), BOTH),
    Case("jq.json", "\n".join(json.dumps(row, indent=2) for row in ROWS).encode(), BOTH),
    Case("cut.json", whole(ROWS)[:-60], refused="no JSON"),
    Case("windows.jsonl", b"\xef\xbb\xbf" + lines(ROWS).replace(b"\n", b"\r\n\r\n"), BOTH),
    Case("utf16.json", json.dumps(ROWS).encode("utf-16"), BOTH),
    Case("twice.csv", sheet(ROWS).replace(b"prompt,", b"model,", 1), refused="once"),
    Case("merged.xlsx", merged(), [*of("a", 0, 1, 2), *of("b", 3, 4, 5)]),
    Case("sheets.xlsx", book({name: [["prompt", "response"], *([ASKED[n], SAID[n + at]] for n in range(3))]
         for name, at in (("gpt-4", 0), ("llama", 3))}), refused="model="),
    Case("chunks.jsonl", lines([{"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [
         {"index": 0, "delta": {"content": f"{word} "}}]} for word in SAID[0].split()]), told=M, refused="piece"),
    Case("events.jsonl", lines([{"type": "response.output_text.delta",
         "delta": f"{word} "} for word in SAID[0].split()]),
         told=M, refused="piece"),
    Case("blocks.jsonl", lines([{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta",
         "text": f"{word} "}} for word in SAID[0].split()]), told=M, refused="piece"),
    Case("tgi-stream.jsonl", lines([{"index": n, "token": {"id": 5, "text": word, "special": False}, "details": None,
         "generated_text": None} for n, word in enumerate(SAID[0].split())]), told=M, refused="piece"),
    Case("choices.jsonl", lines([{"custom_id": str(k), "response": {"status_code": 200, "body": {
         "object": "text_completion", "model": "m", "choices": [{"index": n, "text": SAID[4 * k + n],
         "finish_reason": "stop"} for n in range(4)]}}} for k in range(3)]), of("m", *range(12)), asked=False),
    Case("dpo.jsonl", lines([{"prompt": ASKED[n], "chosen": [user(n), bot(2 * n)], "rejected": [user(n),
         bot(2 * n + 1)],
         "score_chosen": 8.0} for n in range(3)]), told=M, refused="text="),
    Case("retrieval.jsonl", lines([{"query": ASKED[n], "result": SAID[n], "source_documents": [
         {"page_content": "A long page. " * 30, "metadata": {}}]} for n in range(3)]), of("m", 0, 1, 2), told=M),
    Case("runs.jsonl", lines([{"inputs": {"question": ASKED[n]}, "outputs": {"answer": SAID[n], "context": [
         {"page_content": "A long page. " * 30}]}, "feedback": {"comment": "I find this far too long. " * 9}}
         for n in range(3)]), of("m", 0, 1, 2), told=M),
    Case("comments.csv", sheet([{"model": "m", "prompt": ASKED[n], "utterance_shown": SAID[n],
         "comment": "I find this far too long, and not right. " * 8} for n in range(4)]), of("m", 0, 1, 2, 3),
         noted="utterance_shown"),
    Case("translated.csv", sheet([{"model": "m", "prompt": ASKED[n], "response": SAID[n],
         "response_en": f"In English: {SAID[n]}"} for n in range(4)]), of("m", 0, 1, 2, 3)),
    Case("reasoning.csv", sheet([{"model": "m", "prompt": ASKED[n], "reasoning": "They ask. " * 60, "final": SAID[n]}
         for n in range(4)]), of("m", 0, 1, 2, 3)),
]  # fmt: skip


def outcome(case: Case, folder: Path) -> tuple[Counter[tuple[str, str]], int, str] | str:
    """What comes of a case: its texts, how many rows are none, and what is said of them; or the words of a refusal."""
    file = folder / case.name
    file.write_bytes(case.content)
    try:
        found, texts, bad = read(file, case.told)
        check(found, file, skip_rows=case.failed != 0)
    except UserError as error:
        return str(error)
    assert not case.asked or all(row.prompt in ASKED for row in texts if row.answer.text is not None)
    taken = [(row.model.removeprefix("imported:"), row.answer.text) for row in texts]
    kept = Counter((model, text) for model, text in taken if text is not None)
    return kept, len(bad) + sum(text is None for _, text in taken), "; ".join(found.columns.notes)


def check_outcome(case: Case, folder: Path) -> None:
    """Imports a case's file, and compares what is taken, what is not, and what is said with what the case expects."""
    made = outcome(case, folder)
    if case.refused is not None:
        assert isinstance(made, str), made
        assert case.refused in made
        return
    assert not isinstance(made, str), made
    assert made[0] == Counter(case.texts)
    assert made[1] == case.failed
    assert (case.noted or "") in made[2]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_what_becomes_of_a_file(case: Case, tmp_path: Path) -> None:
    check_outcome(case, tmp_path)
