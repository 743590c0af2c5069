"""Answers that somebody has, in the forms of tools and tables, and `polyculture import FILE --set SET`."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import UserError
from polyculture.instruments.questions.asking import labels_of, message, shown_options
from polyculture.instruments.questions.given import GivenAnswers
from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.option_lists import shown_in
from polyculture.instruments.questions.reading.readers import readers_of
from polyculture.instruments.questions.rules.opened import open_set
from polyculture.running.importing import ImportRequest, field_columns
from polyculture.running.importing_answers import _taken
from tests.instruments.questions.answered import UNREAD, Said, numbers
from tests.instruments.questions.made_up import choice
from tests.instruments.questions.test_command import DEMO, RIGHT, demo_questions, rows
from tests.polyculture.test_command_line import one_line, polyculture

SHARED = Path(os.environ.get("POLYCULTURE_SHARED", Path(__file__).parents[3] / ".." / "shared")).resolve() / "data"
RUN = "ask-made-up"
HOUSE = open_set(str(DEMO / "made-up.toml")).prompts[0]
ORDER = (2, 0, 1)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for file in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(DEMO / file, tmp_path / file)
    return tmp_path


def taken(file: Path, *words: str) -> GivenAnswers:
    """The answers of a file to the questions of the set beside it."""
    return _taken(file, open_set(str(file.with_name("made-up.toml"))), ImportRequest(columns=field_columns(words)))


def shares(file: Path, *words: str, reader: str = "ours") -> tuple[float, int]:
    """The share of the answers of a file that a reader finds right, and how many they are."""
    of = open_set(str(file.with_name("made-up.toml")))
    known = {one.question_id: one for one in of.questions}
    [own] = [one for one in readers_of(of) if one.name == reader]
    answers = taken(file, *words).answers.values()
    right = []
    for one in answers:
        place, question = own.read(one, known[one.question_id]).place, known[one.question_id]
        right.append(place is not None and one.order[place] in question.right)
    return sum(right) / len(right), len(right)


def take(folder: Path, file: str) -> str:
    """What the command says."""
    done = polyculture("import", file, "--set", "made-up.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


def asked(question: Question) -> str:
    """A question in our own prompt, its options in another order than the file's."""
    return message(question, HOUSE, shown_options(question, ORDER, HOUSE), labels_of(question, HOUSE))


def right_letter(question: Question) -> str:
    """The letter of the right option in that prompt."""
    return "ABC"[ORDER.index(question.right[0])]


def write_lines(file: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return file


def write_table(file: Path, *lines: str) -> Path:
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_a_table_of_ids_and_letters_becomes_a_run_and_a_newer_one_takes_its_place(here: Path) -> None:
    lines = [f"{one.name}\t{'ABC'[one.right[0]]}" for one in demo_questions()]
    write_table(here / "gpt.tsv", "sample_id\tprediction", *lines, lines[0], f"{lines[1][:-1]}Z", "nobody-99\tA")
    said = take(here, "gpt.tsv")
    assert "60 answers taken: 60 to prompt 'as given'" in said
    assert "1 x of no question: row 64 (nobody-99)" in said
    assert "1 x left out, as it contradicts another row: row 63" in said
    assert "1 x the same as another row" in said
    assert rows(here, RIGHT, RUN) == [(1.0, 60)]
    assert rows(here, "SELECT DISTINCT model FROM answers", RUN) == [("imported:gpt",)]
    write_table(here / "gpt.tsv", "id\tresponse", f"{demo_questions()[0].name}\tA")
    take(here, "gpt.tsv")
    stored = "SELECT (SELECT count(*) FROM answers), (SELECT count(*) FROM stored_answers)"
    assert rows(here, stored, RUN) == [(49, 61)]  # of its category the older ones do not count
    done = polyculture("ask", "made-up.toml", "--model", "mock:one", "--questions", "1", cwd=here)
    assert done.returncode == 0, done.stderr
    assert rows(here, "SELECT DISTINCT model FROM answers ORDER BY 1", RUN) == [("imported:gpt",), ("mock:one",)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--set", "own", "--replace", "--cut", "prompt"), "--cut, --replace: not with --set"),
        (("--as", "mine.toml", "--folder", "."), "--folder: only with --set"),
    ],
)
def test_options_of_texts_are_refused_and_not_ignored(here: Path, words: Sequence[str], told: str) -> None:
    write_table(here / "told.csv", "id,text", "1,A")
    done = polyculture("import", "told.csv", *words, cwd=here)
    assert done.returncode == 2
    assert told in one_line(done)


def test_the_columns_that_are_taken_are_named(here: Path) -> None:
    """The help of the command promises it, and only texts had such a line."""
    [first, *_] = demo_questions()
    said = take(here, write_table(here / "gpt.csv", "Sample_ID,Answer,Judge", f"{first.name},A,7").name)
    assert "id from 'Sample_ID'; text from 'Answer'; model is 'gpt', the file's name; prompt is not known; " in said
    assert "language as in the set; order as in the set. Columns not taken: Judge (FIELD=COLUMN takes one)" in said
    of_text = write_lines(here / "m.jsonl", [{"model": "m", "input": asked(first), "output": "A", "epoch": 1}])
    line, number, *_ = taken(of_text, "language==en").lines()
    assert number == "1 answer taken: 1 to prompt 'house'"
    assert line == (
        "id by the text of the prompt; text from 'output'; model from 'model'; prompt from 'input'; "
        "language is 'en'; order as in the prompt; sample from 'epoch'"
    )


@pytest.mark.parametrize("form", ["choices", "outputs", "responses", "pairs"])
def test_all_answers_of_a_record_are_taken(form: str, here: Path) -> None:
    """Three answers to each question, or one of each of two models."""
    records = []
    for one in demo_questions():
        letter = "ABC"[one.right[0]]
        body = [{"message": {"role": "assistant", "content": letter}, "finish_reason": "stop"}] * 3
        forms: dict[str, dict[str, Any]] = {
            "choices": {"response": {"model": "m", "choices": body}},
            "outputs": {"model": "m", "outputs": [{"text": letter, "finish_reason": "stop"}] * 3},
            "responses": {"model": "m", "responses": [letter] * 3},
            "pairs": {"model_a": "m", "response_a": letter, "model_b": "n", "response_b": letter},
        }
        records.append({"id": one.name, **forms[form]})
    found = taken(write_lines(here / "gpt.jsonl", records))
    several = form != "pairs"
    assert Counter(one.model for one in found.answers.values()) == (
        {"imported:m": 180} if several else {"imported:m": 60, "imported:n": 60}
    )
    assert (found.conflicts, found.left_out, found.repeated) == ([], [], 0)
    assert {one.sample for one in found.answers.values()} == ({0, 1, 2} if several else {0})
    assert shares(here / "gpt.jsonl") == (1.0, 180 if several else 120)


def test_answers_in_conversations_that_are_one_text(here: Path) -> None:
    said = [f"Human: {asked(one)}\n\nAssistant: {right_letter(one)}" for one in demo_questions()]
    write_lines(here / "gpt.jsonl", [{"chosen": one, "language": "en"} for one in said])
    assert shares(here / "gpt.jsonl", "text=chosen") == (1.0, 60)


def test_letters_that_the_prompts_of_the_set_show_are_those_of_a_file_without_prompts(here: Path) -> None:
    with (here / "made-up.toml").open("a", encoding="utf-8") as rules:
        rules.write('\n[prompts]\nlabel = ["ሀ", "ለ", "ሐ"]\n')
    lines = [f"{one.name}\t{'ሀለሐ'[one.right[0]]}" for one in demo_questions()]
    assert shares(write_table(here / "gpt.tsv", "id\tresponse", *lines)) == (1.0, 60)


def test_the_prompts_text_says_the_question_and_the_order(here: Path) -> None:
    some, example = demo_questions()[:6], f"{asked(demo_questions()[-1])} C\n\n"
    before = {one.name: example if one.name.endswith("amb-neg") else "" for one in some}
    records = [
        {"prompt": before[one.name] + asked(one), "response": f"The answer is {right_letter(one)}.", "model": "m"}
        for one in some
    ]
    file = write_lines(here / "chats.jsonl", [*records, {"prompt": "Who is late?", "response": "A", "model": "m"}])
    found = taken(file)
    assert "6 answers taken: 1 to prompt 'as given', 5 to prompt 'house'" in list(found.lines())
    assert found.unmatched == ["row 7 (Who is late?)"]
    assert shares(file) == (1.0, 6)
    assert {(tuple(one.order), tuple(one.labels)) for one in found.answers.values()} == {(ORDER, ("A", "B", "C"))}


def test_samples_of_lm_evaluation_harness(here: Path) -> None:
    some = demo_questions()[:4]
    docs = [{"example_id": number, "sample_id": one.name} for number, one in enumerate(some)]
    written = [
        {"doc_id": n, "doc": doc, "resps": [[f" {one.options[one.right[0]]}"]], "filter": "none",
         "arguments": {"gen_args_0": {"arg_0": f"{one.context}\n\nQ: {one.text}\nA:", "arg_1": {}}}}
        for n, (doc, one) in enumerate(zip(docs, some, strict=True))
    ]  # fmt: skip
    file = write_lines(here / "samples_bbq_generate_2026-01-01T00-00-00.jsonl", written)
    assert shares(file, "model==pythia") == (1.0, 4)
    weighed = []
    for number, (doc, one) in enumerate(zip(docs, some, strict=True)):
        texts = [option for option, role in zip(one.options, one.roles, strict=True) if role != "unknown"]
        texts += ["Unknown", "Not known"]  # the harness has wordings of its own
        wanted = texts[2] if one.roles[one.right[0]] == "unknown" else one.options[one.right[0]]
        calls = {f"gen_args_{n}": {"arg_0": f"{one.context}\n\nQ: {one.text}\nA:", "arg_1": f" {text}"}
                 for n, text in enumerate(texts)}  # fmt: skip
        resps = [[["-1.0" if text == wanted else "-2.5", "False"]] for text in texts]
        weighed.append({"doc_id": number, "doc": doc, "resps": resps, "arguments": calls, "filter": "none"})
    file = write_lines(here / "samples_bbq_2026-01-01T00-00-00.jsonl", weighed)
    assert {one.method for one in taken(file, "model==pythia").answers.values()} == {"text"}
    assert shares(file, "model==pythia", reader="sum") == (1.0, 4)


def test_logs_of_inspect(here: Path) -> None:
    some = demo_questions()[:3]
    with zipfile.ZipFile(here / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "openai/gpt-4o"}}))
        for number, one in enumerate(some):
            for epoch in (1, 2):
                letter = right_letter(one) if epoch == 1 else "Z"
                message_of = {"role": "assistant", "content": f"ANSWER: {letter}"}
                sample = {
                    "id": number + 1, "epoch": epoch, "input": one.text, "metadata": {},
                    "messages": [{"role": "user", "content": asked(one)}, message_of],
                    "output": {"choices": [{"message": message_of, "stop_reason": "stop"}]},
                }  # fmt: skip
                archive.writestr(f"samples/{number}_epoch_{epoch}.json", json.dumps(sample))
    answers = taken(here / "log.eval").answers.values()
    assert sorted((one.model, one.sample) for one in answers) == [
        ("imported:openai/gpt-4o", sample) for sample in (0, 0, 0, 1, 1, 1)
    ]
    assert shares(here / "log.eval") == (0.5, 6)


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("id\traw\torder\n{name}\tA\t4\n", (), "row 2: '4' is no order of 3 options"),
        ("id\traw\nnobody\tA\n", (), "has no answer to a question of made-up: row 2 (nobody)"),
        ("id\tsaid\n{name}\tA\n", (), "row 2: it has no text; name its column: text=COLUMN"),
        ("id\traw\n{name}\tA\n", ("prompt==7",), "row 2: prompt '7' is none of house"),
        ("id\traw\n{name}\tA\n", ("model=p2",), "all rows: model==p2"),
        ("id\traw\n{name}\tA\n", ("prompt=rwa",), "Did you mean 'raw'?"),
        ("id\traw\n{name}\tA\n", ("language==ko",), "row 2: language 'ko' is none of en"),
        ("id\traw\n{name}\tA\n", ("--set", "made-up.toml,made-up.toml"), "two sets are called 'made-up'"),
    ],
)
def test_mistakes_are_one_line_each(here: Path, text: str, words: tuple[str, ...], told: str) -> None:
    (here / "gpt.tsv").write_text(text.format(name=demo_questions()[0].name), encoding="utf-8")
    done = polyculture("import", "gpt.tsv", "--set", "made-up.toml", *words, cwd=here)
    assert told in one_line(done)
    assert not (here / "runs").exists()


def test_usual_names_of_columns_count_in_any_case(here: Path) -> None:
    file = write_table(here / "gpt.csv", "ID,Answer,Model", f"{demo_questions()[0].name},A,four")
    assert [(one.model, one.raw) for one in taken(file).answers.values()] == [("imported:four", "A")]


def test_ids_of_several_languages_need_one(here: Path) -> None:
    rules = (here / "made-up.toml").read_text(encoding="utf-8")
    told = rules.replace("made-up.tsv", "{language}.tsv").replace('language = "en"\n', "")
    (here / "made-up.toml").write_text(told, encoding="utf-8")
    for language in ("en", "es"):
        shutil.copyfile(here / "made-up.tsv", here / f"{language}.tsv")
    file = write_table(here / "gpt.csv", "id,raw", f"{demo_questions()[0].name},A")
    said = one_line(polyculture("import", "gpt.csv", "--set", "made-up.toml", cwd=here))
    assert "row 2: age-01-amb-neg is a question in en, es" in said
    assert "language==en" in said
    assert [one.language for one in taken(file, "language==ES").answers.values()] == ["es"]


def test_models_of_other_questions_are_not_compared(here: Path) -> None:
    for number, name in ((0, "one"), (-1, "other")):
        write_table(here / f"{name}.tsv", "id\traw", f"{demo_questions()[number].name}\tA")
        take(here, f"{name}.tsv")
    compared = polyculture("compare", f"{RUN}.toml", "imported:one", "imported:other", cwd=here)
    assert compared.returncode == 2
    assert "share no question" in compared.stderr
    unknown = polyculture("compare", f"{RUN}.toml", "imported:one", "gpt", cwd=here)
    assert "the run has no 'gpt' to compare" in one_line(unknown)
    assert "Known: imported:one, imported:other." in one_line(unknown)
    nothing = polyculture("table", "question_scores", f"{RUN}.toml", "part=nosuch", cwd=here)
    assert "no row with part=nosuch. There are all, category" in nothing.stderr


@pytest.mark.parametrize("names", [("imported:one", "imported:other"), ("imported:one", "--rest")])
def test_a_run_of_one_model_has_no_other_to_compare(here: Path, names: tuple[str, ...]) -> None:
    write_table(here / "one.tsv", "id\traw", f"{demo_questions()[0].name}\tA")
    take(here, "one.tsv")
    line = one_line(polyculture("compare", f"{RUN}.toml", *names, cwd=here))
    told = "'imported:one' is the only model of the run" if "--rest" in names else "the run has no 'imported:other'"
    assert told in line
    assert "Known: ." not in line


def test_options_are_found_in_many_forms_of_prompts() -> None:
    question = choice()
    shown = ("The young man", "Cannot be determined", "The old man")
    for form in (
        "A: {0}\nB: {1}\nC: {2}",
        "(a) {0}\n(b) {1}\n(c) {2}",
        "1. {0}\n2. {1}\n3. {2}",
        "Options:(A) {0}\n(B) {1}\n(C) {2}",
        "A) {0}\nB) {1}\nC) {2}",
    ):
        found = shown_in(f"Q: who?\n{form.format(*shown)}\nAnswer:", question)
        assert found is not None, form
        assert (found.order, found.texts) == ((1, 2, 0), shown), form
        assert len(set(found.labels)) == 3
    assert shown_in("A: The young man\nB: Somebody\nC: Nobody", question) is None
    chinese = shown_in("问题：谁？\nA．x\nA：The young man\nB：无法确定\nC：The old man\n答案：", question)
    assert chinese is not None and (chinese.order, chinese.labels) == ((1, 2, 0), ("A", "B", "C"))  # noqa: PT018


@pytest.mark.skipif(not (SHARED / "kobbq" / "peer").is_dir(), reason="KoBBQ's files are not here")
def test_raw_answers_read_as_the_publisher_does_give_its_numbers() -> None:
    peer, kobbq = SHARED / "kobbq" / "peer", open_set("kobbq", SHARED / "kobbq")
    found = _taken(peer / "raw-answers-prompt-3.tsv", kobbq, ImportRequest(columns=field_columns(["prompt==3"])))
    assert len(found.answers) == 6840
    known = {one.question_id: one for one in kobbq.questions}
    readers = {one.name: one for one in readers_of(kobbq)}
    said, differ = [], Counter[tuple[str, str]]()
    for one in found.answers.values():
        question = known[one.question_id]
        ours, place = readers["ours"].read(one, question), readers["publisher"].read(one, question).place
        if ours.place != place:
            differ[ours.ground, "out" if place is None else "read"] += 1
        said.append(Said(
            UNREAD if place is None else one.order[place], question.unit, question.facets, question.name,
            question.roles, question.right, tuple(one.order), "3",
        ))  # fmt: skip
    assert differ == {("letter", "out"): 324, ("conflict", "read"): 164}  # as docs say
    measured = {
        (row.facets.get("label") or ("overall" if row.topic == "*" else row.topic), row.metric): row.estimate
        for row in numbers(said) if row.wording == "*"
    }  # fmt: skip
    names = ("out_of_choice_ratio", "acc_a", "acc_d", "diff_bias_a", "diff_bias_d")
    lines = (peer / "results-raw-answers-prompt-3.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for part, *values in (line.split("\t")[1:] for line in lines):
        assert [measured[part, name] for name in names] == pytest.approx(list(map(float, values)), abs=1e-9), part


def test_a_walk_that_loses_answers_refuses_the_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strings at the place of the texts are counted a second time, as for texts of an experiment."""
    from polyculture.imports import shapes

    choices = [{"index": at, "message": {"role": "assistant", "content": said}} for at, said in enumerate("AB")]
    body = {"object": "chat.completion", "model": "m", "choices": choices}
    rows_of = [{"id": one.name, "response": {"body": body}} for one in demo_questions()]
    (here / "m.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows_of), encoding="utf-8")
    assert len(taken(here / "m.jsonl").answers) == 2 * len(rows_of)
    monkeypatch.setattr(shapes, "alternatives", lambda body, _: [((0,), "", body)])
    with pytest.raises(UserError, match=r"strings at '.*content', of which"):
        taken(here / "m.jsonl")
