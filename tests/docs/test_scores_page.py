"""docs/scores.md: its commands, on made-up logs of lm-evaluation-harness, print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tests.polyculture.test_command_line import polyculture
from tests.sources.test_item_scores import lm_eval, sample
from tests.test_house import ROOT

PAGE = ROOT / "docs" / "scores.md"
SKILLS = {"org/small": 0.0, "org/large": 0.7, "org/large-tuned": 0.6}


def words(text: str) -> list[str]:
    """What a table prints, whatever the width of its columns."""
    return re.sub(r"[─\s]+", " ", text).split()


def logs(folder: Path) -> None:
    """Three models on 400 items about 100 passages; some passages are harder than others."""
    random = np.random.default_rng(8)
    hard = random.normal(0, 1, 400) + np.repeat(random.normal(0, 1, 100), 4)
    for model, skill in SKILLS.items():
        right = random.random(400) < 1 / (1 + np.exp(-(hard + skill)))
        records = [sample(number, acc=float(one)) for number, one in enumerate(right)]
        for number, record in enumerate(records):
            record["doc"] = {"passage_id": number // 4}
        lm_eval(folder / "logs", model, records, "reading")


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    logs(tmp_path)
    commands = re.findall(r"^    polyculture (.+)$", page, re.MULTILINE)
    assert len(commands) == 4
    printed = ""
    for command in commands:
        own = [one.strip("'") for one in re.findall(r"'[^']*'|\S+", command)]
        done = polyculture(*own, cwd=tmp_path, COLUMNS="120")
        assert done.returncode == 0, done.stderr
        printed += f"{done.stderr}\n{done.stdout}\n"
    [shown] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    for line in filter(str.strip, shown.splitlines()):
        assert " ".join(words(line)) in " ".join(words(printed)), line
    assert len(shown.splitlines()) <= 20
