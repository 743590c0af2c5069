"""Before a command outside `run` asks a model, it prints requests, tokens and cost, if something is left to ask."""

from __future__ import annotations

import re
from pathlib import Path

from tests.instruments.test_swaps_command import TEXTS, gold, labelling, write
from tests.polyculture.test_command_line import polyculture
from tests.servers import StubServer
from tests.stored import rows

COUNTED = re.compile(
    r"(?P<stage>[\w ]+), (?P<model>\S+): (?P<left>[\d,]+) to ask, (?P<read>[\d,]+) tokens in, "
    r"at most (?P<most>[\d,]+) out; "
    r"(?P<cost>no bill|no price is known|at most \$(?P<money>[\d,.]+))"
)

TWO_MODELS = """name = "costs"
models = ["mock:a", "mock:b"]
languages = ["en"]
topics = ["food"]
countries = ["IT"]
conditions = ["neutral"]
[sampling]
n = 2
[extract]
with = "mock:reader"
"""


def test_a_command_on_an_experiment_says_what_it_will_ask_and_cost(tmp_path: Path) -> None:
    with StubServer(behaviour=labelling(gold)) as server:
        command = ("swap", "sentiment", write(tmp_path, server.url), "--data", "own", "--folder", tmp_path)
        first, again = (polyculture(*command, cwd=tmp_path) for _ in range(2))
        assert (first.returncode, again.returncode) == (0, 0), first.stderr
        assert len(server.asked) == TEXTS
    [said] = COUNTED.finditer(first.stderr)
    assert (said["stage"].split()[0], said["model"], int(said["left"])) == ("sentiment", "openai:stub", TEXTS)
    read, most = (int(said[name].replace(",", "")) for name in ("read", "most"))
    assert float(said["money"]) == round((100 * read + 1000 * most) / 1e6, 2)  # prices of a million tokens
    assert not COUNTED.search(again.stderr)


def test_an_audit_of_a_model_says_what_it_will_ask(tmp_path: Path) -> None:
    done = polyculture("extract", "audit", "--with", "mock:one", "--language", "ja", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [said] = COUNTED.finditer(done.stderr)
    assert (said["stage"], said["cost"]) == ("extract audit", "no bill")
    assert f"{said['left']} texts" in done.stdout
    assert not COUNTED.search(polyculture("extract", "audit", "--language", "ja", cwd=tmp_path).stderr)


def test_a_command_that_asks_one_model_for_texts_counts_its_texts_and_what_reads_them(tmp_path: Path) -> None:
    (tmp_path / "exp.toml").write_text(TWO_MODELS, encoding="utf-8")
    done = polyculture("paper", "makieval", "exp.toml", "--model", "mock:a", cwd=tmp_path)
    said = {(one["stage"], one["model"]): int(one["left"]) for one in COUNTED.finditer(done.stderr)}
    assert said == {("generate", "mock:a"): 2, ("extract", "mock:reader"): 2}
    asked = rows(tmp_path, "SELECT 'responses', model, count(*) FROM stored_responses GROUP BY ALL")
    asked += rows(
        tmp_path, "SELECT 'extractions', model, count(DISTINCT response_id) FROM stored_extractions GROUP BY ALL"
    )
    assert asked == [("responses", "mock:a", 2), ("extractions", "mock:a", 2)]
