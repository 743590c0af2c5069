"""Files as tools of tracing, evaluation and release write them: a second set beside `test_tools.py`.

They were written from what these tools publish, before the way a file is read was looked at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_tools import (
    ASKED,
    EN,
    SAID,
    Case,
    M,
    bot,
    chat,
    check_outcome,
    lines,
    of,
    parquet,
    sheet,
    user,
    whole,
)

USAGE = {"prompt_tokens": 20, "completion_tokens": 50, "total_tokens": 70}


def _langfuse(n: int) -> dict[str, Any]:
    """Langfuse: a row of the table of observations, exported as CSV; inputs and outputs are JSON."""
    return {"id": f"o{n}", "traceId": f"t{n}", "type": "GENERATION", "name": "ChatCompletion",
            "startTime": "2026-11-01",
            "model": "gpt-4o", "input": json.dumps([user(n)]), "output": json.dumps(bot(n)), "level": "DEFAULT",
            "statusMessage": "", "usage": json.dumps({"input": 20, "output": 50}), "metadata": "{}"}  # fmt: skip


def _mlflow(n: int) -> dict[str, Any]:
    """MLflow: `search_traces()`; the spans repeat the request and the response."""
    request, response = json.dumps({"messages": [user(n)], "model": "gpt-4o"}), json.dumps({**chat(n), "usage": USAGE})
    spans = [{"name": "Completions", "attributes": {"mlflow.spanInputs": request, "mlflow.spanOutputs": response}}]
    return {"trace_id": f"tr-{n}", "client_request_id": "", "state": "OK", "request_time": 1762000000000,
            "request": request, "response": response, "spans": json.dumps(spans)}  # fmt: skip


def _weave(n: int) -> dict[str, Any]:
    """Weave: a call of OpenAI's client."""
    return {"id": f"c{n}", "project_id": "p", "op_name": "weave:///e/p/op/openai.chat.completions.create:x",
            "trace_id": "t", "started_at": "2026-11-01", "attributes": {"weave": {"client_version": "0.52"}},
            "inputs": {"self": {"client": {"base_url": "https://example.org"}}, "model": "gpt-4o",
                       "messages": [user(n)], "temperature": 1},
            "output": {**chat(2 * n, 2 * n + 1), "usage": USAGE}, "exception": None,
            "summary": {"usage": {"m": USAGE}}}  # fmt: skip


def _braintrust(n: int) -> dict[str, Any]:
    """Braintrust: a span of a language model."""
    return {"id": f"s{n}", "span_id": f"s{n}", "root_span_id": "r", "span_attributes": {"type": "llm", "name": "Chat"},
            "input": [user(n)], "output": [{"finish_reason": "stop", "index": 0, "message": bot(n)}],
            "expected": None, "metadata": {"model": "gpt-4o", "temperature": 1}, "scores": {"Factuality": 0.6},
            "metrics": {**USAGE, "start": 1762000000.1}, "tags": None, "error": None}  # fmt: skip


def _spans(n: int) -> dict[str, Any]:
    """OpenLLMetry: a span whose attributes are flat, a number and a name to each."""
    return {"name": "openai.chat", "context": {"trace_id": "0x1", "span_id": f"0x{n}"}, "kind": "SpanKind.CLIENT",
            "attributes": {"llm.request.type": "chat", "gen_ai.system": "OpenAI", "gen_ai.request.model": "gpt-4o",
                           "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASKED[n],
                           "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": SAID[n],
                           "gen_ai.completion.0.finish_reason": "stop", "gen_ai.usage.output_tokens": 50},
            "status": {"status_code": "OK"}}  # fmt: skip


def _trulens(n: int) -> dict[str, Any]:
    """TruLens: `get_records_and_feedback()`, its texts as JSON, and the whole record again in a column."""
    record = {"record_id": f"r{n}", "app_id": "app", "main_input": ASKED[n], "main_output": SAID[n], "calls": []}
    return {"app_id": "app", "record_id": f"r{n}", "type": "TruChain", "input": json.dumps(ASKED[n]),
            "output": json.dumps(SAID[n]), "tags": "-", "record_json": json.dumps(record),
            "cost_json": json.dumps({"n_tokens": 70}), "ts": "2026-11-01", "Answer Relevance": 0.8}  # fmt: skip


def _argilla(n: int) -> dict[str, Any]:
    """Argilla: a record whose `responses` are those of annotators."""
    return {"id": f"a{n}", "status": "completed", "fields": {"instruction": ASKED[n], "generation": SAID[n]},
            "metadata": {"model": "llama-3"}, "suggestions": {"quality": {"value": "good", "agent": "gpt-4"}},
            "responses": {"correction": [{"user_id": "u", "value": f"A person's better text, number {n}, is here."}],
                          "quality": [{"user_id": "u", "value": "bad"}]}, "vectors": {}}  # fmt: skip


def _wildchat(n: int) -> dict[str, Any]:
    """WildChat: the country is the user's."""
    place = {"country": "Brazil", "state": "Acre", "hashed_ip": "x", "language": "English", "toxic": False}
    return {"conversation_hash": f"h{n}", "model": "gpt-4-0314", "timestamp": "2026-11-01", "turn": 1,
            "conversation": [{**user(n), **place}, {**bot(n), "language": "English", "toxic": False}],
            "language": "English", "openai_moderation": [{"flagged": False}], "toxic": False,
            "redacted": False}  # fmt: skip


def _prism(n: int) -> dict[str, Any]:
    """PRISM: several models answer each turn, of which one is chosen."""
    answers = [
        {
            "turn": 0,
            "role": "model",
            "content": SAID[2 * n + at],
            "model_provider": "x",
            "model_name": name,
            "score": 90 - at,
            "if_chosen": at == 0,
            "within_turn_id": at,
        }
        for at, name in enumerate(("a", "b"))
    ]
    return {"conversation_id": f"c{n}", "user_id": "u", "conversation_type": "unguided", "opening_prompt": ASKED[n],
            "conversation_turns": 1, "conversation_history": [
                {"turn": 0, "role": "user", "content": ASKED[n], "model_provider": None, "model_name": None}, *answers],
            "open_feedback": "The first one was far better, since it speaks of one person alone."}  # fmt: skip


def _nectar(n: int) -> dict[str, Any]:
    """Nectar: answers of several models to a prompt of Anthropic's form."""
    return {"prompt": f"\n\nHuman: {ASKED[n]}\n\nAssistant: ", "turns": 1, "num_responses": 2, "source": ["x"],
            "good_natured": True, "answers": [{"answer": SAID[2 * n + at], "model": name, "rank": at + 1.0}
                                              for at, name in enumerate(("a", "b"))]}  # fmt: skip


def _guidellm() -> Any:
    """guidellm: a benchmark keeps its requests by how they ended."""

    def request(n: int, output: str | None) -> dict[str, Any]:
        return {"type_": "generative_text", "request_id": str(n), "prompt": ASKED[n], "output": output,
                "prompt_tokens": 20, "output_tokens": 50}  # fmt: skip

    return {"benchmarks": [{"type_": "generative_benchmark", "args": {"profile": {"type_": "synchronous"}},
                            "requests": {"successful": [request(n, SAID[n]) for n in range(4)], "incomplete": [],
                                         "errored": []}}]}  # fmt: skip


def _azure(n: int) -> dict[str, Any]:
    """Azure AI Foundry: a row of `evaluate()`, its names with points; a judge's reasons are long."""
    return {"inputs.query": ASKED[n], "inputs.ground_truth": "They eat rice.", "outputs.response": SAID[n],
            "outputs.relevance.relevance": 4.0, "outputs.relevance.relevance_reason":
            "The RESPONSE addresses the query, though it says nothing of what the family eats."}  # fmt: skip


def _haystack(n: int) -> dict[str, Any]:
    """Haystack: replies, and what is known of each in a list beside them."""
    meta = [{"model": "gpt-4o", "index": at, "finish_reason": "stop", "usage": USAGE} for at in (0, 1)]
    return {"prompt": ASKED[n], "llm": {"replies": [SAID[2 * n], SAID[2 * n + 1]], "meta": meta}}


def _dspy(n: int) -> dict[str, Any]:
    """DSPy: an entry of a model's history, where the response is an object and `outputs` its texts."""
    message = f"Message(content={SAID[n]!r}, role='assistant', tool_calls=None, function_call=None)"
    response = (
        f"ModelResponse(id='x', model='gpt-4o', choices=[Choices(finish_reason='stop', index=0, message={message})])"
    )
    return {"prompt": None, "messages": [user(n)], "kwargs": {"temperature": 1.0}, "response": response,
            "outputs": [SAID[n]], "usage": USAGE, "cost": 0.001, "uuid": str(n), "model": "openai/gpt-4o"}  # fmt: skip


def _annotated(n: int) -> dict[str, Any]:
    """ragas: annotations of a metric, in which a prompt is longer than its answer."""
    said = {"user_input": f"Say it in fewer words. {ASKED[n]} {'It was a long day. ' * 20}", "response": SAID[n]}
    judged = {"prompt_input": said, "prompt_output": {"reason": "It says all that matters. " * 20, "verdict": 1}}
    return {"metric_input": said, "metric_output": 1, "prompts": {"judge": judged}, "is_accepted": True}


def _solved() -> list[Any]:
    """The same where a solver records its one text as such, and each score repeats it."""
    said = [("sampling", {"prompt": [user(n)], "sampled": SAID[n]}) for n in range(4)]
    scored = [("match", {"correct": False, "expected": "rice", "picked": None, "sampled": SAID[n]}) for n in range(4)]
    return [
        {"run_id": "r", "event_id": place, "sample_id": f"food.{place % 4}", "type": kind, "data": data}
        for place, (kind, data) in enumerate([*said, *scored])
    ]


def _sampled() -> list[Any]:
    """OpenAI Evals: a log of events, in which texts are in lists and scores repeat them."""
    events = [
        {"run_id": "r", "event_id": 2 * n, "sample_id": f"food.{n}", "type": "sampling",
         "data": {"prompt": [user(n)], "sampled": [SAID[n]]}, "created_by": "", "created_at": "2026-11-01"}
        for n in range(4)
    ]  # fmt: skip
    scores = [
        {"run_id": "r", "event_id": 2 * n + 1, "sample_id": f"food.{n}", "type": "match",
         "data": {"correct": True, "expected": "rice", "picked": "rice"}, "created_at": "2026-11-01"}
        for n in range(4)
    ]  # fmt: skip
    spec = {"spec": {"completion_fns": ["gpt-4"], "eval_name": "food.dev.v0", "run_id": "r"}}
    return [spec, *(event for pair in zip(events, scores, strict=True) for event in pair), {"final_report": {"a": 1.0}}]


def _oasst(n: int) -> list[dict[str, Any]]:
    """OpenAssistant: a message a line."""
    base = {"user_id": "u", "lang": "en", "deleted": False, "rank": None, "message_tree_id": f"p{n}"}
    return [{"message_id": f"p{n}", "parent_id": None, "text": ASKED[n], "role": "prompter", **base},
            {"message_id": f"a{n}", "parent_id": f"p{n}", "text": SAID[n], "role": "assistant", **base}]  # fmt: skip


BROKEN = [f"{SAID[n]} \ud83c" for n in range(3)]  # the first half of a flag, as a cut stream leaves it

CASES: list[Case] = [
    Case("langfuse-observations.csv", sheet([_langfuse(n) for n in range(4)]), of("gpt-4o", *range(4))),
    Case("mlflow.csv", sheet([_mlflow(n) for n in range(4)]), of("m", *range(4))),
    Case("weave.jsonl", lines([_weave(n) for n in range(3)]), of("m", *range(6))),
    Case("braintrust.jsonl", lines([_braintrust(n) for n in range(4)]), of("gpt-4o", *range(4))),
    Case("openllmetry.jsonl", lines([_spans(n) for n in range(4)]), of("gpt-4o", *range(4)), asked=False),
    # TruLens writes a text as JSON, with quotation marks around it: a model may write them, too, and they are kept.
    Case("trulens.csv", sheet([_trulens(n) for n in range(4)]), [("m", json.dumps(SAID[n])) for n in range(4)], told=M,
         asked=False),
    Case("litellm.json", whole([{"request_id": str(n), "call_type": "acompletion", "model": "openai/m",
         "messages": [user(n)], "response": {**chat(n), "usage": USAGE}, "spend": 0.001, "api_base": ""}
         for n in range(4)]), of("m", *range(4))),
    Case("argilla.json", whole([_argilla(n) for n in range(4)]), refused="text=fields.generation",
         arguable="responses in it are those of annotators, and in other files those of models"),
    Case("oasst-messages.jsonl", lines([row for n in range(4) for row in _oasst(n)]), of("m", *range(4)), 4, M,
         asked=False),
    Case("wildchat.jsonl", lines([_wildchat(n) for n in range(4)]), of("gpt-4-0314", *range(4))),
    Case("prism.jsonl", lines([_prism(n) for n in range(3)]), [*of("a", 0, 2, 4), *of("b", 1, 3, 5)]),
    Case("nectar.jsonl", lines([_nectar(n) for n in range(3)]), [*of("a", 0, 2, 4), *of("b", 1, 3, 5)], asked=False),
    Case("vllm-bench.json", whole({"date": "20261101", "backend": "vllm", "model_id": "m", "num_prompts": 4,
         "request_throughput": 3.2, "input_lens": [20] * 4, "output_lens": [50] * 4, "ttfts": [0.1] * 4,
         "itls": [[0.01]] * 4, "generated_texts": SAID[:4], "errors": [""] * 4}), of("m", *range(4)), asked=False),
    Case("guidellm.json", whole(_guidellm()), told=M, refused="text=",
         arguable="its answers are within `requests`, where others keep what was asked"),
    Case("azure.jsonl", lines([_azure(n) for n in range(4)]), of("m", *range(4)), told=M),
    Case("sglang.jsonl", lines([{"text": SAID[n], "meta_info": {"id": str(n), "finish_reason": {"type": "stop",
         "matched": 2}, "prompt_tokens": 20, "completion_tokens": 50, "e2e_latency": 0.4}} for n in range(4)]),
         of("m", *range(4)), told=M, asked=False),
    Case("haystack.jsonl", lines([_haystack(n) for n in range(3)]), of("m", *range(6)), told=M),
    Case("dspy.jsonl", lines([_dspy(n) for n in range(4)]), of("gpt-4o", *range(4))),
    Case("wildbench.json", whole([{"session_id": str(n), "chat_history": [ASKED[n]], "output": [SAID[n]],
         "generator": "a", "configs": {"engine": "vllm"}, "dataset": "wild_bench"} for n in range(4)]),
         of("a", *range(4))),
    Case("trl.parquet", parquet([{"step": [1, 1], "prompt": [ASKED[n]] * 2,
         "completion": [SAID[2 * n], SAID[2 * n + 1]], "reward": [0.5, 0.1]} for n in range(3)]),
         of("m", *range(6)), told=M),
    Case("ragas-annotated.json", whole({"accuracy": [_annotated(n) for n in range(4)]}), of("m", *range(4)), told=M,
         asked=False),
    Case("biggen-bench.json", whole({f"travel_plan_{n}": {"id": f"travel_plan_{n}", "input": ASKED[n],
         "response": SAID[n], "response_model_name": "m", "score_rubric": {"criteria": "Can it be followed?"}}
         for n in range(12)}), of("m", *range(12)), told={**EN, "model": "response_model_name"}),
    Case("openai-evals-sampling.jsonl", lines(_sampled()), of("m", *range(4)), 6, M),
    Case("openai-evals-one-text.jsonl", lines(_solved()), of("m", *range(4)), 4, M),
    Case("texts-by-model.json", whole({"gpt-4": SAID[:3], "llama-2": SAID[3:6]}),
         [*of("gpt-4", 0, 1, 2), *of("llama-2", 3, 4, 5)], asked=False),
    Case("half-a-flag.jsonl", "".join(json.dumps({"model": "m", "prompt": ASKED[n], "response": text}) + "\n"
         for n, text in enumerate(BROKEN)).encode(), [("m", f"{SAID[n]} \ufffd") for n in range(3)], noted="U+FFFD"),
]  # fmt: skip


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_what_becomes_of_a_file(case: Case, tmp_path: Path) -> None:
    check_outcome(case, tmp_path)
