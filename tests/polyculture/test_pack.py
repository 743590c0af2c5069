"""Languages and topics of one's own: begun from data, written by a speaker, checked, and used in one experiment."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bench.language_facts import table
from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.facts import FILE, language_facts
from polyculture.cache.catalog.read import read_pack
from polyculture.cache.errors import CatalogError
from polyculture.cli.pack_gaps import find_gaps
from polyculture.cli.pack_new import write_files
from polyculture.extract.boundaries import UNSEGMENTED
from polyculture.extract.gazetteer import gazetteer_extractor_id
from polyculture.extract.llm import prompt_head
from polyculture.extract.reading import present_reader, read_mentions
from polyculture.generate.detection import detect
from polyculture.running.opening import open_workspace
from tests.link_world import item, write_dump
from tests.polyculture.test_command_line import ROOT, one_line, polyculture

ITEMS = [
    item("Q746549", "dish"),
    item("Q132241", "festival"),
    item("Q10244", {"en": "Diwali", "ca": "Diwali", "kn": "ದೀಪಾವಳಿ"}, None, 90, P31="Q132241", P17="Q668"),
    item("Q1320546", {"en": "ugali", "ca": "ugali", "kn": "ಉಗಾಲಿ"}, None, 60, P31="Q746549", P495="Q114"),
]
# What a speaker writes.
CATALAN = {
    "country": "País de la persona: {country_name}.",
    "name": "Nom de la persona: {name}.",
    "food": "Escriu un text d'unes {amount} paraules sobre una persona que està sopant.",
}
KANNADA = {
    "country": "ಈ ವ್ಯಕ್ತಿಯ ದೇಶ: {country_name}.",
    "food": "ರಾತ್ರಿ ಊಟ ಮಾಡುತ್ತಿರುವ ಒಬ್ಬ ವ್ಯಕ್ತಿಯ ಬಗ್ಗೆ ಸುಮಾರು {amount} ಪದಗಳ ಒಂದು ಬರಹ ಬರೆಯಿರಿ.",
}
FESTIVAL = {
    "en": "Write a text of about {amount} words on a person who is celebrating a festival.",
    "ca": "Escriu un text d'unes {amount} paraules sobre una persona que està celebrant una festa.",
    "kn": "ಹಬ್ಬವನ್ನು ಆಚರಿಸುತ್ತಿರುವ ಒಬ್ಬ ವ್ಯಕ್ತಿಯ ಬಗ್ಗೆ ಸುಮಾರು {amount} ಪದಗಳ ಒಂದು ಬರಹ ಬರೆಯಿರಿ.",
}
EXAMPLE = '\n[[examples]]\ntext = "Li agrada Eid."\nmentions.festival = [["Eid", "Eid", "Eid"]]\n'
EXPERIMENT = """name = "both"
models = ["mock:anything"]
languages = ["ca", "kn"]
topics = ["food", "festival"]
countries = ["ES", "CI"]
conditions = ["neutral", "explicit"]
catalog = ["ca.toml", "mine"]
options.mock.answers = "answers.toml"
[sampling]
n = 1
[link]
snapshot = "wikidata.duckdb"
"""
ANSWERS = """[[answer]]
texts = ["Li agraden Diwali i ugali."]
prompt = "Escriu"
[[answer]]
texts = ["ದೀಪಾವಳಿ ಮತ್ತು ಉಗಾಲಿ ಇಷ್ಟ."]
"""
BUILD = ("wikidata", "build", "dump.json", "-o", "wikidata.duckdb", "--catalog", "ca.toml", "--catalog", "mine")


def edit(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for pattern, new in pairs:
        text, times = re.subn(pattern, lambda _, new=new: new, text, flags=re.MULTILINE | re.DOTALL)
        assert times, pattern
    file.write_text(text, encoding="utf-8")


def write(file: Path, texts: dict[str, str]) -> None:
    """Writes what a speaker does, and deletes the other lines that are empty."""
    edit(file, *((rf'^{key} = ""', f"{key} = {json.dumps(text, ensure_ascii=False)}") for key, text in texts.items()))
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'^\w+ = ""\n', "", text, flags=re.MULTILINE), encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Catalan as a file, and a pack of Kannada with festivals, as two speakers leave them."""
    folder = tmp_path_factory.mktemp("packs")
    for words in (("ca",), ("kn", "--topic", "festival")):
        done = polyculture("pack", "new", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
    write(folder / "ca.toml", CATALAN)
    edit(folder / "ca.toml", ("^\\[wording\\]", 'endings = [["", "ns"]]\n[wording]'))
    write(folder / "kn.toml", KANNADA)
    edit(
        folder / "festival.toml",
        (r'^kn = ""', 'kn = ""\nca = ""'),
        (r'description = ""', 'description = "a festival"'),
        (r"roots = \[\]", 'roots = ["Q132241"]'),
        (r"\Z", EXAMPLE),
    )
    write(folder / "festival.toml", FESTIVAL)
    for file, place in (("kn.toml", "languages"), ("festival.toml", "topics")):
        (folder / "mine" / place).mkdir(parents=True)
        (folder / file).rename(folder / "mine" / place / file)
    (folder / "mine" / "pack.toml").write_text('name = "mine"\nversion = "1"\n', encoding="utf-8")
    return folder


@pytest.fixture
def packs(tmp_path: Path, written: Path) -> tuple[Path, Path]:
    """The same, to be changed."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return tmp_path / "ca.toml", tmp_path / "mine"


def test_a_new_language_is_one_file_of_eight_texts_with_what_data_say(tmp_path: Path) -> None:
    done = polyculture("pack", "new", "kn", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "kn.toml").read_text(encoding="utf-8")
    assert text.count('= ""') == 8 + 1  # and that of the sentence about the language, a comment
    told = tomllib.loads(
        "\n".join(line[2:] for line in text.splitlines() if re.match(r"# \w+ = ", line) and "answer" not in line)
    )
    assert [told[key] for key in ("endonym", "direction", "scripts", "first_country", "detector", "amount")] == [
        "ಕನ್ನಡ", "ltr", ["Knda"], "IN", "KN", 31
    ]  # fmt: skip
    checked = polyculture("pack", "check", "kn.toml", cwd=tmp_path)
    assert checked.returncode == 1
    topics = "{beverage,book,clothing,food,music,transportation}"
    assert f"kn.toml: wording.plain.topics.{topics}: empty." in checked.stdout
    again = polyculture("pack", "new", "kn", cwd=tmp_path)
    assert again.returncode == 0, "a command that was stopped at its end is given again"
    (tmp_path / "kn.toml").write_text(text + "\n", encoding="utf-8")
    assert "is there already" in one_line(polyculture("pack", "new", "kn", cwd=tmp_path))


def test_the_table_of_facts_is_what_cldr_says() -> None:
    """Where this fails after an update of babel: python -m bench.language_facts."""
    assert table() == FILE.read_text(encoding="utf-8")


def test_a_language_that_cldr_lacks_is_left_to_its_speaker(tmp_path: Path) -> None:
    unknown = language_facts("qaa")
    assert (unknown.endonym, unknown.direction, unknown.scripts) == ("", "", ())
    (file,) = write_files(tmp_path, "qaa", [])
    empty = {gap.key for gap in find_gaps([file])}
    assert {"name", "endonym", "direction", "scripts", "first_country", "native_countries"} <= empty


@pytest.mark.parametrize(
    ("code", "scripts", "detector"),
    [
        ("yue", ("Hani",), "YUE"),
        ("ja", ("Kana", "Hani", "Hira"), "JA"),
        ("ko", ("Hang",), "KO"),
        ("fil", ("Latn",), "TL"),
        ("ur", ("Arab",), "UR"),
    ],
)
def test_scripts_are_those_of_letters_and_detectors_may_have_three(
    code: str, scripts: tuple[str, ...], detector: str
) -> None:
    """A pack of Cantonese could not pass: its script was Hant, which no letter has, and its code had two letters."""
    assert (language_facts(code).scripts, language_facts(code).detector) == (scripts, detector)


LAO = {
    "country": "ປະເທດຂອງຄົນນີ້: {country_name}.",
    "food": "ຂຽນບົດຄວາມປະມານ {amount} ຄຳ ກ່ຽວກັບຄົນທີ່ກຳລັງກິນເຂົ້າແລງ.",
}


def test_a_language_whose_words_nothing_separates_is_extracted_from_by_a_model_only(tmp_path: Path) -> None:
    """The gazetteer would find a name inside other words: for Chinese, Japanese and Thai it has rules."""
    for code in ("lo", "km", "my", "dz"):
        assert UNSEGMENTED.intersection(language_facts(code).scripts), code
    assert [one.code for one in read_catalog().languages.values() if UNSEGMENTED.intersection(one.scripts)] == []
    (file,) = write_files(tmp_path, "lo", [])
    write(file, LAO)
    checked = polyculture("pack", "check", "lo.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "extraction: by a model only, since nothing separates its words" in checked.stdout
    text = EXPERIMENT.replace('"ca", "kn"', '"lo"').replace('"ca.toml", "mine"', '"lo.toml"')
    text = text.replace(', "festival"', "").replace('"wikidata.duckdb"', '"starter"').replace("options.mock", "#")
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    planned = polyculture("plan", "a.toml", cwd=tmp_path)
    assert "run will refuse" in planned.stderr
    for words, code in (("plan", 0), ("run", 2)):
        done = polyculture(words, "a.toml", cwd=tmp_path)
        assert (done.returncode, "Lao: by a model only" in done.stderr) == (code, True)
    (tmp_path / "a.toml").write_text(text + '[extract]\nwith = "mock:x"\n', encoding="utf-8")
    assert "by a model only" not in polyculture("plan", "a.toml", cwd=tmp_path).stderr


KALMYK = """code = "xal"
name = "Kalmyk"
endonym = "хальмг"
direction = "ltr"
scripts = ["Cyrl"]
first_country = "RU"
native_countries = ["RU"]
amount = 40
[wording.plain]
country = "Эн күүнә орн-нутг: {country_name}."
countries = { RU = "Орсин", US = "Америк" }
[wording.plain.topics]
food = "Асхни хот идҗәх күүнә тускар {amount} үгтә бичлһн бичтн."
"""


def test_a_language_that_cldr_lacks_is_asked_about_the_countries_that_its_file_names(tmp_path: Path) -> None:
    file = tmp_path / "xal.toml"
    file.write_text(KALMYK, encoding="utf-8")
    checked = polyculture("pack", "check", "xal.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert [line for line in checked.stdout.splitlines() if "орн-нутг" in line] == [
        "    Эн күүнә орн-нутг: Орсин.", "    Эн күүнә орн-нутг: Америк."
    ]  # fmt: skip
    assert "wording.plain.countries: 247 of 249 countries have no name, such as AD, AE, AF" in checked.stdout
    assert "has no names of countries in it; the pack has 2" in checked.stdout
    text = EXPERIMENT.replace('"ca", "kn"', '"xal"').replace('"ca.toml", "mine"', '"xal.toml"')
    text = text.replace(', "festival"', "").replace('"wikidata.duckdb"', '"starter"').replace("options.mock", "#")
    for countries, code in (('["RU", "US"]', 0), ('["RU", "CI"]', 2)):
        (tmp_path / "a.toml").write_text(text.replace('["ES", "CI"]', countries), encoding="utf-8")
        planned = polyculture("plan", "a.toml", cwd=tmp_path)
        assert planned.returncode == code, planned.stderr
    assert 'Add CI = "..." to [wording.plain.countries]' in planned.stderr
    edit(file, (r"^countries = [^\n]*", ""))
    (needed,) = [gap for gap in find_gaps([file]) if gap.needed]
    assert (needed.key, needed.what[:10]) == ("wording.plain.countries", "249 of 249")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            "Эн күүнә орн-нутг: {country}.",
            "holds {country}; a template of this condition holds {country_name} and nothing else",
        ),
        ("Эн күүнә орн-нутг.", "holds {country_name} 0 times"),
        ("{country_name} орн-нутг: {country_name}.", "holds {country_name} 2 times"),
    ],
)
def test_a_line_with_another_placeholder_than_the_name_of_the_country_is_said_to_be_so(
    line: str, what: str, tmp_path: Path
) -> None:
    """It was taken for a template of another wording, which lacks a form of Andorra."""
    file = tmp_path / "xal.toml"
    file.write_text(KALMYK.replace("Эн күүнә орн-нутг: {country_name}.", line), encoding="utf-8")
    needed = [gap for gap in find_gaps([file]) if gap.needed]
    assert any(what in gap.what for gap in needed)
    assert {gap.key for gap in needed} == {"wording.plain.country"}


def test_check_says_which_places_have_their_official_name(tmp_path: Path) -> None:
    """Sentences asked about Hong Kong SAR China, in Uzbek, while the report and other languages had Hong Kong."""
    file = tmp_path / "uz.toml"
    file.write_text(UZBEK, encoding="utf-8")
    key = "wording.plain.countries"
    gaps = {gap.key: gap for gap in find_gaps([file])}
    assert (gaps[f"{key}.HK"].needed, "Gonkong (Xitoy MMH)" in gaps[f"{key}.HK"].what) == (False, True)
    names = 'countries = { HK = "Gonkong", MO = "Makao" }'
    file.write_text(UZBEK.replace("name = ", f"{names}\nname = "), encoding="utf-8")
    assert [gap.key for gap in find_gaps([file]) if gap.key.startswith(key)] == []
    (new,) = write_files(tmp_path / "new", "uz", [])
    assert '# HK = "Gonkong (Xitoy MMH)"\n' in new.read_text(encoding="utf-8")


UZBEK = """
code = "uz"
amount = 40

[wording.plain]
country = "Bu odamning mamlakati: {country_name}."
name = "Bu odamning ismi: {name}."

[wording.plain.topics]
food = "Kechki ovqat yeyayotgan odam haqida taxminan {amount} so'zdan iborat matn yozing."
"""


def test_a_line_is_too_short_to_tell_its_language_and_is_read_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "uz.toml"
    file.write_text(UZBEK, encoding="utf-8")
    assert [str(gap) for gap in find_gaps([file]) if gap.needed] == []
    german = "Das Land, aus dem diese Person kommt und in dem sie aufgewachsen ist, heißt: {country_name}."
    file.write_text(UZBEK.replace("Bu odamning mamlakati: {country_name}.", german), encoding="utf-8")
    assert any("is detected as de" in gap.what for gap in find_gaps([file]) if gap.needed)


def test_an_amount_that_nothing_gives_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "be.toml"
    file.write_text(
        """
code = "be"

[wording.plain]
country = "Краіна гэтага чалавека: {country_name}."

[wording.plain.topics]
food = "Напішыце тэкст прыкладна з {amount} слоў пра чалавека, які вячэрае."
""",
        encoding="utf-8",
    )
    assert any("add amount = 50 to its file" in gap.what for gap in find_gaps([file]) if gap.needed)


@pytest.mark.parametrize(
    ("names", "what"),
    [('{ XX = "Орсин" }', "there is no such country"), ('{ RU = "Russia" }', "only 0% of its letters are in Cyrl")],
)
def test_names_of_countries_in_a_file_are_checked(names: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "xal.toml"
    file.write_text(KALMYK.replace('{ RU = "Орсин", US = "Америк" }', names), encoding="utf-8")
    assert any(
        what in gap.what and gap.key.startswith("wording.plain.countries.") for gap in find_gaps([file]) if gap.needed
    )


def test_cantonese_is_told_from_chinese_where_a_pack_brings_it(tmp_path: Path) -> None:
    (file,) = write_files(tmp_path, "yue", [])
    write(
        file,
        {
            "country": "呢個人嘅國家：{country_name}。",
            "food": "唔該寫一篇大約{amount}個字嘅文，講一個喺屋企食緊晚飯嘅人。",
        },
    )
    assert [str(gap) for gap in find_gaps([file]) if gap.needed] == []
    catalog, text = read_catalog(file), "佢哋今晚喺屋企食飯，係唔係好開心嘅呢？我哋聽日再嚟過。"
    assert detect(text, catalog.language("yue"), catalog).language == "yue"
    assert detect(text, catalog.language("zh-tw"), read_catalog()).language == "zh-tw"
    # As many Cantonese texts are written: what the detector takes for Chinese may be in either.
    written = "請寫一篇大約七十六個字的文章，描述一個人正在家裡吃晚飯，並且說說他喜歡吃甚麼。"
    assert detect(written, read_catalog().language("zh-tw"), read_catalog()).language == "zh-tw"
    assert detect(written, catalog.language("yue"), catalog).language is None
    edit(file, (r'^food = "[^"]*"', f'food = "{written.replace("七十六", "{amount}")}"'))
    assert [str(gap) for gap in find_gaps([file]) if gap.needed] == []
    checked = polyculture("pack", "check", file, cwd=tmp_path)
    assert "a text that it takes for Chinese may be in either language, and is not off-language" in checked.stdout
    assert "of 1 it takes 0 for Cantonese, 1 for no language" in checked.stdout
    edit(file, ("^# scripts = [^\\n]*", 'scripts = ["Hant"]'))
    with pytest.raises(CatalogError, match="'Hant' is no script of letters"):
        read_catalog(file)


def test_ctrl_c_after_the_last_step_leaves_the_exit_code_of_the_command(tmp_path: Path) -> None:
    """The signal comes while Python takes its modules down: the command had ended, and died by the signal."""
    code = (
        "import os, signal, sys\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGINT): kill(own, number)\n"
        "late = Late()\n"
        "sys.argv = ['polyculture', 'pack', 'new', 'kn']\n"
        "from polyculture.__main__ import command\n"
        "command()\n"
    )
    command, variables = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=300)
    assert (done.returncode, (tmp_path / "kn.toml").is_file()) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("en",), "'en' is built in"),
        (("Kannada",), "Did you mean kn?"),
        (("Nobodian",), "'Nobodian'"),
        (("kn", "--topic", "food"), "'food' is built in"),
    ],
)
def test_what_a_new_file_cannot_be_of_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in one_line(polyculture("pack", "new", *words, cwd=tmp_path))
    assert not list(tmp_path.iterdir())


def test_packs_are_checked_planned_and_run_together(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    refused = polyculture("pack", "check", "ca.toml", "mine", cwd=tmp_path)  # the starter has no festivals
    assert (refused.returncode, "kinds.festival.roots: in starter" in refused.stdout) == (1, True)
    assert "a plan refuses it, for 1 reason" in refused.stderr
    write_dump(tmp_path / "dump.json", ITEMS)
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    (tmp_path / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    build = polyculture(*BUILD, cwd=tmp_path)
    assert build.returncode == 0, build.stderr
    done = polyculture("pack", "check", "ca.toml", "mine", "--snapshot", "wikidata.duckdb", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    neutral, *others = (line.strip() for line in done.stdout.splitlines() if "celebrant una festa" in line)
    assert {neutral, *others} == {FESTIVAL["ca"].replace("{amount}", "52")}
    assert "    País de la persona: Illes Cocos (Keeling)." in done.stdout.splitlines()
    assert "review: no speaker has judged these sentences" in done.stdout
    assert "names of Catalan in wikidata.duckdb: food 1, festival 1" in done.stdout
    assert "mine/languages/kn.toml: endings" in done.stdout  # said all the same
    assert "hinder" not in done.stdout + done.stderr
    for words in (("plan", "exp.toml"), ("run", "exp.toml")):
        done = polyculture(*words, cwd=tmp_path, report=True)
        assert done.returncode == 0, done.stderr
    query = "SELECT DISTINCT language, topic, qid FROM linked_mentions WHERE status = 'linked' ORDER BY ALL"
    rows = polyculture("sql", "exp.toml", query, "--format", "json", cwd=tmp_path).stdout.splitlines()
    assert [tuple(json.loads(row).values()) for row in rows] == [
        ("ca", "festival", "Q10244"),
        ("ca", "food", "Q1320546"),
        ("kn", "festival", "Q10244"),
        ("kn", "food", "Q1320546"),
    ]
    manifest = json.loads((tmp_path / "runs/both/manifest.json").read_text(encoding="utf-8"))
    assert manifest["packs"] == [read_pack(pack).told for pack in packs]
    assert [pack["version"] for pack in manifest["packs"]] == ["none", "1"]
    page = (tmp_path / "runs/both/report.html").read_text(encoding="utf-8")
    assert manifest["packs"][0]["sha256"] in page
    assert "The sentences of prompts in Catalan, Kannada come from the study's own files" in " ".join(page.split())
    assert "checked by language models" not in page, "nobody knows who wrote these"


def test_a_model_translates_what_is_asked_back(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    (tmp_path / "answers.toml").write_text(
        '[[answer]]\ntexts = ["Write about a person who dines."]\n', encoding="utf-8"
    )
    words = ("--topic", "food", "--with", "mock:anything", "--option", "answers=answers.toml")
    done = polyculture("pack", "check", "ca.toml", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("    = Write about a person who dines.") == 5  # neutral, and four countries


@pytest.mark.parametrize(
    ("pack", "file", "pattern", "new", "key"),
    [
        (0, "", r"\{country_name\}", "{cuntry}", "wording.plain.country"),
        (0, "", r'^# direction = "ltr"', 'direction = "left"', "direction"),
        (0, "", r"^food = [^\n]*", "", "wording.plain.topics"),
        (0, "", r"^food = ", "foood = ", "topics.foood: there is no such topic. Did you mean 'food'"),
        (0, "", r"d'unes \{amount\} paraules", "de 50 paraules", "plain.topics.food"),
        (0, "", r"^\[wording\]", '[refusals]\ndeclines = ["no puc ("]\n[wording]', "declines"),
        (1, "topics/festival.toml", r'roots = \["Q132241"\]', "roots = []", "kinds.festival.roots"),
        (1, "topics/festival.toml", r'"Eid", "Eid", "Eid"', '"Idi", "Idi", "Eid"', "mentions.festival"),
        (1, "topics/festival.toml", r"^kn = [^\n]*", "", "wording.plain.topics.festival"),
        (1, "pack.toml", r'version = "1"', "", "version"),
    ],
)
def test_check_names_the_file_and_the_key_of_each_gap(
    packs: tuple[Path, Path], pack: int, file: str, pattern: str, new: str, key: str
) -> None:
    place = packs[pack] / file if file else packs[pack]
    edit(place, (pattern, new))
    gap = find_gaps([packs[pack]])[0]
    assert gap.needed
    shown = packs[1] / "languages/kn.toml" if key == "wording.plain.topics.festival" else place
    assert str(gap).startswith(f"{shown}: ")
    assert key in str(gap)


def test_two_packs_that_say_the_same_are_refused(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    other = tmp_path / "other"
    (other / "languages").mkdir(parents=True)
    (other / "languages/ca.toml").write_bytes(packs[0].read_bytes())
    done = polyculture("pack", "check", "ca.toml", "other", cwd=tmp_path)
    assert (done.returncode, "languages/ca.toml is in the pack ca.toml" in done.stdout) == (1, True)
    mine = packs[1] / "countries.toml"
    mine.write_text('[KE]\nwording.kn = { name = "ಕೀನ್ಯಾ", form = "ಕೀನ್ಯಾ" }\n', encoding="utf-8")
    (other / "languages/ca.toml").unlink()
    (other / "countries.toml").write_text(
        '[KE]\nwording.en = { name = "Kenya", form = "Kenya" }\nnames.male = { latin = "Kamau" }\n'
        'names.female = { latin = "Wanjiku" }\n',
        encoding="utf-8",
    )
    read_catalog(packs[1], other)  # another fact of the same country
    with mine.open("a", encoding="utf-8") as file:
        file.write('names.male = { latin = "Kamau" }\nnames.female = { latin = "Wanjiku" }\n')
    with pytest.raises(CatalogError) as fault:
        read_catalog(packs[1], other)
    assert str(fault.value).startswith(f"{other}: countries.toml: KE.names")


def test_the_hash_of_a_pack_is_of_its_files_alone(packs: tuple[Path, Path]) -> None:
    before = read_pack(packs[1])
    (packs[1] / ".DS_Store").write_bytes(b"hidden")
    assert read_pack(packs[1]) == before
    (packs[1] / "reviews").mkdir()
    (packs[1] / "reviews/ana.kn.csv").write_text("id\n", encoding="utf-8")
    assert read_pack(packs[1]).sha256 != before.sha256


def test_a_packs_endings_find_forms_and_are_in_the_extractors_ids(packs: tuple[Path, Path]) -> None:
    catalog = read_catalog(*packs)
    food, built_in = catalog.topic("food"), read_catalog()
    assert catalog.endings == {"ca": (("", "ns"),)}
    answer = '{"mentions": [{"text": "pa", "kind": "dish", "name": "pa", "english": ""}]}'
    found = [read_mentions(answer, None, "Menja pans.", food, "ca", ends).mentions for ends in ({}, catalog.endings)]
    assert [[(one.surface, one.hallucinated) for one in mentions] for mentions in found] == [
        [("pa", True)],
        [("pans", False)],
    ]
    assert present_reader(built_in.endings) == present_reader() != present_reader(catalog.endings)
    ids = {gazetteer_extractor_id(food, "snapshot", {}, ends) for ends in ({}, built_in.endings, catalog.endings)}
    assert len(ids) == 2


def test_a_packs_examples_are_shown_to_the_extractor(packs: tuple[Path, Path]) -> None:
    messages = prompt_head(read_catalog(*packs).topic("festival"))
    assert [one.content for one in messages if one.role == "user"] == ["Li agrada Eid."]


def test_gold_texts_of_a_pack_measure_an_extractor(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    write_dump(tmp_path / "dump.json", ITEMS)
    assert polyculture(*BUILD, cwd=tmp_path).returncode == 0
    command = ("extract", "audit", "--snapshot", "wikidata.duckdb", "--catalog", "mine")
    assert "mine: has no gold" in one_line(polyculture(*command, cwd=tmp_path))
    (packs[1] / "gold").mkdir()
    text = {"id": "kn-1", "topic": "festival", "trap": None, "marked": "[[ದೀಪಾವಳಿ|festival]] ಇಷ್ಟ."}
    (packs[1] / "gold/kn.jsonl").write_text(json.dumps(text) + "\n", encoding="utf-8")
    done = polyculture(*command, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["gold"], row["found"]) for row in rows if (row["value"], row["matching"]) == ("kn", "strict")] == [
        (1, 1)
    ]


def test_reviews_of_packs_are_imported_without_naming_them(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    (tmp_path / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    reviews = ("prompts", "review")
    assert "reviews/" in one_line(polyculture(*reviews, "import", "exp.toml", cwd=tmp_path))
    (packs[1] / "reviews").mkdir()
    sheet = packs[1] / "reviews/ana.kn.csv"
    done = polyculture(*reviews, "export", "exp.toml", "--language", "kn", "-o", sheet, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    columns = lines[0].split(",")
    rows = list(csv.DictReader(lines))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows({**row, "natural": "yes"} for row in rows)
    done = polyculture(*reviews, "import", "exp.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ana" in done.stderr + done.stdout


def test_several_languages_that_are_not_written_are_told_apart(tmp_path: Path) -> None:
    """Only the first was told, as languages/so.toml, which both might have had."""
    for code in ("so", "bo"):
        write_files(tmp_path, code, [])
        edit(tmp_path / f"{code}.toml", (r"^\[wording\.plain\].*", ""), (r"^\[wording\]", ""))
    file = tmp_path / "exp.toml"
    file.write_text(
        'name = "a"\nmodels = ["mock:x"]\nlanguages = ["so", "en", "bo"]\ntopics = ["food"]\n'
        'countries = ["ET"]\ncatalog = ["so.toml", "bo.toml"]\n',
        encoding="utf-8",
    )
    with pytest.raises(CatalogError) as told:
        open_workspace(file).prompts  # noqa: B018
    for code in ("so", "bo"):
        place = tmp_path / f"{code}.toml"
        remedy = f"pack check {place}"
        assert any(line.startswith(f"{place}: ") and remedy in line for line in str(told.value).splitlines())


def test_a_language_without_names_in_its_script_is_asked_without_implicit_prompts(
    tmp_path: Path, packs: tuple[Path, Path]
) -> None:
    """Felipe stood in Japanese prompts: a name in foreign letters says more than where it is common."""
    edit(packs[1] / "languages/kn.toml", (r"^country = ", 'name = "ಈ ವ್ಯಕ್ತಿಯ ಹೆಸರು: {name}."\ncountry = '))
    gaps = {gap.what: gap.needed for gap in find_gaps([packs[1]])}
    assert [needed for what, needed in gaps.items() if "has no spelling in Kannada" in what] == [False, False]
    text = (
        EXPERIMENT.replace('"ca", "kn"', '"kn"').replace('"wikidata.duckdb"', '"starter"').replace(', "festival"', "")
    )
    (tmp_path / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    for conditions, code in (('["neutral", "explicit"]', 0), ('["neutral", "implicit_male"]', 2)):
        asked = text.replace('["neutral", "explicit"]', conditions)
        (tmp_path / "a.toml").write_text(asked, encoding="utf-8")
        planned = polyculture("plan", "a.toml", cwd=tmp_path)
        assert planned.returncode == code, planned.stderr
    assert "Leave implicit_male and implicit_female out of the conditions" in planned.stderr


@pytest.mark.parametrize("written_files", [0, 1])
def test_files_whose_writing_is_interrupted_are_written_by_the_same_command(
    written_files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that the same command resumes, and then refused what was there."""
    real, done = Path.write_text, 0

    def interrupted(path: Path, *words: Any, **options: Any) -> int:
        nonlocal done
        done += 1
        if done > written_files:
            raise KeyboardInterrupt
        return real(path, *words, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_files(tmp_path, "kn", ["festival"])
    assert len(list(tmp_path.iterdir())) == written_files
    write_files(tmp_path, "kn", ["festival"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["festival.toml", "kn.toml"]
