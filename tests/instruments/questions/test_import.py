"""`polyculture import FILE --set SET`: answers that somebody has, in the forms of tools and tables."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from polyculture.instruments.questions.asking import labels_of, message, shown_options
from polyculture.instruments.questions.matching import shown_in
from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.rules.opened import open_set
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


def take(folder: Path, file: str, *words: str, code: int = 0) -> str:
    """What the command says."""
    done = polyculture("import", file, "--set", "made-up.toml", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def asked(question: Question) -> str:
    """A question in our own prompt, its options in another order than the file's."""
    return message(question, HOUSE, shown_options(question, ORDER, HOUSE), labels_of(question, HOUSE))


def right_letter(question: Question) -> str:
    """The letter of the right option in that prompt."""
    return "ABC"[ORDER.index(question.right[0])]


def write_lines(file: Path, records: Sequence[Mapping[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


def test_a_table_of_ids_and_letters(here: Path) -> None:
    lines = [f"{one.name}\t{'ABC'[one.right[0]]}" for one in demo_questions()]
    text = "\n".join(["sample_id\tprediction", *lines, lines[0], f"{lines[1][:-1]}Z", "nobody-99\tA"])
    (here / "gpt.tsv").write_text(text, encoding="utf-8")
    said = take(here, "gpt.tsv")
    assert "60 answers taken: 60 to prompt 'as given'" in said
    assert "1 x of no question: row 64 (nobody-99)" in said
    assert "1 x left out, as it contradicts another row: row 63" in said
    assert "1 x the same as another row" in said
    assert rows(here, RIGHT, RUN) == [(1.0, 60)]
    assert rows(here, "SELECT DISTINCT model FROM answers", RUN) == [("imported:gpt",)]
    assert polyculture("plan", f"{RUN}.toml", cwd=here).returncode in (0, 2)


def test_answers_in_conversations_that_are_one_text(here: Path) -> None:
    said = [f"Human: {asked(one)}\n\nAssistant: {right_letter(one)}" for one in demo_questions()]
    write_lines(here / "gpt.jsonl", [{"chosen": one, "language": "en"} for one in said])
    assert "60 answers taken" in take(here, "gpt.jsonl", "text=chosen")
    assert rows(here, RIGHT, RUN) == [(1.0, 60)]


def test_letters_that_the_prompts_of_the_set_show_are_those_of_a_file_without_prompts(here: Path) -> None:
    rules = (here / "made-up.toml").read_text(encoding="utf-8")
    letters = '["ሀ", "ለ", "ሐ"]'
    (here / "made-up.toml").write_text(f"{rules}\n[prompts]\nlabel = {letters}\n", encoding="utf-8")
    lines = [f"{one.name}\t{'ሀለሐ'[one.right[0]]}" for one in demo_questions()]
    (here / "gpt.tsv").write_text("\n".join(["id\tresponse", *lines]), encoding="utf-8")
    take(here, "gpt.tsv")
    assert rows(here, RIGHT, RUN) == [(1.0, 60)]


def test_a_newer_file_takes_the_place_of_the_older_one(here: Path) -> None:
    one, other = demo_questions()[:2]
    for answers in ((f"{one.name},A", f"{other.name},A"), (f"{one.name},C", f"{other.name},B")):
        (here / "gpt.csv").write_text("\n".join(["id,response", *answers]), encoding="utf-8")
        take(here, "gpt.csv")
    assert rows(here, "SELECT raw FROM answers ORDER BY 1", RUN) == [("B",), ("C",)]
    assert rows(here, "SELECT count(*) FROM stored_answers", RUN) == [(4,)]
    take(here, "gpt.csv")
    assert rows(here, "SELECT count(*) FROM stored_answers", RUN) == [(4,)]


def test_the_prompts_text_says_the_question_and_the_order(here: Path) -> None:
    some, example = demo_questions()[:6], f"{asked(demo_questions()[-1])} C\n\n"
    before = {one.name: example if one.name.endswith("amb-neg") else "" for one in some}
    records = [
        {"prompt": before[one.name] + asked(one), "response": f"The answer is {right_letter(one)}.", "model": "m"}
        for one in some
    ]
    write_lines(here / "chats.jsonl", [*records, {"prompt": "Who is late, and why?", "response": "A", "model": "m"}])
    said = take(here, "chats.jsonl")
    assert "6 answers taken: 1 to prompt 'as given', 5 to prompt 'house'" in said
    assert "1 x of no question: row 7 (Who is late, and why?)" in said
    assert rows(here, RIGHT, RUN) == [(1.0, 6)]
    assert rows(here, 'SELECT DISTINCT "order", labels FROM answers', RUN) == [(list(ORDER), ["A", "B", "C"])]


def test_samples_of_lm_evaluation_harness(here: Path) -> None:
    some = demo_questions()[:4]
    docs = [{"example_id": number, "sample_id": one.name} for number, one in enumerate(some)]
    written = [
        {"doc_id": n, "doc": doc, "resps": [[f" {one.options[one.right[0]]}"]], "filter": "none",
         "arguments": {"gen_args_0": {"arg_0": f"{one.context}\n\nQ: {one.text}\nA:", "arg_1": {}}}}
        for n, (doc, one) in enumerate(zip(docs, some, strict=True))
    ]  # fmt: skip
    write_lines(here / "samples_bbq_generate_2026-01-01T00-00-00.jsonl", written)
    take(here, "samples_bbq_generate_2026-01-01T00-00-00.jsonl", "model==pythia")
    assert rows(here, RIGHT, RUN) == [(1.0, 4)]
    weighed = []
    for number, (doc, one) in enumerate(zip(docs, some, strict=True)):
        texts = [option for option, role in zip(one.options, one.roles, strict=True) if role != "unknown"]
        texts += ["Unknown", "Not known"]  # the harness has wordings of its own
        wanted = texts[2] if one.roles[one.right[0]] == "unknown" else one.options[one.right[0]]
        calls = {f"gen_args_{n}": {"arg_0": f"{one.context}\n\nQ: {one.text}\nA:", "arg_1": f" {text}"}
                 for n, text in enumerate(texts)}  # fmt: skip
        resps = [[["-1.0" if text == wanted else "-2.5", "False"]] for text in texts]
        weighed.append({"doc_id": number, "doc": doc, "resps": resps, "arguments": calls, "filter": "none"})
    write_lines(here / "samples_bbq_2026-01-01T00-00-00.jsonl", weighed)
    take(here, "samples_bbq_2026-01-01T00-00-00.jsonl", "model==pythia")
    of_sums = "SELECT method, avg(\"right\"::INT), count(*) FROM question_readings WHERE reader = 'sum' GROUP BY ALL"
    assert rows(here, of_sums, RUN) == [("text", 1.0, 4)]


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
    take(here, "log.eval")
    assert rows(here, "SELECT model, sample, count(*) FROM answers GROUP BY ALL ORDER BY ALL", RUN) == [
        ("imported:openai/gpt-4o", 0, 3), ("imported:openai/gpt-4o", 1, 3),
    ]  # fmt: skip
    found = 'SELECT sample, avg("right"::INT) FROM question_readings GROUP BY ALL ORDER BY ALL'
    assert rows(here, found, RUN) == [(0, 1.0), (1, 0.0)]


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("id\traw\torder\n{name}\tA\t4\n", (), "row 2: '4' is no order of 3 options"),
        ("id\traw\nnobody\tA\n", (), "has no answer to a question of made-up: row 2 (nobody)"),
        ("id\tsaid\n{name}\tA\n", (), "row 2: it has no text; name its column: text=COLUMN"),
        ("id\traw\n{name}\tA\n", ("prompt==7",), "row 2: prompt '7' is none of house"),
        ("id\traw\n{name}\tA\n", ("model=p2",), "model=p2: there is no p2: it has id, raw. "),
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
    (here / "gpt.csv").write_text(f"ID,Answer,Model\n{demo_questions()[0].name},A,four\n", encoding="utf-8")
    take(here, "gpt.csv")
    assert rows(here, "SELECT model, raw FROM answers", RUN) == [("imported:four", "A")]


def test_ids_of_several_languages_need_one(here: Path) -> None:
    rules = (here / "made-up.toml").read_text(encoding="utf-8")
    told = rules.replace("made-up.tsv", "{language}.tsv").replace('language = "en"\n', "")
    (here / "made-up.toml").write_text(told, encoding="utf-8")
    for language in ("en", "es"):
        shutil.copyfile(here / "made-up.tsv", here / f"{language}.tsv")
    (here / "gpt.csv").write_text(f"id,raw\n{demo_questions()[0].name},A\n", encoding="utf-8")
    said = one_line(polyculture("import", "gpt.csv", "--set", "made-up.toml", cwd=here))
    assert "row 2: age-01-amb-neg is a question in en, es" in said
    assert "language==en" in said
    take(here, "gpt.csv", "language==ES")
    assert rows(here, "SELECT language FROM answers", RUN) == [("es",)]


def test_without_a_set_an_experiment_is_named(here: Path) -> None:
    done = polyculture("import", "made-up.tsv", cwd=here)
    assert done.returncode == 2
    assert "--as" in done.stderr


def test_models_of_other_questions_are_not_compared(here: Path) -> None:
    for number, name in ((0, "one"), (-1, "other")):
        (here / f"{name}.tsv").write_text(f"id\traw\n{demo_questions()[number].name}\tA\n", encoding="utf-8")
    take(here, "one.tsv")
    take(here, "other.tsv")
    compared = polyculture("compare", f"{RUN}.toml", "imported:one", "imported:other", cwd=here)
    assert compared.returncode == 2
    assert "share no question" in compared.stderr
    nothing = polyculture("table", "question_scores", f"{RUN}.toml", "part=nosuch", cwd=here)
    assert "no row with part=nosuch. There are all, category" in nothing.stderr


def test_answers_of_a_model_stand_beside_imported_ones(here: Path) -> None:
    (here / "gpt.tsv").write_text(f"id\traw\n{demo_questions()[0].name}\tA\n", encoding="utf-8")
    take(here, "gpt.tsv")
    done = polyculture("ask", "made-up.toml", "--model", "mock:one", "--questions", "1", cwd=here)
    assert done.returncode == 0, done.stderr
    take(here, "gpt.tsv")
    assert rows(here, "SELECT DISTINCT model FROM answers ORDER BY 1", RUN) == [("imported:gpt",), ("mock:one",)]


def test_a_run_remembers_how_each_of_its_sets_was_asked(here: Path) -> None:
    (here / "exp.toml").write_text('name = "two"\nmodels = ["mock:one", "mock:two"]\n', encoding="utf-8")
    rules = (here / "made-up.toml").read_text(encoding="utf-8")
    (here / "other.toml").write_text(rules.replace('name = "made-up"', 'name = "other"'), encoding="utf-8")
    asked = [("made-up.toml", "1", "mock:one"), ("other.toml", "2", "mock:one"), ("other.toml", "3", None)]
    for file, questions, model in asked:
        of_model = ("--model", model) if model else ()
        done = polyculture("ask", file, "exp.toml", "--questions", questions, *of_model, cwd=here)
        assert done.returncode == 0, done.stderr
    kept = json.loads((here / "runs" / "two" / "instruments.json").read_bytes())
    told = {call["options"]["set"]: call["options"] for call in kept.values() if "command" in call}
    assert [(Path(name).name, one["questions"], one["model"]) for name, one in sorted(told.items())] == [
        ("made-up.toml", 1, "mock:one"),
        ("other.toml", 3, None),
    ]
    assert len(kept) == 4, "each call, and the last one as that of the command, too"


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
        order, labels, texts = found
        assert (order, texts) == ((1, 2, 0), shown), form
        assert len(set(labels)) == 3
    assert shown_in("A: The young man\nB: Somebody\nC: Nobody", question) is None
    chinese = shown_in("问题：谁？\nA．x\nA：The young man\nB：无法确定\nC：The old man\n答案：", question)
    assert chinese is not None and (chinese[0], chinese[1]) == ((1, 2, 0), ("A", "B", "C"))  # noqa: PT018


@pytest.mark.skipif(not (SHARED / "kobbq" / "peer").is_dir(), reason="KoBBQ's files are not here")
def test_raw_answers_read_as_the_publisher_does_give_its_numbers(tmp_path: Path) -> None:
    peer = SHARED / "kobbq" / "peer"
    told = ("--set", "kobbq", "--folder", SHARED / "kobbq", "prompt==3")
    done = polyculture("import", peer / "raw-answers-prompt-3.tsv", *told, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (peer / "results-raw-answers-prompt-3.tsv").read_text(encoding="utf-8").splitlines()[1:]
    expected = {cells[1]: tuple(map(float, cells[2:])) for cells in (line.split("\t") for line in lines)}
    names = ("out_of_choice_ratio", "acc_a", "acc_d", "diff_bias_a", "diff_bias_d")
    query = f"""
        SELECT coalesce(facets['label'], topic) AS part, {", ".join(f"any_value(estimate) FILTER (metric = '{name}')" for name in names)}
        FROM numbers
        WHERE reader = 'publisher' AND wording = '*'
        GROUP BY ALL
    """  # noqa: E501
    found = {("overall" if row[0] == "*" else row[0]): row[1:] for row in rows(tmp_path, query, "ask-kobbq")}
    assert expected.keys() <= found.keys()
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, abs=1e-9), name
