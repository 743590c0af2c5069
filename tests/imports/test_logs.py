"""Logs of evaluation tools, laid out as the tools write them, and archives that mean harm."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from polyculture.cache.errors import UserError
from polyculture.imports.mapping import find_mapping
from polyculture.imports.readers import find_reader
from polyculture.imports.record import LONGEST_LINE, BadRow, Record

DATE = "2026-11-20T10-11-12.131415"


def read(file: Path, inputs: Path | None = None) -> tuple[str, list[dict[str, Any]], list[BadRow]]:
    reader = find_reader(file)
    rows = list(reader.read(file, inputs))
    records = [row for row in rows if isinstance(row, Record)]
    columns = find_mapping(records[0], {"topic": "=food"}, reader.columns, None, file) if records else None
    texts = [columns.read(record) for record in records] if columns else []
    return reader.name, texts, [row for row in rows if isinstance(row, BadRow)]


def lines(file: Path, *rows: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return file


def lm_eval_line(doc_id: int, resps: object, filter: str = "none") -> dict[str, object]:
    arguments = {"gen_args_0": {"arg_0": f"Question {doc_id}", "arg_1": {"until": [], "seed": 5}}}
    doc = {"q": "?", "language": "en", "country": "IT"}
    return {"doc_id": doc_id, "doc": doc, "target": "", "arguments": arguments, "resps": resps,
            "filtered_resps": ["x"], "filter": filter, "metrics": [], "doc_hash": "a"}  # fmt: skip


def test_lm_evaluation_harness(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "org__model" / f"samples_food_{DATE}.jsonl",
        lm_eval_line(0, [["Pizza.", "Pasta."]], "first"),
        lm_eval_line(0, [["Pizza.", "Pasta."]], "second"),
        lm_eval_line(1, [[["-1.5", "False"]]], "first"),
    )
    (file.parent / f"results_{DATE}.json").write_text(json.dumps({"model_name": "org/model"}), encoding="utf-8")
    name, texts, bad = read(file)
    assert name == "lm-eval"
    assert [text["text"] for text in texts] == ["Pizza.", "Pasta."]
    assert texts[1] | {"text": ""} == {
        **{"text": "", "language": "en", "topic": "food", "model": "org/model", "country": "IT"},
        **{"prompt": "Question 0", "id": "0/0/1", "seed": 5},
    }
    assert [row.reason[:20] for row in bad] == ["the same answers und", "its resps are scores"]


def test_lm_evaluation_harness_names_the_model_by_its_folder(tmp_path: Path) -> None:
    _, texts, _ = read(lines(tmp_path / "org__model" / f"samples_food_{DATE}.jsonl", lm_eval_line(0, [["Pizza."]])))
    assert texts[0]["model"] == "org__model"


def test_an_openai_batch_with_its_requests(tmp_path: Path) -> None:
    body = {"model": "gpt-4o-2024-08-06", "usage": {"prompt_tokens": 3, "completion_tokens": 2},
            "choices": [{"message": {"role": "assistant", "content": "Pizza."}, "finish_reason": "stop"}]}  # fmt: skip
    file = lines(
        tmp_path / "out.jsonl",
        {"id": "1", "custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None},
        {"id": "2", "custom_id": "b", "response": {"status_code": 429, "body": {"error": {"message": "slow"}}}},
    )
    asked = {"messages": [{"role": "user", "content": "Eat?"}], "metadata": {"language": "en"}, "seed": 3}
    inputs = lines(tmp_path / "in.jsonl", {"custom_id": "a", "method": "POST", "body": asked})
    name, texts, bad = read(file, inputs)
    assert name == "openai-batch"
    assert (texts[0]["prompt"], texts[0]["language"], texts[0]["seed"]) == ("Eat?", "en", 3)
    assert (texts[0]["completion_tokens"], texts[0]["finish_reason"]) == (2, "stop")
    assert [(row.row, row.value) for row in bad] == [("2", "slow")]


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
    assert (texts[0]["text"], texts[0]["model"], texts[0]["seed"], texts[0]["id"]) == (
        "Pizza.",
        "openai/gpt-4o",
        9,
        "1/1/0",
    )
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
    assert [(text["text"], text["model"]) for text in texts] == [("Pizza.", "openai/gpt-4o")]
    assert [row.reason for row in bad] == ["is larger than 16 MiB unpacked"]


def test_an_archive_that_means_harm_costs_a_row(tmp_path: Path) -> None:
    bomb = b"[" + b" " * (LONGEST_LINE + 10) + b"]"
    good = json.dumps(sample(1)).encode()
    members = {"samples/../../etc/passwd.json": good, "samples/bomb.json": bomb, "samples/no.json": b"{"}
    file = archive(tmp_path / "log.eval", {"header.json": json.dumps(HEADER).encode(), **members})
    before = set(tmp_path.parent.rglob("*"))
    _, texts, bad = read(file)
    assert [text["text"] for text in texts] == ["Pizza."]
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
    name, texts, bad = read(next(folder.glob("*.eval")))
    assert (name, bad) == ("inspect", [])
    assert [(text["language"], text["country"], text["model"]) for text in texts] == [
        ("en", "IT", "mockllm/model"),
        ("ja", "JP", "mockllm/model"),
    ]
    assert texts[0]["prompt"] == "What do you like to eat in Italy?"
    assert texts[1]["text"] == "寿司とラーメンが好きです。"
    assert texts[0]["completion_tokens"] == 11
    name, texts, bad = read(next(folder.glob("samples_*.jsonl")))
    assert (name, bad) == ("lm-eval", [])
    assert [(text["text"], text["language"], text["country"]) for text in texts] == [
        ("lol", "en", "IT"),
        ("lol", "ja", "JP"),
    ]
    assert texts[0]["model"] == json.loads(next(folder.glob("results_*")).read_text())["model_name"]
