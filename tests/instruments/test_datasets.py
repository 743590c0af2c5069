"""Published data sets in their publishers' own uneven files, a user's own, and what is left out of each."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from openpyxl import Workbook, load_workbook
from pyarrow import parquet

from polyculture.cache.errors import DataSetError
from polyculture.instruments.cbs.step import scoring_jobs
from polyculture.instruments.datasets.check import findings
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.gaps import GapReading, read_gaps
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import DataSet, gold_label
from polyculture.instruments.datasets.opened import DatasetOptions, open_data_set
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import DataSelection, chosen_contexts
from polyculture.instruments.swaps.selection import DrawOptions, swap_texts
from polyculture.sources.fetch import check_as_received, fetch, fetched_commit
from polyculture.sources.left_out import by_reason
from tests.polyculture.test_command_line import one_line, polyculture

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"
WESTERN = [
    ("source", "en", "zh", "hi", "gu", "mr", "ml", "ur", "vi", "ja", "ko"),
    (
        "http://www.wikidata.org/entity/Q1",
        "apple pie",
        "苹果派",
        "एप्पल पाई",
        "એપલ",
        "ॲपल",
        "ആ",
        "ایپل",
        "bánh",
        "パイ",
        "파이",
    ),
    ("ml", "toast", "吐司", "टोस्ट", "ટો", "टो", "ടോ", "ٹوسٹ", "bánh mì", " トースト ", "토스트"),
    ("ml", "gruel", "", "", "", "", "", "", "", "", ""),
]


def sheet(file: Path, rows: list[tuple[object, ...]]) -> Path:
    book = Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    file.parent.mkdir(parents=True, exist_ok=True)
    book.save(file)
    return file


@pytest.fixture
def camellia(tmp_path: Path) -> Path:
    """A folder as Camellia's publisher lays it out: three cultures, columns in other orders, some of it wrong."""
    entities, contexts = tmp_path / "entities", tmp_path / "contexts"
    sheet(entities / "western" / "food.xlsx", WESTERN)
    sheet(entities / "japanese" / "food.xlsx", [("Translation", "Entity", "Culture"), (" sushi", "寿司", "Japanese"),
          ("sushi", "寿司 ", "Japanese"), ("burger", "ハンバーガー", "Western"), ("", "", ""), ("x", "", "Japanese")],
          )  # fmt: skip
    sheet(
        entities / "japanese" / "names-female.xlsx",
        [("Entity", "Culture", "Gender"), ("千紘", "Japanese", "Both"), ("恵", "Japanese", "Female")],
    )
    sheet(entities / "japanese" / "names-male.xlsx", [("Entity", "Culture"), ("恵", "Japanese"), ("翔", "Japanese")])
    sheet(
        entities / "indian" / "food.xlsx",
        [("Hindi Entity", "gujarati", "mr", "Culture"), ("खीर", "ખીર", "खीर", "Indian")],
    )
    sheet(contexts / "camellia-grounded" / "causal-lms" / "grounded-contexts-causal-lms-japanese.xlsx", [
        ("Entity Type", "Context", "Sentiment", "English Context"),
        ("Food", "夕食に[MASK]", "neutral", "For dinner [MASK]"),
        ("Food", "朝食に[Mask]", "neutral", "For [MASK] breakfast [MASK]"),
        ("Food", "昼食に", "neutral", "No gap"),
        ("Food", "[MASK]と[MASK]", "neutral", "Two"),
        ("Names", "彼女は[MASK]", "neutral", "She is [MASK]"),
    ])  # fmt: skip
    sheet(contexts / "camellia-neutral" / "causal-lms" / "neutral-contexts-causal-lms-pakistan.xlsx",
          [("Entity type", "Context"), ("Food", "[MASK] کھانا")])  # fmt: skip
    sheet(
        contexts / "camellia-qa" / "japanese" / "qa-contexts-names.xlsx",
        [("Gender", "QA Context"), ("Male", "彼は[MASK]だ")],
    )
    sheet(tmp_path / "notes.xlsx", [("hello",)])
    return tmp_path


def test_uneven_files_are_read_by_rules(camellia: Path) -> None:
    found = load(rules_of("camellia"), camellia)
    native = {(e.language, e.surface, e.gender) for e in found.entities if e.culture != "Western"}
    assert native == {
        ("ja", "寿司", None), ("ja", "千紘", "both"), ("ja", "恵", "both"), ("ja", "翔", "male"),
        ("hi", "खीर", None), ("gu", "ખીર", None), ("mr", "खीर", None),
    }  # fmt: skip
    western = Counter(e.language for e in found.entities if e.culture == "Western")
    assert set(western) == {"zh", "ja", "ko", "vi", "ur", "hi", "gu", "mr", "ml"}
    assert set(western.values()) == {2}
    assert {e.qid for e in found.entities if e.surface == "パイ"} == {"Q1"}
    assert {(c.culture, c.language, c.setting, c.form, c.entity_type, c.gender) for c in found.contexts} == {
        ("Japanese", "ja", "grounded", "causal", "food", None),
        ("Japanese", "ja", "grounded", "causal", "names", None),
        ("Pakistani", "ur", "neutral", "causal", "food", None),
        ("Japanese", "ja", "qa", "masked", "names", "male"),
    }


def test_what_is_left_out_is_listed_with_file_sheet_row_and_reason(camellia: Path) -> None:
    found = load(rules_of("camellia"), camellia)
    lines = {f"{out.place}: {out.reason}" for out in found.left_out}
    food, contexts = (
        "entities/japanese/food.xlsx sheet 'Sheet'",
        "causal-lms/grounded-contexts-causal-lms-japanese.xlsx",
    )
    assert f"{food} row 3: the same entity as in {food} row 2" in lines
    assert f"{food} row 4: culture 'Western' in a file of Japanese entities" in lines
    assert f"{food} row 6: no entity in Japanese" in lines
    indian = "entities/indian/food.xlsx sheet 'Sheet'"
    assert f"{indian}: no column for Malayalam; there are Hindi Entity, gujarati, mr, Culture" in lines
    rows = {(out.place.row, out.reason) for out in found.left_out if contexts in out.place.file}
    assert rows == {
        (3, "kept: its gap, written [Mask], is read as [MASK]"),
        (3, "kept: 2 gaps [MASK] in its translation, so out of the translation"),
        (4, "no gap [MASK]"),
        (5, "2 gaps [MASK] where one is needed"),
    }
    assert "notes.xlsx: no rule of the data set reads this file" in lines


def test_entities_fit_a_context_by_language_type_and_gender(camellia: Path) -> None:
    found = load(rules_of("camellia"), camellia)
    fitting = {c.text: {e.surface for e in found.fitting(c)} for c in found.contexts}
    assert fitting["夕食に[MASK]"] == {"寿司", "パイ", "トースト"}
    assert fitting["彼女は[MASK]"] == {"千紘", "恵", "翔"}
    assert fitting["彼は[MASK]だ"] == {"千紘", "恵", "翔"}


def test_english_stands_beside_the_original(camellia: Path) -> None:
    found = in_english(load(rules_of("camellia"), camellia))
    assert {c.text for c in found.contexts} == {"For dinner [MASK]", "She is [MASK]"}
    assert {(e.surface, e.culture) for e in found.entities} == {
        ("sushi", "Japanese"),
        ("apple pie", "Western"),
        ("toast", "Western"),
    }
    assert "2 gaps [MASK] in the translation" in {out.reason for out in found.left_out}


def test_english_takes_the_contexts_and_entities_that_the_original_takes(tmp_path: Path) -> None:
    sides = {
        "Swahili": [f"chakula {number}" for number in range(20)],
        "Western": [f"piza {number}" for number in range(20)],
    }
    entities = [f"sw,{culture},food,{name},{name[::-1]}" for culture, names in sides.items() for name in names]
    contexts = [f"sw,Swahili,food,neutral,{number} nimekula [MASK],I ate {number} [MASK]" for number in range(20)]
    files = {
        "entities.csv": "\n".join(["language,culture,type,entity,english", *entities]),
        "contexts.csv": "\n".join(["language,culture,type,setting,context,english", *contexts]),
    }
    original = write_own(tmp_path, **files)
    selection = DataSelection(contexts=3, entities=4)
    (here,), (there,) = (scoring_jobs(dataset, "x", selection) for dataset in (original, in_english(original)))
    assert {context.english for context, _ in here.asked} == {context.text for context, _ in there.asked}
    for (_, ours), (_, english) in zip(here.asked, there.asked, strict=True):
        assert {entity.english for entity in ours} == {entity.surface for entity in english}
    drawn = [
        swap_texts(dataset, "ner", DataSelection(), DrawOptions(4, 2)) for dataset in (original, in_english(original))
    ]
    names = [
        {context.english: {entity.english for entity, _ in entities} for context, entities in texts[0].drawn}
        for texts in drawn
    ]
    assert names[0] == names[1]


def test_a_sheet_without_its_column_blocks_no_other(camellia: Path) -> None:
    sheet(camellia / "entities" / "korean" / "food.xlsx", [("Name", "Old name"), ("김치", "김치"), ("떡", "떡")])
    found = load(rules_of("camellia"), camellia)
    (told,) = [out for out in found.left_out if out.place.file == "entities/korean/food.xlsx"]
    assert "the sheet is not read: no column 'Korean Entity' or 'Korean'" in told.reason
    assert told.place.sheet == "Sheet"
    assert "there are: Name, Old name. Name the column so" in told.reason
    assert len(found.contexts) == 5
    assert {e.surface for e in found.entities if e.culture == "Japanese"} == {"寿司", "千紘", "恵", "翔"}


def test_a_file_that_is_no_workbook_blocks_no_other(camellia: Path) -> None:
    (camellia / "entities" / "japanese" / "food.xlsx").write_text("not a workbook", encoding="utf-8")
    done = polyculture("data", "check", "camellia", "--folder", camellia, "--format", "csv", cwd=camellia)
    assert done.returncode == 0
    assert "entities/japanese/food.xlsx,,,not read: cannot be read" in done.stdout


def test_where_nothing_is_read_the_fault_is_told(tmp_path: Path) -> None:
    (tmp_path / "contexts.csv").write_text("language,text\nsw,[MASK]\n", encoding="utf-8")
    done = polyculture("data", "check", "own", "--folder", tmp_path, cwd=tmp_path)
    assert "contexts.csv: the sheet is not read: no column" in one_line(done)


def test_a_check_counts_by_reason_and_a_file_has_a_line_for_each_row(camellia: Path, tmp_path: Path) -> None:
    """Camellia's 2,661 lines were printed, one below the other."""
    names = [("Korean Entity", "Entity"), *((f"이름{n % 3}", "") for n in range(30))]  # three names, ten rows of each
    sheet(camellia / "entities" / "korean" / "food.xlsx", names)
    words = ("data", "check", "camellia", "--folder", camellia)
    counted, listed = (polyculture(*words, *more, cwd=tmp_path) for more in ((), ("-o", "all.csv")))
    assert (counted.returncode, listed.returncode) == (0, 0)
    assert " ".join(counted.stdout.split()).count("the same entity as in") == 1
    rows = (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert sum("the same entity as in" in row for row in rows) >= 27
    assert f"{len(rows)} rows were left out or changed" in counted.stderr
    assert f"{len(rows)} lines" in listed.stderr


CONTEXTS = "contexts/camellia-neutral/masked-lms/neutral-contexts-masked-lms"


def test_columns_are_known_by_the_words_of_their_names(camellia: Path) -> None:
    sheet(camellia / f"{CONTEXTS}-korean.xlsx", [
        ("EntityTypes", "SENTIMENT", "Context (Korean)", "English-Context"),
        ("Food", "positive", "저는 [MASK] 좋아해요", "I like [MASK]"),
        ("Food", "negtive", "저는 [MASK] 싫어요", "I hate [MASK]"),
    ])  # fmt: skip
    names = [("korean_entities", "Wikidata-ID"), ("김치", "Q2"), ("떡", "Q3")]
    sheet(camellia / "entities" / "korean" / "food.xlsx", names)
    found = load(rules_of("camellia"), camellia)
    korean = [context for context in found.contexts if context.language == "ko"]
    assert {(c.entity_type, c.text, c.english) for c in korean} == {
        ("food", "저는 [MASK] 좋아해요", "I like [MASK]"),
        ("food", "저는 [MASK] 싫어요", "I hate [MASK]"),
    }
    assert [gold_label(context) for context in korean] == ["positive", "negative"]
    assert {(e.surface, e.qid) for e in found.entities if e.culture == "Korean"} == {("김치", "Q2"), ("떡", "Q3")}
    told = {out.reason for out in found.left_out if "korean" in out.place.file}
    assert told == {"kept: its sentiment 'negtive' is read as negative"}


def test_sheets_as_people_leave_them(camellia: Path) -> None:
    """Titles above the header, merged cells, trailing blanks, further sheets, a CSV file, another encoding."""
    file = sheet(camellia / f"{CONTEXTS}-korean.xlsx", [
        ("Contexts of Korea", None, None),
        (None, None, None),
        ("Sentiment", "Context ", "ENTITY TYPE"),
        ("neutral", "오늘 [MASK] 먹었다  ", "Food"),
        ("neutral", "어제 [MASK] 먹었다", None),
        (" ", " ", " "),
    ])  # fmt: skip
    book = load_workbook(file)
    book.active.merge_cells("C4:C5")
    book.create_sheet("counts").append(("Food", 2))
    book.save(file)
    (camellia / "entities" / "korean").mkdir()
    text = "Entity;Culture\n김치;Korean\n떡;Korean\n"
    (camellia / "entities" / "korean" / "food.csv").write_text(text, encoding="utf-16")
    found = load(rules_of("camellia"), camellia)
    assert {(c.place.row, c.text, c.entity_type) for c in found.contexts if c.language == "ko"} == {
        (4, "오늘 [MASK] 먹었다", "food"),
        (5, "어제 [MASK] 먹었다", "food"),
    }
    assert {e.surface for e in found.entities if e.culture == "Korean"} == {"김치", "떡"}
    told = {(out.place.sheet, out.place.row): out for out in found.left_out if "korean" in out.place.file}
    assert told.keys() == {("Sheet", 1), ("counts", 1)}
    assert told["Sheet", 1].reason.startswith("not read: is above the header")
    assert told["Sheet", 1].text == "Contexts of Korea"
    assert told["counts", 1].reason == "not read: is the only row of its table, and names no column that is read"


def test_a_type_that_nobody_knows_is_a_line_with_its_remedy(camellia: Path) -> None:
    rows = [("Type", "Context"), ("Fod", "저는 [MASK] 먹어요"), ("Food", "오늘 [MASK] 먹었다"), ("곤충", "[MASK]다")]
    sheet(camellia / f"{CONTEXTS}-korean.xlsx", rows)
    sheet(camellia / "entities" / "korean" / "insects.xlsx", [("Entity", "Culture"), ("나비", "Korean")])
    found = load(rules_of("camellia"), camellia)
    assert {c.entity_type for c in found.contexts if c.language == "ko"} == {"food"}
    assert {e.entity_type for e in found.entities} <= set(rules_of("camellia").types)
    told = {(out.place.row, out.reason) for out in found.left_out if "korean" in out.place.file}
    known = "none of authors, beverage, food, locations, names, sports"
    assert (2, f"type 'fod' is {known}. Did you mean 'food'?") in told
    assert [row for row, reason in told if reason.startswith(f"type '곤충' is {known}. ")] == [4]
    assert [row for row, reason in told if reason.startswith("the sheet is not read: type 'insects' is")] == [None]


KOREAN = [("김치", "kimchi", "Korean"), ("떡", "rice cake", "Korean"), ("토스트", "toast", "Western")]


@pytest.mark.parametrize(
    ("above", "there"),
    [
        ([("Nom", "Übersetzung", "Kultur")], "Nom, Übersetzung, Kultur"),
        ([("X", "Y", "Z")], "X, Y, Z"),
        ([], None),
        ([(None, None, None)], None),
    ],
)
def test_renamed_columns_never_make_a_row_of_data_the_header(
    camellia: Path, above: list[tuple[object, ...]], there: str | None
) -> None:
    """The word of the culture column is also what some sheets call their text: it became the only entity."""
    sheet(camellia / "entities" / "korean" / "food.xlsx", [*above, *KOREAN])
    found = load(rules_of("camellia"), camellia)
    assert not [entity for entity in found.entities if entity.culture == "Korean"]
    (line,) = (out.reason for out in found.left_out if out.place.file == "entities/korean/food.xlsx")
    if there is None:
        assert line == "left out: no row of column names, and 3 rows are not read. Name the columns."
    else:
        assert line.startswith("the sheet is not read: no column 'Korean Entity'")
        assert f"there are: {there}. Name the column so, or give rules of your own" in line


@pytest.mark.parametrize("number", [1, 2, 20])
def test_columns_that_nothing_tells_apart_are_refused_in_one_line(camellia: Path, number: int) -> None:
    rows = [(f"phở {one}", f"soup {one}", "Vietnamese") for one in range(number)]
    sheet(camellia / "entities" / "vietnamese" / "food.xlsx", [("X", "Y", "Z"), *rows])
    sheet(camellia / "entities" / "vietnamese" / "sports.xlsx", [("Kultur",), *[("Vietnamese",)] * number])
    found = load(rules_of("camellia"), camellia)
    assert not [entity for entity in found.entities if entity.culture == "Vietnamese"]
    told = [out.reason for out in found.left_out if "entities/vietnamese" in out.place.file and out.reason[:3] == "the"]
    assert len(told) == 2
    assert all("no column 'Vietnamese Entity'" in line and "Name the column so" in line for line in told)


def test_a_known_name_in_a_row_of_data_is_no_header(camellia: Path) -> None:
    rows = [("Name of it", "Other"), ("김치", "Source"), ("떡", "QID"), ("국수", "English")]
    sheet(camellia / "entities" / "korean" / "food.xlsx", rows)
    found = load(rules_of("camellia"), camellia)
    (told,) = (out.reason for out in found.left_out if out.place.file == "entities/korean/food.xlsx")
    assert "there are: Name of it, Other" in told


def test_a_file_may_be_named_after_a_language(camellia: Path) -> None:
    sheet(camellia / f"{CONTEXTS}-gujarati.xlsx", [("Entity Type", "Gujarati Context"), ("Food", "હું [MASK] ખાઉં છું")])
    found = load(rules_of("camellia"), camellia)
    assert [(c.culture, c.language) for c in found.contexts if c.language == "gu"] == [("Indian", "gu")]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("मैं [मास्क] खाता हूँ", "मैं [MASK] खाता हूँ"),
        ("ഞാൻ [മാസ്‌ക്] കഴിക്കും", "ഞാൻ [MASK] കഴിക്കും"),
        ("ഞാൻ [മസ്ക്] കഴിക്കും", "ഞാൻ [MASK] കഴിക്കും"),
        ("私は［ＭＡＳＫ］を", "私は[MASK]を"),
        ("I eat [MASK", "I eat [MASK]"),
        ("I eat <mask>", "I eat [MASK]"),
        ("[MAK]を食べる", "[MASK]を食べる"),
        ("[MASK] [MASK] sang", "[MASK] sang"),
        ("आम्हाला [ मास्क ] आवडते", "आम्हाला [MASK] आवडते"),
        ("Tôi ăn [mặt nạ]", "Tôi ăn [MASK]"),
        ("मैं (मास्क) खाता हूँ", "मैं [MASK] खाता हूँ"),
    ],
)
def test_gaps_in_other_spellings_are_read_and_told(text: str, read: str) -> None:
    found = read_gaps(text)
    assert found.text == read
    assert found.changes


@pytest.mark.parametrize("other", ["<mask>", "[MSAK]", "____", "{ mask }"])
def test_a_second_gap_in_another_spelling_is_no_word_of_the_text(other: str) -> None:
    assert read_gaps(f"I met [MASK] and {other} there").text.count("[MASK]") == 2
    assert read_gaps(f"I met [MASK] {other} there").text == "I met [MASK] there"


@pytest.mark.parametrize(
    "text",
    ["He wore a mask [sic] today", "[London] and [Paris]", "[MASK] with a (mask)", "the [mark] here", "[MASK] (मास्क)"],
)
def test_other_words_in_brackets_are_no_gap(text: str) -> None:
    found = read_gaps(text)
    assert found.text == text
    assert bool(found.changes) is ("(" in text)  # what may have been meant for a gap is told


def test_a_name_on_both_sides_is_out_unless_all_is_kept_as_published(camellia: Path) -> None:
    sheet(camellia / "entities" / "korean" / "food.xlsx",
          [("Entity", "Culture"), ("토스트", "Korean"), ("김치", "Korean"), ("김치", "Korean")])  # fmt: skip
    found = load(rules_of("camellia"), camellia)
    assert [(e.surface, e.culture) for e in found.entities if e.language == "ko"] == [
        ("김치", "Korean"),
        ("파이", "Western"),
    ]
    told = [out.place.file for out in found.left_out if out.reason == "the same name is Korean and Western in ko"]
    assert told == ["entities/korean/food.xlsx", "entities/western/food.xlsx"]
    whole = load(rules_of("camellia"), camellia, as_published=True)
    korean = [entity for entity in whole.entities if entity.language == "ko"]
    assert Counter((e.surface, e.culture) for e in korean) == {
        ("토스트", "Korean"): 1, ("김치", "Korean"): 2, ("토스트", "Western"): 1, ("파이", "Western"): 1,
    }  # fmt: skip
    assert len({entity.entity_id for entity in korean}) == 5


def test_a_context_that_begins_with_its_gap_is_out_of_causal_scoring(camellia: Path) -> None:
    for whole, asked in ((False, 3), (True, 4)):
        found = load(rules_of("camellia"), camellia, as_published=whole)
        assert sum(len(contexts) for _, contexts in chosen_contexts(found, DataSelection())) == asked
        told = [out.reason for out in found.left_out if "pakistan" in out.place.file]
        assert told == ["kept: it begins with its gap, so out of causal scoring"]


def test_who_may_fill_a_translated_context_may_fill_its_original(tmp_path: Path) -> None:
    """Cricket clubs compete with the clubs that the language has, not with all that English has."""
    entities = "\n".join([
        "language,culture,type,entity,english", "hi,Hindi,sports,मुंबई,Mumbai", "hi,Western,sports,सरे,Surrey",
        "ja,Western,sports,アーセナル,Arsenal", "ja,Japanese,sports,浦和,Urawa",
    ])  # fmt: skip
    contexts = "\n".join([
        "language,culture,type,setting,context,english", "hi,Hindi,sports,neutral,हम [MASK],We [MASK]",
        "ja,Japanese,sports,neutral,僕は[MASK],I like [MASK]",
    ])  # fmt: skip
    found = in_english(write_own(tmp_path, **{"entities.csv": entities, "contexts.csv": contexts}))
    fitting = {context.text: {entity.surface for entity in found.fitting(context)} for context in found.contexts}
    assert fitting == {"We [MASK]": {"Mumbai", "Surrey"}, "I like [MASK]": {"Arsenal", "Urawa"}}


def test_one_text_in_several_languages_counts_once(camellia: Path) -> None:
    sheet(camellia / f"{CONTEXTS}-indian.xlsx", [
        ("Entity Type", "Hindi Context", "Gujarati Context", "Marathi Context", "Malayalam Context"),
        ("Food", "मैं [MASK]", "હું [MASK]", "मी [MASK]", "ഞാൻ [MASK]"),
    ])  # fmt: skip
    found = load(rules_of("camellia"), camellia)
    assert len(found.contexts) == 9


OWN = {
    "entities.csv": "language,culture,type,entity,english\nsw,Swahili,food,ugali,ugali\nsw,Western,food,piza,pizza\n",
    "contexts.csv": "language,culture,type,setting,context\nsw,Swahili,food,grounded,Nyumbani tunakula [MASK]\n",
}


def write_own(folder: Path, **files: str) -> DataSet:
    for name, text in {**OWN, **files}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return load(rules_of("own"), folder)


def test_an_entity_without_a_visible_sign_is_left_out(tmp_path: Path) -> None:
    entities = OWN["entities.csv"] + "sw,Swahili,food,\u200b\nsw,Swahili,food,wa\u200bli\n"
    found = write_own(tmp_path, **{"entities.csv": entities})
    assert [lo.reason for lo in found.left_out] == ["the entity has no visible sign"]
    assert "wa\u200bli" in [entity.surface for entity in found.entities]


def test_a_gender_that_nobody_knows_is_left_out(tmp_path: Path) -> None:
    names = "language,culture,type,gender,entity\nsw,Swahili,names,Female,Asha\nsw,Swahili,names,woman,Zuri\n"
    found = write_own(tmp_path, **{"entities.csv": names, "contexts.csv": OWN["contexts.csv"].replace("food", "names")})
    assert [(e.surface, e.gender) for e in found.entities] == [("Asha", "female")]
    told = "gender 'woman' is none of female, male, both"
    assert [(lo.place.row, lo.reason) for lo in found.left_out] == [(3, told)]


def test_an_open_quotation_mark_swallows_no_rows(tmp_path: Path) -> None:
    entities = OWN["entities.csv"] + 'sw,Swahili,food,"wali,rice\nsw,Western,food,keki,cake\n'
    with pytest.raises(DataSetError, match=r"row 4.*unexpected"):
        write_own(tmp_path, **{"entities.csv": entities})
    found = write_own(tmp_path, **{"entities.csv": entities.replace("keki,cake", 'keki"')})
    (told,) = found.left_out
    assert told.place.row == 4
    assert "quotation mark stays open: lines 4 to 5 are in one cell (2 lines)" in told.reason


def test_a_byte_that_is_no_utf_8_is_told_with_its_row(tmp_path: Path) -> None:
    write_own(tmp_path)
    good = OWN["entities.csv"] + "sw,Western,food,crêpe brûlée\n"
    (tmp_path / "entities.csv").write_bytes("\ufeff".encode() + good.encode() + b"sw,Western,food,p\xe8te\n")
    found = load(rules_of("own"), tmp_path)
    assert "crêpe brûlée" in {entity.surface for entity in found.entities}
    assert [(out.place.row, out.reason) for out in found.left_out] == [(5, "'entity' is not in UTF-8")]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32"])
def test_a_table_is_read_in_the_encoding_that_a_spreadsheet_saved_it_in(tmp_path: Path, encoding: str) -> None:
    found = write_own(tmp_path)
    text = OWN["entities.csv"] + "sw,Western,food,pâté\n"
    (tmp_path / "entities.csv").write_bytes(text.encode(encoding))
    assert {e.surface for e in load(rules_of("own"), tmp_path).entities} == {
        *(e.surface for e in found.entities),
        "pâté",
    }
    (tmp_path / "entities.csv").write_bytes(text.replace("pâté", "пирог").encode("cp1251"))
    with pytest.raises(DataSetError, match=r"unknown encoding: row 4") as told:
        load(rules_of("own"), tmp_path)
    assert "Save it as UTF-8" in str(told.value)


@pytest.mark.parametrize(
    ("above", "separator"), [("", ";"), ("", "|"), ("", "\t"), ("sep=;\n", ";"), ("Entities of my own\n", ";")]
)
def test_a_table_is_read_with_the_separator_that_it_has(tmp_path: Path, above: str, separator: str) -> None:
    found = write_own(tmp_path)
    text = OWN["entities.csv"].replace(",", separator)
    (tmp_path / "entities.csv").write_text(
        f"{above}{text}sw{separator}Western{separator}food{separator}soup, with rice"
    )
    surfaces = {e.surface for e in load(rules_of("own"), tmp_path).entities}
    assert surfaces == {*(e.surface for e in found.entities), "soup, with rice"}


def test_one_process_reads_unchanged_files_once_and_changed_ones_again(tmp_path: Path) -> None:
    write_own(tmp_path)
    first = open_data_set("own", tmp_path)
    assert open_data_set("own", tmp_path) is first
    (tmp_path / "notes.txt").write_text("no table", encoding="utf-8")
    assert open_data_set("own", tmp_path) is first
    file = tmp_path / "entities.csv"
    file.write_text(OWN["entities.csv"].replace("piza,", "pita,"), encoding="utf-8")  # as many bytes
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1_000_000))
    assert [entity.surface for entity in open_data_set("own", tmp_path).entities] == ["ugali", "pita"]
    (tmp_path / "contexts.csv").unlink()
    with pytest.raises(DataSetError, match="holds no contexts"):
        open_data_set("own", tmp_path)


def test_a_fetched_data_set_is_the_pinned_commit_and_nothing_else(camellia: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", "-C", str(camellia), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "data")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    pinned = git("rev-parse", "HEAD")
    (camellia / "notes.xlsx").unlink()
    git("commit", "--quiet", "-am", "later")
    target = tmp_path / "got" / "camellia"
    assert fetch(rules_of("camellia"), target, pinned, f"file://{camellia}") == pinned
    assert (target / "notes.xlsx").exists()
    assert not (target / ".git").exists()
    assert len(load(rules_of("camellia"), target).contexts) == 5
    check_as_received(target)
    assert fetched_commit(target) == pinned
    (target / "notes.xlsx").write_bytes(b"")
    changed = polyculture("data", "check", "camellia", "--folder", target, cwd=tmp_path)
    assert "1 of 10 files have changed since they were fetched: notes.xlsx. Fetch it again" in one_line(changed)
    with pytest.raises(DataSetError, match="cannot be fetched"):
        fetch(rules_of("camellia"), target, "0" * 40, f"file://{camellia}")
    assert (target / "notes.xlsx").exists()


def test_a_row_has_the_gender_of_its_sheet_as_published_and_of_all_its_rows_in_ours(tmp_path: Path) -> None:
    """A name that both sheets call unisex stands once in each, and not twice in either."""
    for gender in ("female", "male"):
        rows = [("Entity", "Culture", "Gender"), ("지우", "Korean", "unisex")]
        sheet(tmp_path / "entities" / "korean" / f"names-{gender}.xlsx", rows)
    sheet(tmp_path / "entities" / "western" / "names-male.xlsx", [("ko", "en"), ("톰", "Tom")])
    neutral = tmp_path / "contexts" / "camellia-neutral" / "causal-lms" / "x-korean.xlsx"
    sheet(neutral, [("Korean Context", "Entity Type"), ("제 이름은 [MASK]", "names")])
    published, ours = (load(rules_of("camellia"), tmp_path, as_published=flag) for flag in (True, False))
    assert sorted(e.gender for e in published.entities if e.culture == "Korean") == ["female", "male"]
    assert [e.gender for e in ours.entities if e.culture == "Korean"] == ["both"]


def test_check_tells_words_that_mean_one_thing_and_sides_without_entities(tmp_path: Path) -> None:
    entities = """language,culture,type,entity
fil,Filipino,food,adobo
tl-Latn,western,food,pizza
fil,Filipino,drink,salabat
"""
    contexts = """language,culture,type,setting,context
fil,Filipino,food,neutral,Kumain ako ng [MASK]
fil,filipino,drink,neutral,Uminom ako ng [MASK]
"""
    found = write_own(tmp_path, **{"entities.csv": entities, "contexts.csv": contexts})
    assert {entity.culture for entity in found.entities} == {"Filipino", "Western"}  # in whatever case
    assert [f"{line.place}: {line.reason}" for line in findings(found)] == [
        "entities.csv row 3: languages 'fil' and 'tl-Latn' are one language by CLDR: contexts of one do not meet "
        "entities of the other",
        "contexts.csv row 3: cultures 'Filipino' and 'filipino' differ in case alone: contexts of one do not meet "
        "entities of the other",
        "contexts.csv row 2: 1 contexts of Filipino are not asked: no Western entity of type 'food' in 'fil'",
        "contexts.csv row 3: 1 contexts of filipino are not asked: no Western entity of type 'drink' in 'fil'",
        "contexts.csv row 3: 1 contexts of filipino are not asked: no filipino entity of type 'drink' in 'fil'",
    ]
    told = polyculture("data", "check", "own", "--folder", tmp_path, "--format", "csv", cwd=tmp_path)
    assert "are one language by CLDR" in told.stdout


@pytest.mark.parametrize(
    "gap",
    ["[MASK", "MASK]", "[MASK)", "]MASK[", "[MASK[", "[[MASK]", "[[MASK]]", "《MASK]", "［mask}", "⟦MASK⟧", "[/MASK]"],
)
def test_a_gap_with_a_broken_bracket_is_read_and_told(gap: str) -> None:
    found = read_gaps(f"나는 {gap} 먹었다")
    assert found.text == "나는 [MASK] 먹었다"
    assert len(found.changes) == 1
    assert read_gaps("a [b] [MASK] c]") == GapReading("a [b] [MASK] c]", ())


def test_a_remark_counts_what_is_left_out_of_the_languages_that_are_asked(camellia: Path) -> None:
    remarks: list[str] = []
    every = open_data_set("camellia", camellia)
    for options in ({}, {"language": ("ja",)}, {"culture": ("Indian",)}):
        DatasetOptions(folder=camellia, **options).opened(remarks.append)  # type: ignore[arg-type]
    whole, japanese, indian = (int(re.search(r"(\d+) rows? (?:is|are) left out", one)[1]) for one in remarks)  # type: ignore[index]
    assert 0 < whole <= len(every.left_out)
    assert 0 < japanese < whole
    assert 0 < indian < whole
    assert "indian" not in remarks[1]
    assert "japanese" not in remarks[2]
    assert all(len(one) < 400 + 2 * len(str(camellia)) for one in remarks)  # a count and a path: it was 1 to 3 kB


NAMES_OF_TABLE_2 = {"Chinese": (906, 1123), "Japanese": (503, 523), "Korean": (899, 886)}


@pytest.mark.full
@pytest.mark.skipif(not SHARED.is_dir(), reason="the published data sets are not on this machine (../shared/data)")
def test_names_are_as_many_as_the_paper_counts() -> None:
    found = load(rules_of("camellia"), SHARED / "camellia", as_published=True)
    names = Counter((e.culture, e.gender) for e in found.entities if e.entity_type == "names")
    assert {side: (names[side, "male"], names[side, "female"]) for side in NAMES_OF_TABLE_2} == NAMES_OF_TABLE_2


@pytest.mark.full
@pytest.mark.skipif(not SHARED.is_dir(), reason="the published data sets are not on this machine (../shared/data)")
@pytest.mark.parametrize(
    ("name", "entities", "contexts", "rows"),
    [("camellia", 10885, 2278, 0), ("camel", 19566, 1006, 800), ("camel2", 38483, 367, 3809)],
)
def test_the_published_files(name: str, entities: int, contexts: int, rows: int) -> None:
    """The counts of what the publishers' folders hold; of Camellia's entities the native ones."""
    found = load(rules_of(name), SHARED / name)
    counted = [e for e in found.entities if name != "camellia" or e.culture != "Western"]
    assert (len(counted), len(found.contexts)) == (entities, contexts)
    assert all((c.text.count("[MASK]") == 1 and found.fitting(c)) or name == "camel2" for c in found.contexts)
    assert not rows or len(found.left_out) == rows
    assert not [out for out in found.left_out if "no rule" in out.reason]


def test_an_english_name_of_both_sides_is_out_and_one_of_a_side_stands_once(tmp_path: Path) -> None:
    entities = [
        "language,culture,type,entity,english",
        "sw,Swahili,food,mkate,bread",
        "sw,Western,food,bredi,bread",  # the other side's, too
        "hi,Western,food,ब्रेड,bread",  # in Hindi nobody else is called so, but it is the same Western name
        "hi,Western,food,पिज़्ज़ा,pizza",
        "sw,Swahili,food,uji,porridge",
        "sw,Swahili,food,ujii,porridge",  # two of a side
        "sw,Western,food,piza,pizza",
        "hi,Hindi,food,रोटी,roti",
    ]
    contexts = [
        "language,culture,type,setting,context,english",
        "sw,Swahili,food,neutral,Tunakula [MASK],We eat [MASK]",
        "sw,Swahili,food,neutral,Sisi tunakula [MASK],We eat [MASK]",
        "hi,Hindi,food,neutral,हम [MASK],We want [MASK]",
    ]
    files = {"entities.csv": "\n".join(entities), "contexts.csv": "\n".join(contexts)}
    write_own(tmp_path, **files)
    ours, published = (
        in_english(load(rules_of("own"), tmp_path, as_published=as_published)) for as_published in (False, True)
    )

    def fitting(dataset: DataSet, text: str) -> list[tuple[str, str]]:
        context = next(one for one in dataset.contexts if one.text == text)
        return sorted((one.culture, one.surface) for one in dataset.fitting(context))

    assert fitting(ours, "We eat [MASK]") == [("Swahili", "porridge"), ("Western", "pizza")]
    assert fitting(ours, "We want [MASK]") == [("Hindi", "roti"), ("Western", "pizza")]
    assert len(ours.contexts) == 2
    assert {reason: number for reason, number, _ in by_reason(ours.left_out)} == {
        "the same name is Swahili and Western in English, of sw": 2,
        "the same English name as in another row": 1,
        "the same English context as in another row": 1,
    }
    assert fitting(published, "We eat [MASK]") == [
        ("Swahili", "bread"),
        ("Swahili", "porridge"),
        ("Swahili", "porridge"),
        ("Western", "bread"),
        ("Western", "pizza"),
    ]
    assert len(published.contexts) == 3
    assert published.left_out == ()
    assert {one.entity_id for one in ours.entities} < {one.entity_id for one in published.entities}


STRANGE = "language,culture,type,setting,context\n"
SIDES = "language,culture,type,entity\nka,Western,food,pizza\nka,Georgian,food,khachapuri\n"


@pytest.mark.parametrize("gap", ["[ნიღაბი]", "[BLANK]", "____", "{}", "<X>"])
def test_a_gap_that_nobody_has_listed_is_what_nearly_all_texts_of_a_column_have(tmp_path: Path, gap: str) -> None:
    rows = [f"ka,Georgian,food,neutral,We {word} {gap} today\n" for word in ("ate", "liked", "cooked", "sold")]
    found = write_own(tmp_path, **{"contexts.csv": STRANGE + "".join(rows), "entities.csv": SIDES})
    assert [context.text for context in found.contexts][:2] == ["We ate [MASK] today", "We liked [MASK] today"]
    assert sum(gap in line.reason for line in found.left_out) == 4, "it is told"
    few = write_own(tmp_path, **{"contexts.csv": STRANGE + rows[0] + "ka,Georgian,food,neutral,We [MASK]\n"})
    assert len(few.contexts) == 1, "one text alone tells nothing"


def test_a_context_of_the_reference_culture_has_one_side_and_is_not_asked(tmp_path: Path) -> None:
    rows = "ka,Western,food,neutral,We eat [MASK]\nka,Georgian,food,neutral,We eat [MASK] now\n"
    found = write_own(tmp_path, **{"contexts.csv": STRANGE + rows, "entities.csv": SIDES})
    assert ["Western are not asked" in line.reason for line in findings(found)] == [True]
    told: list[str] = []
    ((unit, _),) = chosen_contexts(found, DataSelection(), told.append)
    assert unit == ("ka", "Georgian", "food")
    assert len(told) == 1


def test_tables_of_records_are_read_and_a_missing_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"no file entities\.csv"):
        load(rules_of("own"), tmp_path)
    (tmp_path / "entities.json").write_text(
        '[{"Language": "ka", "culture": "Western", "type": "food", "entity": "pizza"}]', encoding="utf-8"
    )
    row = {"language": "ka", "culture": "Georgian", "type": "food", "setting": "neutral", "context": "We eat [MASK]"}
    (tmp_path / "contexts.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    found = load(rules_of("own"), tmp_path)
    assert (found.entities[0].surface, found.contexts[0].text) == ("pizza", "We eat [MASK]")
    (tmp_path / "contexts.jsonl").unlink()
    parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "contexts.parquet")
    assert [context.text for context in load(rules_of("own"), tmp_path).contexts] == ["We eat [MASK]"]


def test_a_compressed_table_is_read_and_an_open_spreadsheets_second_file_is_not(tmp_path: Path) -> None:
    write_own(tmp_path)
    (tmp_path / "contexts.csv.gz").write_bytes(gzip.compress((tmp_path / "contexts.csv").read_bytes()))
    (tmp_path / "contexts.csv").unlink()
    for name in ("~$contexts.xlsx", "contexts.md"):
        (tmp_path / name).write_bytes(b"nothing that can be read")
    found = load(rules_of("own"), tmp_path)
    assert [context.text for context in found.contexts] == ["Nyumbani tunakula [MASK]"]
    assert found.left_out == ()


OWN_RULES = """
name = "mine"
title = "Mine"
licence = "ours"
cultures = { Swahili = ["sw"] }

[[entities]]
files = "all.json"
rows = "native"
text = "word"
english = "%s"
fixed = { type = "food", language = "sw", culture = "Swahili" }

[[entities]]
files = "all.json"
rows = "western"
text = "word"
fixed = { type = "food", language = "sw", culture = "Western" }

[[contexts]]
files = "all.json"
rows = "contexts"
text = "text"
fixed = { setting = "grounded", type = "food", language = "sw", culture = "Swahili" }
"""


def own_data(folder: Path, english: str = "meaning") -> DataSet:
    """A file with entities of two sides and contexts, and a table that nobody reads."""
    (folder / "rules.toml").write_text(OWN_RULES % english, encoding="utf-8")
    (folder / "data").mkdir(exist_ok=True)
    content = {
        "native": [{"word": "ugali", "meaning": "porridge"}, {"word": "pilau", "meaning": "rice"}],
        "western": [{"word": "pizza"}],
        "contexts": [{"text": "Ninakula [MASK] leo."}],
    }
    (folder / "data" / "all.json").write_text(json.dumps(content), encoding="utf-8")
    return load(rules_of(str(folder / "rules.toml")), folder / "data")


def test_each_block_that_names_other_rows_of_a_file_reads_it(tmp_path: Path) -> None:
    """The first one alone read it: the Western side vanished without a word."""
    found = own_data(tmp_path)
    assert {(one.surface, one.culture, one.english) for one in found.entities} == {
        ("ugali", "Swahili", "porridge"), ("pilau", "Swahili", "rice"), ("pizza", "Western", None),
    }  # fmt: skip
    assert [one.text for one in found.contexts] == ["Ninakula [MASK] leo."]
    assert found.left_out == ()


def test_a_column_that_rules_name_is_there_unless_they_say_that_it_may_be_missing(tmp_path: Path) -> None:
    """A misspelt name left a field empty, with a line at the end."""
    found = own_data(tmp_path, english="meanig")
    (told,) = found.left_out
    assert told.place.file == "all.json"
    assert "the sheet is not read: no column 'meanig'; there are: key, word, meaning" in told.reason
    assert [one.surface for one in found.entities] == ["pizza"]
    found = own_data(tmp_path, english="meanig|")
    (told,) = found.left_out
    assert told.reason == "missing: no table has 'meanig|'. Did you mean 'meaning'?"
    assert [one.surface for one in found.entities] == ["ugali", "pilau", "pizza"]


def test_the_command_that_an_error_names_checks_rules_of_ones_own(tmp_path: Path) -> None:
    """It named the stem of the file, and there was no data set of that name."""
    folder = tmp_path / "my data"
    folder.mkdir()
    own_data(folder)
    rules = (folder / "rules.toml").read_text(encoding="utf-8")
    assert rules.count('setting = "grounded", type = "food"') == 1
    (folder / "rules.toml").write_text(rules.replace('grounded", type = "food"', 'grounded", type = "drink"'), "utf-8")
    found = open_data_set(str(folder / "rules.toml"), folder / "data")
    with pytest.raises(DataSetError, match="no Swahili and no Western entity of type 'drink'") as fault:
        chosen_contexts(found, DataSelection(), str)
    words = shlex.split(str(fault.value.remedy).partition(": ")[2])
    done = polyculture(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert " entities 3 – contexts 1 – " in " ".join(done.stdout.split())


def test_a_table_of_two_kinds_is_read_by_each_block_that_names_it(tmp_path: Path) -> None:
    """One block alone read it, and a line said that the other kind has to have a file of its own."""
    rules = OWN_RULES.replace("all.json", "all.csv").replace("rows =", "# rows =") % "meaning"
    first, native, western, contexts = rules.split("[[")
    native += 'skip = { column = "side", is = ["western", ""], reason = "of the other side" }\n'
    western += 'skip = { column = "side", is = ["native", ""], reason = "of the other side" }\n'
    contexts += 'skip = { column = "text", empty = true, reason = "a name" }\n'
    (tmp_path / "rules.toml").write_text("[[".join((first, native, western, contexts)), encoding="utf-8")
    (tmp_path / "data").mkdir()
    table = "word,meaning,side,text\nugali,porridge,native,\npizza,pizza,western,\n,,,Ninakula [MASK] leo.\n"
    (tmp_path / "data" / "all.csv").write_text(table, encoding="utf-8")
    found = load(rules_of(str(tmp_path / "rules.toml")), tmp_path / "data")
    assert [(one.surface, one.culture) for one in found.entities] == [("ugali", "Swahili"), ("pizza", "Western")]
    assert [one.text for one in found.contexts] == ["Ninakula [MASK] leo."]
    assert all(line.reason.startswith("skipped: ") for line in found.left_out)


@pytest.mark.parametrize(
    ("rows", "content"),
    [
        (
            "words.all",
            {"words": {"all": [{"key": "ugali", "porridge": "stiff"}, {"key": "pilau", "porridge": "rice"}]}},
        ),
        ("object", {"ugali": {"porridge": "stiff"}, "pilau": {"porridge": "rice"}}),
    ],
)
def test_a_joined_file_may_have_its_rows_inside(tmp_path: Path, rows: str, content: object) -> None:
    own_data(tmp_path)
    joined = f'join = {{ files = "more.json", rows = "{rows}", on = "key", key = "word", take = ["porridge"] }}\n'
    text = (OWN_RULES % "porridge").replace('rows = "native"\n', 'rows = "native"\n' + joined, 1)
    (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
    (tmp_path / "data" / "more.json").write_text(json.dumps(content), encoding="utf-8")
    found = load(rules_of(str(tmp_path / "rules.toml")), tmp_path / "data")
    assert {one.surface: one.english for one in found.entities if one.culture == "Swahili"} == {
        "ugali": "stiff", "pilau": "rice",
    }  # fmt: skip
    assert found.left_out == ()


@pytest.mark.parametrize(
    ("on", "key", "told"),
    [
        ("key", "wrod", r"there is no 'wrod'.*`key` of the join with more\.csv is a column of this file"),
        ("word", "word", r"more\.csv.*there is no 'word'.*`on` and `take` of a join are columns of the second file"),
    ],
)
def test_a_join_says_of_which_file_its_columns_are(tmp_path: Path, on: str, key: str, told: str) -> None:
    own_data(tmp_path)
    joined = f'join = {{ files = "more.csv", on = "{on}", key = "{key}", take = ["meaning"] }}\n'
    rules = (OWN_RULES % "meaning").replace('rows = "native"\n', 'rows = "native"\n' + joined, 1)
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "data" / "more.csv").write_text("key,meaning\nugali,a\npilau,b\n", encoding="utf-8")
    try:
        said = str(load(rules_of(str(tmp_path / "rules.toml")), tmp_path / "data").left_out)
    except DataSetError as fault:
        said = str(fault)
    assert re.search(told, said), said


def test_a_joined_file_is_read_and_a_misspelt_column_is_named_before_titles(tmp_path: Path) -> None:
    own_data(tmp_path)
    joined = 'join = { files = "more.csv", on = "key", key = "word", take = { sense = "meaning" } }\n'
    rules = (OWN_RULES % "meaning").replace('rows = "native"\n', 'rows = "native"\n' + joined, 1)
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "data" / "more.csv").write_text("key,meaning\nugali,a\npilau,b\n", encoding="utf-8")
    assert load(rules_of(str(tmp_path / "rules.toml")), tmp_path / "data").left_out == ()
    with pytest.raises(DataSetError, match=r"Did you mean 'rules.toml'\?"):
        rules_of(str(tmp_path / "rule.toml"))
