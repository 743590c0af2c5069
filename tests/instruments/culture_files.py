"""Made-up files in the publishers' forms: BLEnD's folder, the study's sheets; and what a message asks for."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LEVELS = {"Mexico": "high", "China": "high", "US": "high", "Indonesia": "mid", "South Korea": "mid", "Assam": "low",
          "Ethiopia": "low", "Northern Nigeria": "low"}  # fmt: skip
REGIONS = {"Mexico": "North America", "US": "North America", "China": "East Asia", "South Korea": "East Asia",
           "Indonesia": "South Asia", "Assam": "South Asia", "Ethiopia": "Africa",
           "Northern Nigeria": "Africa"}  # fmt: skip
NUMERIC = "How old are children in {}? (Provide Arabic numerals (e.g., 12) only.)"


def answer_of(country: str, number: int) -> str:
    """A country's usual answer to a question."""
    return f"{country.lower()} dish {number}"


def write_blend(folder: Path, questions: int = 4, countries: Sequence[str] = tuple(LEVELS)) -> Path:
    """So many questions with answers of each country, one that asks for a number and one that nobody answered."""
    for country in countries:
        name = country.replace(" ", "_")
        told: dict[str, Any] = {}
        for number in range(questions):
            text = f"What do people eat on day {number} in {country}?"
            told[f"Al-en-{number:02}"] = entry(
                text, (answer_of(country, number), 3), (f"soup of {country}", 2), ("rice", 1)
            )
        told["Nu-en-01"] = entry(NUMERIC.format(country), ("12", 5))
        told["No-en-01"] = entry(f"What is never eaten in {country}?")
        annotations = folder / "annotations" / f"{name}_data.json"
        annotations.parent.mkdir(parents=True, exist_ok=True)
        annotations.write_text(json.dumps(told), encoding="utf-8")
        rows = [["", "ID", "Topic", "Source", "Question", "Translation"]]
        rows += [[str(n), key, "Food", "made up", one["question"], one["en_question"]] for n, (key, one) in
                 enumerate(told.items())]  # fmt: skip
        write_csv(folder / "questions" / f"{name}_questions.csv", rows)
    return folder


def entry(text: str, *answers: tuple[str, int]) -> dict[str, Any]:
    """A question of BLEnD with its answers and their votes."""
    annotations = [{"answers": [f"local {one}"], "en_answers": [one], "count": votes} for one, votes in answers]
    return {"question": f"local {text}", "en_question": text, "annotations": annotations, "idks": {}}


def resource_row(target: str, number: int, **changes: str) -> dict[str, str]:
    """A row of the study's resource sheet: the target's answer and one of each level."""
    others = {level: next(one for one in LEVELS if LEVELS[one] == level and one != target) for level in
              ("high", "mid", "low")}  # fmt: skip
    chosen = [target, *others.values()]
    random.Random(f"{target} {number}").shuffle(chosen)
    return _row(target, number, chosen, [LEVELS[one] for one in chosen], LEVELS[target], changes)


def region_row(target: str, number: int, **changes: str) -> dict[str, str]:
    """A row of a region sheet: the target's answer, one of its region, two of two others."""
    own = next(one for one in REGIONS if REGIONS[one] == REGIONS[target] and one != target)
    away: dict[str, str] = {}
    for one in REGIONS:
        if REGIONS[one] != REGIONS[target]:
            away.setdefault(REGIONS[one], one)
    chosen = [target, own, *list(away.values())[:2]]
    random.Random(f"{target} {number}").shuffle(chosen)
    return _row(target, number, chosen, [REGIONS[one] for one in chosen], REGIONS[target], changes)


def _row(
    target: str, number: int, chosen: Sequence[str], groups: Sequence[str], group: str, changes: Mapping[str, str]
) -> dict[str, str]:
    texts, right = [answer_of(one, number) for one in chosen], list(chosen).index(target)
    row = {
        "ID": f"Al-en-{number:02}", "target_country": target.replace(" ", "_"), "target_region": group,
        "prompt": f"What do people eat on day {number} in {target}?", "region_choices_list": repr(texts),
        "region_choice_countries_list": repr(list(chosen)), "region_choice_region_list": repr(list(groups)),
        "region_answer": str(right), "answer_idx": "ABCD"[right], "answer_str": texts[right],
    }  # fmt: skip
    return {**row, **changes}


OPEN = """\
name = "open"
title = "Open questions of ours"
licence = "ours"
kind = "open"
numbers = ["texts"]
unit = "question"
[[questions]]
files = "open.tsv"
id = "{question_id} {culture} {language}"
text = "question"
language = "language"
[questions.facets]
question = "{question_id}"
culture = "{culture}"
topic = "{topic}"
"""


def write_open(folder: Path, rows: Sequence[str]) -> Path:
    """A set of open questions: a rules file, and a table of tabs with id, culture, language, topic and question."""
    lines = ["question_id\tculture\tlanguage\ttopic\tquestion", *rows]
    (folder / "open.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "open.toml").write_text(OPEN, encoding="utf-8")
    return folder / "open.toml"


def write_sheets(folder: Path, questions: int = 4, targets: Sequence[str] = tuple(LEVELS)) -> Path:
    """Both kinds of sheets, a row per question and target."""
    for name, make in (("blend_resource/resource.csv", resource_row), ("blend_region/region.csv", region_row)):
        rows = [make(target, number) for number in range(questions) for target in targets]
        write_rows(folder / name, rows)
    return folder


def write_rows(file: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    """Rows under the column names of the first."""
    return write_csv(file, [list(rows[0]), *(list(row.values()) for row in rows)])


def write_csv(file: Path, rows: Sequence[Sequence[str]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(rows)
    return file


def asked_of(message: str) -> tuple[str, int]:
    """The target and the number of the question in a message."""
    found = re.search(r"on day (\d+) in (.+)\?", message)
    assert found, message
    return found[2], int(found[1])


def options_of(message: str) -> list[str]:
    """The options as they are shown in a message."""
    return re.findall(r"^- (.+)$", message, re.MULTILINE)


def oracle(message: str) -> str:
    """The target's own answer."""
    return answer_of(*asked_of(message))


def of_most_resources(message: str) -> str:
    """The option of the highest level that is not the target's."""
    target, number = asked_of(message)
    return next(text for one in LEVELS if LEVELS[one] == "high" and one != target
                if (text := answer_of(one, number)) in options_of(message))  # fmt: skip
