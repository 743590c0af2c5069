"""The report as a list of sections: a made-up one is shown and exported with no edit elsewhere."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from polyculture.cache.errors import UserError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.reports.report import write_report
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.sections import with_instruments
from polyculture.reports.table_section import Column, counted, measured, page_table, table_section, written
from polyculture.reports.tables import TableFormat, write_tables
from tests.report_run import HOSTILE
from tests.reports.test_page import Page, parsed
from tests.store_builder import StoreBuilder

ROOT = Path(__file__).parents[2]

QUERY = """\
-- Letters by model
-- lengths: a row is a model; how many letters its responses have.
-- printed: model, letters
SELECT model, sum(length(text))::BIGINT AS letters FROM responses GROUP BY model ORDER BY model
"""
TEMPLATE = """\
{% from "parts.html.jinja" import sources %}
{% macro opening() %}The models wrote {{ section.letters }} letters.{% endmacro %}
  <p>{{ texts.words.says }} {{ section.said }}: {{ section.letters }}.</p>
  {{ sources(tables.lengths) }}
"""
TEXTS = """\
title = "How long it writes"

[headings]
letters = "Letters & signs"

[words]
says = "Letters of"
"""


@dataclass(frozen=True)
class Lengths:
    """The context of the made-up section."""

    said: str
    letters: int


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    builder = StoreBuilder(tmp_path / "run", models=("m", "n"), n=1)
    prompt = builder.ask()
    for model in ("m", "n"):
        builder.answer(prompt, model=model, text="sushi")
    return builder.write()


def made_up(folder: Path, said: str = "all models", template: str = TEMPLATE) -> Section:
    """A section as somebody else writes one: three files and a function."""
    sql, jinja, toml = (folder / name for name in ("lengths.sql", "section.html.jinja", "section.toml"))
    for file, text in ((sql, QUERY), (jinja, template), (toml, TEXTS)):
        file.write_text(text, encoding="utf-8")

    def build(data: ReportData) -> Lengths | None:
        letters = sum(row["letters"] for row in data.reading.rows(sql))
        return Lengths(said, letters) if letters else None

    return Section("lengths", build, jinja, toml, tables=(ReportTable(sql),))


def anchors(page: Page) -> list[str]:
    """Where the navigation leads."""
    return [(e.attributes["href"] or "")[1:] for e in page.all("a") if "nav" in e.inside]


def test_a_made_up_section_is_on_the_page_in_the_navigation_and_in_the_exports(run: RunFolder, tmp_path: Path) -> None:
    sections = with_instruments([made_up(tmp_path)])
    write_report(run, sections=sections)
    page = parsed(run)
    assert "Letters of all models: 10." in page.with_id("lengths").text
    assert page.with_id("lengths-heading").text == "How long it writes"
    found = anchors(page)
    assert found[found.index("distrust") + 1] == "lengths" == found[found.index("evidence") - 1]
    assert found == [e.attributes["id"] for e in page.all("section") if "main" in e.inside]
    assert "The models wrote 10 letters." in page.all("header")[0].text
    assert "lengths.csv" in {e.attributes.get("download") for e in page.all("a")}
    write_tables(run, list(TableFormat), sections=sections)
    wanted = [{"model": "m", "letters": 5}, {"model": "n", "letters": 5}]
    with (run.report_tables / "lengths.csv").open(encoding="utf-8", newline="") as file:
        assert [{**row, "letters": int(row["letters"])} for row in csv.DictReader(file)] == wanted
    assert pq.read_table(run.report_tables / "lengths.parquet").to_pylist() == wanted
    printed = (run.report_tables / "lengths.tex").read_text(encoding="utf-8")
    assert r"Letters by model" in printed
    assert r"Letters \& signs" in printed
    assert re.search(r"m & 5 \\\\", printed)


def test_a_section_that_builds_nothing_is_nowhere(run: RunFolder, tmp_path: Path) -> None:
    for parent in (run.root, run.root / "inventory"):
        shutil.rmtree(parent / "responses")
    sections = with_instruments([made_up(tmp_path)])
    assert 'id="lengths"' not in write_report(run, sections=sections).read_text(encoding="utf-8")
    written = {path.stem for path in write_tables(run, list(TableFormat), sections=sections)}
    assert "health" in written
    assert "lengths" not in written


def test_without_texts_the_report_rests_on_a_section_that_stands_alone(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "run", models=("m",), n=1)
    builder.ask()
    run = builder.write()
    basis = "{% macro basis() %}<b>lengths</b>{% endmacro %}{{ section.letters }}"
    section = made_up(tmp_path, template=basis)
    alone = replace(section, build=lambda _data: Lengths("", 7))
    write_report(run, sections=with_instruments([alone]))
    page = parsed(run)
    assert "are based on lengths." in page.all("header")[0].text
    assert anchors(page) == ["lengths", "method"]
    assert next(e for e in page.all("a") if e.attributes.get("class") == "skip").attributes["href"] == "#lengths"
    write_report(run, sections=with_instruments([replace(alone, needs_texts=True)]))
    assert {"numbers", "distrust"} < set(anchors(parsed(run)))


def test_hostile_text_in_a_context_is_escaped(run: RunFolder, tmp_path: Path) -> None:
    write_report(run, sections=with_instruments([made_up(tmp_path, said=HOSTILE)]))
    page = parsed(run)
    assert HOSTILE[:50] in page.with_id("lengths").text
    assert "{{ 7*7 }}" in page.with_id("lengths").text
    assert not page.all("img")
    assert len(page.all("script")) == 2


def test_a_template_sees_its_own_context_alone(run: RunFolder, tmp_path: Path) -> None:
    tried = " or ".join(f"{name} is defined" for name in ("opening", "manifest", "sections", "data"))
    write_report(run, sections=[made_up(tmp_path, template=f"{{{{ {tried} }}}}")])
    assert "False" in parsed(run).with_id("lengths").text
    other = tmp_path / "other"  # templates are compiled once a process
    other.mkdir()
    with pytest.raises(UserError, match="manifest"):
        write_report(run, sections=[made_up(other, template="{{ manifest }}")])


def test_a_section_of_one_table_is_one_declaration(run: RunFolder, tmp_path: Path) -> None:
    sql, texts = tmp_path / "letters.sql", tmp_path / "letters.toml"
    sql.write_text(
        "-- Letters\n-- letters: a row is a model.\n"
        "SELECT model, 'en' AS language, NULL AS culture, NULL AS entity_type, 'own' AS dataset, 'any' AS form,\n"
        "    0.25 AS share, 0.1 AS share_low, 0.5 AS share_high, NULL AS lacking, 1234 AS letters, '<b>' AS word\n"
        "FROM (VALUES ('n'), ('m')) AS models (model)",
        encoding="utf-8",
    )
    texts.write_text(
        'title = "Letters"\n[words]\nreads = "So <em>many</em>."\ncaption = "By model"\n', encoding="utf-8"
    )
    columns = (
        Column("Share", measured("rate", "share")),
        Column("Letters", counted("letters"), "all of them"),
        Column("Word", written("word"), is_number=False),
    )
    section = table_section("letters", ReportTable(sql), texts, columns)
    write_report(run, sections=[section])
    found = parsed(run).with_id("letters").text
    assert "So many." in found
    assert found.index("m, own, any") < found.index("n, own, any")  # as in the experiment file
    assert "0.25 0.10 to 0.50 1,234 <b>" in " ".join(found.split())


@pytest.mark.parametrize(
    ("texts", "lacks"), [('title = "Letters"\n', "reads"), ('[other]\ntitle = "Letters"\n', "title")]
)
def test_a_section_without_its_words_is_said_with_their_place(
    run: RunFolder, tmp_path: Path, texts: str, lacks: str
) -> None:
    """It ended in a traceback of the template, and in one of pydantic."""
    made_up(tmp_path)
    file = tmp_path / "letters.toml"
    file.write_text(texts, encoding="utf-8")
    section = table_section("letters", ReportTable(tmp_path / "lengths.sql"), file, (Column("L", counted("letters")),))
    section = replace(
        section,
        build=lambda data: page_table(data, [{"model": "m", "letters": 1, "language": None}], (), title="", caption=""),
    )
    with pytest.raises(UserError, match=f"letters.*{lacks}.*") as told:
        write_report(run, sections=[section])
    assert str(file) in told.value.line
    assert "\n" not in told.value.line


def test_two_sections_or_tables_of_one_name_are_an_error(run: RunFolder, tmp_path: Path) -> None:
    section = made_up(tmp_path)
    with pytest.raises(ValueError, match=r"sections.*lengths"):
        write_report(run, sections=[section, section])
    with pytest.raises(ValueError, match=r"tables.*lengths"):
        write_report(run, sections=[section, replace(section, name="other")])


def test_a_leaderboard_has_the_title_that_a_section_gives_it(run: RunFolder, tmp_path: Path) -> None:
    titles: list[str] = []

    def build(data: ReportData) -> None:
        titles.extend(data.board_titles.values())

    section = replace(made_up(tmp_path), build=build)
    with section.texts.open("a", encoding="utf-8") as file:
        file.write('\n[boards]\n"length.letters" = "Letters"\n')
    write_report(run, sections=with_instruments([section]))
    assert "Letters" in titles


def test_the_list_of_sections_is_cheap_to_import() -> None:
    heavy = ("pandas", "duckdb", "seaborn", "matplotlib", "numpy", "jinja2", "pyarrow")
    code = f"""
import sys
from polyculture.running.layout import report_sections
assert len(report_sections()) > 10
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_report_names_no_instrument() -> None:
    folders = {path.parent.name for path in (ROOT / "instruments").glob("*/section.py")}
    assert folders >= {"cbs", "swaps", "embeddings", "questions"}
    folders -= {"questions", "papers"}  # ordinary words, too
    tasks = {"CBS", "Cultural Bias", "bias", "swap", "sentiment", "qa", "QA", "ner", "NER", "Davies", "Camellia"}
    named = re.compile(rf"(?<!docs/)\b(?:{'|'.join(sorted(folders | tasks))})\b")
    found = {
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in (ROOT / "reports").rglob("*")
        if file.suffix in (".py", ".sql", ".jinja", ".toml", ".js", ".css")
        for match in named.finditer(file.read_text(encoding="utf-8"))
    }
    assert not found
