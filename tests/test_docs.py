"""What the documentation shows is true: its files are accepted, its queries run."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_front_door import polyculture

ROOT = Path(__file__).parents[1]

OWN = """
name = "own"
models = ["openai:any"]
languages = ["en", "sw"]
topics = ["food", "festival"]
countries = ["JP", "IN"]
catalog = "mine"
"""


def blocks(file: str, language: str) -> list[str]:
    """The fenced blocks of a language in a page."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def write_own_catalog(folder: Path) -> Path:
    """The topic and the language of docs/extending.md, in a user's folder, with an experiment that names them."""
    topic, language = blocks("docs/extending.md", "toml")
    for name, text in (("topics/festival.toml", topic), ("languages/sw.toml", language)):
        file = folder / "mine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    experiment = folder / "exp.toml"
    experiment.write_text(OWN.replace('"food", "festival"', '"food"'), encoding="utf-8")
    return experiment


def test_a_topic_and_a_language_of_ones_own(tmp_path: Path) -> None:
    experiment = write_own_catalog(tmp_path)
    planned = polyculture("plan", experiment, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    text = experiment.read_text(encoding="utf-8")
    experiment.write_text(text.replace('"food"', '"food", "festival"').replace(', "sw"', ""), encoding="utf-8")
    planned = polyculture("plan", experiment, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr


def test_a_wrong_placeholder_in_ones_own_language_is_named(tmp_path: Path) -> None:
    experiment = write_own_catalog(tmp_path)
    language = tmp_path / "mine" / "languages" / "sw.toml"
    text = language.read_text(encoding="utf-8")
    language.write_text(text.replace("anayeishi {country}", "anayeishi {contry}"), encoding="utf-8")
    planned = polyculture("plan", experiment, cwd=tmp_path)
    assert planned.returncode == 2
    assert "sw.toml" in planned.stderr
    assert "topics.food.explicit" in planned.stderr


def test_the_first_experiment_of_the_readme_is_accepted(tmp_path: Path) -> None:
    experiment = tmp_path / "exp.toml"
    experiment.write_text(blocks("README.md", "toml")[0], encoding="utf-8")
    planned = polyculture("plan", experiment, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert "720" in planned.stdout
