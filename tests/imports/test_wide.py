"""Columns that hold a text each are siblings by their names: none is lost for being short or full of gaps."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import UserError
from tests.imports.conftest import ALL, read, write_lines

SAID = [f"Story {n}: they ate rice and bread at home that evening, and spoke of soup {n}." for n in range(400)]
SHORT = ["Rice.", "Bread.", "Soup.", "Pho.", "Tea."]
TOLD = {"topic": "=food", "language": "=en"}


def _rows(*columns: str, short: str | None = None, gaps: str | None = None, count: int = 9) -> list[dict[str, Any]]:
    """Rows with a prompt, and a text in each column: short ones in `short`, a third of them empty in `gaps`."""
    return [
        {"prompt": f"What do they eat at place {n}?"}
        | {
            name: SHORT[n % 5] if name == short else "" if name == gaps and n % 3 == 0 else SAID[n + 100 * at]
            for at, name in enumerate(columns)
        }
        for n in range(count)
    ]


def _file(folder: Path, rows: list[dict[str, Any]], kind: str = "csv") -> Path:
    if kind == "jsonl":
        return write_lines(folder / "a.jsonl", *rows)
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [*rows[0]])
        table.writeheader()
        table.writerows(rows)
    return folder / "a.csv"


ENDS = ("gpt-4o_response", "llama-3_response", "gemma_response")
BARE = ("gpt-4o", "llama-3", "gemma-2")
STARTS = ("response_mistral", "response_qwen", "response_gpt-4")
OWN = ("gpt-4o_answer", "llama-3_answer", "ours-7b_answer")
MODELS: dict[str, tuple[list[dict[str, Any]], str, dict[str, int]]] = {
    "the last is short": (_rows(*ENDS, short=ENDS[2]), "csv", {"gpt-4o": 9, "llama-3": 9, "gemma": 9}),
    "the first has gaps": (_rows(*ENDS, gaps=ENDS[0]), "csv", {"gpt-4o": 6, "llama-3": 9, "gemma": 9}),
    "bare and short": (_rows(*BARE, short=BARE[1]), "csv", dict.fromkeys(BARE, 9)),
    "bare with gaps": (_rows(*BARE, gaps=BARE[2]), "csv", {"gpt-4o": 9, "llama-3": 9, "gemma-2": 6}),
    "the name at the end": (_rows(*STARTS, short=STARTS[2]), "csv", {"mistral": 9, "qwen": 9, "gpt-4": 9}),
    "a model that nobody knows": (_rows(*OWN, short=OWN[2]), "csv", {"gpt-4o": 9, "llama-3": 9, "ours-7b": 9}),
    "all are short": ([{**dict.fromkeys(ENDS, "Rice."), "prompt": f"Food {n}?"} for n in range(4)], "jsonl",
                      {"gpt-4o": 4, "llama-3": 4, "gemma": 4}),
    "a label beside each": ([row | {"gpt-4o_label": "good", "llama-3_label": "bad", "gemma-2_label": "good"}
                             for row in _rows(*BARE, short=BARE[0])], "csv", dict.fromkeys(BARE, 9)),
    "a judgment beside each": ([row | {f"{one}_judgment": SAID[0] for one in BARE}
                                for row in _rows(*BARE, short=BARE[0])], "csv", dict.fromkeys(BARE, 9)),
    "records": (_rows(*ENDS, short=ENDS[1], gaps=ENDS[2]), "jsonl", {"gpt-4o": 9, "llama-3": 9, "gemma": 6}),
    "a table by models": ([{"prompt": row["prompt"], "outputs": {one: row[one] for one in ("m1", "m2", "gpt-4.1")}}
                           for row in _rows("m1", "m2", "gpt-4.1", short="m2", gaps="gpt-4.1")], "jsonl",
                          {"m1": 9, "m2": 9, "gpt-4.1": 6}),
    "a table whose keys are known models": ([{"prompt": row["prompt"], "by_model": {one: row[one] for one in BARE}}
                                             for row in _rows(*BARE, short=BARE[0])], "jsonl",
                                            dict.fromkeys(BARE, 9)),
    "tables within tables": ([{"prompt": row["prompt"], "results": {"outputs": {"m1": row["m1"], "m2": row["m2"]}}}
                              for row in _rows("m1", "m2", short="m2")], "jsonl", {"m1": 9, "m2": 9}),
    "no mark between the words": (_rows("gpt4Response", "llamaResponse", "gemmaResponse", short="gemmaResponse"), "csv",
                                  {"gpt4": 9, "llama": 9, "gemma": 9}),
    "words of two scripts": (_rows("gpt-4o回答", "llama-3回答", "qwen回答", short="qwen回答"), "csv",
                             {"gpt-4o": 9, "llama-3": 9, "qwen": 9}),
    "a model empty throughout": ([row | {"gemma_response": ""} for row in _rows(*ENDS)], "csv",
                                 {"gpt-4o": 9, "llama-3": 9}),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_texts_of_all_models_are_taken(name: str, tmp_path: Path) -> None:
    rows, kind, expected = MODELS[name]
    _, texts, bad = read(_file(tmp_path, rows, kind), dict(TOLD))
    models = [text.model.removeprefix("imported:") for text in texts]
    assert {one: models.count(one) for one in models} == expected
    assert len(texts) + len(bad) == max(expected.values()) * (3 if "empty through" in name else len(expected))


LANGUAGES: dict[str, tuple[list[dict[str, Any]], dict[str, int]]] = {
    "short in one": (_rows("en", "de", "ja", short="ja"), {"en": 9, "de": 9, "ja": 9}),
    "gaps in one, numbers beside": ([{"id": n, "no": n, **row} for n, row in enumerate(_rows("en", "de", gaps="de"))],
                                    {"en": 9, "de": 6}),
    "with what was asked": ([{"question_en": "What?", "question_es": "¿Qué?", "answer_id": f"q{n}",
                              "answer_en": row["a"], "answer_es": row["b"]}
                             for n, row in enumerate(_rows("a", "b", short="b"))], {"en": 9, "es": 9}),
}  # fmt: skip


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_texts_in_all_languages_are_taken(name: str, tmp_path: Path) -> None:
    rows, expected = LANGUAGES[name]
    _, texts, _ = read(_file(tmp_path, rows), {"topic": "=food", "model": "=m"})
    languages = [text.language for text in texts]
    assert {one: languages.count(one) for one in languages} == expected


def test_answers_by_letters_are_taken_with_short_and_empty_ones(tmp_path: Path) -> None:
    rows = [{"answer_a": SAID[n], "answer_b": "Rice." if n % 2 else ""} for n in range(6)]
    _, texts, _ = read(_file(tmp_path, rows, "jsonl"), ALL)
    assert len(texts) == 12


def test_a_column_that_looks_like_texts_and_is_not_taken_is_named(tmp_path: Path) -> None:
    found, texts, _ = read(_file(tmp_path, _rows(*BARE, "ours")), dict(TOLD))
    assert len(texts) == 27
    assert any("'text=gpt-4o,llama-3,gemma-2,ours'" in note for note in found.columns.notes)
    found, texts, _ = read(_file(tmp_path, _rows(*BARE, "ours")), {**TOLD, "text": "gpt-4o,llama-3,gemma-2,ours"})
    assert len(texts) == 36


def test_models_by_languages_are_refused_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="groups of columns") as fault:
        read(_file(tmp_path, _rows("qwen_en", "qwen_de", "llama_en", "llama_de")), {"topic": "=food", "model": "=m"})
    assert "text=" in str(fault.value.remedy)


def test_a_sibling_that_the_first_rows_do_not_have_is_no_silent_loss(tmp_path: Path) -> None:
    rows = _rows(*ENDS[:2], count=250)
    rows[240]["gemma_response"] = "Rice."
    with pytest.raises(UserError, match=r"gemma_response.*241"):
        read(_file(tmp_path, rows, "jsonl"), dict(TOLD))


@pytest.mark.parametrize("told", [None, "response[*]"])
def test_a_column_that_holds_a_text_or_a_list_of_some_is_taken_whole(told: str | None, tmp_path: Path) -> None:
    rows = [{"response": SAID[n] if n % 2 else [SAID[n], SAID[n + 50]]} for n in range(8)]
    _, texts, bad = read(_file(tmp_path, rows, "jsonl"), {**ALL, **({"text": told} if told else {})})
    assert len(texts) == 12
    assert not bad
