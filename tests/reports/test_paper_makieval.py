"""`report --paper makieval` and `--main-table` through the real command line, against a recount of a small store."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.manifest import read_manifest, write_manifest
from polyculture.metrics.measure import measure
from polyculture.published.cells import published
from polyculture.reports.main_table import main_table
from polyculture.reports.names import Names
from polyculture.running.layout import report_papers
from tests.polyculture.test_command_line import polyculture
from tests.store_builder import StoreBuilder, manifest

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
ITEMS = {"udon": "JP", "sushi": "JP", "ramen": "JP", "burger": "US", "soup": None}
HEADER = "paper\ttable\tmeasure\tmetric\trow\tcolumn\tlanguage\tculture\tcondition\tvalue\tunit\tprotocol"
PUBLISHED = (
    "makieval\t3\tentities\tgranularity\ta_b\tEnglish\ten\t\t\t50\tpercent\tthe paper's",
    "makieval\t3\tentities\tspecificity\tGPT_4\tJapan\tja\tJP\texplicit\t0.25\tshare\tthe paper's",
    "makieval\t3\tentities\tdiversity\tGPT_4\tKorean\tko\t\t\t7\tcount\tthe paper's",
    "camel\t3\tcbs\tcbs\tMARBERT\taverage\ten\tJapanese\tgrounded\t49.33\tpercent\tdraws",
)
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
    """The paper's tables and the main table of a run, and what each of its answers names."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    (folder / "mine.tsv").write_text("\n".join([HEADER, *PUBLISHED]) + "\n", encoding="utf-8")
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
                        builder.answer(prompt, mentions, model=model, sample=sample)
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
    done = polyculture(
        "report", "exp.toml", "--paper", "makieval", "--published", "mine.tsv", "--main-table", "main.tex", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "mine.tsv: 3 cells of makieval, 1 of them beside a number of this run" in done.stdout
    assert "Main table: main.tex (2 models)" in done.stdout
    return folder, answers


def rows(folder: Path, name: str) -> Rows:
    file = folder / "runs" / "studied" / "report-tables" / "paper-makieval" / f"{name}.csv"
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def share(answers: list[list[str]], country: str) -> float:
    """Of all items, each once per answer, those of the country."""
    found = [ITEMS[item] == country for one in answers for item in set(one)]
    return sum(found) / len(found)


def test_the_metrics_by_language_and_country_are_those_of_a_recount(
    written: Written,
) -> None:
    folder, answers = written
    for row in rows(folder, "granularity-by-language")[:2]:
        for language in ("en", "ja"):
            cells = [
                a for (m, one, topic, _), a in answers.items() if (m, one, topic) == (row["model"], language, "food")
            ]
            told = [mean(item != "soup" for one in cell for item in set(one)) for cell in cells]
            assert float(row[language]) == pytest.approx(mean(told), abs=1e-6)
            assert float(row[f"{language} low"]) <= float(row[language]) <= float(row[f"{language} high"])
            assert int(row[f"{language} n"]) == sum(len(set(one)) for cell in cells for one in cell)
    for row in rows(folder, "diversity-by-topic"):
        for topic in ("food", "clothing"):
            cells = [a for (m, _, one, _), a in answers.items() if (m, one) == (row["model"], topic)]
            assert float(row[topic]) == pytest.approx(mean(len({i for one in cell for i in one}) for cell in cells))
    table = rows(folder, "specificity-by-country-explicit")
    assert [(row["model"], row["language"]) for row in table[:4]] == [
        (m, code) for m in (ONE, TWO) for code in ("en", "ja")
    ]
    for row in table[:4]:
        for country in ("JP", "US"):
            told = [share(answers[row["model"], row["language"], t, country], country) for t in ("food", "clothing")]
            assert float(row[country]) == pytest.approx(mean(told), abs=1e-6)
    gain = rows(folder, "specificity-gain-by-country-explicit")[0]
    of = [
        share(answers[ONE, "en", topic, "US"], "US") - share(answers[ONE, "en", topic, None], "US")
        for topic in ("food", "clothing")
    ]
    assert float(gain["US"]) == pytest.approx(mean(of), abs=1e-6)


def test_consensus_of_two_languages_is_that_of_a_recount(written: Written) -> None:
    folder, answers = written
    for row in rows(folder, "consensus-by-pair"):
        told = []
        for topic in ("food", "clothing"):
            for country in (None, "JP", "US"):
                en, ja = (
                    {item for one in answers[row["model"], code, topic, country] for item in one}
                    for code in ("en", "ja")
                )
                told.append(len(en & ja) / len(en | ja))
        assert (row["language"], float(row["ja"])) == ("en", pytest.approx(mean(told), abs=1e-6))


def test_cells_say_what_they_rest_on_and_what_is_published(written: Written) -> None:
    folder, _ = written
    cells = rows(folder, "cells")
    [beside] = [cell for cell in cells if cell["value"] and cell["published"]]
    assert (beside["file"], beside["row"], beside["column"]) == ("granularity-by-language", ONE, "en")
    assert (beside["published"], beside["table"]) == ("0.5", "3")
    assert beside["differs"].endswith(f"2 languages, 2 topics, 2 countries, {N} responses a prompt")
    alone = {(cell["row"], cell["column"]) for cell in cells if cell["published"] and not cell["value"]}
    printed = {(cell.name, "all") for cell in published("makieval") if cell.table in ("3", "12")}
    assert alone == {("GPT_4", "JP"), ("GPT_4", "ko"), *printed}
    assert all(cell["differs"] for cell in cells)
    clothing = [cell for cell in cells if (cell["file"], cell["column"]) == ("granularity-by-topic", "clothing")]
    assert len(clothing) == 2
    assert all(not cell["value"] and cell["ours"] and "no specific kinds" in cell["differs"] for cell in clothing)
    shares = [cell for cell in cells if cell["value"] and cell["measure"] != "diversity"]
    few = {cell["linked_items"]: cell["thin"] for cell in shares if int(cell["linked_items"]) < 10}
    assert few
    assert few == {number: f"n = {number}" for number in few}
    assert not [cell for cell in shares if int(cell["linked_items"]) >= 10 and cell["thin"]]
    [thin] = [row for row in rows(folder, "specificity-by-country-explicit") if row["thin"]]
    assert (thin["model"], thin["language"], thin["thin"]) == (TWO, "ja", "US")
    assert all(not cell["thin"] for cell in cells if cell["measure"] == "diversity")


def test_every_table_is_latex_too_with_published_rows_below(written: Written) -> None:
    folder, _ = written
    tables = folder / "runs" / "studied" / "report-tables" / "paper-makieval"
    names = {path.stem for path in tables.glob("*.csv")} - {"cells"}
    assert names == {path.stem for path in tables.glob("*.tex")}
    assert {name.partition("-by-")[0] for name in names} == {
        *("overview", "granularity", "diversity", "specificity", "specificity-gain", "consensus")
    }
    for name in names:
        text = (tables / f"{name}.tex").read_text(encoding="utf-8")
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
        assert (
            len({line.count(" & ") for line in text.splitlines() if line.endswith(r"\\")}) <= 2
        )  # table, or "continued"
    country = (tables / "specificity-by-country-explicit.tex").read_text(encoding="utf-8")
    assert r"GPT\_4 (published) & Japanese & 0.25 & -- \\" in country
    assert re.search(r"千問\\\&b & Japanese & \d\.\d\d & \d\.\d\d\* ", country)
    assert "*: fewer than 10 linked items}" in country


def test_the_studys_models_stand_below_those_of_the_run(written: Written) -> None:
    overview = {row["model"]: row for row in rows(written[0], "overview")}
    assert len(overview) == 2 + 7
    aya = overview["Aya (published)"]
    assert (aya["consensus"], aya["diversity"], aya["granularity"]) == ("0.1839", "25.561", "")
    assert float(overview[ONE]["consensus"]) > 0


def test_the_main_table_stands_in_a_column(written: Written) -> None:
    folder, _ = written
    text = (folder / "main.tex").read_text(encoding="utf-8")
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == [
        *(("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table"))
    ]
    assert r"\ifdim\wd0>8.5cm\resizebox{8.5cm}" in text
    lines = [line for line in text.splitlines() if line.count(" & ")]
    assert [line.split(" & ")[0] for line in lines] == [
        "Model",
        r"a\_\allowbreak{}b",
        "",
        *lines[3:4][0].split(" & ")[:1],
        "",
    ]
    assert lines[3].startswith(r"千\allowbreak{}問\allowbreak{}\&b & ")
    assert len({line.count(" & ") for line in lines}) == 1
    overview = rows(folder, "overview")[:2]  # the study's models have no intervals
    for row, line, below in zip(overview, lines[1::2], lines[2::2], strict=True):
        shown = re.sub(r"\\\\.*", "", line).split(" & ")[1:]
        number = f"{float(row['diversity']):.1f}"
        assert shown[1].strip() == number
        gain = [f"{float(row[f'specificity_gain {end}']):+.2f}".replace("0.", ".", 1) for end in ("low", "high")]
        assert rf"{{\tiny [{', '.join(gain)}]}}" in below.split(" & ")[4]


def test_a_hostile_model_is_text_in_the_main_table() -> None:
    name = "openai:" + r"\input{x}~^#$%&_" + "m" * 90
    row = {"model": name, "metric": "specificity_gain", "estimate": -0.5, "low": None, "high": None, "incidences": 3}
    text = main_table([row], [name], manifest([name], ["JP"], 1), Names(read_catalog(), [name]))
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    assert r"\input" not in text
    assert r"& $-$.50$^{*}$ \\*" in body
    assert "no interval" in body
    assert "fewer than 10 linked items" in text
    letters = re.sub(r"\\allowbreak\{\}|\\text\w+\{\}", "|", body).split("&")[0]
    assert max(len(run) for run in re.findall("m+", letters)) <= 12
    assert all(
        before == "\\" for before, sign in pairwise(body.replace("$-$", "").replace("$^{*}$", "")) if sign in "#%_"
    )


def test_the_options_list_every_paper(written: Written) -> None:
    from polyculture.cli.report import PaperName

    assert set(map(str, PaperName)) == set(report_papers())
    said = polyculture("report", "exp.toml", "--paper", "makieval", "--data", "own", cwd=written[0])
    assert said.returncode == 2
    assert "--data names a data set" in " ".join(said.stderr.replace("│", " ").split())
