"""The review of prompts: what judges say is kept per template, and a changed template loses it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.design import PLAIN, PromptDesign, known_wordings
from polyculture.generate.prompts import build_prompts
from polyculture.generate.review import templates_of, with_template_ids
from polyculture.generate.wording import read_wording
from polyculture.metrics.prompt_review import review_standing
from polyculture.reports.method import SAME_NUMBER, prompt_reviews
from polyculture.reports.names import Names
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.stages import do_stages

EXPERIMENT = """name = "{name}"
models = ["mock:a"]
languages = ["en", "it", "ja"]
topics = ["food"]
countries = ["JP", "IT"]
{top}
[prompts]
wordings = {wordings}
[sampling]
n = 1
"""
CATALAN = """code = "ca"
[wording.plain]
country = "País de la persona: {country_name}."
name = "Nom de la persona: {name}."
[wording.plain.topics]
food = "Escriu un text d'unes {amount} paraules sobre una persona que està sopant."
"""
Row = dict[str, str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path)


def write(folder: Path, *, wordings: str = "1", top: str = "", name: str = "reviewed") -> Path:
    file = folder / "reviewed.toml"
    file.write_text(EXPERIMENT.format(wordings=wordings, top=top, name=name), encoding="utf-8")
    return file


def review(file: Path, *words: str, code: int = 0) -> str:
    """What a command of the review prints, of both streams."""
    command, *rest = words
    done = polyculture("prompts", "review", command, file, *rest, cwd=file.parent)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def shown(file: Path) -> dict[str, dict[str, Any]]:
    done = polyculture("prompts", "review", "show", file, "--format", "json", cwd=file.parent)
    return {row["language"]: row for row in map(json.loads, done.stdout.splitlines())}


def judged(
    file: Path, name: str, judge: Callable[[Row], Row], language: str = "it", extra: tuple[str, ...] = ()
) -> Path:
    """A sheet as its judge sends it back, from a spreadsheet that separates by semicolons."""
    sheet = file.parent / name
    review(file, "export", "--language", language, "-o", str(sheet))
    rows = read(sheet)
    with sheet.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, [*rows[0], *extra], delimiter=";")
        writer.writeheader()
        writer.writerows(row | judge(row) for row in rows)
    return sheet


def read(sheet: Path) -> list[Row]:
    with sheet.open(encoding="utf-8-sig", newline="") as text:
        return list(csv.DictReader(text))


def agree(_row: Row) -> Row:
    return {"natural": "yes", "same": "YES "}


def test_a_sheet_has_each_template_once_filled_in_and_the_english_behind_the_verdicts(file: Path) -> None:
    sheet = file.parent / "ana.ja.csv"
    review(file, "export", "--language", "ja", "-o", str(sheet))
    rows = read(sheet)
    assert [row["condition"] for row in rows][:2] == ["neutral", "explicit"]
    assert len({row["id"] for row in rows}) == len(rows)
    assert all("{" not in row["text"] for row in rows)
    explicit = rows[1]
    assert "日本" in explicit["text"]  # of the language's own country, not of the first that is asked
    assert explicit["english"].startswith("Write a text of about 120 characters on a person from Japan")
    assert "120 characters" in explicit["gloss"]
    columns = list(rows[0])
    assert columns.index("natural") < columns.index("english") < columns.index("same") < columns.index("gloss")
    assert not any(row[name] for row in rows for name in ("natural", "says", "relation", "same", "note"))
    assert "is there already" in review(file, "export", "--language", "ja", "-o", str(sheet), code=2)
    assert "no language 'xx'" in review(file, "export", "--language", "xx", "-o", "x.csv", code=2)


def test_nobody_has_reviewed_them_is_said_plainly(file: Path) -> None:
    assert "No native speaker has reviewed these prompts." in review(file, "show")
    assert {one["reviewed"] for one in shown(file).values()} == {0}
    assert {one["natural"] for one in shown(file).values()} == {None}


def test_what_several_judges_say_is_counted_and_one_of_them_taken_back(file: Path) -> None:
    def strict(row: Row) -> Row:
        if row["condition"] != "explicit":
            return {"natural": "no"} if row["condition"] == "neutral" else {}
        return {"natural": "no", "relation": "Residence", "says": "=cmd, someone who lives there", "note": "stiff"}

    ana, ben = judged(file, "ana.it.csv", agree), judged(file, "ben.csv", strict)
    told = review(file, "import", str(ana), str(ben))
    templates = len(read(judged(file, "count.csv", agree)))
    assert f"ana: {templates} templates judged in it" in told
    assert "ben: 2 templates judged in it" in told
    assert {"someone", "lives"} <= set(told.split())
    assert "No native speaker has reviewed these prompts in en, ja." in told
    it = shown(file)["it"]
    assert (it["templates"], it["reviewed"], it["judges"]) == (templates, templates, 2)
    assert it["natural"] == pytest.approx((templates - 1) / templates)  # two templates, each half
    assert (it["same"], it["origin"]) == (1.0, 0.0)
    review(file, "import", str(ben))  # again: it replaces
    assert shown(file)["it"] == it
    assert "ben: 2 judgements removed" in review(file, "remove", "ben")
    assert shown(file)["it"]["judges"] == 1
    assert "has no judge ben" in review(file, "remove", "ben", code=2)
    review(file, "remove", "ana", "--language", "it")
    assert "No native speaker has reviewed these prompts." in review(file, "show")


def test_a_judge_of_two_languages_keeps_both(file: Path) -> None:
    sheets = [judged(file, f"ana.{language}.csv", agree, language) for language in ("it", "ja")]
    review(file, "import", *map(str, sheets))
    review(file, "import", str(sheets[0]))
    assert {code: one["judges"] for code, one in shown(file).items()} == {"en": 0, "it": 1, "ja": 1}


def test_a_changed_template_loses_its_review_and_says_so(file: Path) -> None:
    sheet = judged(file, "ana.csv", agree)
    review(file, "import", str(sheet))
    before = shown(file)["it"]
    write(file.parent, wordings='["describe"]')
    told = review(file, "show")
    assert f"{before['reviewed']} judgements are of templates that changed since" in told
    assert shown(file)["it"]["reviewed"] == 0
    assert shown(file)["it"]["changed"] == before["reviewed"]
    told = review(file, "import", str(sheet), code=2)
    assert "judged rows are of templates that changed since" in told
    assert "holds no judgement of a template that is asked" in told
    write(file.parent)
    assert shown(file)["it"] == before


def test_an_added_sentence_or_country_leaves_the_review(file: Path) -> None:
    review(file, "import", str(judged(file, "ana.csv", agree)))
    before = shown(file)["it"]
    write(file.parent, top="answer_in_language = true")
    file.write_text(file.read_text(encoding="utf-8").replace('["JP", "IT"]', '["JP", "IT", "US"]'), encoding="utf-8")
    assert shown(file)["it"] == before


@pytest.mark.parametrize(
    ("verdict", "what"),
    [
        ({"natural": "maybe"}, "natural is 'maybe'"),
        ({"same": "1"}, "same is '1'"),
        ({"relation": "origin"}, "names no country"),
        ({}, "holds no judgement"),
    ],
)
def test_mistakes_in_a_sheet_are_one_line(verdict: Row, what: str, file: Path) -> None:
    sheet = judged(file, "ana.csv", lambda row: verdict if row["condition"] == "neutral" else {})
    told = review(file, "import", str(sheet), code=2)
    assert what in told
    assert told.count("\n") == 1
    assert not (file.parent / "runs" / "reviewed" / "prompt_reviews.parquet").exists()


def test_sheets_without_a_judge_of_their_own_are_refused(file: Path) -> None:
    nameless = judged(file, "it.csv", agree)
    assert "is named after a language" in review(file, "import", str(nameless), code=2)
    one, other = judged(file, "ana.csv", agree), judged(file, "ana.it.csv", agree)
    assert "is a second sheet of ana in it" in review(file, "import", str(one), str(other), code=2)
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "has no column 'id'" in review(file, "import", str(other), code=2)


def rewrite(sheet: Path, change: Callable[[list[list[str]]], None]) -> None:
    with sheet.open(encoding="utf-8-sig", newline="") as text:
        rows = list(csv.reader(text, delimiter=";"))
    change(rows)
    with sheet.open("w", encoding="utf-8-sig", newline="") as out:
        csv.writer(out, delimiter=";").writerows(rows)


def test_a_row_that_is_no_csv_is_named(file: Path) -> None:
    """A cell longer than the csv module takes ended the import with a traceback."""
    sheet = judged(file, "ana.it.csv", lambda _: {"natural": "yes", "note": "two\nlines"})

    def lengthen(rows: list[list[str]]) -> None:
        rows[3][0] = "x" * 200_000

    rewrite(sheet, lengthen)
    told = review(file, "import", str(sheet), code=2)
    assert f"{sheet}, row 4: cannot be read as CSV" in told
    assert told.count("\n") == 1


def test_a_column_that_stands_twice_is_refused(file: Path) -> None:
    sheet = judged(file, "ana.it.csv", agree)

    def double(rows: list[list[str]]) -> None:
        rows[:] = [[*row, "no" if number else "natural"] for number, row in enumerate(rows)]

    rewrite(sheet, double)
    assert "has the column 'natural' twice" in review(file, "import", str(sheet), code=2)


def test_a_sheet_is_named_after_its_judge_and_its_own_language(file: Path) -> None:
    sheet = judged(file, "ana.it.csv", agree)
    for name, what in ((".it.csv", "names no judge"), (".csv", "names no judge"), ("ana.es.csv", "Name it ana.it.csv")):
        told = review(file, "import", str(sheet.rename(file.parent / name)), code=2)
        assert what in told
        sheet = file.parent / name
    assert "in es, and holds judgements in it" in told


def test_a_judge_in_other_letters_is_the_same_judge(file: Path) -> None:
    review(file, "import", str(judged(file, "Ana.it.csv", agree)))
    told = review(file, "import", str(judged(file, " ana .csv", lambda _: {"natural": "no"})))
    assert "Ana: " in told
    assert (shown(file)["it"]["judges"], shown(file)["it"]["natural"]) == (1, 0.0)
    review(file, "remove", "ANA")
    assert shown(file)["it"]["judges"] == 0


def test_a_sheet_is_written_as_csv_alone(file: Path) -> None:
    told = review(file, "export", "--language", "it", "-o", "ana.xlsx", code=2)
    assert "ana.xlsx: a sheet is CSV, and its name ends in '.xlsx'. Name it ana.csv." in told
    assert not (file.parent / "ana.xlsx").exists()


def test_a_part_of_a_review_is_not_counted_as_whole(file: Path) -> None:
    def part(row: Row) -> Row:
        if row["condition"].startswith("implicit"):
            return {}
        return {"natural": "yes", "same": "yes", "judge": " Ana Rossi"}

    sheet = judged(file, "download (1).csv", lambda row: {"judge": ""} | part(row), extra=("judge",))
    told = review(file, "import", str(sheet))
    assert "Ana Rossi: 2 templates judged in it" in told, "the name in a saved sheet comes before the file's"
    assert f"{sheet}: 1 of 3 templates are judged in full, 1 not at all, 1 without relation" in told
    it = shown(file)["it"]
    assert (it["templates"], it["reviewed"], it["complete"]) == (3, 2, 1)
    rewrite(sheet, lambda rows: rows[2].__setitem__(rows[0].index("judge"), "Ben"))
    assert "names 2 judges: Ana Rossi, Ben" in review(file, "import", str(sheet), code=2)


def test_words_without_a_verdict_are_kept_and_count_as_no_review(file: Path) -> None:
    """Whoever only writes how the sentence should read had written in vain."""

    def answer(row: Row) -> Row:
        if row["condition"] == "neutral":
            return {"natural": "yes", "same": "yes"}
        return {"note": "better: un piatto"} if row["condition"] == "explicit" else {}

    told = review(file, "import", str(judged(file, "ana.it.csv", answer)))
    assert "ana: 1 template judged in it" in told
    it = shown(file)["it"]
    assert (it["templates"], it["reviewed"], it["judges"]) == (3, 1, 1)
    assert "better: un piatto" in review(file, "show")


def test_a_page_has_the_prompts_of_an_experiment_of_a_pack_or_of_each_topic(file: Path) -> None:
    def page(*words: str, code: int = 0) -> str:
        done = polyculture("prompts", "review", *words, cwd=file.parent)
        assert done.returncode == code, done.stderr
        return done.stderr

    def texts(name: str) -> list[str]:
        return re.findall(r"(?s)<blockquote [^>]*>(.*?)</blockquote>", (file.parent / name).read_text(encoding="utf-8"))

    assert "all.html: 18 templates in it" in page("--html", "it", "-o", "all.html")
    assert "own.html: 3 templates in it" in page(str(file), "--html", "it", "-o", "own.html")
    assert set(texts("own.html")) < set(texts("all.html"))
    said = page("--html", "te", "--topic", "food", "-o", "te.html")
    assert "without implicit_female: there are no such persons' names in Telugu" in said  # and there are those of men
    assert len(texts("te.html")) == 3
    (file.parent / "ca.toml").write_text(CATALAN, encoding="utf-8")
    page("--html", "ca", "--catalog", "ca.toml", "-o", "ca.html")
    assert [text.splitlines()[-1] for text in texts("ca.html")][1] == "País de la persona: Espanya."
    assert "ends in .html" in page("--html", "it", "-o", "it.csv", code=2)
    assert "'xx'" in page("--html", "xx", "-o", "xx.html", code=2)
    assert "no language 'ko'" in page(str(file), "--html", "ko", "-o", "ko.html", code=2)
    assert "no prompt in it on music" in page(str(file), "--html", "it", "--topic", "music", "-o", "x.html", code=2)
    assert "--catalog goes without" in page(str(file), "--html", "it", "--catalog", "ca.toml", "-o", "x.html", code=2)


def test_prompts_of_a_file_have_no_template_to_review(file: Path) -> None:
    """All of them were one row, with the English and the id of a template of ours."""
    (file.parent / "own.csv").write_text("language,topic,text\nit,food,Scrivi della pasta\nit,food,E del riso\n")
    text = write(file.parent).read_text(encoding="utf-8").replace("wordings = 1", 'file = "own.csv"')
    text = text.replace('countries = ["JP", "IT"]', 'countries = ["IT"]').replace('["en", "it", "ja"]', '["it"]')
    file.write_text(text, encoding="utf-8")
    for words in (
        (str(file), "--html", "it", "-o", "own.html"),
        ("export", str(file), "--language", "it", "-o", "ana.it.csv"),
        ("show", str(file)),
    ):
        done = polyculture("prompts", "review", *words, cwd=file.parent)
        assert done.returncode == 2, words
        assert "reviewed.toml: its prompts come from own.csv" in " ".join(done.stderr.split())
    assert not (file.parent / "own.html").exists()
    assert not (file.parent / "ana.it.csv").exists()


def test_a_page_says_only_what_is_true_of_its_prompts(file: Path) -> None:
    """A page in English had said that its English is below it; a pack's sentences, that language models wrote them."""

    def page(*words: str) -> str:
        done = polyculture("prompts", "review", *words, "--topic", "food", "-o", "page.html", cwd=file.parent)
        assert done.returncode == 0, done.stderr
        return (file.parent / "page.html").read_text(encoding="utf-8")

    english, italian = page("--html", "en"), page("--html", "it")
    assert "Show the English" not in english
    assert ["Its English is shown" in one for one in (english, italian)] == [False, True]
    (file.parent / "ca.toml").write_text(CATALAN, encoding="utf-8")
    catalan = page("--html", "ca", "--catalog", "ca.toml")
    assert ["Language models wrote" in one for one in (english, italian, catalan)] == [True, True, False]


def test_the_report_and_the_store_have_the_review(file: Path) -> None:
    workspace = do_stages(file, "generate")
    report = workspace.run.report
    assert polyculture("report", file, cwd=file.parent).returncode == 0
    assert "No native speaker has reviewed these prompts: they" in " ".join(report.read_text(encoding="utf-8").split())
    review(file, "import", str(judged(file, "ana.csv", agree)))
    assert polyculture("report", file, cwd=file.parent).returncode == 0
    page = " ".join(report.read_text(encoding="utf-8").split())
    assert "No native speaker has reviewed these prompts in English, Japanese:" in page
    it = shown(file)["it"]
    assert f"<td>{it['reviewed']} of {it['templates']}</td><td>1</td> <td>100 %</td> <td>100 %</td>" in page
    with open_store(RunFolder(workspace.run.root), store_layout()) as store:
        query = "SELECT count(DISTINCT template_id) FROM prompt_reviews SEMI JOIN prompts USING (template_id)"
        assert store.sql(query).fetchall() == [(it["reviewed"],)]


def test_the_page_says_how_long_the_texts_of_a_wording_are_in_each_language(file: Path, tmp_path: Path) -> None:
    expected = [("50 words", "50 words", 50), ("50 words", "52 words", 48), ("120 characters", "122 characters", 49)]
    for wordings, rows in (("1", expected), ('["plain"]', [])):
        write(tmp_path, wordings=wordings, name=f"of-{len(rows)}")
        report = do_stages(file, "generate").run.report
        assert polyculture("report", file, cwd=file.parent).returncode == 0
        page = " ".join(report.read_text(encoding="utf-8").split())
        found = re.findall(r"<td>(\d+ \w+)</td><td>(\d+ \w+)</td><td>(\d+) English words</td>", page)
        assert [(asked, equal, int(english)) for asked, equal, english in found] == rows
    assert set(SAME_NUMBER) == {name for name, one in known_wordings().items() if one.length} - {PLAIN}


def test_prompts_of_a_file_and_of_packs_are_not_said_to_be_written_by_language_models() -> None:
    """Whose they are is known; who wrote them is not."""
    catalog = read_catalog()
    own = catalog.languages["it"].model_copy(update={"name": "My Italian"})
    topic = catalog.topics["food"].model_copy(update={"sentences": {"ja": "..."}})
    changed = catalog.model_copy(
        update={"languages": {**catalog.languages, "it": own}, "topics": {**catalog.topics, "food": topic}}
    )
    asked = [("en", "food", "1"), ("it", "food", "2"), ("ja", "food", "3"), ("ja", "book", "4"), ("de", "food", None)]
    rows = [dict(zip(("language", "topic", "template_id"), row, strict=True)) for row in asked]
    said = prompt_reviews(rows, [], Names(changed))
    assert (said.unreviewed, said.own, said.of_file) == (
        ("English", "Japanese"), ("My Italian", "Japanese"), ("German",)
    )  # fmt: skip


@pytest.mark.parametrize("wording", ["write", "describe", "plain", "paragraph"])
def test_the_english_beside_a_prompt_asks_for_the_same_length(wording: str) -> None:
    """A reviewer was asked whether 33 words are 50 words."""
    catalog = read_catalog()
    languages = [code for code in catalog.languages if wording == "plain" or code in ("ar", "ja", "ko", "zh")]
    languages = [code for code in languages if code != "en"]
    conditions = ("neutral", "explicit")
    prompts = build_prompts(catalog, languages, ["food"], ["IT"], conditions, design=PromptDesign((wording,)))
    shown = templates_of(with_template_ids(prompts, catalog), catalog)
    assert len(shown) == len(languages) * (2 if wording != "paragraph" else len({one.condition for one in shown}))
    for one in shown:
        length = read_wording(catalog.language(one.language)).length_of(wording)
        lengths = re.findall(r"\d+ (?:words|characters)", one.english or "")
        assert lengths == ([] if wording == "paragraph" else [f"{length.amount} {length.unit}" if length else ""])


def test_nothing_is_no_share() -> None:
    [one] = review_standing({"a": "it"}, [], questions={"a": ("natural",)})
    assert (one.templates, one.reviewed, one.complete) == (1, 0, 0)
    assert (one.natural, one.same, one.origin) == (None, None, None)
    assert review_standing({"a": "it"}, [])[0].complete is None


def test_an_experiment_that_asks_nothing_has_no_sheet_and_no_page(tmp_path: Path) -> None:
    """The sheet was empty, and the page's remedy named no topic."""
    file = tmp_path / "nothing.toml"
    file.write_text('name = "nothing"\nmodels = ["mock:a"]\nlanguages = ["ja"]\n', encoding="utf-8")
    said = review(file, "export", "--language", "ja", "-o", "ana.ja.csv", code=2)
    assert "asks for no texts: it has no topics. Add them" in " ".join(said.split())
    done = polyculture("prompts", "review", file, "--html", "ja", "-o", "review.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "it has no topics" in " ".join(done.stderr.split())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["nothing.toml"]


def test_the_page_of_an_experiment_has_what_it_asks(file: Path) -> None:
    done = polyculture("prompts", "review", file, "--html", "ja", "-o", "review.html", cwd=file.parent)
    assert done.returncode == 0, done.stderr
    asked = [row for row in shown(file).values() if row["language"] == "ja"]
    assert f"{asked[0]['templates']} templates in ja" in done.stderr
    assert "shorter page" not in done.stderr
    done = polyculture("prompts", "review", "--html", "ja", "-o", "all.html", cwd=file.parent)
    assert "For a shorter page, name an experiment" in " ".join(done.stderr.split())
