"""`polyculture compare --claims` through the real command line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.polyculture.test_command_line import one_line, polyculture
from tests.store_builder import StoreBuilder

MINE = """
[[claims]]
name = "models"
says = "Models differ in granularity."
metric = "granularity"
contrast = { each = "model" }
expect = "different"
target = "new_prompts"
bound = 0.1

[[claims]]
name = "french"
says = "French is more diverse."
metric = "diversity"
contrast = { a = "yo" }
expect = "higher"
target = "same_prompts"
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on 20 prompts: what the first names is specific, what the second names is not, but for a prompt."""
    folder = tmp_path_factory.mktemp("claims")
    file = folder / "exp.toml"
    countries = (
        "AE",
        "US",
        "GB",
        "CA",
        "AU",
        "NG",
        "DE",
        "MX",
        "ES",
        "AR",
        "IR",
        "IN",
        "IT",
        "JP",
        "KR",
        "TH",
        "TR",
        "CN",
        "TW",
    )
    file.write_text(
        'name = "claimed"\nmodels = ["llamacpp:one", "llamacpp:two"]\nlanguages = ["en"]\ntopics = ["food"]\n'
        f'countries = {list(countries)}\nconditions = ["explicit"]\n[sampling]\nn = 1\n'
        '[extract]\nwith = "gazetteer"\n[link]\nsnapshot = "starter"\n',
        encoding="utf-8",
    )
    builder = StoreBuilder(folder / "runs" / "claimed", ("llamacpp:one", "llamacpp:two"), countries, n=1)
    for number, country in enumerate(countries):
        prompt = builder.ask(condition="explicit", country=country)
        for model in builder.models:
            specific = 1 if (model == "llamacpp:one") != (number == 0) else 0
            builder.answer(prompt, [{"surface": f"s{specific}", "granularity": specific}], model=model, sample=0)
    for specific in (0, 1):
        builder.link(f"s{specific}", f"Q{specific + 1}")
        builder.entity(f"Q{specific + 1}", f"s{specific}")
    builder.write()
    return file


def test_claims_are_tested_and_written_as_csv(experiment: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE, encoding="utf-8")
    done = polyculture("compare", experiment, "--claims", mine, "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    models, french = csv.DictReader(io.StringIO(done.stdout))
    assert (models["claim"], models["result"], models["units"]) == ("models", "holds", "19")
    assert float(models["low"]) > 0.1
    assert float(models["p_holm"]) < 0.05
    assert (french["result"], french["low"]) == ("undecided", "")
    assert "the run has no value 'yo'" in french["why"]
    printed = polyculture("compare", experiment, "--claims", mine, cwd=tmp_path)
    assert all(word in printed.stdout for word in ("mine.toml", "French is more diverse", "undecided"))
    assert "over the 1 claims with a p" in printed.stderr


def test_the_studys_claims_are_printed_with_what_leaves_them_open(experiment: Path) -> None:
    done = polyculture("table", "claims", experiment, "--format", "csv", cwd=experiment.parent)
    assert done.returncode == 0, done.stderr
    rows = {row["claim"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows.keys() >= {"native-diversity", "models-and-diversity", "regional-consensus"}
    undecided = [row["why"] for row in rows.values() if row["result"] == "undecided"]
    assert undecided
    assert all(undecided)


def test_a_mistake_in_the_file_is_one_line(experiment: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE.replace('expect = "higher"', 'expect = "higher"\nwhere = { condition = "explcit" }'), "utf-8")
    done = polyculture("compare", experiment, "--claims", mine, cwd=tmp_path)
    assert done.returncode == 2
    assert "claim 'french': there is no condition 'explcit'. Did you mean 'explicit'?" in one_line(done)
    mine.write_text(MINE.replace("bound = 0.1", "bounds = 0.1"), encoding="utf-8")
    done = polyculture("compare", experiment, "--claims", mine, cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown key 'claim 1, bounds'. Did you mean 'bound'?" in one_line(done)
