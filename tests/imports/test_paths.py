"""Paths into records, and which column is taken for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.errors import UserError
from polyculture.sources.record import Record, missing
from tests.imports.conftest import read, write_lines

VALUES = {
    "a.b": "literal",
    "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
    "content": [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Piz"}, {"type": "text", "text": "za"}],
    "cell": '{"answer": {"text": "as JSON"}}',
    "grid": [["x", "y"], ["z"]],
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", "literal"),
        ("messages[-1].content", "A"),
        ("messages[0].role", "user"),
        ("messages[role=assistant].content", "A"),
        ("content[type=text].text", "Pizza"),
        ("content[type=text][0].text", "Piz"),
        ("cell.answer.text", "as JSON"),
        ("grid[*][0]", ["x", "z"]),
        ("absent.x|none|messages[1].role", "assistant"),
        ("messages[7].content", None),
    ],
)
def test_paths_reach_into_lists_tables_and_cells(path: str, value: object) -> None:
    assert Record("1", VALUES).get(path) == value


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("messages[-1].contnt", "messages[-1] has no contnt: it has role, content"),
        ("messages[5].content", "messages has no [5]: it is a list of 2"),
        ("messages.content", "messages has no content: it is a list of 2"),
        ("messages[role=model].content", "messages has no [role=model]: its role is user, assistant"),
        ("mesages[-1]", "there is no mesages: it has a.b, messages, content, cell, grid, none"),
        ("none.text", "none has no text: it is null"),
    ],
)
def test_a_wrong_path_names_the_key_that_is_not_there_and_those_that_are(path: str, words: str) -> None:
    assert str(missing(VALUES, path)).startswith(words)
    assert missing(VALUES, "none") is None


def test_a_wrong_path_in_one_row_is_that_rows_reason(tmp_path: Path) -> None:
    good, other = ({"m": [{"content": "Kimchi."}]}, {"m": [{"text": "Pizza."}]})
    told = {"text": "m[-1].content", "topic": "=food", "model": "=m", "language": "=en"}
    found, texts, bad = read(write_lines(tmp_path / "a.jsonl", good, other), told)
    assert [text.text for text in texts] == ["Kimchi."]
    assert [row.reason for row in bad] == ["text=m[-1].content: m[-1] has no content: it has text"]
    with pytest.raises(UserError, match=r"m\[-1\] has no txt: it has content"):
        read(tmp_path / "a.jsonl", {**told, "text": "m[-1].txt"})
    assert found.lost.total() == 1


def test_a_column_of_texts_is_guessed_and_told(tmp_path: Path) -> None:
    rows = [
        {"nr": str(n), "art": "abc", "out": {"antwort": f"Zum Frühstück gibt es {n} Brezeln und Bier."}} for n in (1, 2)
    ]
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows), {"topic": "=food", "model": "=m"})
    assert texts[0].text == "Zum Frühstück gibt es 1 Brezeln und Bier."
    assert any("'out.antwort'" in note and "text=COLUMN" in note for note in found.columns.notes)
    rows = [{"one": "A text of some thirty letters.", "two": "Another text of thirty letters"}]
    with pytest.raises(UserError, match=r"no column is clearly the text.*one, two|no column is clearly.*two, one"):
        read(write_lines(tmp_path / "b.jsonl", *rows), {"topic": "=food", "model": "=m"})


def test_a_missing_language_is_detected_with_its_share(tmp_path: Path) -> None:
    german = [{"response": f"Zum Frühstück gibt es in Bayern oft {n} Brezeln."} for n in range(30)]
    english = [{"response": f"For breakfast they often have {n} pancakes."} for n in range(30)]
    told = {"topic": "=food", "model": "=m"}
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *german, english[0]), told)
    assert {text.language for text in texts} == {"de"}
    assert any("de 96.8%" in note for note in found.columns.notes)
    found, texts, _ = read(write_lines(tmp_path / "b.jsonl", *german, *english), told)
    assert [text.language for text in texts] == ["de"] * 30 + ["en"] * 30
    assert any("text by text" in note and "de 50.0%" in note for note in found.columns.notes)


def test_a_detected_language_is_told_with_what_it_was_detected_of(tmp_path: Path) -> None:
    texts = [f"朝ごはんには味噌汁と{n}個のおにぎりを食べます。" for n in range(4)]
    asked = [{"response": text, "prompt": "What do people in Japan eat for breakfast?"} for text in texts]
    for rows, by in (
        (asked, "4 prompts: en 100.0%"),
        ([*asked[:1], {"response": texts[1]}], "1 prompt and 1 text: "),
    ):
        found, _, _ = read(write_lines(tmp_path / "a.jsonl", *rows), {"topic": "=food", "model": "=m"})
        assert any(f"of {by}" in note for note in found.columns.notes)


def test_lists_of_texts_are_taken_whole(tmp_path: Path) -> None:
    texts = ["Zum Frühstück gibt es Brezeln und Weißwurst.", "Abends essen wir gern Käse und dunkles Brot."]
    for name, outputs, path in (("a", texts, "outputs[*]"), ("b", [{"text": one} for one in texts], "outputs[*].text")):
        file = write_lines(tmp_path / f"{name}.jsonl", {"prompt": "Was?", "outputs": outputs})
        told = {"topic": "=food", "model": "=m"}
        for more in ({}, {"text": path}):
            found, read_texts, _ = read(file, {**told, **more})
            assert [(text.text, text.prompt) for text in read_texts] == [(one, "Was?") for one in texts]
            assert found.rows == 2
    several = {"prompt": "Was?", "outputs": [{"text": one} for one in texts]}
    _, read_texts, _ = read(write_lines(tmp_path / "c.jsonl", several, several), {"topic": "=food", "model": "=m"})
    assert [text.text for text in read_texts] == texts * 2
    one = {"prompt": "Was?", "outputs": [{"text": texts[0]}]}
    _, read_texts, _ = read(write_lines(tmp_path / "d.jsonl", one, one), {"topic": "=food", "model": "=m"})
    assert [text.text for text in read_texts] == [texts[0]] * 2


def test_the_records_of_an_object_are_those_of_its_only_list(tmp_path: Path) -> None:
    talk = [{"from": "human", "value": "Was?"}, {"from": "gpt", "value": "Zum Frühstück gibt es Brezeln."}]
    for name, inner in (("a", {"response": "Zum Frühstück gibt es Brezeln."}), ("b", {"conversations": talk})):
        file = write_lines(tmp_path / f"{name}.json", {"meta": {"n": 1, "data": [inner, inner]}, "topic": "food"})
        _, texts, _ = read(file, {"model": "=m"})
        assert [text.text for text in texts] == ["Zum Frühstück gibt es Brezeln."] * 2


@pytest.mark.parametrize("beside", ["hashed_ip", "user_id", "annotator_age", "Gender", "location of annotator"])
def test_the_country_of_a_person_is_not_the_one_that_was_asked(beside: str, tmp_path: Path) -> None:
    row = {"response": "Pizza.", "country": "JP", beside: "x", "language": "en", "topic": "food", "model": "m"}
    file = write_lines(tmp_path / "a.jsonl", row)
    found, texts, _ = read(file, {})
    assert texts[0].country is None
    assert any("country=country" in note for note in found.columns.notes)
    assert read(file, {"country": "country"})[1][0].country == "JP"


def test_prompts_give_the_condition_where_they_name_the_country(tmp_path: Path) -> None:
    def row(prompt: str, country: str | None, language: str = "en") -> dict[str, object]:
        return {"prompt": prompt, "response": "Pizza.", "country": country, "language": language, "model": "m"}

    rows = [
        row("What do people in Italy eat?", "IT"),
        row("日本では何を食べますか。", "JP", "ja"),
        row("What do people eat?", None),
        row("Name Italian food.", None),
        row("What does Giulia eat?", "IT"),
    ]
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows))
    assert [text.condition for text in texts] == ["explicit", "explicit", "unstated", "unstated", "unstated"]
    assert any("condition by the countries that rows and prompts name" in note for note in found.columns.notes)
    for one in rows:
        one.pop("country")
    _, texts, _ = read(write_lines(tmp_path / "b.jsonl", *rows))
    assert [(text.country, text.condition) for text in texts[:3]] == [
        ("IT", "explicit"),
        ("JP", "explicit"),
        (None, "unstated"),
    ]


def test_a_row_with_a_country_that_its_prompt_does_not_name_is_unstated_and_told(tmp_path: Path) -> None:
    row = {"prompt": "What do people eat?", "response": "Sushi.", "country": "Japan", "language": "en", "model": "m"}
    found, (text,), _ = read(write_lines(tmp_path / "a.jsonl", row), {"country": "country", "topic": "=food"})
    assert (text.country, text.condition) == ("JP", "unstated")
    assert any("rows and prompts name: unstated 1" in note for note in found.columns.notes)


def test_a_country_that_no_prompt_names_is_left(tmp_path: Path) -> None:
    rows = [{"prompt": "What shall I eat?", "response": "Pizza.", "country": one, "language": "en", "model": "m"}
            for one in ("IT", "JP")]  # fmt: skip
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows))
    assert {text.country for text in texts} == {None}
    assert any("no prompt names it" in note for note in found.columns.notes)
