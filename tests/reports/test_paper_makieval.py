"""`report --paper makieval` through the real command line, against a recount of a small store."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import mean

import pytest

from polyculture.cache.manifest import read_manifest, write_manifest
from polyculture.metrics.measure import measure
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder

N = 12  # answers of a prompt: fewer have no interval
ONE, TWO = "llamacpp:a_b", "llamacpp:千問&b"
EXPERIMENT = f"""
name = "studied"
models = ["{ONE}", "{TWO}"]
languages = ["en", "ja"]
topics = ["food", "clothing"]
countries = ["JP", "US"]
conditions = ["neutral", "explicit"]
[sampling]
n = {N}
[extract]
with = "gazetteer"
[link]
snapshot = "starter"
"""
STUDIED = ("Aya", "ChatGPT", "DeepSeek", "Llama3", "Llama3-70B", "Mistral", "Qwen")
ITEMS = {"udon": "JP", "sushi": "JP", "ramen": "JP", "burger": "US", "soup": None}
Cell = tuple[str, str, str, str | None]  # model, language, topic, country
Rows = list[dict[str, str]]
Written = tuple[Path, dict[Cell, list[list[str]]]]


def named(model: str, language: str, topic: str, country: str | None, sample: int) -> list[str]:
    """What an answer names: general things in English, other dishes in Japanese, and next to nothing in one cell."""
    if (model, language, country) == (TWO, "ja", "US") and sample > 2:
        return []
    own = [item for item, of in ITEMS.items() if of == (country or "JP") and (item != "udon" or language == "ja")]
    found = [own[(sample * 7 + len(topic)) // 3 % len(own)]]
    if sample % (2 if model == ONE else 3) == 0 or language == "en":
        found.append("soup")
    return [*found, "burger"] if (sample * sample + len(topic)) % 3 == 0 and found[0] != "burger" else found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The paper's tables of a run, and what each of its answers names."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    builder = StoreBuilder(folder / "runs" / "studied", (ONE, TWO), ("JP", "US"), n=N)
    answers: dict[Cell, list[list[str]]] = defaultdict(list)
    for language in ("en", "ja"):
        for topic in ("food", "clothing"):
            for country in (None, "JP", "US"):
                prompt = builder.ask(language, topic, country)
                for model in (ONE, TWO):
                    for sample in range(N):
                        found = named(model, language, topic, country, sample)
                        mentions = [{"surface": one, "granularity": int(one != "soup")} for one in found]
                        elsewhere = (model, language, topic, country, sample) == (TWO, "ja", "food", "JP", 0)
                        said = "en" if elsewhere else language
                        builder.answer(prompt, mentions, model=model, sample=sample, detected_language=said)
                        answers[model, language, topic, country].append(found)
    for number, (item, country) in enumerate(ITEMS.items()):
        builder.link(item, f"Q{number + 1}")
        builder.entity(f"Q{number + 1}", item, **({country: "P495"} if country else {}))
    run = builder.write()
    manifest = read_manifest(run.manifest)
    assert manifest
    designed = {"languages": ["en", "ja"], "topics": ["food", "clothing"], "conditions": ["neutral", "explicit"]}
    write_manifest(manifest.model_copy(update=designed), run.manifest)
    measure(run)
    done = polyculture("report", "exp.toml", "--paper", "makieval", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, answers


def cells_of(folder: Path) -> Rows:
    file = folder / "runs" / "studied" / "report-tables" / "paper-makieval" / "cells.csv"
    with file.open(encoding="utf-8", newline="") as text:
        return [cell for cell in csv.DictReader(text) if cell["source"] == "this run"]


def rows(folder: Path, table: str) -> Rows:
    """The run's rows of a table: its cells by column."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for cell in cells_of(folder):
        if cell["table"] == table:
            row = found.setdefault((cell["model"], cell["row"]), {**cell})
            row |= {f"{cell['column']}{end}": cell[name] for name, end in
                    (("value", ""), ("low", " low"), ("high", " high"))}  # fmt: skip
    return list(found.values())


def test_texts_that_are_not_in_their_prompts_language_are_told_at_the_paper_rows(written: Written) -> None:
    told = {row["model"]: row["protocol"] for name in ("3", "12") for row in rows(written[0], name)}
    assert "1 of 144 texts are not in their prompt's language" in told[TWO]
    assert "prompt's language" not in told[ONE]
    of = {row["row"]: row["protocol"] for row in rows(written[0], "figure 3") if row["model"] == TWO}
    assert "1 of 72 texts" in of["ja, explicit"]
    assert "prompt's language" not in of["en, explicit"]


def share(answers: list[list[str]], country: str) -> float:
    """Of all items, each once per answer, those of the country."""
    found = [ITEMS[item] == country for one in answers for item in set(one)]
    return sum(found) / len(found)


def test_the_metrics_by_language_and_country_are_those_of_a_recount(written: Written) -> None:
    folder, answers = written
    granularity, diversity = (
        {(row["model"], row["row"]): row for row in rows(folder, name)} for name in ("figure 3", "figure 4")
    )
    for model, language, country in product((ONE, TWO), ("en", "ja"), ("JP", "US")):
        cells = [answers[model, language, topic, country] for topic in ("food", "clothing")]
        told = [mean(item != "soup" for one in cell for item in set(one)) for cell in cells]
        row = granularity[model, f"{language}, explicit"]
        assert float(row[country]) == pytest.approx(mean(told), abs=1e-6)
        if row[f"{country} low"]:
            assert float(row[f"{country} low"]) <= float(row[country]) <= float(row[f"{country} high"])
        distinct = mean(len({item for one in cell for item in one}) for cell in cells)
        assert float(diversity[model, f"{language}, explicit"][country]) == pytest.approx(distinct)
    table = {(row["model"], row["row"]): row for row in rows(folder, "figure 5")}
    for model in (ONE, TWO):
        for language in ("en", "ja"):
            for country in ("JP", "US"):
                told = [share(answers[model, language, t, country], country) for t in ("food", "clothing")]
                row = table[model, f"{language}, specificity, explicit"]
                assert float(row[country]) == pytest.approx(mean(told), abs=1e-6)
    gain = table[ONE, "en, gain in specificity, explicit"]
    of = [
        share(answers[ONE, "en", topic, "US"], "US") - share(answers[ONE, "en", topic, None], "US")
        for topic in ("food", "clothing")
    ]
    assert float(gain["US"]) == pytest.approx(mean(of), abs=1e-6)


def test_consensus_of_two_languages_is_that_of_a_recount(written: Written) -> None:
    folder, answers = written
    for row in (row for row in rows(folder, "figure 6") if row["row"] == "en"):
        told = []
        for topic in ("food", "clothing"):
            for country in (None, "JP", "US"):
                en, ja = (
                    {item for one in answers[row["model"], code, topic, country] for item in one}
                    for code in ("en", "ja")
                )
                told.append(len(en & ja) / len(en | ja))
        assert float(row["ja"]) == pytest.approx(mean(told), abs=1e-6)


def test_cells_say_what_they_rest_on_and_what_is_otherwise(written: Written) -> None:
    folder, answers = written
    cells = cells_of(folder)
    told = (
        "2 of 13 languages; 2 of 6 topics; 2 of 19 countries; 2 of 4 conditions; "
        f"n {N}, not 500; sampling is not recorded; "
        "prompts, extraction, links and snapshot are this run's"
    )
    by_topic = [cell["protocol"] for cell in cells if cell["table"] in ("10", "11")]
    assert all(one.startswith(told) and one.endswith("; incomplete: 4 of 6 rows missing") for one in by_topic)
    labels = [cell["protocol"] for cell in cells if cell["table"] == "11" and "abel" in cell["column"]]
    assert labels
    assert all("a label counts once" in one for one in labels)
    assert {re.split("; (?:ja: )?1 of", cell["protocol"])[0] for cell in cells} == {told, *by_topic}
    place = ("figure 3", ONE, "en, explicit", "JP")
    [one] = [cell for cell in cells if (cell["table"], cell["model"], cell["row"], cell["column"]) == place]
    listed = [a for (m, code, _, of), cell in answers.items() if (m, code, of) == (ONE, "en", "JP") for a in cell]
    assert (int(one["n"]), one["unit"]) == (sum(len(set(a)) for a in listed), "linked item")
    shares = [
        cell
        for cell in cells
        if cell["unit"] == "linked item" and "diversity" not in cell["row"] + cell["title"].lower()
    ]
    few = [cell for cell in shares if int(cell["n"]) < 10]
    assert few
    assert all(f"n = {cell['n']}" in cell["note"] for cell in few)
    assert not [cell for cell in shares if int(cell["n"]) >= 10 and "n = " in cell["note"]]


def test_every_table_is_csv_and_latex_with_published_rows_below(written: Written) -> None:
    folder, _ = written
    tables = folder / "runs" / "studied" / "report-tables" / "paper-makieval"
    names = {path.stem for path in tables.glob("*.csv")} - {"cells"}
    assert names == {path.stem for path in tables.glob("*.tex")}
    assert names == {
        *("table-3", "table-10", "table-11", "table-12", "figure-3", "figure-4", "figure-5", "figure-6"),
    }
    assert "Llama3-70B (published) & " in (tables / "table-3.tex").read_text(encoding="utf-8")
    text = (tables / "figure-5.tex").read_text(encoding="utf-8")
    assert re.search(r"千問\\&b & ja, specificity, explicit[^&]* & .*\d\.\d+\*", text)
    assert "fewer than 10 linked items" in text
    page = (folder / "runs" / "studied" / "report.html").read_text(encoding="utf-8")
    assert 'id="paper-makieval"' in page
    assert "16.526" in page
