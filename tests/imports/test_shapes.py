"""Files that are known by their shape, laid out as their tools write them, and archives that mean harm."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from polyculture.cache.errors import UserError
from polyculture.imports.shapes import find_source
from polyculture.sources.record import LONGEST_LINE
from tests.imports.conftest import ALL, read, write_lines

DATE = "2026-11-20T10-11-12.131415"
TEXTS = ["Zum Frühstück gibt es Brezeln und Weißwurst.", "Abends essen wir gern Käse und dunkles Brot."]
ASKED = [{"role": "user", "content": "Was isst man in Deutschland?"}]


def chat_body(text: str) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def responses_body(text: str) -> dict[str, object]:
    part = {"type": "output_text", "text": text}
    output = [{"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": [part]}]
    return {"object": "response", "status": "completed", "model": "m", "output": output, "usage": {"output_tokens": 9}}


def anthropic_body(text: str) -> dict[str, object]:
    content = [{"type": "thinking", "thinking": "Pizza?"}, {"type": "text", "text": text}]
    return {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"}


def gemini_body(text: str) -> dict[str, object]:
    parts = [{"text": "Pizza?", "thought": True}, {"text": text}]
    return {"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}], "modelVersion": "m"}


def turns(text: str, role: str, content: str, user: str, answer: str) -> list[dict[str, object]]:
    return [{role: user, content: ASKED[0]["content"]}, {role: answer, content: text}]


def tree(number: int, text: str) -> dict[str, object]:
    def node(id: str, parent: str | None, role: str, content: dict[str, object]) -> dict[str, object]:
        message = {"id": id, "author": {"role": role}, "content": content, "metadata": {"model_slug": "m"}}
        return {"id": id, "parent": parent, "children": [], "message": message}

    asked = {"content_type": "text", "parts": [ASKED[0]["content"]]}
    mapping = {
        "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
        "a": node("a", "root", "user", asked),
        "b": node("b", "a", "assistant", {"content_type": "thoughts", "thoughts": []}),
        "c": node("c", "b", "assistant", {"content_type": "text", "parts": [text]}),
    }
    return {"title": "t", "conversation_id": str(number), "current_node": "c", "mapping": mapping}


# Format -> records of two texts, and what they say of the prompt.
LINES = {
    "json of LightEval": lambda _, t: {"doc": {"query": ASKED[0]["content"], "choices": []}, "model_name": "m",
                                       "model_response": {"text": [t], "input": None, "logprobs": []}},
    "json of AlpacaEval": lambda _, t: {"instruction": ASKED[0]["content"], "output": t, "generator": "m"},
    "json of MT-Bench": lambda n, t: {"question_id": n, "answer_id": "a", "model_id": "m",
                              "choices": [{"index": 0, "turns": [t]}]},
    "json of Arena-Hard 0.1": lambda n, t: {"question_id": n, "answer_id": "a", "model_id": "m",
                                                "choices": [{"index": 0, "turns": [{"content": t, "token_len": 9}]}]},
    "chat of Arena-Hard": lambda n, t: {"uid": str(n), "ans_id": "a", "model": "m",
                                        "messages": [*ASKED, {"role": "assistant", "content": {"answer": t}}]},
    "chat of WildChat": lambda n, t: {"conversation_hash": str(n), "model": "m", "country": "Japan",
                                      "language": "German",
                                      "conversation": turns(t, "role", "content", "user", "assistant")},
    "chatgpt": tree,
    "answers of a batch": lambda n, t: {"custom_id": str(n), "response": {"status_code": 200, "body": chat_body(t)}},
    "answers of /v1/responses": lambda n, t: {"custom_id": str(n), "error": None,
                                              "response": {"status_code": 200, "body": responses_body(t)}},
    "answers of responses alone": lambda _, t: responses_body(t),
    "answers of Anthropic": lambda n, t: {"custom_id": str(n), "result": {"type": "succeeded",
                                                                          "message": anthropic_body(t)}},
    "answers of Gemini": lambda n, t: {"key": str(n), "response": gemini_body(t)},
    "answers of Vertex": lambda _, t: {"status": "", "response": gemini_body(t),
                                       "request": {"contents": [{"role": "user", "parts": [{"text": "Was?"}]}]}},
}  # fmt: skip


@pytest.mark.parametrize("array", [False, True], ids=["lines", "array"])
@pytest.mark.parametrize("name", LINES)
def test_files_that_people_have_need_no_format(name: str, array: bool, tmp_path: Path) -> None:
    rows = [LINES[name](number, text) for number, text in enumerate(TEXTS)]
    file = write_lines(tmp_path / "a.jsonl", *([rows] if array else rows))
    _, texts, bad = read(file)
    assert find_source(file, None, None, {}).format.partition(",")[0] == name.partition(" ")[0]
    assert ([text.answer.text for text in texts], bad) == (TEXTS, [])
    assert {(text.model, text.language) for text in texts} == {("imported:m", "de")}
    if name in ("json of AlpacaEval", "json of LightEval", "chat of Arena-Hard", "chat of WildChat", "chatgpt"):
        assert {(text.prompt, text.country) for text in texts} == {(ASKED[0]["content"], "DE")}


@pytest.mark.parametrize("about", ["Deutschland", ""])
def test_an_instruction_and_what_it_is_about_are_one_prompt(about: str, tmp_path: Path) -> None:
    row = {"instruction": "Was isst man in Deutschland?", "input": about, "output": TEXTS[0], "model": "m"}
    (text,) = read(write_lines(tmp_path / "a.jsonl", row), {"topic": "=food"})[1]
    assert text.prompt == "\n\n".join(filter(None, (row["instruction"], about)))
    assert (text.answer.text, text.country) == (TEXTS[0], "DE")


def test_sharegpt_has_a_text_per_answer_and_no_model(tmp_path: Path) -> None:
    talk = [*turns(TEXTS[0], "from", "value", "human", "gpt"), *turns(TEXTS[1], "from", "value", "human", "gpt")]
    file = write_lines(tmp_path / "a.json", {"id": "x", "conversations": talk})
    with pytest.raises(UserError, match=r"nothing.*model"):
        read(file)
    _, texts, _ = read(file, {"topic": "=food", "model": "=m"})
    assert [(text.answer.text, text.key) for text in texts] == [(TEXTS[0], "x/1"), (TEXTS[1], "x/3")]
    assert str(texts[1].prompt).startswith("human: Was isst man in Deutschland?\n\ngpt: Zum")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"dialog": [{"speaker": "user", "text": "Q"}, {"speaker": "Qwen", "text": "Pizza."}]}, ["Pizza."]),
        ({"contents": [{"role": "user", "parts": [{"text": "Q"}]}, {"role": "model", "parts": [{"text": "Pizza."}]}]},
         ["Pizza."]),
        ({"data": {"messages": '[{"from": "human", "value": "Q"}, {"from": "gpt", "value": "Pizza."}]'}}, ["Pizza."]),
        ({"role": "assistant", "text": "Pizza."}, ["Pizza."]),
        ({"role": "prompter", "text": "Which food do you like the most?"}, []),
        ({"sender": "human", "text": "Which food do you like the most?"}, []),
        ({"chat_messages": [{"sender": "human", "text": "Q", "content": [{"type": "text", "text": "Q"}]},
                            {"sender": "assistant", "content": [{"type": "text", "text": "Pizza."}]}]},
         ["Pizza."]),
        ({"turns": [{"author": "user", "text": "Q"}, {"author": "bot", "text": "Pizza."}]}, ["Pizza."]),
        ({"log": [{"participant": "you", "text": "Q"}, {"participant": "chatbot", "text": "Pizza."}]}, ["Pizza."]),
    ],
)  # fmt: skip
def test_what_a_user_says_is_no_answer_whatever_the_conversation_is_called(
    record: dict[str, Any], said: list[str], tmp_path: Path
) -> None:
    told = {"topic": "=food", "model": "=m", "language": "=en"}
    _, texts, bad = read(write_lines(tmp_path / "a.jsonl", record, {"role": "assistant", "text": ""}), told)
    assert [text.text for text in texts if text.text] == said
    assert not any(row.lost for row in bad if row.row == "1")


@pytest.mark.parametrize(
    "said",
    [
        "\n\nHuman: Q\n\nAssistant: Pizza.",
        "User: Q\nAI: Pizza.\nUser: Thanks.",
        "System: S\nUser: Q\nAlexa: Pizza.",
        "Customer (12:03): Q\nAgent (12:04): Pizza.",
        "### User:\nQ\n\n### Assistant:\nPizza.",
        "### Human: Q### Assistant: Pizza.",
        "Below is an instruction.\n\n### Instruction:\nQ\n\n### Response:\nPizza.",
        "A chat. USER: Q ASSISTANT: Pizza.</s>",
        "<s>[INST] Q [/INST] Pizza. </s>",
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nPizza.<|im_end|>",
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nPizza.<|eot_id|>",
        "<bos><start_of_turn>user\nQ<end_of_turn>\n<start_of_turn>model\nPizza.<end_of_turn>",
        "<｜User｜>Q<｜Assistant｜><think>Tacos?</think>Pizza.<｜end▁of▁sentence｜>",
        "用户：Q\n助手：Pizza.",
        "Human: Q\nA: tacos\nB: rice\nQuestion: which?\n\nAssistant: Pizza.",
        "Q: Q\nA: Pizza.",
        "Question: Q\nA: soup\nB: rice\nC: tea\nAnswer: Pizza.",
    ],
)
@pytest.mark.parametrize("told", [{}, {"text": "chosen"}], ids=["found", "told"])
def test_a_conversation_in_one_text_has_a_prompt_and_answers(said: str, told: dict[str, str], tmp_path: Path) -> None:
    columns = {"topic": "=food", "model": "=m", "language": "=en", **told}
    _, texts, bad = read(write_lines(tmp_path / "a.jsonl", {"chosen": said}, {"chosen": said}), columns)
    assert ([text.answer.text for text in texts], bad) == (["Pizza."] * 2, [])
    assert all("Q" in str(text.prompt) and "Pizza" not in str(text.prompt) for text in texts)


@pytest.mark.parametrize(
    "text",
    [
        "My friend said:\nHuman: no\nAssistant: yes",
        "Robot: Hi.\nHuman: Hello.\nRobot: Bye.",
        "Romeo: He.\nJuliet: She.",
        "Breakfast: bread.\nAnswer: pizza.",
        "# Users\nMany.\n# Assistant\nNone.",
        "Human: I am.\nThe end.",
    ],
)
def test_a_text_that_mentions_who_speaks_is_no_conversation(text: str, tmp_path: Path) -> None:
    told = {"topic": "=food", "model": "=m", "language": "=en"}
    _, texts, _ = read(write_lines(tmp_path / "a.jsonl", {"response": text}), told)
    assert [one.answer.text for one in texts] == [text]


def test_one_dialogue_among_answers_and_a_prompt_of_several_turns_are_no_conversations(tmp_path: Path) -> None:
    told = {"topic": "=food", "model": "=m", "language": "=en"}
    play = "Human: Hello.\nRobot: Bye."
    file = write_lines(tmp_path / "a.jsonl", *({"response": one} for one in (play, TEXTS[0], TEXTS[1])))
    assert [one.text for one in read(file, told)[1]] == [play, TEXTS[0], TEXTS[1]]
    asked = [*turns("Tacos?", "role", "content", "user", "assistant"), {"role": "user", "content": "Q"}]
    begun = [*asked, {"role": "assistant", "content": "I like"}]
    choices = "Question: Q\nA: soup\nB: rice\nAnswer:"
    for prompt in ("User: Hi.\nAssistant: Tacos?\nUser: Q\nAssistant:", asked, begun, choices, f"{choices} It is"):
        for column, text in (("response", "Pizza."), ("answer", "The answer is A.")):
            file = write_lines(tmp_path / "b.jsonl", {column: text, "prompt": prompt})
            [one] = read(file, told)[1]
            assert one.text == text
            assert "Q" in str(one.prompt)


def test_of_two_conversations_in_texts_one_must_be_named(tmp_path: Path) -> None:
    pair = {"chosen": f"Human: Q\n\nAssistant: {TEXTS[0]} {TEXTS[1]}", "rejected": "Human: Q\n\nAssistant: No."}
    file, told = write_lines(tmp_path / "a.jsonl", pair, pair), {"topic": "=food", "model": "=m", "language": "=de"}
    with pytest.raises(UserError, match=r"several columns hold conversations: chosen, rejected.* text=chosen"):
        read(file, told)
    assert [one.text for one in read(file, {**told, "text": "rejected"})[1]] == ["No."] * 2


def test_two_conversations_in_a_record_are_not_chosen_among(tmp_path: Path) -> None:
    talks = {name: turns(TEXTS[0], "role", "content", "user", "assistant") for name in ("model_a", "model_b")}
    with pytest.raises(UserError, match="text=model_a"):
        read(write_lines(tmp_path / "a.jsonl", talks), {"topic": "=food", "model": "=m"})


def test_failed_requests_of_batches_are_no_lost_texts(tmp_path: Path) -> None:
    good = {"custom_id": "a", "result": {"type": "succeeded", "message": anthropic_body(TEXTS[0])}}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "slow"}}
    failed = {"custom_id": "b", "result": {"type": "errored", "error": error}}
    found, texts, bad = read(write_lines(tmp_path / "a.jsonl", failed, good))
    assert (len(texts), texts[0].answer.reasoning) == (1, "Pizza?")
    assert [(row.lost, row.value) for row in bad] == [(False, "slow")]
    assert not found.lost


def test_helm_states_without_the_scores_of_given_answers(tmp_path: Path) -> None:
    def state(number: int, mode: str) -> dict[str, object]:
        completion = {"text": TEXTS[0], "logprob": 0, "tokens": [], "finish_reason": {"reason": "length"}}
        instance = {"input": {"text": "Q"}, "id": f"id{number}"}
        request, result = {"model": "a/m", "prompt": "Was essen?"}, {"success": True, "completions": [completion]}
        return {
            "instance": instance,
            "train_trial_index": 0,
            "request_mode": mode,
            "request": request,
            "result": result,
        }

    log = {"adapter_spec": {"model": "a/m"}, "request_states": [state(1, "target"), state(2, "original")]}
    (tmp_path / "scenario_state.json").write_text(json.dumps(log, indent=2), encoding="utf-8")
    _, texts, bad = read(tmp_path / "scenario_state.json")
    assert [(text.prompt, text.key, text.answer.ending) for text in texts] == [("Was essen?", "id1/0/0", "cut")]
    assert [row.lost for row in bad] == [False]


def lm_eval_line(doc_id: int, resps: object, filter: str = "none") -> dict[str, object]:
    arguments = {"gen_args_0": {"arg_0": f"Question {doc_id}", "arg_1": {"until": [], "seed": 5}}}
    doc = {"q": "?", "language": "en", "country": "IT"}
    return {"doc_id": doc_id, "doc": doc, "target": "", "arguments": arguments, "resps": resps,
            "filtered_resps": ["x"], "filter": filter, "metrics": [], "doc_hash": "a"}  # fmt: skip


def test_lm_evaluation_harness(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "org__model" / f"samples_food_{DATE}.jsonl",
        lm_eval_line(0, [["Pizza.", "Pasta."]], "first"),
        lm_eval_line(0, [["Pizza.", "Pasta."]], "second"),
        lm_eval_line(1, [[["-1.5", "False"]]], "first"),
    )
    (file.parent / f"results_{DATE}.json").write_text(json.dumps({"model_name": "org/model"}), encoding="utf-8")
    _, texts, bad = read(file)
    assert [text.text for text in texts] == ["Pizza.", "Pasta."]
    two = texts[1]
    assert (two.language, two.model, two.country, two.prompt) == ("en", "imported:org/model", "IT", "Question 0")
    assert (two.key, two.seed) == ("0/0/1", 5)
    assert [row.lost for row in bad] == [False, False]


def test_lm_evaluation_harness_names_the_model_by_its_folder(tmp_path: Path) -> None:
    _, texts, _ = read(
        write_lines(tmp_path / "org__model" / f"samples_food_{DATE}.jsonl", lm_eval_line(0, [["Pizza."]]))
    )
    assert texts[0].model == "imported:org__model"


def test_lm_evaluation_harness_0_4_0_wrote_an_array(tmp_path: Path) -> None:
    line = {**lm_eval_line(0, [["Pizza."]]), "arguments": [["Question 0", {"until": []}]]}
    del line["filter"]
    file = tmp_path / "pretrained__org__a-model_food.jsonl"
    file.write_text(json.dumps([line], indent=2), encoding="utf-8")
    _, texts, _ = read(file)
    assert [(text.model, text.prompt) for text in texts] == [("imported:org__a-model", "Question 0")]
    results = {"config": {"model": "hf", "model_args": "pretrained=org/a-model,dtype=auto"}}
    (tmp_path / "results.json").write_text(json.dumps(results), encoding="utf-8")
    assert read(file)[1][0].model == "imported:org/a-model"


def test_a_batch_with_its_requests(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    file = write_lines(
        tmp_path / "out.jsonl",
        {"custom_id": "a", "response": {"status_code": 200, "body": {**chat_body("Pizza."), "usage": usage}}},
        {"custom_id": "b", "response": {"status_code": 429, "body": {"error": {"message": "slow"}}}},
    )
    asked = {"messages": [{"role": "user", "content": "Eat?"}], "metadata": {"language": "en"}, "seed": 3}
    inputs = write_lines(tmp_path / "in.jsonl", {"custom_id": "a", "method": "POST", "body": asked})
    _, texts, bad = read(file, inputs=inputs)
    assert (texts[0].prompt, texts[0].language, texts[0].seed) == ("Eat?", "en", 3)
    assert (texts[0].completion_tokens, texts[0].answer.ending) == (2, "whole")
    assert [(row.row, row.value, row.lost) for row in bad] == [("2", "slow", False)]


def test_each_choice_of_an_answer_is_a_text(tmp_path: Path) -> None:
    two = [{"index": n, "message": {"content": text}, "finish_reason": "stop"} for n, text in enumerate(TEXTS)]
    file = write_lines(tmp_path / "a.jsonl", {**chat_body(""), "choices": two, "usage": {"completion_tokens": 20}})
    _, texts, _ = read(file)
    assert [(text.answer.text, text.completion_tokens) for text in texts] == [(TEXTS[0], None), (TEXTS[1], None)]


def sample(id: int, **more: object) -> dict[str, object]:
    message = {
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Pizza."}],
    }
    output = {"model": "m", "choices": [{"message": message, "stop_reason": "stop"}], "usage": {"input_tokens": 4}}
    metadata = {"language": "en", "country": "IT"}
    return {"id": id, "epoch": 1, "input": "Eat?", "target": "", "metadata": metadata, "output": output, **more}


HEADER = {"version": 2, "status": "success", "eval": {"model": "openai/gpt-4o", "model_generate_config": {"seed": 9}}}


def archive(file: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return file


def test_inspect_archives_and_logs_say_the_same(tmp_path: Path) -> None:
    samples = [sample(1), sample(2, error={"message": "boom", "traceback": ""})]
    members = {f"samples/{one['id']}_epoch_1.json": json.dumps(one).encode() for one in samples}
    zipped = archive(tmp_path / "log.eval", {"header.json": json.dumps(HEADER).encode(), **members})
    whole = tmp_path / "log.json"
    whole.write_text(json.dumps({**HEADER, "samples": samples}), encoding="utf-8")
    (_, texts, bad), (_, others, also_bad) = read(zipped), read(whole)
    assert texts == others
    (text,) = texts
    assert (text.answer.text, text.answer.reasoning, text.model) == ("Pizza.", "hm", "imported:openai/gpt-4o")
    assert (text.seed, text.key) == (9, "1/1/0")
    assert [row.value for row in bad] == [row.value for row in also_bad] == ["boom"]


def zstd_archive(file: Path, members: dict[str, bytes]) -> Path:
    """As Inspect writes it: several Zstandard frames a member, under method 93."""
    packed = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as zipped:
        for name, content in members.items():
            half = len(content) // 2
            packed[name] = b"".join(bytes(pa.compress(part, "zstd")) for part in (content[:half], content[half:]))
            zipped.writestr(name, packed[name])
    data = bytearray(file.read_bytes())
    for mark, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = data.find(mark)
        while place >= 0:
            data[place + method : place + method + 2] = (93).to_bytes(2, "little")
            place = data.find(mark, place + 4)
    file.write_bytes(bytes(data))
    return file


def test_inspect_archives_compressed_with_zstandard(tmp_path: Path) -> None:
    bomb = json.dumps({"x": " " * LONGEST_LINE}).encode()
    members = {"header.json": HEADER, "samples/1_epoch_1.json": sample(1)}
    encoded = {name: json.dumps(one).encode() for name, one in members.items()}
    _, texts, bad = read(zstd_archive(tmp_path / "log.eval", {**encoded, "samples/2.json": bomb}))
    assert [(text.answer.text, text.model) for text in texts] == [("Pizza.", "imported:openai/gpt-4o")]
    assert [row.reason for row in bad] == ["is larger than 16 MiB unpacked"]


def test_an_archive_that_means_harm_costs_a_row(tmp_path: Path) -> None:
    bomb = b"[" + b" " * (LONGEST_LINE + 10) + b"]"
    good = json.dumps(sample(1)).encode()
    members = {"samples/../../etc/passwd.json": good, "samples/bomb.json": bomb, "samples/no.json": b"{"}
    file = archive(tmp_path / "log.eval", {"header.json": json.dumps(HEADER).encode(), **members})
    before = set(tmp_path.parent.rglob("*"))
    _, texts, bad = read(file)
    assert [text.answer.text for text in texts] == ["Pizza."]
    assert [row.reason[:15] for row in bad] == ["is larger than ", "no JSON: Expect"]
    assert set(tmp_path.parent.rglob("*")) == before
    (tmp_path / "cut.eval").write_bytes(file.read_bytes()[:-30])
    with pytest.raises(UserError):
        read(tmp_path / "cut.eval")


def test_a_line_without_end_costs_a_row(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    row = json.dumps({"text": "Pizza.", "language": "en", "model": "m"}).encode()
    file.write_bytes(row + b"\n" + b"x" * (2 * LONGEST_LINE + 50) + b"\n" + row + b"\n")
    _, texts, bad = read(file)
    assert len(texts) == 2
    assert [row.reason for row in bad] == ["the line is longer than 16 MiB"]


def test_logs_that_the_tools_really_wrote() -> None:
    """`logs/README.md` says how they were made."""
    folder = Path(__file__).with_name("logs")
    _, texts, bad = read(next(folder.glob("*.eval")))
    assert not bad
    assert [(text.language, text.country, text.model) for text in texts] == [
        ("en", "IT", "imported:mockllm/model"),
        ("ja", "JP", "imported:mockllm/model"),
    ]
    assert texts[0].prompt == "What do you like to eat in Italy?"
    assert texts[1].text == "寿司とラーメンが好きです。"
    assert texts[0].completion_tokens == 11
    _, texts, bad = read(next(folder.glob("samples_*.jsonl")))
    assert not bad
    assert [(text.text, text.language, text.country) for text in texts] == [("lol", "en", "IT"), ("lol", "ja", "JP")]
    assert texts[0].model == "imported:" + json.loads(next(folder.glob("results_*")).read_text())["model_name"]


@pytest.mark.parametrize(
    ("good", "other"),
    [
        ({"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "Pizza."}]},
         {"messages": [{"role": "user", "content": "Q"}], "response": {"text": "Pasta."}}),
        ({"custom_id": "1", "choices": [{"message": {"content": "Pizza."}, "finish_reason": "stop"}]},
         {"custom_id": "2", "generations": [{"text": "Pasta.", "why": "COMPLETE"}]}),
    ],
)  # fmt: skip
def test_an_answer_of_an_unknown_role_or_form_is_a_lost_text(
    tmp_path: Path, good: dict[str, Any], other: dict[str, Any]
) -> None:
    """A whole half of a study may be of another server: to leave it out in silence would depend on what it is."""
    _, texts, bad = read(
        write_lines(tmp_path / "mixed.jsonl", good, other), {"topic": "=food", "model": "=m", "language": "=en"}
    )
    assert [text.text for text in texts] == ["Pizza."]
    assert [row.lost for row in bad] == [True]


def test_a_list_is_a_score_only_where_it_holds_a_number(tmp_path: Path) -> None:
    lines = [lm_eval_line(0, [["Pizza."]], "first"), lm_eval_line(1, [[[["Pasta."]]]], "first")]
    _, _, bad = read(write_lines(tmp_path / f"samples_food_{DATE}.jsonl", *lines))
    assert [row.lost for row in bad] == [True]


def test_parts_of_a_column_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", {"key": "en-food-1", "response": gemini_body("Pizza.")})
    with pytest.raises(UserError) as fault:
        read(file, parts="custom_id={language}-{topic}-{}")
    assert "key" in str(fault.value)
    assert "it has response" in str(fault.value) or "it has key" in str(fault.value)
    assert " answer" not in str(fault.value).replace("no answer", "")
    assert "@" not in str(fault.value)


@pytest.mark.parametrize("said", [{"type": "text", "text": "Pizza."}, [{"type": "text", "text": "Pizza."}]])
def test_a_text_in_parts_is_one_text(said: object, tmp_path: Path) -> None:
    turns = [{"role": "user", "content": {"type": "text", "text": "Food?"}}, {"role": "assistant", "content": said}]
    _, (chat,), _ = read(write_lines(tmp_path / "chat.jsonl", {"messages": turns}), ALL)
    assert (chat.text, chat.prompt) == ("Pizza.", "Food?")
    _, (plain,), _ = read(write_lines(tmp_path / "plain.jsonl", {"response": said}), ALL)
    assert plain.text == "Pizza."


def test_a_table_without_a_text_names_its_keys(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", {"response": {"dish": "Pizza.", "score": 1}})
    _, _, (bad,) = read(file, ALL)
    assert bad.reason == "the text is a table with dish, score: text=response.KEY takes one"


ONE = "Zum Frühstück gibt es Brezeln und Weißwurst."
SERVED: dict[str, dict[str, object]] = {
    "Ollama's chat": {"message": {"role": "assistant", "content": ONE}, "done": True, "done_reason": "length"},
    "Ollama's generate": {"response": ONE, "done": True, "done_reason": "length"},
    "TGI": {"generated_text": ONE, "details": {"finish_reason": "length", "generated_tokens": 9}},
    "Cohere": {"message": {"content": [{"type": "text", "text": ONE}]}, "finish_reason": "MAX_TOKENS"},
    "a choice alone": {"index": 0, "message": {"role": "assistant", "content": ONE}, "finish_reason": "length"},
}


@pytest.mark.parametrize("server", SERVED)
def test_answers_of_other_servers_have_their_endings(server: str, tmp_path: Path) -> None:
    _, (text,), _ = read(write_lines(tmp_path / "a.jsonl", SERVED[server]), ALL)
    assert (text.text, text.answer.ending) == (ONE, "cut")


CHATS: dict[str, dict[str, object]] = {
    "types for roles": {"messages": [{"type": "human", "content": "Food?"}, {"type": "ai", "content": ONE}]},
    "data within": {"messages": [{"type": "human", "data": {"content": "Food?"}},
                                 {"type": "ai", "data": {"content": ONE}}]},
    "two columns": {"prompt": [{"role": "user", "content": "Food?"}],
                    "completion": [{"role": "assistant", "content": ONE}]},
}  # fmt: skip


@pytest.mark.parametrize("chat", CHATS)
def test_chats_of_other_tools(chat: str, tmp_path: Path) -> None:
    _, (text,), _ = read(write_lines(tmp_path / "a.jsonl", CHATS[chat]), ALL)
    assert (text.text, text.prompt) == (ONE, "Food?")


LOGS: dict[str, dict[str, object]] = {
    "messages beside a body": {"messages": ASKED, "response": chat_body(ONE)},
    "bodies of both": {"request": {"body": {"messages": ASKED}}, "response": {"body": chat_body(ONE)}},
    "inputs of TGI": {"inputs": ASKED[0]["content"], "generated_text": ONE, "details": {"finish_reason": "length"}},
    "an empty input": {"instruction": ASKED[0]["content"], "input": "", "output": ONE},
}


@pytest.mark.parametrize("log", LOGS)
def test_what_was_asked_stands_beside_an_answer(log: str, tmp_path: Path) -> None:
    _, (text,), _ = read(write_lines(tmp_path / "a.jsonl", LOGS[log]), ALL)
    assert (text.answer.text, text.prompt) == (ONE, ASKED[0]["content"])


def test_a_text_of_the_one_who_asks_is_no_answer_however_long(tmp_path: Path) -> None:
    tree = {"id": "x", "prompt": {"text": ONE, "role": "prompter", "replies": [{"text": "Brot.", "role": "assistant"}]}}
    with pytest.raises(UserError, match="no column is clearly the text"):
        read(write_lines(tmp_path / "a.jsonl", tree), ALL)


STREAMS: dict[str, str] = {
    "records apart by a sign": f'\x1e{{"text": "{ONE}"}}\n\x1e{{"text": "{ONE}"}}\n',
    "values over lines": f'{{\n"text": "{ONE}"\n}}\n{{\n"text": "{ONE}"\n}}\n',
    "columns apart from rows": json.dumps({"columns": ["text", "id"], "index": [0, 1], "data": [[ONE, 1], [ONE, 2]]}),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_records_of_one_value_and_values_without_lines(stream: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(STREAMS[stream], encoding="utf-8")
    _, texts, bad = read(tmp_path / "a.json", ALL)
    assert ([text.text for text in texts], bad) == ([ONE, ONE], [])


@pytest.mark.parametrize("table", ['[{"a": ', '[{"content": ', '{"messages": '])
@pytest.mark.parametrize("field", ["response", "messages"])
def test_tables_within_tables_cost_a_row(field: str, table: str, tmp_path: Path) -> None:
    closed = "".join({"[": "]", "{": "}"}[one] for one in reversed(table) if one in "[{")
    deep = f'{{"{field}": {table * 500}"x"{closed * 500}}}\n{{"response": "{ONE}"}}\n'
    (tmp_path / "a.jsonl").write_text(deep, encoding="utf-8")
    _, texts, _ = read(tmp_path / "a.jsonl", {**ALL, "text": "response"})
    assert texts[-1].text == ONE
