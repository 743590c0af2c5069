"""`polyculture report --figures` through the real command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

MODEL = "llamacpp:one"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model that names one dish, about Japan and about the United States."""
    folder = tmp_path_factory.mktemp("figures")
    (folder / "exp.toml").write_text(
        f'name = "drawn"\nmodels = ["{MODEL}"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["JP", "US"]\n'
        'conditions = ["explicit"]\n[sampling]\nn = 1\n[extract]\nwith = "gazetteer"\n'
        '[link]\nsnapshot = "starter"\n',
        encoding="utf-8",
    )
    builder = StoreBuilder(folder / "runs" / "drawn", (MODEL,), ("JP", "US"), n=1)
    for country in ("JP", "US"):
        builder.answer(builder.ask(condition="explicit", country=country), [{"surface": "sushi", "granularity": 1}])
    builder.link("sushi", "Q46383")
    builder.write()
    return folder


def test_figures_are_written_beside_the_report(folder: Path) -> None:
    done = polyculture("report", "exp.toml", "--figures", "out", "--figure-format", "pdf", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = sorted((folder / "out").glob("*.pdf"))
    assert found
    assert f"Figures: out ({len(found)} files of pdf, at most 3.3 inches wide)" in done.stdout
    lines = (folder / "out" / "captions.tsv").read_text(encoding="utf-8").splitlines()
    assert sorted(line.split("\t")[0] for line in lines[1:]) == [path.stem for path in found]
    assert len(found) > 3
    assert not [line for line in lines if "lick" in line or "Point at" in line], "a file cannot be clicked"


def test_how_to_write_figures_is_not_said_without_them(folder: Path) -> None:
    said = polyculture("report", "exp.toml", "--figure-width", "3", cwd=folder)
    assert said.returncode == 2
    assert "give --figures, too" in " ".join(said.stderr.replace("│", " ").split())
