"""`polyculture paper` as a user runs it: parts of other instruments, in one run that resumes, and the tables."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cli.tables import WIDTH
from polyculture.instruments.papers.files import COMPARED, write_paper_tables
from polyculture.instruments.papers.options import PaperOptions
from polyculture.instruments.papers.study import joined_tables
from tests.instruments.test_swaps_command import says_in_file
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import Reply, StubServer, failure
from tests.stored import rows
from tests.tiny_models import save_causal, save_masked

EXPERIMENT = """
name = "paper"
models = ["transformers:{model}", "openai:stub"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
{more}
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
NAMES = {"Japanese": {"ラーメン": "ramen", "寿司": "sushi"}, "Western": {"ピザ": "pizza", "パスタ": "pasta"}}
CONTEXTS = (
    ("grounded", "positive", "京都で食べた[MASK]はおいしかった", "The [MASK] we ate in Kyoto was good"),
    ("grounded", "negative", "京都で食べた[MASK]はまずかった", "The [MASK] we ate in Kyoto was bad"),
    ("neutral", "positive", "昨日の[MASK]は最高だった", "The [MASK] of yesterday was great"),
    ("neutral", "negative", "昨日の[MASK]はひどかった", "The [MASK] of yesterday was awful"),
    ("qa", "", "昼に海で[MASK]を食べた", "At noon we had [MASK] by the sea"),
)


def answer(body: Mapping[str, Any], _before: int) -> Reply:
    """A model that finds every text good, and in it always the same name."""
    content = "1" if "Digit:" in body["messages"][-1]["content"] else "ピザ"
    if "response_format" in body:
        content = json.dumps({"sentiment": "positive", "answer": "pizza", "names": ["pizza"]})
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    return Reply(body=json.dumps({"model": body["model"], "choices": [choice], "usage": usage}).encode())


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=answer) as stub:
        yield stub


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_causal("gpt2", tmp_path_factory.mktemp("model") / "gpt2")


@pytest.fixture
def folder(tmp_path: Path, server: StubServer, gpt2: Path) -> Path:
    """An experiment of a model that scores and one that only writes; contexts and entities with their translation."""
    (tmp_path / "gpt2").symlink_to(gpt2)
    write(tmp_path, server)
    entities = [f"ja,{side},food,{name},{english}" for side, each in NAMES.items() for name, english in each.items()]
    contexts = [f"ja,Japanese,food,{setting},{label},{text},{english}" for setting, label, text, english in CONTEXTS]
    table(tmp_path / "entities.csv", "language,culture,type,entity,english", entities)
    table(tmp_path / "contexts.csv", "language,culture,type,setting,sentiment,context,english", contexts)
    return tmp_path


def write(folder: Path, server: StubServer, more: str = "") -> None:
    text = EXPERIMENT.format(model=folder / "gpt2", url=server.url, more=more)
    (folder / "exp.toml").write_text(text, encoding="utf-8")


def table(file: Path, header: str, lines: list[str]) -> None:
    file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


OWN = ("--data", "own", "--folder", ".")
STUB = ("--model", "openai:stub")
PAPER = ("paper", "camellia", "exp.toml", *OWN)


def cells(folder: Path, paper: str, table: str) -> dict[tuple[str, str], dict[str, str]]:
    """The rows of a table's measured cells by row and column, as `report --paper` writes them beside its page."""
    run = RunFolder(folder / "runs" / "paper")
    tables, _ = joined_tables(run, paper, require_run(run).sampling["seed"], "own")
    with write_paper_tables(folder / "written", paper, tables)[-1].open(encoding="utf-8") as text:
        found = [row for row in csv.DictReader(text) if row["table"] == table and row["yours"]]
    return {(row["row"], row["column"]): row for row in found}


def test_one_run_asks_every_part_and_a_second_nothing(folder: Path, server: StubServer) -> None:
    done = polyculture(*PAPER, "--part", "cbs,qa", "--language", "ja", cwd=folder)
    assert done.returncode == 4, done.stderr  # the tiny model answers no question
    assert "paper camellia, cbs, cbs in English: left out: openai:stub gives no log-probabilities" in done.stderr
    assert rows(folder, "SELECT language, count(*), count(DISTINCT model) FROM scores GROUP BY ALL ORDER BY 1") == [
        ("en", 16, 1),
        ("ja", 16, 1),
    ]
    answered = (
        "SELECT task, language, count(DISTINCT entity_id) FROM swap_answers WHERE model = 'openai:stub' GROUP BY ALL"
    )
    assert sorted(rows(folder, answered)) == [("qa", "en", 4), ("qa", "ja", 4)]
    lines = [line for line in done.stdout.splitlines() if f" is transformers:{folder}" not in line]
    assert max(map(len, lines)) <= WIDTH
    titles = [line.strip() for line in done.stdout.splitlines() if line.startswith("Camellia, Table ")]
    named = dict.fromkeys(title.partition(":")[0].split()[-1] for title in titles)
    assert list(named) == ["1", "12", "13", "14", "17", "18", "21"]
    table = done.stdout.partition("Table 14")[2].partition("Table 17")[0]
    lines = [line.split() for line in table.splitlines()]
    assert " to " in " ".join(next(line for line in lines if line[:1] == ["ja"]))  # between the paper's four models
    assert "9 of 10 numbers missing" in " ".join(table.split())
    both = done.stdout.partition("Table 12")[2].partition("Table 13")[0]
    assert {"Japanese:", "Respective", "English"} <= {*both.split()}
    last = done.stdout.rpartition("Camellia: what it found, on this run")[2]
    assert "Camellia, Table" not in last  # the answer is the last table
    assert re.search(r"holds|fails|undecided", last)
    asked = len(server.asked)
    again = polyculture(*PAPER, "--part", "cbs,qa", "--language", "ja", cwd=folder)
    assert " done" not in again.stderr
    assert len(server.asked) == asked


@pytest.mark.slow
def test_rows_of_ones_own_say_what_was_asked_otherwise(folder: Path, server: StubServer) -> None:
    few = ("--part", "qa", "--contexts", "1")
    done = polyculture(*PAPER, *STUB, *few, cwd=folder)
    assert done.returncode == 0, done.stderr
    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    assert all("Below is a post in " in prompt for prompt in prompts)  # in English, about Japanese
    assert {body["max_tokens"] for body in server.bodies} == {30}
    found = cells(folder, "camellia", "17")
    assert found["", "ja"]["protocol"].split("; ") == [
        "data set own",
        "prompt in our words, not those of Table 9",
        "only contexts 1",
    ]
    # The stub says the Japanese for pizza, whatever was put in.
    both = cells(folder, "camellia", "12")
    assert found["", "ja"]["yours"] == both["Japanese", "Respective Asian Western"]["yours"] == "50.0"
    asked = polyculture(
        "swap", "qa", "exp.toml", *OWN, *STUB, "--language", "ja", "--draws", "1", "--accept-changes", cwd=folder
    )
    assert asked.returncode == 0, asked.stderr
    told = cells(folder, "camellia", "17")["", "ja"]["protocol"]
    assert "draws 1, not 3" in told
    assert "contexts" not in told  # those of the paper's command were asked by another prompt
    refused = next(iter(NAMES["Western"]))
    server.behaviour = lambda body, before: (
        failure(400) if refused in body["messages"][-1]["content"] else answer(body, before)
    )
    more = ("--language", "ja", "--draws", "1")
    says_in_file(folder / "exp.toml", "qa", prompts="mine.toml")
    (folder / "mine.toml").write_text('[qa]\nprompt = "!{question}\\nText: {text}"\n', encoding="utf-8")
    asked = polyculture("swap", "qa", "exp.toml", *OWN, *STUB, *more, "--accept-changes", cwd=folder)
    assert asked.returncode == 4, asked.stderr
    assert re.search(r"incomplete: \d+ of \d+ texts", cells(folder, "camellia", "17")["", "ja"]["protocol"])


# Texts of both sides, of one: a difference needs both.
@pytest.mark.parametrize(("name", "number"), [("最高", True), ("ピザ", False)])
def test_what_nobody_could_read_is_told_and_where_it_is_all_there_is_no_number(
    folder: Path, server: StubServer, name: str, number: bool
) -> None:
    def readable(name: str, body: Mapping[str, Any], before: int) -> Reply:
        said = json.loads(answer(body, before).body)
        said["choices"][0]["message"]["content"] = "1" if name in str(body["messages"]) else "perhaps"
        return Reply(body=json.dumps(said).encode())

    server.behaviour = partial(readable, name)
    asked = polyculture(*PAPER, *STUB, "--part", "sentiment", "--language", "ja", cwd=folder)
    assert asked.returncode == 4, asked.stderr
    assert bool(cells(folder, "camellia", "15")) == number
    said = " ".join(asked.stdout.partition("Table 15")[2].partition("Table 16")[0].split())
    assert re.search(r"incomplete: [^\[]*\d+ of \d+ answers not read", said)


def test_what_a_model_cannot_do_is_a_line_and_the_rest_goes_on(folder: Path, server: StubServer) -> None:
    few = ("--part", "cbs,sentiment,embeddings")
    done = polyculture("paper", "camel", "exp.toml", *OWN, *STUB, *few, cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "left out: openai:stub" in line]
    assert [line.partition(": left out")[0].removeprefix("paper camel, ") for line in lines] == [
        *("cbs, cbs with a prefix, cbs of two phrasings", "embeddings")
    ]
    tasks = rows(folder, "SELECT DISTINCT task, language FROM swap_answers ORDER BY ALL")
    assert tasks == [("sentiment", "ja")]
    found = cells(folder, "camel", "figure 4")
    # Every text is found good: no positive one is missed, and a negative context is wrong with each of its entities.
    assert {place: float(row["yours"]) for place, row in found.items()} == {
        (kind, side): 0.0 for kind in ("all texts", "food") for side in ("native", "western")
    }
    assert "--classifier" in found["food", "native"]["protocol"]
    positives = "SELECT sum(false_positives) FROM sentiment_counts"
    assert rows(folder, positives) == [(500,)]  # a context, fifty texts of each side, five draws
    assert polyculture("report", "exp.toml", "--paper", "camel", "--data", "own", cwd=folder).returncode == 0
    reported = folder / "runs" / "paper" / "report-tables" / "paper-camel" / COMPARED
    assert reported.read_bytes() == (folder / "written" / COMPARED).read_bytes()


def test_a_model_that_cannot_be_opened_ends_its_part_and_no_other(folder: Path, server: StubServer) -> None:
    write(folder, server, '[options."openai:stub"]\ntokenizer = "/nowhere"')
    done = polyculture(*PAPER, *STUB, "--part", "cbs,sentiment", cwd=folder)
    assert done.returncode == 4
    assert "paper cbs score openai:stub: not asked:" in done.stderr
    assert rows(folder, "SELECT DISTINCT task FROM swap_answers") == [("sentiment",)]


def test_plan_prices_the_parts_of_the_file_and_run_asks_them(folder: Path, server: StubServer) -> None:
    more = '[instruments.paper]\nname = "camellia"\ndata = "own"\nfolder = "."\npart = ["cbs", "qa"]\n'
    write(folder, server, f"conditions = ['neutral']\n{more}[extract]\nwith = 'gazetteer'\n[sampling]\nn = 1")
    file = folder / "exp.toml"
    file.write_text(
        file.read_text(encoding="utf-8").replace(f'"transformers:{folder / "gpt2"}", ', ""), encoding="utf-8"
    )
    planned = polyculture("plan", "exp.toml", cwd=folder)
    assert planned.returncode == 0, planned.stderr
    costs, _, cannot = planned.stdout.partition("What models cannot do is not asked")
    stages = [
        line.split("openai:stub")[0].strip() for line in costs.splitlines() if line.strip().startswith("paper qa")
    ]
    assert stages == ["paper qa", "paper qa in English"] * 2
    assert not server.asked
    assert "gives no log-probabilities" in cannot
    ran = polyculture("run", "exp.toml", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert rows(folder, "SELECT language, count(*) FROM swap_answers GROUP BY ALL ORDER BY 1") == [
        ("en", 12),
        ("ja", 12),
    ]
    asked = len(server.asked)
    assert polyculture("run", "exp.toml", cwd=folder).returncode == 0
    assert len(server.asked) == asked


def camel_folder(folder: Path, *models: Path) -> None:
    """Contexts for causal and for masked models, and an experiment of models that score."""
    text = EXPERIMENT.format(model="", url="http://localhost", more="")
    names = ", ".join(f'"transformers:{one}"' for one in models)
    (folder / "exp.toml").write_text(text.replace('"transformers:", "openai:stub"', names), encoding="utf-8")
    contexts = [
        f"ar,Arab,{kind},grounded,{form},{text}"
        for kind in ("food", "beverage")
        for form, text in (
            ("causal", "we ate [MASK]"),
            ("masked", "we ate [MASK] in the house"),
            ("causal", "so we ate [MASK]"),
        )
    ]
    entities = [
        f"ar,{side},{kind},{name} {more}"
        for kind in ("food", "beverage")
        for side, name in (("Arab", "soup"), ("Western", "cake"))
        for more in ["we", "ate", "rice", "bread", "with", "tea", "and", "in", "the", "old", "house", "so"]
    ]
    table(folder / "contexts.csv", "language,culture,type,setting,form,context", contexts)
    table(folder / "entities.csv", "language,culture,type,entity", entities)


CAMEL = ("paper", "camel", "exp.toml", *OWN, "--part", "cbs")
ASKED_FORMS = """
SELECT DISTINCT masked, c.form FROM scores AS s INNER JOIN dataset_contexts AS c USING (context_id) ORDER BY 1
"""


def test_camel_asks_each_model_in_the_form_that_it_reads(tmp_path: Path, gpt2: Path) -> None:
    camel_folder(tmp_path, gpt2, save_masked(tmp_path / "bert"))
    done = polyculture(*CAMEL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, ASKED_FORMS) == [(False, "causal"), (True, "masked")]
    tables, _ = joined_tables(RunFolder(tmp_path / "runs" / "paper"), "camel", 1, "own")
    own = [line for one in tables if one.table.name == "3" for line in one.lines if line.own]
    assert sorted(Path(line.model).name for line in own) == ["bert", "gpt2"]  # neither with a form behind its name
    assert not any("form" in remark for line in own for cell in line.cells.values() for remark in cell.remarks)


def test_where_nothing_can_be_asked_there_is_the_reason_alone(tmp_path: Path, gpt2: Path) -> None:
    """A masked model, and a folder without masked contexts: no run is begun."""
    camel_folder(tmp_path, gpt2, save_masked(tmp_path / "bert"))
    contexts = (tmp_path / "contexts.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "contexts.csv").write_text("".join(one for one in contexts if "masked" not in one), encoding="utf-8")
    done = polyculture(*CAMEL, "--model", f"transformers:{tmp_path / 'bert'}", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "own has no context of form 'masked'" in done.stderr.splitlines()[-1]
    assert "holds no run" not in done.stderr
    assert "no number to compare with those of CAMeL" in done.stderr
    assert not (tmp_path / "runs" / "paper" / "manifest.json").exists()


def test_a_type_without_entities_of_one_side_is_a_line_and_the_rest_is_asked(folder: Path, server: StubServer) -> None:
    with (folder / "contexts.csv").open("a", encoding="utf-8") as file:
        file.write("ja,Japanese,sports,qa,,昨日は[MASK]が勝った,Yesterday [MASK] won\n")
        file.write("ur,Pakistani,food,qa,,آج [MASK] کھایا,Today we ate [MASK]\n")
    done = polyculture(*PAPER, *STUB, "--part", "qa", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "own ja Japanese sports: 1 context is not asked: no Japanese and no Western entity fits" in done.stderr
    assert "own ur Pakistani food: 1 context is not asked" in done.stderr


def test_a_wrong_choice_is_one_line(folder: Path) -> None:
    said = one_line(polyculture(*PAPER, "--language", "ja,jp", cwd=folder))
    assert "own has no context of language 'jp'" in said
    said = one_line(polyculture("paper", "camellia", "exp.toml", "--folder", "nowhere", cwd=folder))
    assert "there is no folder with the data set 'camellia'" in said
    said = one_line(polyculture("paper", "kobbq", "exp.toml", "--contexts", "3", cwd=folder))
    assert "--contexts: no part of kobbq" in said
    for options, told in (
        ({"name": "camellia", "part": "cbs,poems"}, "no part 'poems': it has cbs, cbs in english, qa"),
        ({"name": "bbq"}, "'makieval'"),
    ):
        with pytest.raises(ValidationError, match=told):
            PaperOptions.model_validate(options)


def test_with_a_model_alone_the_papers_own_experiment_is_written(tmp_path: Path) -> None:
    done = polyculture("paper", "makieval", "--model", "mock:a", cwd=tmp_path)
    assert done.returncode == 2, done.stderr  # the live Wikidata wants to know whom to write to
    written = (tmp_path / "paper-makieval.toml").read_text(encoding="utf-8")
    found = tomllib.loads(written)
    assert (found["models"], len(found["languages"]), found["sampling"]["n"]) == (["mock:a"], 13, 500)
    assert "n = 500  # 6" in written
