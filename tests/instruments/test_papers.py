"""`polyculture camellia` and `camel` as a user runs them: parts of other instruments, in one run that resumes."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import Reply, StubServer
from tests.tiny_models import save_causal

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
    content = json.dumps({"sentiment": "positive", "answer": "pizza", "names": ["pizza"]})
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    return Reply(body=json.dumps({"model": body["model"], "choices": [choice], "usage": usage}).encode())


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer(behaviour=answer) as stub:
        yield stub


@pytest.fixture
def folder(tmp_path: Path, server: StubServer) -> Path:
    """An experiment of a model that scores and one that only writes; contexts and entities with their translation."""
    save_causal("gpt2", tmp_path / "gpt2")
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


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with open_store(RunFolder(folder / "runs" / "paper"), store_layout()) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


OWN = ("--data", "own", "--folder", ".")
STUB = ("--model", "openai:stub")


def test_one_run_asks_every_part_and_a_second_nothing(folder: Path, server: StubServer) -> None:
    write(folder, server)
    priced = polyculture("camellia", "exp.toml", *OWN, "--parts", "cbs,qa", "--languages", "ja", cwd=folder)
    assert priced.returncode == 4, priced.stderr  # the tiny model answers no question
    assert "camellia, cbs: left out: openai:stub gives no log-probabilities" in priced.stderr
    assert rows(folder, "SELECT language, count(*), count(DISTINCT model) FROM scores GROUP BY ALL ORDER BY 1") == [
        ("en", 16, 1),
        ("ja", 16, 1),
    ]
    answered = (
        "SELECT task, language, count(DISTINCT entity_id) FROM swap_answers WHERE model = 'openai:stub' GROUP BY ALL"
    )
    assert sorted(rows(folder, answered)) == [("qa", "en", 4), ("qa", "ja", 4)]
    assert priced.stdout.count("Cultural Bias Score (rule") == 1  # two readings, one table
    asked = len(server.asked)
    again = polyculture("camellia", "exp.toml", *OWN, "--parts", "cbs,qa", "--languages", "ja", cwd=folder)
    assert " done" not in again.stderr
    words = ("--parts", "cbs,qa,tokens", "--languages", "ja")
    shown = polyculture("camellia", "exp.toml", *OWN, *words, cwd=folder).stdout
    assert all(title in shown for title in ("Cultural Bias Score (", "swapped entities", "model's vocabulary")), shown
    assert len(server.asked) == asked


def test_what_a_model_cannot_do_is_a_line_and_the_rest_goes_on(folder: Path, server: StubServer) -> None:
    done = polyculture("camel", "exp.toml", *OWN, *STUB, cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "left out: openai:stub" in line]
    assert [line.partition(": left out")[0] for line in lines] == [
        "camel, cbs",
        "camel, cbs in English",
        "camel, embeddings",
    ]
    tasks = rows(folder, "SELECT task, language, count(*) FROM swap_answers GROUP BY ALL ORDER BY ALL")
    assert [task[:2] for task in tasks] == [("ner", "en"), ("ner", "ja"), ("sentiment", "en"), ("sentiment", "ja")]
    for paper, setting, times in (("camel", "grounded", 1), ("camellia", "grounded - neutral", 2)):  # the latter pools
        assert polyculture("report", "exp.toml", "--paper", paper, "--data", "own", cwd=folder).returncode == 0
        name = f"sentiment-ja-japanese-{setting.replace(' ', '-')}-prompt.csv"
        with (folder / "runs" / "paper" / "report-tables" / f"paper-{paper}" / name).open(encoding="utf-8") as file:
            [row] = csv.DictReader(file)
        shown = {column: float(value) for column, value in row.items() if column != "model"}
        # Every text is found good: a negative context with two entities of each side is wrong.
        assert (shown["FN native"], shown["FP native"], shown["FP Western"]) == (0, 2 * times, 2 * times)
        assert (shown["|dFP|"], shown["texts native"], shown["unreadable native"]) == (0, 4 * times, 0)
        cells = folder / "runs" / "paper" / "report-tables" / f"paper-{paper}" / "cells.csv"
        with cells.open(encoding="utf-8") as file:
            told = {row["lacking"] for row in csv.DictReader(file) if row["value"]}
        tasks = ("sentiment", "ner") if paper == "camel" else ("sentiment",)  # Camellia asks for no names
        asks = [f"polyculture swap {task} EXPERIMENT --preset {paper} --data own" for task in tasks]
        assert {line.partition("; ")[0] for line in told} == {
            "the data set was last read without repeated rows and names on both sides"
        }
        assert any("; " in line for line in told)
        assert all(any(ask in line for ask in asks) for line in told if "; " in line)


def test_a_model_that_cannot_be_opened_ends_its_part_and_no_other(folder: Path, server: StubServer) -> None:
    write(folder, server, '[options."openai:stub"]\ntokenizer = "/nowhere"')
    done = polyculture("camellia", "exp.toml", *OWN, *STUB, "--parts", "cbs,sentiment", "--native-only", cwd=folder)
    assert done.returncode == 4
    assert "camellia cbs score openai:stub: not asked:" in done.stderr
    assert rows(folder, "SELECT DISTINCT task FROM swap_answers") == [("sentiment",)]


def test_plan_prices_the_parts_of_the_file_and_run_asks_them(folder: Path, server: StubServer) -> None:
    more = '[instruments.camellia]\ndata = "own"\nfolder = "."\nparts = ["cbs", "qa"]\nmodel = "openai:stub"\n'
    write(folder, server, f"conditions = ['neutral']\n{more}[extract]\nwith = 'gazetteer'\n[sampling]\nn = 1")
    file = folder / "exp.toml"
    file.write_text(
        file.read_text(encoding="utf-8").replace(f'"transformers:{folder / "gpt2"}", ', ""), encoding="utf-8"
    )
    planned = polyculture("plan", "exp.toml", cwd=folder)
    assert planned.returncode == 0, planned.stderr
    costs, _, cannot = planned.stdout.partition("What models cannot do is not asked")
    stages = [line.split("openai:stub")[0].strip() for line in costs.splitlines() if "camellia" in line]
    assert stages == ["camellia qa", "camellia qa in English"] * 2
    priced = [line for line in planned.stdout.splitlines() if "camellia qa in English" in line]
    assert priced[1].split()[-2] != "–"  # the cost at most
    assert not server.asked
    assert "camellia cbs, cbs in English" in cannot
    assert "gives no log-probabilities" in cannot
    status = polyculture("status", "exp.toml", "--format", "csv", cwd=folder).stdout
    assert "openai:stub,en,qa-own-japanese-food,camellia qa in English,12,0,0,0,12" in status, status
    ran = polyculture("run", "exp.toml", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert rows(folder, "SELECT language, count(*) FROM swap_answers GROUP BY ALL ORDER BY 1") == [
        ("en", 12),
        ("ja", 12),
    ]
    asked = len(server.asked)
    assert polyculture("run", "exp.toml", cwd=folder).returncode == 0
    assert len(server.asked) == asked


def test_the_papers_protocol_asks_by_the_presets_of_the_parts(folder: Path, server: StubServer) -> None:
    few = ("--parts", "qa", "--contexts", "1", "--native-only", "--protocol", "paper")
    done = polyculture("camellia", "exp.toml", *OWN, *STUB, *few, cwd=folder)
    assert done.returncode == 0, done.stderr
    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    assert len(prompts) == 4
    assert all("Below is a post in Japanese." in prompt for prompt in prompts)  # in English, about Japanese
    assert {body["max_tokens"] for body in server.bodies} == {30}
    assert lacking(folder, "qa") == {""}
    few = ("--language", "ja", "--entities", "1", "--draws", "1")
    with (folder / "exp.toml").open("a", encoding="utf-8") as file:
        file.write("\n[qa]\nas_published = true\n")
    asked = polyculture("swap", "qa", "exp.toml", *OWN, *STUB, *few, cwd=folder)
    assert asked.returncode == 0, asked.stderr
    command = "polyculture swap qa EXPERIMENT --preset camellia --data own --language ja"
    told = f"1 of 3 draws; 1 of 2 entities of a side in a draw; asked by other prompts: {command}"
    assert lacking(folder, "qa") == {told}


def lacking(folder: Path, measure: str) -> set[str]:
    """What the paper's tables of a measure say that they lack."""
    report = polyculture("report", "exp.toml", "--paper", "camellia", "--data", "own", cwd=folder)
    assert report.returncode == 0, report.stderr
    cells = folder / "runs" / "paper" / "report-tables" / "paper-camellia" / "cells.csv"
    with cells.open(encoding="utf-8") as text:
        return {row["lacking"] for row in csv.DictReader(text) if row["measure"] == measure and row["value"]}


def test_a_type_without_entities_of_one_side_is_a_line_and_the_rest_is_asked(folder: Path, server: StubServer) -> None:
    with (folder / "contexts.csv").open("a", encoding="utf-8") as file:
        file.write("ja,Japanese,sports,qa,,昨日は[MASK]が勝った,Yesterday [MASK] won\n")
        file.write("ur,Pakistani,food,qa,,آج [MASK] کھایا,Today we ate [MASK]\n")
    few = (*OWN, *STUB, "--parts", "qa", "--native-only")
    done = polyculture("camellia", "exp.toml", *few, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "own ja Japanese sports: 1 context is not asked: no Japanese and no Western entity fits" in done.stderr
    assert "own ur Pakistani food: 1 context is not asked" in done.stderr
    assert rows(folder, "SELECT DISTINCT language, entity_type FROM swap_answers") == [("ja", "food")]
    none = polyculture("camellia", "exp.toml", *few, "--languages", "ur", cwd=folder)
    assert none.returncode == 4, none.stderr
    assert "not complete: camellia, qa: left out:" in none.stderr
    assert "none of 1 contexts can be asked" in none.stderr


def test_a_choice_that_the_data_set_has_not_is_one_line(folder: Path) -> None:
    said = one_line(polyculture("camellia", "exp.toml", *OWN, "--languages", "ja,jp", cwd=folder))
    assert "own has no context of language 'jp'" in said
    said = one_line(polyculture("camellia", "exp.toml", "--folder", "nowhere", cwd=folder))
    assert "there is no folder with the data set 'camellia'" in said
    said = one_line(polyculture("camellia", "exp.toml", *OWN, "--parts", "cbs,poems", cwd=folder))
    assert "there is no part 'poems'" in said
    said = one_line(polyculture("camellia", "exp.toml", *OWN, "--parts", "embeddings", cwd=folder))
    assert "there is no part 'embeddings': cbs, sentiment, qa, tokens" in said
