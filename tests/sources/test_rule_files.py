"""One language of rules for entities, contexts and questions: files that no shipped rules file reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.load import Loader, load
from polyculture.instruments.datasets.rules import SHELF as DATA_SHELF
from polyculture.instruments.datasets.rules import ContextBlock, EntityBlock
from polyculture.instruments.questions.model import QuestionSet
from polyculture.instruments.questions.rules.model import QuestionBlock
from polyculture.instruments.questions.rules.opened import SHELF, open_set
from polyculture.sources.headers import KnownColumns
from polyculture.sources.left_out import LeftOut, SourceLocation, by_reason, in_short
from polyculture.sources.record import Record
from polyculture.sources.rows import read_rows, ruled_files
from polyculture.sources.tables import read_known_workbook, read_workbook
from polyculture.sources.values import SourceRow
from tests.polyculture.test_command_line import polyculture

KNOWN = KnownColumns.of(("model", "text"))
read_data_rules, read_set_rules = DATA_SHELF.read, SHELF.read
ENTITIES = """
name = "dishes"
title = "Dishes of two coasts"
licence = "ours"
cultures = { Swahili = ["sw"] }
languages = { sw = "Swahili" }

[[entities]]
files = "dishes.json"
rows = "dishes"
text = "name.{code}"
english = "name.en"
type = "kind"
culture = "coast"
qid = "item"
join = { files = "coasts.csv", on = "place", key = "place", take = ["coast"] }
skip = { column = "eaten", is = "no", reason = "nobody eats it" }

[[contexts]]
files = "contexts.csv"
fixed.culture = "Swahili"
fixed.setting = "neutral"
fixed.type = "food"
text = "context"
"""
DISHES = [
    {"name": {"sw": "ugali", "en": "maize porridge"}, "kind": "food", "place": "Mombasa", "item": "Q1", "eaten": "yes"},
    {"name": {"sw": "piza", "en": "pizza"}, "kind": "food", "place": "Boston", "item": "Q2", "eaten": "yes"},
    {"name": {"sw": "jiwe", "en": "stone"}, "kind": "food", "place": "Mombasa", "item": "Q3", "eaten": "no"},
    {"name": {"sw": "wali", "en": "rice"}, "kind": "food", "place": "Atlantis", "item": "Q4", "eaten": "yes"},
]


def dishes(folder: Path, rules: str = ENTITIES) -> Path:
    (folder / "dishes.json").write_text(json.dumps({"dishes": DISHES}), encoding="utf-8")
    (folder / "coasts.csv").write_text("place,coast\nMombasa,Swahili\nBoston,Western\n", encoding="utf-8")
    (folder / "contexts.csv").write_text("context\nLeo nimekula [MASK]\n", encoding="utf-8")
    (folder / "dishes.toml").write_text(rules, encoding="utf-8")
    return folder / "dishes.toml"


def test_entities_come_from_json_with_the_columns_of_a_second_file(tmp_path: Path) -> None:
    found = load(read_data_rules(dishes(tmp_path)), tmp_path)
    assert {(e.surface, e.english, e.culture, e.entity_type, e.qid) for e in found.entities} == {
        ("ugali", "maize porridge", "Swahili", "food", "Q1"),
        ("piza", "pizza", "Western", "food", "Q2"),
    }
    assert [context.text for context in found.contexts] == ["Leo nimekula [MASK]"]
    told = {(out.place.row, out.reason) for out in found.left_out if out.place.file == "dishes.json"}
    assert told == {
        (3, "skipped: nobody eats it"),
        (4, "missing: no row of coasts.csv is about it"),
        (4, "no culture"),
    }


def test_a_second_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = dishes(tmp_path)
    (tmp_path / "coasts.csv").unlink()
    with pytest.raises(DataSetError, match=r"there is no coasts\.csv, which has coast"):
        load(read_data_rules(file), tmp_path)


QUESTIONS = """
name = "soups"
title = "Soups"
licence = "ours"
kind = "choice"
language = "en"
numbers = ["accuracy"]

[[questions]]
files = ["soups.xlsx", "soups.csv"]
id = "{no}"
text = "asked"
options = ["first", "second"]
right = { column = "key", as = "letter" }
facets = { country = "{country}" }
"""
TABLE: list[tuple[Any, ...]] = [
    ("Soups of the world", "version", "2"),
    ("made by", "the kitchen"),
    (),
    ("no", "country", "asked", "first", "second", "key"),
    (1, "JP", "Which soup is red?", "borscht", "miso", "A"),
    (2, "UA", "Which soup is brown?", "borscht", "miso", "B"),
]


def test_questions_are_read_under_a_header_in_row_4_of_each_sheet(tmp_path: Path) -> None:
    book = Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    notes, soups, more = (book.create_sheet(name) for name in ("notes", "soups", "more"))
    notes.append(("Read me",))
    for row in TABLE:
        soups.append(row)
    more.append(("asked", "key", "first", "second", "no", "country"))
    more.append(("Which soup is cold?", "B", "miso", "gazpacho", 3, "ES"))
    book.save(tmp_path / "soups.xlsx")
    (tmp_path / "soups.toml").write_text(QUESTIONS, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml"))
    assert [(one.name, one.options[one.right[0]], str(one.place)) for one in found.questions] == [
        ("1", "borscht", "soups.xlsx sheet 'soups' row 5"),
        ("2", "miso", "soups.xlsx sheet 'soups' row 6"),
        ("3", "gazpacho", "soups.xlsx sheet 'more' row 2"),
    ]
    told = {(out.place.sheet, out.place.row) for out in found.remarks if out.reason.startswith("not read: ")}
    assert told == {("notes", 1), ("soups", 1), ("soups", 2)}


def test_a_text_table_has_its_header_in_row_4_too(tmp_path: Path) -> None:
    lines = [",".join(map(str, row)) for row in TABLE]
    (tmp_path / "soups.csv").write_text("\n".join([*lines, "3,ES,Which soup is cold?,miso"]), encoding="utf-8")
    (tmp_path / "soups.toml").write_text(QUESTIONS, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml"))
    assert [(one.name, one.place.row) for one in found.questions] == [("1", 5), ("2", 6)]
    assert [out.place.row for out in found.remarks if out.reason.startswith("left out: ")] == [7], "too few cells"


def test_a_column_that_is_read_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "soups.csv").write_text("no,country,asked,first,first,key\n1,JP,Which?,a,b,A\n", encoding="utf-8")
    (tmp_path / "soups.toml").write_text(QUESTIONS, encoding="utf-8")
    with pytest.raises(DataSetError, match="has the column 'first' twice"):
        open_set(str(tmp_path / "soups.toml"))


@pytest.mark.parametrize(("rules", "read"), [(ENTITIES, read_data_rules), (QUESTIONS, read_set_rules)])
def test_both_kinds_of_rules_name_a_wrong_key_with_its_place_and_remedy(tmp_path: Path, rules: str, read: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(rules.replace("files =", "flies =", 1), encoding="utf-8")
    with pytest.raises(DataSetError) as told:
        read(file)
    assert "mine.toml" in str(told.value)
    assert ".0." in str(told.value)
    file.write_text(rules.replace("licence =", "license =", 1), encoding="utf-8")
    with pytest.raises(DataSetError, match="licen"):
        read(file)


def test_a_join_of_entities_says_by_which_column(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="join: needs `key`"):
        read_data_rules(dishes(tmp_path, ENTITIES.replace('key = "place", ', "")))


def test_lists_under_names_are_entities_with_the_name_as_a_field(tmp_path: Path) -> None:
    """As the gender lexicon of ResponsibleNLP and HolisticBias lay their words out."""
    nouns = {"feminine": [{"singular": "dada"}, {"singular": "mama"}], "masculine": [{"singular": "kaka"}, "boi"]}
    (tmp_path / "nouns.json").write_text(json.dumps(nouns), encoding="utf-8")
    rules = (
        ENTITIES.partition("[[entities]]")[0]
        + """
[words.gender]
feminine = "female"
masculine = "male"

[[entities]]
files = "nouns.json"
rows = "*"
text = "singular|value"
gender = "key1"
fixed.culture = "Swahili"
fixed.type = "names"
"""
    )
    (tmp_path / "nouns.toml").write_text(rules, encoding="utf-8")
    found = Loader(read_data_rules(tmp_path / "nouns.toml"), tmp_path).load()
    assert [(e.surface, e.gender, str(e.place)) for e in found.entities] == [
        ("dada", "female", "nouns.json feminine/1"),
        ("mama", "female", "nouns.json feminine/2"),
        ("kaka", "male", "nouns.json masculine/1"),
        ("boi", "male", "nouns.json masculine/2"),
    ]
    assert not found.left_out


def test_a_table_without_a_header_has_columns_by_number(tmp_path: Path) -> None:
    """As SMART-Filtering lays CommonsenseQA out: the first question was taken for names."""
    (tmp_path / "soups.csv").write_text("Which soup is red?,borscht,miso,A\nWhich is brown?,borscht,miso,B\n")
    rules = (
        QUESTIONS.partition("[[questions]]")[0]
        + """
[[questions]]
files = "soups.csv"
header = false
text = 0
options = [1, 2]
right = { column = "3", as = "letter" }
"""
    )
    (tmp_path / "soups.toml").write_text(rules, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml"))
    assert [(one.text, one.options[one.right[0]], one.place.row) for one in found.questions] == [
        ("Which soup is red?", "borscht", 1),
        ("Which is brown?", "miso", 2),
    ]


def test_a_field_is_the_first_of_several_columns_that_a_file_has(tmp_path: Path) -> None:
    """As Fig-QA's files of five languages name them."""
    for name, asked in (("a", "start phrase"), ("b", "startphrase"), ("c", "startphrase (string)")):
        (tmp_path / f"{name}.csv").write_text(f"no,{asked},first,second,key\n1,Which {name}?,x,y,A\n", encoding="utf-8")
    rules = QUESTIONS.replace('["soups.xlsx", "soups.csv"]', '"{file_name}.csv"').replace("{no}", "{file_name}")
    rules = rules.replace('"asked"', '"start phrase|startphrase|startphrase (string)"').replace(
        "facets =", "# facets ="
    )
    (tmp_path / "soups.toml").write_text(rules, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml"))
    assert [one.text for one in found.questions] == ["Which a?", "Which b?", "Which c?"]


def test_a_separator_that_nobody_quoted_cuts_no_text(tmp_path: Path) -> None:
    """The text was read up to its comma, and a model was asked about the half of it."""
    file = dishes(tmp_path, ENTITIES.replace('fixed.type = "food"\n', 'fixed.type = "food"\nenglish = "english"\n'))
    lines = "context,english\nLeo nimekula [MASK],Today I ate [MASK]\nJana nilipika [MASK],Yesterday, I cooked [MASK]\n"
    (tmp_path / "contexts.csv").write_text(lines + "Kesho nitauza [MASK]\n", encoding="utf-8")
    found = load(read_data_rules(file), tmp_path)
    assert [(one.text, one.english) for one in found.contexts] == [
        ("Leo nimekula [MASK]", "Today I ate [MASK]"),
        ("Kesho nitauza [MASK]", None),
    ]
    (told,) = (out for out in found.left_out if out.place.file == "contexts.csv")
    assert (told.place.row, told.reason) == (3, "left out: has 3 cells, and the header 2")


COUNTRIES = """
name = "asked"
title = "Asked"
licence = "ours"
kind = "choice"
numbers = ["accuracy"]
language = "en"
[[questions]]
files = "asked.csv"
id = "id"
text = "text"
options = ["a", "b"]
right = { column = "key", as = "letter" }
facets = { country = "country|" }
"""
HEADER = "id,text,a,b,key,country\n"
QUOTED = '1,"What, then?",x,y,A,KE\n'  # in a file that has such a row, no mark is a sign like any other
END = "9,Which?,x,y,A,IT\n"


def asked(folder: Path, rows: str, rules: str = COUNTRIES) -> QuestionSet:
    (folder / "asked.csv").write_text(HEADER + rows, encoding="utf-8", newline="")
    (folder / "asked.toml").write_text(rules, encoding="utf-8")
    return open_set(str(folder / "asked.toml"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ('2,"Who?,x,y,B,IT\n3,When?,x,y,B,IT\n4,The 12",x,y,A,IT\n', "lines 3 to 5 are in one cell (3 lines)"),
        ('2,"Who?,x,y,B,IT\n4,The 12",p,q,A,IT\n', "lines 3 to 4 are in one cell (2 lines)"),
        ('2,Who?,x,y,B,"IT\n3,When?,x,y,B,IT\n4,The 12,x,y,A,IT"\n', "lines 3 to 5 are in one cell (3 lines)"),
        ('2,"Who?,x,y,B,IT\n3,When?,x,y",B,IT\n', "lines 3 to 4 are in one cell (2 lines)"),
        ('2,"Who?,x,y,B,IT\n3,"When, then?",x,y,B,IT\n', "lines 3 to 4 are in one cell (2 lines)"),
    ],
)
def test_rows_that_an_open_quotation_mark_swallows_are_told(rows: str, lines: str, end: str, tmp_path: Path) -> None:
    """One question's text had held two others, without a word."""
    found = asked(tmp_path, (QUOTED + rows + END).replace("\n", end))
    assert [one.name for one in found.questions] == ["1", "9"]
    (told,) = found.remarks
    assert told.place.row == 3
    assert "a quotation mark stays open" in told.reason
    assert lines in told.reason
    assert "quotes = false" in told.reason
    assert len(asked(tmp_path, rows + END, COUNTRIES.replace('id = "id"', 'id = "id"\nquotes = false')).questions) > 1


def test_a_quotation_mark_that_stays_open_to_the_end_tells_which_rows_it_takes(tmp_path: Path) -> None:
    """A thousand rows were counted as one."""
    rows = "".join(f"{number},Q{number}?,x,y,A,IT\n" for number in range(10, 1010))
    found = asked(tmp_path, f'{QUOTED}2,"Who?,x,y,B,IT\n{rows}')
    assert [one.name for one in found.questions] == ["1"]
    (told,) = found.remarks
    assert "lines 3 to 1003, the last of the file, are in one cell (1,001 lines)" in told.reason


@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\nwho came first?",
        "Paris, Rome, Oslo\nWhich is it, pray?",
        "1,2,3,4,5\n2,3,4,5,6",
        'He said: ""a,b""\nWho?',
    ],
)
def test_cells_of_several_lines_are_read(text: str, tmp_path: Path) -> None:
    found = asked(tmp_path, f'{QUOTED}2,"{text}",x,y,B,IT\n{END}')
    assert [one.text for one in found.questions][1] == text.replace('""', '"')
    assert not found.remarks


def test_a_column_that_may_be_missing_and_is_nowhere_is_told(tmp_path: Path) -> None:
    """A misspelt facet gave numbers by country of no question, without a word."""
    rules = COUNTRIES.replace('"country|"', '"contry|"')
    found = asked(tmp_path, QUOTED + END, rules)
    assert len(found.questions) == 2
    (told,) = found.remarks
    assert told.place.file == "asked.csv"
    assert told.reason == "missing: no table has 'contry|'. Did you mean 'country'?"
    assert not asked(tmp_path, QUOTED + END).remarks
    records = [{"id": str(n), "text": "Who?", "a": "x", "b": "y", "key": "A"} for n in range(3)]
    (tmp_path / "asked.json").write_text(json.dumps([*records[:2], {**records[2], "country": "IT"}]), encoding="utf-8")
    (unread,) = asked(tmp_path, END, COUNTRIES.replace("asked.csv", "asked.json")).remarks  # one of its rows has it
    assert unread.place.file == "asked.csv"


def test_a_list_as_a_facet_is_not_told_to_be_a_missing_column(tmp_path: Path) -> None:
    """Its advice was to write 'country||'."""
    one = {"id": "1", "text": "Who?", "a": "x", "b": "y", "key": "A"}
    rows = [one | {"country": "IT"}, one | {"id": "2", "country": ["IT", "KE"]}]
    (tmp_path / "asked.json").write_text(json.dumps(rows), encoding="utf-8")
    rules = COUNTRIES.replace("asked.csv", "asked.json")
    told, unread = asked(tmp_path, END, rules).remarks
    assert told.reason == "left out: facets.country: 'country' is a list, no text"
    assert (unread.place.file, unread.reason) == ("asked.csv", "no rule of the data set reads this file")
    (tmp_path / "asked.json").write_text(json.dumps([rows[0], one | {"id": "2"}]), encoding="utf-8")
    told, _ = asked(tmp_path, END, rules.replace("country|", "country")).remarks
    assert "ends with a bar, 'country|'" in told.reason


@pytest.mark.parametrize(
    ("name", "content"),
    [("b.csv", ""), ("b.csv", "\n\n"), ("b.csv", HEADER), ("b.csv", HEADER + ",,,,,\n"), ("b.json", "[]"),
     ("b.json", "{}"), ("b.jsonl", "")],
)  # fmt: skip
def test_a_file_without_a_row_is_named(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    rules = COUNTRIES.replace('"asked.csv"', f'["asked.csv", "{name}"]')
    (told,) = asked(tmp_path, END, rules).remarks
    assert (told.place.file, told.reason) == (name, "not read: the file has no row")
    with pytest.raises(DataSetError, match=f"holds no usable question: 1 x not read: the file has no row .{name}"):
        asked(tmp_path, END, COUNTRIES.replace("asked.csv", name))


def test_a_column_of_entities_that_is_nowhere_is_told_of_ones_own_rules(tmp_path: Path) -> None:
    file = dishes(tmp_path, ENTITIES.replace('qid = "item"', 'qid = "item"\ngender = "Gendr|"'))
    reasons = [line.reason for line in load(read_data_rules(file), tmp_path).left_out]
    assert "missing: no table has 'Gendr|'" in reasons
    file = dishes(tmp_path, ENTITIES.replace('qid = "item"', 'qid = "item|"\ncountry = "coast|"'))
    found = load(read_data_rules(file), tmp_path)
    assert not [line for line in found.left_out if "no table" in line.reason]
    assert {one.country for one in found.entities} == {"Swahili", "Western"}, "a joined column with a bar was not read"


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (ENTITIES.replace('"neutral"', '"nuetral"'), "contexts.0.fixed: setting 'nuetral' .* mean 'neutral'"),
        (f'{ENTITIES}fixed.form = "causl"\n', "contexts.0.fixed: form 'causl' .* mean 'causal'"),
        (f'{ENTITIES}[words.setting]\nco = "grunded"\nag = "neutral"\n', "words.setting: setting 'grunded' is none"),
    ],
)
def test_rules_name_a_known_setting_and_form(rules: str, told: str, tmp_path: Path) -> None:
    """A misspelt setting was a setting of its own, that no command asked."""
    with pytest.raises(DataSetError, match=told):
        read_data_rules(dishes(tmp_path, rules))
    found = read_data_rules(dishes(tmp_path, ENTITIES.replace('"neutral"', '"Ag"') + '[words.setting]\nag = "neutral"'))
    assert [one.setting for one in load(found, tmp_path).contexts] == ["neutral"]


def test_rows_of_an_unknown_setting_or_form_are_left_out(tmp_path: Path) -> None:
    rules = ENTITIES.replace('fixed.setting = "neutral"', 'setting = "setting"\nform = "form|"')
    file = dishes(tmp_path, rules)
    lines = (
        "neutral,causal,A [MASK]",
        "nuetral,causal,B [MASK]",
        "QA,masked,C [MASK]",
        "qa,causl,D [MASK]",
        "qa,,E [MASK]",
    )
    (tmp_path / "contexts.csv").write_text("\n".join(["setting,form,context", *lines]), encoding="utf-8")
    found = load(read_data_rules(file), tmp_path)
    assert [(one.text[0], one.setting, one.form) for one in found.contexts] == [
        ("A", "neutral", "causal"), ("C", "qa", "masked"), ("E", "qa", "any"),
    ]  # fmt: skip
    assert [(out.place.row, out.reason) for out in found.left_out if out.place.file == "contexts.csv"][:2] == [
        (3, "setting 'nuetral' is none of grounded, neutral, qa. Did you mean 'neutral'?"),
        (5, "form 'causl' is none of causal, masked, any. Did you mean 'causal'?"),
    ]
    file = dishes(tmp_path, rules.replace('setting = "setting"\n', "").replace('"contexts', '"{setting}-contexts'))
    (tmp_path / "neutral-contexts.csv").write_text("context\nA [MASK]\n", encoding="utf-8")
    (tmp_path / "nuetral-contexts.csv").write_text("context\nB [MASK]\n", encoding="utf-8")
    found = load(read_data_rules(file), tmp_path)
    assert [one.text for one in found.contexts] == ["A [MASK]"]
    assert any("the sheet is not read: setting 'nuetral'" in out.reason for out in found.left_out)


def test_a_joined_column_takes_no_place_of_a_column_of_the_row(tmp_path: Path) -> None:
    """The row's own was read without a word; under another name the two make a question, as Winogender's rows do."""
    (tmp_path / "asked.csv").write_text("id,said,a,b,key\n1,The cook left.,ugali,pizza,A\n", encoding="utf-8")
    (tmp_path / "more.csv").write_text("id,said\n1,The guest stayed.\n", encoding="utf-8")
    rules = (
        'name = "asked"\ntitle = "Asked"\nlicence = "ours"\nkind = "choice"\nnumbers = ["accuracy"]\nlanguage = "en"\n'
        '[[questions]]\nfiles = "asked.csv"\nid = "id"\ntext = "{said} {more}"\noptions = ["a", "b"]\n'
        'right = { column = "key", as = "letter" }\njoin = { files = "more.csv", on = "id", take = TAKE }\n'
    )
    file = tmp_path / "asked.toml"
    file.write_text(rules.replace("TAKE", '["said"]').replace("{said} {more}", "said"), encoding="utf-8")
    with pytest.raises(DataSetError, match=r"asked.csv row 2: this file has a column 'said'.*other_said = \"said\""):
        open_set(str(file))
    file.write_text(rules.replace("TAKE", '{ more = "said" }'), encoding="utf-8")
    assert [one.text for one in open_set(str(file)).questions] == ["The cook left. The guest stayed."]
    file.write_text(rules.replace("TAKE", "[{ more = 'said' }]"), encoding="utf-8")
    with pytest.raises(DataSetError, match="must be columns, or a table of names"):
        open_set(str(file))


def test_a_taken_column_that_some_rows_lack_is_written_with_a_bar(tmp_path: Path) -> None:
    """One row of the second file without it stopped the whole set, and no remedy named the bar."""
    (tmp_path / "areas.json").write_text('[{"id": "1", "Area": "east"}, {"id": "9"}]', encoding="utf-8")
    rules = COUNTRIES.replace('country = "country|"', 'area = "Area"')
    join = 'join = { files = "areas.json", on = "id", take = ["Area"] }\n'
    with pytest.raises(DataSetError, match=r"areas.json row 2: there is no .Area.*ends with a bar, as .Area\|."):
        asked(tmp_path, QUOTED + END, rules + join)
    found = asked(tmp_path, QUOTED + END, rules + join.replace('"Area"', '"Area|"')).questions
    assert [one.facets["area"] for one in found] == ["east", ""]


@pytest.mark.parametrize(
    ("split", "first", "take"),
    [
        ("", "", '{ country = "land" }'),
        ('split.text = "(?P<start>[A-Z]).*"\n', "", '{ start = "land" }'),
        ("", '{ files = "lands.csv", on = "id", take = ["land"] }, ', '{ land = "other" }'),
    ],
)
def test_a_joined_column_takes_no_place_of_what_else_is_known_of_a_row(
    split: str, first: str, take: str, tmp_path: Path
) -> None:
    """The country of a file's name was replaced by that of the second file, without a word."""
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "IT.csv").write_text("id,text,a,b,key\n9,Which?,x,y,A\n", encoding="utf-8")
    (tmp_path / "lands.csv").write_text("id,land,other\n9,Italia,Italy\n", encoding="utf-8")
    rules = COUNTRIES.replace("asked.csv", "rows/{country}.csv").replace('"country|"', '"country", land = "new|"')
    joins = f'{split}join = [{first}{{ files = "lands.csv", on = "id", take = TAKE }}]\n'
    with pytest.raises(DataSetError, match=r"IT.csv row 2: its path, a split or a join before .* other_"):
        asked(tmp_path, END, rules + joins.replace("TAKE", take))
    (one,) = asked(tmp_path, END, rules + joins.replace("TAKE", '{ new = "land" }')).questions
    assert (one.facets["country"], one.facets["land"]) == ("IT", "Italia")


@pytest.mark.parametrize(
    "text",
    [
        '"This question refers to the text.\nTea came late.",a,b,A\n"x",a,b,B\n',
        '"Salt; pepper; cumin; cloves: which?",a,b,A\n"Tea; milk; sugar; hm;?",a,b,B\n',
        '"Which tab?\t\t\t",a,b,A\n"And, here, too|\t",a,b,B\n',
    ],
)
def test_the_separator_is_what_rows_have_in_common(tmp_path: Path, text: str) -> None:
    """A sign within quotation marks is text: four files of MMLU, whose first line holds no comma, were read as TSV."""
    (tmp_path / "exam.csv").write_text(text, encoding="utf-8")
    (tmp_path / "exam.toml").write_text(
        'name = "exam"\ntitle = "Exam"\nlicence = "ours"\nkind = "choice"\nnumbers = ["accuracy"]\nlanguage = "en"\n'
        '[[questions]]\nfiles = "exam.csv"\nheader = false\ntext = 0\noptions = [1, 2]\n'
        'right = { column = 3, as = "letter" }\n',
        encoding="utf-8",
    )
    found = open_set(str(tmp_path / "exam.toml"))
    assert [one.options for one in found.questions] == [("a", "b"), ("a", "b")]


def test_rows_have_what_the_tables_around_them_say(tmp_path: Path) -> None:
    """As SQuAD lays out its paragraphs, and SEAT its categories: these could not be read at all."""
    paragraphs = [
        {"context": f"Paragraph {title}{number}.", "qas": [{"id": f"{title}{number}{one}", "question": f"Who {one}?",
                      "title": "own", "answers": [{"text": f"x{one}"}]} for one in "ab"]}
        for title in "AB" for number in "12"
    ]  # fmt: skip
    data = [{"title": title, "paragraphs": paragraphs[2 * at :][:2]} for at, title in enumerate("AB")]
    (tmp_path / "asked.json").write_text(json.dumps({"version": "1.1", "data": data}), encoding="utf-8")
    rules = (
        'name = "asked"\ntitle = "Asked"\nlicence = "ours"\nkind = "open"\nnumbers = ["exact_match"]\nlanguage = "en"\n'
        '[[questions]]\nfiles = "asked.json"\nrows = "data[].paragraphs[].qas"\nid = "id"\ntext = "question"\n'
        'context = "context"\nanswers = "answers[].text"\nfacets = { title = "title", edition = "version" }\n'
    )
    (tmp_path / "asked.toml").write_text(rules, encoding="utf-8")
    found = open_set(str(tmp_path / "asked.toml")).questions
    assert [(one.name, one.context) for one in found] == [
        (f"{title}{number}{one}", f"Paragraph {title}{number}.") for title in "AB" for number in "12" for one in "ab"
    ]
    assert {(one.facets["title"], one.facets["edition"]) for one in found} == {("own", "1.1")}, "the nearest one counts"


def test_what_a_row_says_itself_goes_before_what_is_around_it(tmp_path: Path) -> None:
    """Its key, its place of a star and its text; and a file of many lists takes no more time than it has rows."""
    number = 20_000
    groups = {f"g{group}": {"key": "other", "key1": "other", "value": "other", "said": group, "words": [f"w{group}"]}
              for group in range(number)}  # fmt: skip
    (tmp_path / "words.json").write_text(json.dumps(groups), encoding="utf-8")
    block = EntityBlock(files="words.json", rows="*.words", text="value", culture="key1", fixed={"type": "food"})
    (file,) = ruled_files(tmp_path, [block])
    rows = [row for row in read_rows(tmp_path, file) if isinstance(row, SourceRow)]
    assert len(rows) == number
    said = [rows[at].text(name) for at in (0, number - 1) for name in ("key", "key1", "value", "said")]
    assert said == ["g0/1", "g0", "w0", "0", f"g{number - 1}/1", f"g{number - 1}", f"w{number - 1}", str(number - 1)]


def test_what_is_other_in_a_row_with_the_same_id_is_named(tmp_path: Path) -> None:
    """As SPICE's ids, which occur again with another facet alone: an "other text" was said."""
    (tmp_path / "asked.csv").write_text("id,said,a,b,key,total\n1,Who?,x,y,A,3\n1,Who?,x,y,B,4\n", encoding="utf-8")
    (tmp_path / "asked.toml").write_text(
        'name = "asked"\ntitle = "Asked"\nlicence = "ours"\nkind = "choice"\nnumbers = ["accuracy"]\nlanguage = "en"\n'
        '[[questions]]\nfiles = "asked.csv"\nid = "id"\ntext = "said"\noptions = ["a", "b"]\n'
        'right = { column = "key", as = "letter" }\nfacets = { total = "total" }\n',
        encoding="utf-8",
    )
    with pytest.raises(DataSetError, match=r"1 ids occur again with other right and facets, as '1': in .* row 2 and"):
        open_set(str(tmp_path / "asked.toml"))


def test_rows_that_repeat_others_are_counted_together() -> None:
    """The first one's place is no part of the reason, wherever in a file it is (SEAT had a line for each of 43)."""
    lines = [
        LeftOut(SourceLocation(f"b.jsonl {key}"), f"the same {what} as in a.jsonl targ1.examples/{key}")
        for what in ("entity", "entity", "context", "English name")
        for key in ("1", "2")
    ]
    counted = {reason: number for reason, number, _ in by_reason(lines)}
    assert counted == {f"the same {what} as in another row": 2 * times
                       for what, times in (("entity", 2), ("context", 1), ("English name", 1))}  # fmt: skip


def test_slots_of_a_text_are_filled_from_columns_of_its_row(tmp_path: Path) -> None:
    """As Winogender lays its templates out (rudinger/winogender-schemas, data/templates.tsv)."""
    (tmp_path / "templates.tsv").write_text(
        "occupation(0)\tother-participant(1)\tanswer\tsentence\n"
        "technician\tcustomer\t1\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN could pay.\n"
        "technician\t\t1\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN could stay.\n",
        encoding="utf-8",
    )
    (tmp_path / "pronouns.csv").write_text("pronoun,side\nshe,Swahili\nhe,Western\n", encoding="utf-8")
    rules = (
        ENTITIES.partition("[[entities]]")[0].replace("sw", "en")
        + """
[[entities]]
files = "pronouns.csv"
text = "pronoun"
culture = "side"
fixed.type = "pronouns"

[[contexts]]
files = "templates.tsv"
text = "sentence"
fixed = { culture = "Swahili", type = "pronouns", setting = "neutral" }
replace = { "$OCCUPATION" = "{occupation(0)}", "$PARTICIPANT" = "{other-participant(1)}", "$NOM_PRONOUN" = "[MASK]" }
"""
    )
    (tmp_path / "slots.toml").write_text(rules, encoding="utf-8")
    found = load(read_data_rules(tmp_path / "slots.toml"), tmp_path)
    assert [one.text for one in found.contexts] == ["The technician told the customer that [MASK] could pay."]
    told = [(out.place.row, out.reason) for out in found.left_out]
    assert told == [(3, "{other-participant(1)} is empty, which takes the place of $PARTICIPANT")]


def test_slots_of_a_question_and_of_its_options_are_filled_too(tmp_path: Path) -> None:
    (tmp_path / "soups.csv").write_text("no,country,asked,first,second,key,dish\n1,JP,Is X red?,X,not X,A,miso\n")
    rules = QUESTIONS.replace('id = "{no}"', 'id = "no"\nreplace = { X = "{dish}" }')
    (tmp_path / "soups.toml").write_text(rules, encoding="utf-8")
    (one,) = open_set(str(tmp_path / "soups.toml")).questions
    assert (one.text, one.options) == ("Is miso red?", ("miso", "not miso"))


def test_words_of_a_publisher_are_ours_in_every_target_and_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "soups.csv").write_text(
        "no,country,asked,first,second,key\n1,NIPPON ,Which?,a,b,A\n2,UA,Which?,a,b,B\n"
    )
    (tmp_path / "soups.toml").write_text(f'{QUESTIONS}\n[words.country]\nNippon = "JP"\n', encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml"))
    assert [one.facets["country"] for one in found.questions] == ["JP", "UA"]
    file = dishes(tmp_path, f'{ENTITIES}\n[words.type]\nFOOD = "Dishes"\n')
    assert {one.entity_type for one in load(read_data_rules(file), tmp_path).entities} == {"dishes"}


@pytest.mark.parametrize(
    ("rules", "read", "told"),
    [
        (ENTITIES.replace('type = "kind"\n', ""), read_data_rules, "needs 'type'"),
        (ENTITIES.replace('fixed.setting = "neutral"\n', ""), read_data_rules, "needs 'setting'"),
        ("", read_data_rules, "the key 'name' is missing"),
        (ENTITIES.replace("cultures = ", "# cultures = "), read_data_rules, "cultures: is needed"),
        (ENTITIES.replace("fixed.setting", "fixed.seting"), read_data_rules, "fixed.seting"),
        (ENTITIES.replace('"name.en"', '["name.en", "english"]'), read_data_rules, "'this one|or this one'"),
        (QUESTIONS.replace('text = "asked"\n', ""), read_set_rules, "needs 'text'"),
        (QUESTIONS.replace("facets =", 'fixed.options = "a"\nfacets ='), read_set_rules, "fixed.options"),
        (QUESTIONS.replace("facets =", 'replace = { "" = "a" }\nfacets ='), read_set_rules, "replace"),
        (f'{QUESTIONS}\n[words.contry]\nNippon = "JP"\n', read_set_rules, "words.contry"),
        (f'{ENTITIES}\n[words.kind]\nmeal = "food"\n', read_data_rules, "words.kind"),
        (QUESTIONS.replace('"{country}"', '"{country}", language = "tongue"'), read_set_rules, "language = COLUMN"),
    ],
)
def test_a_target_says_which_field_it_lacks_and_how_to_give_it(
    tmp_path: Path, rules: str, read: Any, told: str
) -> None:
    (tmp_path / "mine.toml").write_text(rules, encoding="utf-8")
    with pytest.raises(DataSetError, match=re.escape(told)) as fault:
        read(tmp_path / "mine.toml")
    assert "mine.toml" in str(fault.value)


def test_a_facet_that_is_no_column_names_what_fixes_it_for_all_rows(tmp_path: Path) -> None:
    (tmp_path / "soups.csv").write_text("no,asked,first,second,key\n1,Which?,a,b,A\n", encoding="utf-8")
    (tmp_path / "soups.toml").write_text(QUESTIONS.replace("{country}", "Japan"), encoding="utf-8")
    with pytest.raises(DataSetError, match=r"facets\.country: .*'Japan'.*fixed\.country"):
        open_set(str(tmp_path / "soups.toml"))
    (tmp_path / "soups.toml").write_text(
        QUESTIONS.replace('facets = { country = "{country}" }', 'fixed.country = "JP"')
    )
    assert open_set(str(tmp_path / "soups.toml")).questions[0].facets["country"] == "JP"


def test_a_field_may_be_said_by_the_path(tmp_path: Path) -> None:
    file = dishes(
        tmp_path, ENTITIES.replace('fixed.setting = "neutral"\n', "").replace('"contexts', '"{setting}-contexts')
    )
    (tmp_path / "contexts.csv").rename(tmp_path / "grounded-contexts.csv")
    assert [one.setting for one in load(read_data_rules(file), tmp_path).contexts] == ["grounded"]


def test_a_part_of_a_path_that_is_no_field_is_a_column(tmp_path: Path) -> None:
    rules = ENTITIES.replace("dishes.json", "{town}.json").replace('key = "place"', 'key = "town"')
    file = dishes(tmp_path, rules)
    (tmp_path / "dishes.json").rename(tmp_path / "Mombasa.json")
    found = Loader(read_data_rules(file), tmp_path).load()
    assert {(one.surface, one.culture) for one in found.entities} == {
        ("ugali", "Swahili"), ("piza", "Swahili"), ("wali", "Swahili"),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["entities", "choice", "pair", "gap", "open"])
def test_a_rules_file_to_start_from_is_one_and_names_every_field(kind: str, tmp_path: Path) -> None:
    done = polyculture("data", "new", "mine.toml", "--of", kind, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    read: Any = read_data_rules if kind == "entities" else read_set_rules
    rules = read(tmp_path / "mine.toml")
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    of_blocks = text[text.index("[[") :]
    for block in (EntityBlock, ContextBlock) if kind == "entities" else (QuestionBlock,):
        for one in block.target_fields():
            live = re.search(rf"^{one.name} = ", of_blocks, re.MULTILINE) is not None
            assert live is one.is_needed(kind)
            assert live or f"# {one.name} = " in text or not isinstance(one.needed, bool)
    assert rules.name == "mine"
    again = polyculture("data", "new", "mine.toml", cwd=tmp_path)
    assert again.returncode == 2
    assert "mine.toml" in again.stderr
    lines = [line.removeprefix("# ") for line in text.splitlines() if re.match(r"(# )?\w+(\.\w+)? = |\[\[", line)]
    every = "\n".join(line for line in lines if not line.startswith("unit"))
    (tmp_path / "all.toml").write_text(every, encoding="utf-8")
    if kind in ("entities", "open"):  # the other kinds have fields of open questions as well
        assert read(tmp_path / "all.toml")


def test_one_template_asks_every_language_but_those_with_their_own(tmp_path: Path) -> None:
    rows = (
        "no,tongue,country,asked,first,second,key\n1,yo,NG,Which?,a,b,A\n2,German,DE,Welche?,a,b,B\n3,ha,NG,W?,a,b,B\n"
    )
    (tmp_path / "soups.csv").write_text(rows, encoding="utf-8")
    text = QUESTIONS.replace('text = "asked"', 'text = "asked"\nlanguage = "tongue"')
    every = '[prompts]\ntemplates = "{question}\\n{options}"\n'
    (tmp_path / "soups.toml").write_text(text + every, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml")).prompts
    assert [(one.language, one.template) for one in found] == [
        (one, "{question}\n{options}") for one in ("de", "ha", "yo")
    ]
    own = '[prompts.templates]\nall = "{question}\\n{options}"\nde = "Frage: {question}\\n{options}"\n'
    (tmp_path / "soups.toml").write_text(text + own, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml")).prompts
    assert [(one.language, one.template[:5]) for one in found] == [("de", "Frage"), ("ha", "{ques"), ("yo", "{ques")]


@pytest.mark.parametrize(
    ("rows", "remedy"), [("dish", "Did you mean 'dishes'"), ("entries", "Write rows as a path to a list")]
)
def test_rows_that_lead_nowhere_are_told_with_what_the_file_has(tmp_path: Path, rows: str, remedy: str) -> None:
    file = dishes(tmp_path, ENTITIES.replace('rows = "dishes"', f'rows = "{rows}"'))
    with pytest.raises(DataSetError) as refused:
        load(read_data_rules(file), tmp_path)
    for part in ("no entities", "dishes.json", f"rows = '{rows}'", "the file has dishes", remedy):
        assert part in str(refused.value)


def test_a_table_of_the_type_that_a_block_names_is_read_by_that_block(tmp_path: Path) -> None:
    """`*.jsonl` took the contexts, as tables may come in any type, and another file's line said why none was read."""
    rules = ENTITIES.replace("dishes.json", "*.jsonl").replace('rows = "dishes"\n', "").replace("join =", "# join =")
    rules = rules.replace('culture = "coast"', 'fixed.culture = "Swahili"').replace("skip =", "# skip =")
    (tmp_path / "dishes.jsonl").write_text(json.dumps(DISHES[0]) + "\n", encoding="utf-8")
    (tmp_path / "contexts.csv").write_text("context\nLeo nimekula [MASK]\n", encoding="utf-8")
    (tmp_path / "dishes.toml").write_text(rules, encoding="utf-8")
    found = load(read_data_rules(tmp_path / "dishes.toml"), tmp_path)
    assert (len(found.entities), len(found.contexts)) == (1, 1)
    (tmp_path / "contexts.csv").write_text("context\nLeo nimekula\n", encoding="utf-8")
    with pytest.raises(DataSetError, match=r"no contexts .*1 left out, the first: contexts\.csv row 2: no gap"):
        load(read_data_rules(tmp_path / "dishes.toml"), tmp_path)
    (tmp_path / "contexts.csv").unlink()
    with pytest.raises(DataSetError, match=r"there is no file contexts\.csv"):
        load(read_data_rules(tmp_path / "dishes.toml"), tmp_path)
    (tmp_path / "dishes.toml").write_text(rules.partition("[[contexts]]")[0], encoding="utf-8")
    with pytest.raises(DataSetError, match=r"have no \[\[contexts\]\]"):
        load(read_data_rules(tmp_path / "dishes.toml"), tmp_path)


def test_a_column_that_all_objects_lack_is_told_once(tmp_path: Path) -> None:
    nouns = {one: {"singular": one} for one in ("dada", "mama", "kaka")}
    (tmp_path / "nouns.json").write_text(json.dumps(nouns), encoding="utf-8")
    block = '[[entities]]\nfiles = "nouns.json"\nrows = "object"\ntext = "singular"\ntype = "kind"\nculture = "side"\n'
    (tmp_path / "nouns.toml").write_text(ENTITIES.partition("[[entities]]")[0] + block, encoding="utf-8")
    (told,) = Loader(read_data_rules(tmp_path / "nouns.toml"), tmp_path).load().left_out
    assert (told.place.file, "no column 'side'" in told.reason) == ("nouns.json", True)


LANGUAGES = 'languages = { sw = "Swahili", ha = "Hausa" }\n'


def test_columns_named_after_languages_are_texts_in_each_in_both_kinds(tmp_path: Path) -> None:
    """As IndiBias has an English and a Hindi pair in a row."""
    table = "no,country,Swahili asked,ha,key\n1,JP,Supu gani?,Wace miya?,A\n"
    (tmp_path / "soups.csv").write_text(table, encoding="utf-8")
    text = QUESTIONS + '[prompts]\ninstruction = "en"\n'
    text = text.replace('language = "en"\n', LANGUAGES).replace('"asked"', '"{language} asked|{code}"')
    (tmp_path / "soups.toml").write_text(text.replace('["first", "second"]', '{ text = ["miso", "egusi"] }'), "utf-8")
    asked = open_set(str(tmp_path / "soups.toml"), tmp_path)
    assert [(one.name, one.language, one.text) for one in asked.questions] == [
        ("1", "sw", "Supu gani?"), ("1", "ha", "Wace miya?"),
    ]  # fmt: skip
    rules = ENTITIES.replace('["sw"]', '["sw", "ha"]').replace('languages = { sw = "Swahili" }\n', LANGUAGES)
    file = dishes(tmp_path, rules.replace('"context"', '"{language} context|{code}"'))
    (tmp_path / "contexts.csv").write_text("Swahili context,ha\nNimekula [MASK],Na ci [MASK]\n", encoding="utf-8")
    (tmp_path / "soups.csv").unlink()
    found = load(read_data_rules(file), tmp_path)
    assert [(one.language, one.text) for one in found.contexts] == [("sw", "Nimekula [MASK]"), ("ha", "Na ci [MASK]")]


def test_a_gap_in_another_spelling_is_read_and_told_in_questions_as_in_contexts(tmp_path: Path) -> None:
    (tmp_path / "soups.csv").write_text(
        "no,country,asked,first,second,key\n1,JP,I ate [MAK] soup,miso,egusi,A\n2,NG,I ate soup,miso,egusi,B\n"
    )
    text = QUESTIONS.replace('kind = "choice"', 'kind = "gap"').replace('["accuracy"]', '["cloze"]')
    (tmp_path / "soups.toml").write_text(text, encoding="utf-8")
    found = open_set(str(tmp_path / "soups.toml"))
    assert [one.text for one in found.questions] == ["I ate [MASK] soup"]
    assert [(out.place.row, out.reason) for out in found.remarks] == [
        (2, "kept: its gap, written [MAK], is read as [MASK]"),
        (3, "left out: no gap [MASK]: [questions.replace] says what the gap is"),
    ]


def test_a_damaged_file_is_told_first_and_blocks_no_other(tmp_path: Path) -> None:
    """It stopped a question set, and was a line of a data set of entities."""
    for name in ("b.json", "c.json"):
        (tmp_path / name).write_text("[1, 2", encoding="utf-8")
    rules = COUNTRIES.replace('"asked.csv"', '["asked.csv", "b.json", "c.json"]')
    found = asked(tmp_path, f"{QUOTED}8,,x,y,A,IT\n7,,x,y,A,IT\n6,,x,y,A,IT\n{END}", rules)
    assert len(found.questions) == 2
    damaged = [one for one in found.remarks if one.place.file in ("b.json", "c.json")]
    assert all("is no JSON" in one.reason and "Get or write the file again." in one.reason for one in damaged)
    assert in_short(found.remarks, most=1).startswith("2 x not read: is no JSON"), "before rows that are lost"
    with pytest.raises(DataSetError, match="holds no usable question: 1 x not read: is no JSON"):
        asked(tmp_path, "", rules.replace('"asked.csv", ', "").replace(', "c.json"', ""))


def test_a_file_that_is_read_in_part_counts_for_nothing(tmp_path: Path) -> None:
    rules = COUNTRIES.replace("[[questions]]", '[[questions]]\nturns = ["one", "two"]')
    (tmp_path / "more.csv").write_text(f"{HEADER}5,Which?,x,y,A,IT\n6,Which?\n", encoding="utf-8")
    found = asked(tmp_path, END, rules.replace('"asked.csv"', '["asked.csv", "more.csv"]'))
    assert [one.place.file for one in found.questions] == ["asked.csv"]
    (told,) = found.remarks
    assert told.place.file == "more.csv"
    assert "not read: more.csv row 3: " in told.reason or told.reason.startswith("not read: has 2 cells")


def test_tables_that_no_rule_reads_are_told_but_for_those_of_prompts_and_selections(tmp_path: Path) -> None:
    for name in ("prompts.csv", "hard.csv", "notes.csv"):
        (tmp_path / name).write_text("id,prompt\n1,{question} {options}\n", encoding="utf-8")
    prompts = '[prompts]\nfiles = "prompts.csv"\n[selections.hard]\nset = { files = "hard.csv" }\n'
    (told,) = asked(tmp_path, END, f"{COUNTRIES}{prompts}").remarks
    assert (told.place.file, told.reason) == ("notes.csv", "no rule of the data set reads this file")


def test_what_is_wrong_with_a_row_in_several_languages_is_told_once_with_these(tmp_path: Path) -> None:
    """A row that is too short was told once for each language."""
    table = "no,country,sw,ha,key\n1,JP,Supu gani?,Wace miya?,A\n2,JP\n3,JP,,,A\n4,JP,Nini?,,A\n"
    (tmp_path / "soups.csv").write_text(table, encoding="utf-8")
    languages = 'languages = { sw = "Swahili", ha = "Hausa", yo = "Yoruba" }\n'
    text = QUESTIONS.replace('language = "en"\n', languages).replace('"asked"', '"{code}|country"')
    text += '[prompts]\ninstruction = "en"\n'
    (tmp_path / "soups.toml").write_text(text.replace('["first", "second"]', '{ text = ["miso", "egusi"] }'), "utf-8")
    found = open_set(str(tmp_path / "soups.toml"), tmp_path)
    assert [(out.place.row, out.reason, out.languages) for out in found.remarks] == [
        (3, "left out: has 2 cells, and the header 5", ()),
        (4, "left out: its text is empty", ("sw", "ha")),
        (5, "left out: its text is empty", ("ha",)),
    ]


def test_words_and_languages_that_no_row_has_are_told_in_both_kinds(tmp_path: Path) -> None:
    """A misspelt word left its rows under the publisher's word, and nothing said so."""
    unused = 'languages = { sw = "Swahili", ha = "Hausa" }\nwords.type = { Food = "food", Foot = "food" }\n'
    rules = ENTITIES.replace('languages = { sw = "Swahili" }\n', unused)
    left_out = load(read_data_rules(dishes(tmp_path, rules)), tmp_path).left_out
    told = {out.reason for out in left_out if out.reason.startswith("missing: ") and "no row of" not in out.reason}
    assert told == {"missing: words.type: no row says 'foot'", "missing: languages.ha: nothing is read in 'Hausa'"}
    words = 'words.country = { it = "Italy", ki = "Kenya" }\nlanguages = { sw = "Swahili" }\n[[questions]]'
    remarks = asked(tmp_path, END, COUNTRIES.replace("[[questions]]", words)).remarks
    assert [out.reason for out in remarks if out.reason.startswith("missing: ")] == [
        "missing: words.country: no row says 'ki'",
        "missing: languages.sw: nothing is read in 'Swahili'",
    ]


@pytest.mark.parametrize("place", ["A2:A3", "F1:G2", "A9:B12"])
def test_a_merged_cell_is_said_in_each_row_by_both_readers_and_an_empty_one_beside_the_table_in_none(
    place: str, tmp_path: Path
) -> None:
    book = Workbook()
    for row in (("model", "text"), ("m", "one"), (None, "two")):
        book.active.append(row)
    book.active.merge_cells(place)
    book.save(tmp_path / "book.xlsx")
    expected = [{"model": "m", "text": "one"}, {"model": "m" if place == "A2:A3" else "", "text": "two"}]
    for read in (read_workbook(tmp_path / "book.xlsx"), read_known_workbook(tmp_path / "book.xlsx", KNOWN)):
        assert [dict(row.values) for row in read if isinstance(row, Record)] == expected
