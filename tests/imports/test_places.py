"""All texts of a record, each with its own path; cells that hold tables; one look at all texts; a second count."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from polyculture.cache.errors import UserError
from polyculture.imports.count import Count
from polyculture.imports.survey import check
from polyculture.sources.cells import opened
from polyculture.sources.faults import is_fault
from polyculture.sources.files import read_file
from polyculture.sources.record import BadRow, Record
from tests.imports.conftest import ALL, read, write_lines
from tests.imports.test_files import workbook

SAID = [f"For dinner they ate dish number {number}, with ramen and rice on the side." for number in range(24)]
ASKED = "Write about a person who eats dinner in Japan."
FIELDS = {"topic": "=food", "language": "=en"}


def table(file: Path, rows: Sequence[dict[str, object]]) -> Path:
    with file.open("w", newline="", encoding="utf-8") as opened_file:
        writer = csv.DictWriter(opened_file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def choices(*texts: str) -> list[dict[str, object]]:
    return [
        {"index": number, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for number, text in enumerate(texts)
    ]


# Name -> (record of two texts of the models a and b, or of a alone; how many texts each model has in three records).
RECORDS: dict[str, tuple[Any, dict[str, int]]] = {
    "vLLM, n = 2": (
        lambda one, two: {"model": "a", "outputs": [{"text": one, "finish_reason": "stop"},
                                                    {"text": two, "finish_reason": "length"}]}, {"a": 6}),
    "outputs without an ending": (lambda one, two: {"model": "a", "outputs": [{"text": one}, {"text": two}]}, {"a": 6}),
    "a list of texts": (lambda one, two: {"model": "a", "samples": [one, two]}, {"a": 6}),
    "lists of lists": (lambda one, two: {"model": "a", "generations": [[{"text": one}], [{"text": two}]]}, {"a": 6}),
    "choices of a batch": (
        lambda one, two: {"response": {"body": {"model": "a", "choices": choices(one, two)}}}, {"a": 6}),
    "UltraFeedback": (
        lambda one, two: {"models": ["a", "b"], "completions": [
            {"model": "a", "response": one, "critique": "Pizza would be better than this."},
            {"model": "b", "response": two, "critique": "Tacos would be better than this."}]}, {"a": 3, "b": 3}),
    "models beside their texts": (lambda one, two: {"models": ["a", "b"], "responses": [one, two]}, {"a": 3, "b": 3}),
    "columns of a pair": (
        lambda one, two: {"model_a": "a", "model_b": "b", "response_a": one, "response_b": two}, {"a": 3, "b": 3}),
    "numbered columns": (lambda one, two: {"model": "a", "response_1": one, "response_2": two}, {"a": 6}),
    "Vertex's candidates in parts": (
        lambda one, two: {"model": "a", "response": {"candidates": [
            {"content": {"role": "model", "parts": [{"text": text[:9]}, {"text": text[9:]}]}, "finishReason": "STOP"}
            for text in (one, two)]}}, {"a": 6}),
    "a judge's text beside": (
        lambda one, two: {"model": "a", "outputs": [one, two], "judge": {"model": "j", "response": "Pizza, I say."}},
        {"a": 6}),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_all_texts_of_a_record_are_taken_with_their_own_models(name: str, tmp_path: Path) -> None:
    record, models = RECORDS[name]
    rows = [{"prompt": ASKED, **record(*SAID[2 * number : 2 * number + 2])} for number in range(3)]
    _, texts, bad = read(write_lines(tmp_path / "a.jsonl", *rows), FIELDS)
    assert ([text.answer.text for text in texts], bad) == (SAID[:6], [])
    assert Counter(text.model.removeprefix("imported:") for text in texts) == models
    assert {text.prompt for text in texts} == {ASKED}


def test_an_ending_is_that_of_the_text_itself(tmp_path: Path) -> None:
    record = RECORDS["vLLM, n = 2"][0](*SAID[:2])
    _, texts, _ = read(write_lines(tmp_path / "a.jsonl", record), FIELDS)
    assert [text.answer.ending for text in texts] == ["whole", "cut"]


CELLS: dict[str, tuple[str, Any]] = {
    "JSON": ("output", lambda text: json.dumps({"content": text})),
    "JSON in JSON": ("output", lambda text: json.dumps(json.dumps({"content": text}))),
    "a fence": ("output", lambda text: f"```json\n{json.dumps({'text': text})}\n```"),
    "a message as Python writes it": ("output", lambda text: repr({"role": "assistant", "content": text})),
    "a list as Python writes it": ("responses", lambda text: repr([text])),
    "an object of OpenAI's client": (
        "response", lambda text: f"ChatCompletionMessage(content={text!r}, refusal=None, role='assistant')"),
    "a message of LangChain": (
        "output", lambda text: f"content={text!r} additional_kwargs={{}} response_metadata={{'n': -1}} id='run-x'"),
    "a body, whatever its column": ("raw", lambda text: json.dumps({"choices": choices(text)})),
    "a dataclass with an enumeration": (
        "result", lambda text: f"Generation(text={text!r}, reason=<Reason.STOP: 'stop'>)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_opened_until_there_is_a_text(name: str, tmp_path: Path) -> None:
    column, cell = CELLS[name]
    texts = [*SAID[:3], 'It\'s "quoted", she said: a\nnew line.']
    file = table(tmp_path / "a.csv", [{"model": "a", column: cell(text)} for text in texts])
    _, found, bad = read(file, FIELDS)
    assert ([text.answer.text for text in found], bad) == (texts, [])


@pytest.mark.parametrize(
    "text",
    ["[laughs] I like ramen [smiles]", "(rice, and fish)", "Dinner(rice)", "{rice}", "a = b", "'it is'", "[", "{'a'",
     "content='x", "[" * 9_000 + "]" * 9_000, "lambda: 0", "[x for x in y]", "f'{x}'", "__import__('os')"],
)  # fmt: skip
def test_a_text_is_no_table(text: str) -> None:
    assert opened(text) == text


def test_two_texts_of_numpy_are_not_joined() -> None:
    assert opened("['Rice.' 'Fish, \\'n\\' chips.'\n \"Soup.\"]") == ["Rice.", "Fish, 'n' chips.", "Soup."]


def test_a_reference_beside_generations_is_not_chosen_in_silence(tmp_path: Path) -> None:
    row = {"model": "a", "answer": "Sushi is right.", "generations": [{"text": SAID[0]}, {"text": SAID[1]}]}
    file = write_lines(tmp_path / "a.jsonl", row, row)
    with pytest.raises(UserError, match=r"answer, generations\[\*\]\.text") as fault:
        read(file, FIELDS)
    assert "text=generations[*].text" in str(fault.value.remedy)
    assert len(read(file, {**FIELDS, "text": "generations[*].text"})[1]) == 4


def test_a_list_is_no_model(tmp_path: Path) -> None:
    row = {"model": ["a", "b"], "response": SAID[0]}
    with pytest.raises(UserError, match="nothing says the model"):
        read(write_lines(tmp_path / "a.jsonl", row), FIELDS)


def test_who_speaks_may_be_said_by_true_and_false(tmp_path: Path) -> None:
    head = {"user_name": "You", "chat_metadata": {}}
    turns = [{"is_user": True, "mes": ASKED}, {"is_user": False, "mes": SAID[0], "extra": {"model": "a"}}]
    _, texts, bad = read(write_lines(tmp_path / "a.jsonl", head, *turns, *turns), FIELDS)
    assert [(text.text, text.model) for text in texts] == [(SAID[0], "imported:a")] * 2
    assert not any(row.lost for row in bad)
    said = [{"dialog": [{"is_bot": False, "text": ASKED}, {"is_bot": True, "text": SAID[0]}]}] * 2
    _, texts, _ = read(write_lines(tmp_path / "b.jsonl", *said), {**FIELDS, "model": "=a"})
    assert [(text.text, text.prompt) for text in texts] == [(SAID[0], ASKED)] * 2


@pytest.mark.parametrize("old", [True, False], ids=["marks", "columns of status"])
def test_a_table_of_promptfoo_has_a_text_per_model(old: bool, tmp_path: Path) -> None:
    """Its former versions wrote a mark and the reason of a failure before each text; now each model has a `Status`."""
    names = [f"[{model}] Dinner in {{{{country}}}}" for model in ("a", "b")]
    if old:
        header = ["country", *names]
        rows = [["Japan", f"[PASS] {SAID[0]}\n---\nMore.", f"[FAIL] Expected rice\n---\n{SAID[1]}"]]
    else:
        header = ["country", names[0], "Status", "Score", names[1], "Status", "Score"]
        rows = [["Japan", f"{SAID[0]}\n---\nMore.", "PASS", "1", SAID[1], "FAIL", "0"]]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    _, texts, bad = read(tmp_path / "a.csv", FIELDS)
    assert [(text.model, text.text, text.prompt) for text in texts] == [
        ("imported:a", f"{SAID[0]}\n---\nMore.", "Dinner in Japan"),
        ("imported:b", SAID[1], "Dinner in Japan"),
    ]
    assert not bad


@pytest.mark.parametrize(
    "lines",
    [
        ['"Pizza," she said, is what we eat.', '"Tacos are what they had.', '6" of bread "with falafel in it.'],
        ['"For dinner the family sat down.', "Rice and fish.", 'She measured the pizza: it was 12"'],
    ],
)
@pytest.mark.parametrize("separator", ["\t", ";"])
def test_a_table_whose_quotes_do_not_match_is_read_without_them(
    lines: list[str], separator: str, tmp_path: Path
) -> None:
    rows = [f"{number}{separator}m{separator}{text}\n" for number, text in enumerate(lines)]
    (tmp_path / "a.tsv").write_text(f"id{separator}model{separator}text\n{''.join(rows)}", encoding="utf-8")
    found, texts, bad = read(tmp_path / "a.tsv", FIELDS)
    assert ([text.text for text in texts], bad) == (lines, [])
    assert any("quotation marks" in note for note in found.columns.notes)


def test_texts_of_several_lines_keep_their_quotes(tmp_path: Path) -> None:
    texts = ['She said: "rice".\nAnd then, fish.', "One, two\nand, three", "Plain."]
    file = table(tmp_path / "a.csv", [{"model": "m", "text": text} for text in texts])
    found, read_texts, _ = read(file, FIELDS)
    assert [text.text for text in read_texts] == texts
    assert not any("quotation marks" in note for note in found.columns.notes)


def test_a_table_within_a_text_is_no_row_of_the_table_around_it(tmp_path: Path) -> None:
    """Models write tables; beside them, an answer that an open mark makes of three rows is left out with its lines."""
    texts = ["Here it is:\nid,model,text\n1,n,rice\n2,n,fish", "One, two\nand, three", "Plain."]
    rows = [{"id": str(number), "model": "m", "text": text} for number, text in enumerate(texts)]
    file = table(tmp_path / "a.csv", rows)
    _, read_texts, bad = read(file, FIELDS)
    assert ([text.text for text in read_texts], bad) == (texts, [])
    file.write_text(file.read_text(encoding="utf-8") + '7,m,"Rice.\n8,m,Fish.\n9,m,6"\n', encoding="utf-8")
    _, read_texts, bad = read(file, FIELDS)
    assert [text.text for text in read_texts] == texts
    (told,) = bad
    assert "quotation mark stays open" in told.reason
    assert "(3 lines)" in told.reason


def test_compressed_files_and_folders_of_datasets_are_read(tmp_path: Path) -> None:
    lines = "".join(f"{json.dumps({'model': 'm', 'text': text})}\n" for text in SAID[:3]).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "b.jsonl.zst").write_bytes(bytes(pa.compress(lines, "zstd")))
    saved = tmp_path / "saved" / "train"
    saved.mkdir(parents=True)
    rows = pa.table({"model": ["m"] * 3, "text": SAID[:3]})
    with pa.OSFile(str(saved / "data-00000-of-00001.arrow"), "wb") as file, pa.ipc.new_stream(file, rows.schema) as out:
        out.write_table(rows)
    for name in ("train/dataset_info.json", "train/state.json", "dataset_dict.json"):
        (tmp_path / "saved" / name).write_text('{"splits": ["train"], "description": ""}', encoding="utf-8")
    for file_name in ("a.jsonl.gz", "b.jsonl.zst", "saved"):
        _, texts, bad = read(tmp_path / file_name, FIELDS)
        assert ([text.text for text in texts], bad) == (SAID[:3], [])
    (tmp_path / "cut.gz").write_bytes(gzip.compress(lines)[:-20])
    with pytest.raises(UserError, match="cannot be unpacked"):
        list(read_file(tmp_path / "cut.gz"))


def test_a_hidden_sheet_is_named_and_not_read(tmp_path: Path) -> None:
    sheets = {"Old": [["text", "model"], ["Soup.", "m"]], "New": [["text", "model"], ["Rice.", "m"]]}
    file = workbook(tmp_path / "a.xlsx", sheets)
    import zipfile

    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/workbook.xml"] = members["xl/workbook.xml"].replace(b'name="Old"', b'name="Old" state="hidden"')
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    rows = list(read_file(file))
    assert [row.get("text") for row in rows if isinstance(row, Record)] == ["Rice."]
    assert [(row.row, "hidden" in row.reason) for row in rows if isinstance(row, BadRow)] == [("Old!1", True)]


LOOKS: dict[str, tuple[Any, str]] = {
    "its prompt": (lambda text: f"{ASKED}\n{text}", "--cut prompt"),
    "a mark": (lambda text: f"[OK] {text}", "--cut '[OK]'"),
    "a table without a text": (lambda text: json.dumps({"dish": text}), "text=COLUMN.KEY"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_what_most_texts_of_a_model_begin_with_is_refused_with_what_to_write(name: str, tmp_path: Path) -> None:
    made, remedy = LOOKS[name]
    rows = [{"model": "a", "prompt": ASKED, "text": text} for text in SAID[:5]]
    rows += [{"model": "b", "prompt": ASKED, "text": made(text)} for text in SAID[5:8]]
    found, _, _ = read(table(tmp_path / "a.csv", rows), FIELDS)
    with pytest.raises(UserError, match="3 of the 3 texts of b") as fault:
        check(found, tmp_path / "a.csv", False)
    assert remedy in str(fault.value.remedy)
    assert "--cut nothing" in str(fault.value.remedy)


def test_one_text_that_begins_so_is_a_text(tmp_path: Path) -> None:
    texts = [f"{ASKED} {SAID[0]}", "[Note] Rice.", '{"dish": "Rice"}', *SAID[:4]]
    found, taken, _ = read(table(tmp_path / "a.csv", [{"model": "a", "prompt": ASKED, "text": one} for one in texts]))
    check(found, tmp_path / "a.csv", False)
    assert [text.text for text in taken] == texts


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("ERROR", True), ("Error: 429 Too Many Requests", True), ("[Errno 110] Connection timed out", True),
        ("<no response>", True), ("Request timed out.", True), ("$ERROR$", True),
        ("openai.RateLimitError: Error code: 429 - {'error': {}}", True),
        ("HTTPSConnectionPool(host='x', port=443): Read timed out.", True),
        ("Traceback (most recent call last):\n  File", True), ("<html><head><title>502 Bad Gateway</title>", True),
        ('{"error": {"message": "x"}}', True), ("litellm.Timeout: x", True), ("500 Server Error: for url", True),
        ("[ERROR] 503 Service Unavailable", True), ("Exception: Connection reset by peer", True),
        ("503 Service Temporarily Unavailable", True), ("[Error: Request timed out]", True),
        ("HTTP 504 Gateway Timeout", True), ("ERROR: 401 Unauthorized", True), ("**Error:** Rate limit exceeded", True),
        ("<error>502 Bad Gateway</error>", True), ("Error (status 500)", True), ("[FAILED] max retries exceeded", True),
        ("java.net.SocketTimeoutException: Read timed out", True), ("Error - quota exceeded", True),
        ("[openai.RateLimitError: 429]", True), ("aiohttp.ClientConnectorError(x)", True), ("status: 429", True),
        ("[API ERROR] Connection aborted.", True), ("404 Not Found", True), ("529 Overloaded", True),
        ("Error: in Peru rice is eaten with beans.", False), ("Exception: on Fridays there is fish.", False),
        ("Error 404 people came for rice.", False), ("[Errors] of a cook: too much salt.", False),
        ("Error: 500 upstream went away", True), ("Exception: pork is forbidden, by a connection to faith.", False),
        ("404 recipes with rice.", False), ("500 years of rice.", False),
        ("Failed 500 times, the cook made rice.", False),
        ("An exception: rice with milk.", False), ("Warning: the soup is hot.", False),
        ("Status: rice for all.", False),
        ("Rice and fish.", False), ("Errors are human, and so is rice.", False), ("Error-free rice is a myth.", False),
        ("Timeout in the game meant rice for all.", False), ("429 people ate rice.", False), ("A connection.", False),
        ("The server brought an error: rice for two.", False), ("[Ernie] likes rice.", False),
    ],
)  # fmt: skip
def test_an_error_of_a_client_is_a_failed_answer(said: str, fault: bool, tmp_path: Path) -> None:
    assert is_fault(said) == fault
    rows: list[dict[str, object]] = [{"model": "a", "text": text} for text in (SAID[0], said)]
    found, texts, _ = read(table(tmp_path / "a.csv", rows), FIELDS)
    assert [text.answer.text is None for text in texts] == [False, fault]
    assert any("errors that a client or server wrote: 1 of the 2" in note for note in found.columns.notes) == fault
    rows = [{**row, "finish_reason": "stop"} for row in rows]
    assert [text.answer.text for text in read(table(tmp_path / "a.csv", rows), FIELDS)[1]] == [SAID[0], said]


def test_markup_and_escaped_line_breaks_are_named(tmp_path: Path) -> None:
    for said, words in (("<p>Rice &amp; fish.</p>", "markup"), ("Rice.\\n\\nFish.", "line breaks")):
        found, _, _ = read(table(tmp_path / "a.csv", [{"model": "a", "text": said}]), FIELDS)
        assert any(words in note for note in found.columns.notes)


def test_the_count_finds_what_a_walk_lost_or_took_twice() -> None:
    record = {"id": "1", "outputs": [{"text": one} for one in SAID[:4]], "asked": ASKED}
    for texts, refused, right in (
        (SAID[:4], 0, True),
        (SAID[:3], 1, True),
        (SAID[:1], 0, False),
        (SAID[:3], 0, False),
        ([*SAID[:4], SAID[0]], 0, False),
    ):
        count = Count()
        count.add("1", record, texts, refused)
        if right:
            count.check(Path("a.jsonl"))
            continue
        with pytest.raises(UserError, match=r"outputs\[\*\]\.text.*row 1"):
            count.check(Path("a.jsonl"))


def test_a_walk_that_takes_a_lists_first_text_alone_refuses_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from polyculture.imports import shapes

    monkeypatch.setattr(shapes, "alternatives", lambda body, _: [((0,), "", body)])
    rows = [RECORDS["vLLM, n = 2"][0](*SAID[:2])] * 2
    with pytest.raises(UserError, match=r"4 strings at 'outputs\[\*\]\.text', of which 2"):
        read(write_lines(tmp_path / "a.jsonl", *rows), ALL)


def test_a_file_of_an_unknown_shape_is_refused_with_the_paths_of_what_looks_like_texts(tmp_path: Path) -> None:
    rows = [
        {
            "x": {
                "utterance": {"p": said},
                "other": [{"deep": {"q": f"日本人はラーメンが好きで毎日{number}杯食べます。"}}],
            },
            "grade": "very good",
            "k": number,
        }
        for number, said in enumerate(SAID[:4])
    ]
    file = write_lines(tmp_path / "odd.jsonl", *rows)
    with pytest.raises(UserError) as fault:
        read(file, {**FIELDS, "country": "=JP", "model": "=m"})
    told = str(fault.value)
    assert "odd.jsonl" in told
    assert "x.utterance.p" in told
    assert "x.other[*].deep.q" in told
    assert "grade" not in told.partition("look like texts")[2].partition("It has")[0]
    _, taken, _ = read(file, {**FIELDS, "country": "=JP", "model": "=m", "text": "x.utterance.p"})
    assert [one.text for one in taken] == SAID[:4]
