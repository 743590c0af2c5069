"""`report --paper makieval` through the real command line, against a recount of a small store."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import mean

import pytest

from polyculture.cache.store.layout import compose
from polyculture.cache.store.manifest import read_manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments.papers.files import COMPARED
from polyculture.instruments.papers.options import AsPaper
from polyculture.instruments.papers.study import joined_tables
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.audit.judging import cases_of, drawn, keep_answer
from polyculture.metrics.measure import measure
from polyculture.published.cells import published
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
PLACE = ("table", "model", "row", "column")
STUDIED = ("Aya", "ChatGPT", "DeepSeek", "Llama3", "Llama3-70B", "Mistral", "Qwen")
ELSEWHERE = "ramen"  # whose country is a place, and no origin
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
        builder.entity(f"Q{number + 1}", item, **({country: "P17" if item == ELSEWHERE else "P495"} if country else {}))
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
    """The measured cells, each once: the first published model's row of several."""
    file = folder / "runs" / "studied" / "report-tables" / "paper-makieval" / COMPARED
    with file.open(encoding="utf-8", newline="") as text:
        measured = [row for row in csv.DictReader(text) if row["yours"]]
    return list({tuple(row[name] for name in PLACE): row for row in reversed(measured)}.values())[::-1]


def rows(folder: Path, table: str) -> Rows:
    """The run's rows of a table: its cells by column."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for cell in cells_of(folder):
        if cell["table"] == table:
            row = found.setdefault((cell["model"], cell["row"]), {**cell})
            row |= {f"{cell['column']}{end}": cell[name] for name, end in
                    (("yours", ""), ("low", " low"), ("high", " high"))}  # fmt: skip
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
        distinct = [len({item for one in cell for item in one}) for cell in cells]
        for topic, number in zip(("food", "clothing", "average"), (*distinct, mean(distinct)), strict=True):
            assert float(diversity[model, f"{topic}, {language}"][country]) == pytest.approx(number)
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
    tables = ("3", "figure 6", "figures 24 to 30")
    printed = {(table, row["model"]): row for table in tables for row in rows(folder, table) if row["row"] != "ja"}
    for model in (ONE, TWO):
        by_topic = {topic: mean(overlap(answers, model, topic, country) for country in ("JP", "US"))
                    for topic in ("food", "clothing")}  # fmt: skip
        assert float(printed["figure 6", model]["ja"]) == pytest.approx(by_topic["food"], abs=1e-6)
        assert float(printed["figures 24 to 30", model]["ja"]) == pytest.approx(mean(by_topic.values()), abs=1e-6)
        assert float(printed["3", model]["yours"]) == pytest.approx(mean(by_topic.values()), abs=1e-6)


def overlap(answers: dict[Cell, list[list[str]]], model: str, topic: str, country: str) -> float:
    """Jaccard's index of the items that a model names in English and in Japanese."""
    en, ja = ({item for one in answers[model, code, topic, country] for item in one} for code in ("en", "ja"))
    return len(en & ja) / len(en | ja)


def test_tables_of_counts_are_of_explicit_prompts_and_of_all_models_together(written: Written) -> None:
    folder, answers = written
    diversity = {row["model"]: float(row["yours"]) for row in rows(folder, "12")}
    items = {(row["model"], row["row"], row["column"]): row for row in cells_of(folder) if row["table"] == "11"}
    by_language = {row["model"]: row for row in rows(folder, "figure 8")}

    def named_by(**wanted: str) -> set[str]:
        return {item for (model, language, topic, _), some in answers.items() for one in some for item in one
                if wanted.items() <= {"model": model, "language": language, "topic": topic}.items()}  # fmt: skip

    for model in (ONE, TWO):
        explicit = [cell for (of, _, _, country), cell in answers.items() if of == model and country]
        assert diversity[model] == pytest.approx(mean(len({i for one in cell for i in one}) for cell in explicit))
        assert float(items[model, "food", "Unique QIDs"]["yours"]) == len(named_by(model=model, topic="food"))
        assert "one model" in items[model, "food", "Unique QIDs"]["protocol"]
        for language in ("en", "ja"):
            assert float(by_language[model][language]) == len(named_by(model=model, language=language))
    together = items["all 2 models", "food", "Unique QIDs"]
    assert float(together["yours"]) == len(named_by(topic="food"))
    assert "2 models together, where the paper counts seven" in together["protocol"]


@pytest.mark.parametrize(("union", "countries"), [(True, False), (False, True), (True, True)])
def test_the_papers_ways_to_count_are_those_of_a_recount(written: Written, union: bool, countries: bool) -> None:
    folder, answers = written
    tables, _ = joined_tables(RunFolder(folder / "runs" / "studied"), "makieval", 0, None, AsPaper(union, countries))
    lines = {(table.table.name, line.model, line.row): line for table in tables for line in table.lines}
    counts = {item: None if countries and item == ELSEWHERE else country for item, country in ITEMS.items()}

    def recounted(model: str, language: str, country: str, named: str | None) -> float:
        found = []
        for topic in ("food", "clothing"):
            listed = [set(one) for one in answers[model, language, topic, named]]
            items = sorted(set().union(*listed)) if union else [item for one in listed for item in one]
            found.append(mean(counts[item] == country for item in items))
        return mean(found)

    for model, language, country in product((ONE, TWO), ("en", "ja"), ("JP", "US")):
        line = lines["figure 5", model, f"{language}, specificity, explicit"]
        explicit = recounted(model, language, country, country)
        assert line.cells[country].value == pytest.approx(explicit)
        assert not line.cells[country].interval
        assert any("counted as the paper does" in remark for remark in line.cells[country].remarks)
        gain = lines["figure 5", model, f"{language}, gain in specificity, explicit"].cells.get(country)
        if gain:
            assert gain.value == pytest.approx(explicit - recounted(model, language, country, None))
    if union:
        of = [{i for one in answers[ONE, "en", topic, "JP"] for i in one} for topic in ("food", "clothing")]
        told = mean(mean(item != "soup" for item in items) for items in of)
        assert lines["figure 3", ONE, "en, explicit"].cells["JP"].value == pytest.approx(told)


def test_the_extractors_accuracy_stands_in_tables_8_and_9_where_people_judged(written: Written) -> None:
    folder, _ = written
    _, without = joined_tables(RunFolder(folder / "runs" / "studied"), "makieval", 0)
    assert {"table 8", "table 9"} <= without.keys()
    run = RunFolder(folder / "runs" / "studied")
    with open_store(run, compose(METRICS_LAYOUT)) as store:
        cases = [case for one in drawn(store, 12) for case in cases_of(store, one)]
    for case in cases:
        question, word = ("missed", "1") if case.ordinal is None else ("mention", "right")
        keep_answer(run, case, "ana", question, word)
    try:
        tables = {one.table.name: one for one in joined_tables(run, "makieval", 0)[0]}
    finally:
        run.table("judgements").unlink()
        (run.root / "inventory" / "judgements.written").unlink()
    own = {line.row: line for line in tables["8"].lines if line.own}
    assert {line.model for line in own.values()} == {"extractor"}
    assert own["English"].cells["Precision (%)"].value == 100
    assert 0 < own["English"].cells["Recall (%)"].value < 100
    assert "F1 (%)" in next(line for line in tables["9"].lines if line.own and line.row == "Food").cells
    assert [line.cells["F1 Score (%)"].text for line in tables["8"].lines if not line.own and line.row == "Thai"] == [
        "94.08"
    ]


def test_cells_say_what_they_rest_on_and_what_is_otherwise(written: Written) -> None:
    folder, answers = written
    cells = cells_of(folder)
    told = (
        "2 of 13 languages; 2 of 6 topics; 2 of 19 countries; 2 of 4 conditions; "
        f"n {N}, not 500; sampling is not recorded; "
        "prompts, extraction, links and snapshot are this run's"
    )
    by_topic = [cell["protocol"] for cell in cells if cell["table"] in ("10", "11")]
    assert all(one.startswith(told) for one in by_topic)
    labels = [cell["protocol"] for cell in cells if cell["table"] == "11" and "abel" in cell["column"]]
    assert labels
    assert all("a label counts once" in one for one in labels)
    assert {cell["protocol"].split("; 1 of")[0] for cell in cells} == {told, *by_topic}
    place = ("figure 3", ONE, "en, explicit", "JP")
    [one] = [cell for cell in cells if (cell["table"], cell["model"], cell["row"], cell["column"]) == place]
    listed = [a for (m, code, _, of), cell in answers.items() if (m, code, of) == (ONE, "en", "JP") for a in cell]
    assert (int(one["n"]), one["n_unit"]) == (sum(len(set(a)) for a in listed), "linked item")
    shares = [
        cell
        for cell in cells
        if cell["n_unit"] == "linked item" and "diversity" not in cell["row"] + cell["title"].lower()
    ]
    few = [cell for cell in shares if int(cell["n"]) < 10]
    assert few
    assert all(f"n = {cell['n']}" in cell["note"] for cell in few)
    assert not [cell for cell in shares if int(cell["n"]) >= 10 and "n = " in cell["note"]]


def test_a_printed_number_is_next_to_each_models_and_differs_by_what_the_two_do(written: Written) -> None:
    file = written[0] / "runs" / "studied" / "report-tables" / "paper-makieval" / COMPARED
    with file.open(encoding="utf-8", newline="") as text:
        table = [row for row in csv.DictReader(text) if row["table"] == "3"]
    assert {(row["model"], row["published_model"]) for row in table} == set(product((ONE, TWO), STUDIED))
    for row in table:
        [printed] = [one for one in published("makieval") if (one.table, one.model) == ("3", row["published_model"])]
        assert (float(row["published"]), row["published_spread"]) == (
            printed.number,
            str(float(printed.spread or "nan")),
        )
        assert float(row["difference"]) == pytest.approx(float(row["yours"]) - float(printed.value), abs=2e-6)


def test_every_table_is_latex_and_on_the_page_with_published_rows_below(written: Written) -> None:
    folder, _ = written
    tables = folder / "runs" / "studied" / "report-tables" / "paper-makieval"
    assert {path.stem for path in tables.glob("*.tex")} == {
        *("table-3", "table-10", "table-11", "table-12", "figure-3", "figure-4", "figure-5", "figure-6", "figure-8"),
        "figures-24-to-30",
    }
    assert [path.name for path in tables.glob("*.csv")] == [COMPARED]
    printed = sorted(one.value for one in published("makieval") if one.table == "3")
    assert f"{printed[0]} to {printed[-1]}" in (tables / "table-3.tex").read_text(encoding="utf-8")
    text = (tables / "figure-5.tex").read_text(encoding="utf-8")
    assert re.search(r"千問\\&b[^&]* & ja, specificity, explicit: [^&]* & \d\.\d+\*", text)
    assert "fewer than 10 linked items" in text
    page = (folder / "runs" / "studied" / "report.html").read_text(encoding="utf-8")
    section = page.partition('id="paper-makieval"')[2].partition("</section>")[0]
    assert section.index("This run") < section.index("Llama3-70B")
    assert "16.526" in section
