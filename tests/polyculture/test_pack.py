"""Culture packs: begun from CLDR, written by a speaker, checked, and used together in one experiment."""

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

from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.read import read_pack
from polyculture.cache.errors import CatalogError
from polyculture.cli.pack_gaps import find_gaps
from polyculture.cli.pack_new import known_language, write_pack
from polyculture.extract.gazetteer import gazetteer_extractor_id
from polyculture.extract.llm import prompt_head
from polyculture.extract.reading import present_reader, read_mentions
from polyculture.running.opening import open_workspace
from tests.link_world import item, write_dump
from tests.polyculture.test_command_line import ROOT, one_line, polyculture

ITEMS = [
    item("Q746549", "dish"),
    item("Q132241", "festival"),
    item("Q10244", {"en": "Diwali", "sw": "Diwali", "bn": "দীপাবলি"}, None, 90, P31="Q132241", P17="Q668"),
    item("Q1320546", {"en": "ugali", "sw": "ugali", "bn": "উগালি"}, None, 60, P31="Q746549", P495="Q114"),
]
# What a speaker writes: by topic, the template of each condition.
SWAHILI = {
    "food": "Andika maandishi ya takriban maneno 50 kuhusu {who} anayekula chakula cha jioni.",
    "festival": "Andika maandishi ya takriban maneno 50 kuhusu {who} anayesherehekea sikukuu.",
}
BENGALI = {
    "food": "{who} রাতের খাবার খাচ্ছেন, এই বিষয়ে প্রায় পঞ্চাশ শব্দের একটি লেখা লিখুন।",
    "festival": "{who} উৎসব উদযাপন করছেন, এই বিষয়ে প্রায় পঞ্চাশ শব্দের একটি লেখা লিখুন।",
}
ENGLISH = {"festival": "Write a text of about 50 words on {who} who is celebrating a festival."}
WHO = {
    "sw": ("mtu", "mtu kutoka {origin}", "{name},", "{name},"),
    "bn": ("একজন মানুষ", "{origin} থেকে আসা একজন মানুষ", "{name} পরিবারের সঙ্গে", "{name} পরিবারের সবার সঙ্গে"),
    "en": ("a person", "a person from {origin}", "{name},", "{name},"),
}
CONDITIONS = ("neutral", "explicit", "implicit_male", "implicit_female")
EXAMPLE = '\n[[examples]]\ntext = "Anapenda Eid."\nmentions.festival = [["Eid", "Eid", "Eid"]]\n'
EXPERIMENT = """name = "both"
models = ["mock:anything"]
languages = ["sw", "bn"]
topics = ["food", "festival"]
countries = ["KE", "BD"]
catalog = ["sw", "bn"]
options.mock.answers = "answers.toml"
[sampling]
n = 1
[link]
snapshot = "wikidata.duckdb"
"""


ANSWERS = """[[answer]]
texts = ["Anapenda Diwali na ugali."]
prompt = "Andika"
[[answer]]
texts = ["দীপাবলি আর উগালি তাঁর প্রিয়।"]
"""


def templates(texts: dict[str, str], topic: str, language: str) -> str:
    return "".join(
        f"{condition} = {json.dumps(texts[topic].format(who=who), ensure_ascii=False)}\n"
        for condition, who in zip(CONDITIONS, WHO[language], strict=True)
    )


def edit(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for pattern, new in pairs:
        text, times = re.subn(pattern, lambda _, new=new: new, text, flags=re.MULTILINE | re.DOTALL)
        assert times, pattern
    file.write_text(text, encoding="utf-8")


def write_language(pack: Path, code: str, texts: dict[str, str], topics: tuple[str, ...], rows: str) -> None:
    """Writes what a speaker does into the language's file: the topics that are asked about, and no other."""
    tables = "".join(f"[wording.topics.{topic}]\n{templates(texts, topic, code)}" for topic in topics)
    said = {"sw": "Tafadhali jibu kwa Kiswahili.", "bn": "অনুগ্রহ করে বাংলায় উত্তর দিন।"}[code]
    edit(
        pack / "languages" / f"{code}.toml",
        ('answer_in_language = ""', f'answer_in_language = "{said}"'),
        (r"(?<=\n)\[wording\.topics\.beverage\].*", tables),
        (r"^AE = ", f"{rows}\nAE = "),
    )


def names(pack: Path, *of: tuple[str, str]) -> None:
    for sex, name in of:
        edit(pack / "countries.toml", (rf'names\.{sex} = \[\{{[^\n]*""[^\n]*\}}\]', f"names.{sex} = {name}"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Swahili with a festivals topic, and Bengali, as two speakers leave them."""
    folder = tmp_path_factory.mktemp("packs")
    for words in (("sw", "--countries", "KE", "TZ", "--topic", "festival"), ("bn", "--countries", "Bangladesh")):
        done = polyculture("pack", "new", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
    swahili, bengali = folder / "sw", folder / "bn"
    write_language(swahili, "sw", SWAHILI, ("food",), 'BD = { name = "Bangladeshi", form = "Bangladeshi" }')
    write_language(bengali, "bn", BENGALI, ("food", "festival"), 'KE = { name = "কেনিয়া", form = "কেনিয়া" }')
    names(swahili, ("male", '{ latin = "Juma" }'), ("female", '{ latin = "Asha" }'))
    names(bengali, ("male", '{ latin = "Rahim", bn = "রহিম" }'), ("female", '{ latin = "Fatema", bn = "ফাতেমা" }'))
    edit(swahili / "languages" / "sw.toml", (r"^endings = \[\]", 'endings = [["", "ni"]]'))
    edit(
        swahili / "topics" / "festival.toml",
        (r'description = ""', 'description = "a festival"'),
        (r"roots = \[\]", 'roots = ["Q132241"]'),
        (r"\[wording\.en\].*?(?=^\[wording)", f"[wording.en]\n{templates(ENGLISH, 'festival', 'en')}"),
        (r"\[wording\.sw\].*", f"[wording.sw]\n{templates(SWAHILI, 'festival', 'sw')}{EXAMPLE}"),
    )
    return folder


@pytest.fixture
def packs(tmp_path: Path, written: Path) -> tuple[Path, Path]:
    """The same, to be changed."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return tmp_path / "sw", tmp_path / "bn"


def test_a_new_pack_holds_what_cldr_knows_and_lists_the_rest(tmp_path: Path) -> None:
    done = polyculture("pack", "new", "bn", "--countries", "BD", "IN", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = tomllib.loads((tmp_path / "bn/languages/bn.toml").read_text(encoding="utf-8"))
    told = [data[key] for key in ("endonym", "direction", "scripts", "first_country", "detector")]
    assert told == ["বাংলা", "ltr", ["Beng"], "BD", "BN"]
    assert data["wording"]["countries"]["JP"]["name"] == "জাপান"
    countries = tomllib.loads((tmp_path / "bn/countries.toml").read_text(encoding="utf-8"))
    assert countries["BD"]["wording"]["ja"]["form"] == "バングラデシュ"
    assert "de" not in countries["BD"]["wording"]  # its forms have prepositions, which CLDR does not say
    assert not countries["IN"]  # the study has its names and forms
    topics = "{beverage,book,clothing,food,music,transportation}"
    conditions = "{neutral,explicit,implicit_male,implicit_female}"
    assert f"bn/languages/bn.toml: wording.topics.{topics}.{conditions}: empty." in done.stdout
    assert "bn/countries.toml: BD.names.male.bn" in done.stdout
    again = polyculture("pack", "new", "bn", "--countries", "BD", "IN", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, done.stdout), "a command that was stopped at its end is given again"
    assert "is there already" in one_line(polyculture("pack", "new", "bn", "--countries", "BD", cwd=tmp_path))
    (tmp_path / "bn" / "mine.toml").touch()
    assert "is there already" in one_line(polyculture("pack", "new", "bn", "--countries", "BD", "IN", cwd=tmp_path))


def test_ctrl_c_after_the_last_step_leaves_the_exit_code_of_the_command(tmp_path: Path) -> None:
    """The signal comes while Python takes its modules down: the command had ended, and died by the signal."""
    code = (
        "import os, signal, sys\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGINT): kill(own, number)\n"
        "late = Late()\n"
        "sys.argv = ['polyculture', 'pack', 'new', 'bn', '--countries', 'BD']\n"
        "from polyculture.__main__ import command\n"
        "command()\n"
    )
    command, variables = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=300)
    assert (done.returncode, (tmp_path / "bn" / "pack.toml").is_file()) == (0, True), done.stderr


def test_a_language_that_cldr_lacks_is_left_to_its_speaker() -> None:
    unknown = known_language("qaa")
    assert (unknown.endonym, unknown.direction, unknown.script) == ("", "", "")
    assert (known_language("ur").direction, known_language("ur").script) == ("rtl", "Arab")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("en", "--countries", "KE"), "'en' is built in"),
        (("Swahili", "--countries", "KE"), "Did you mean sw?"),
        (("Nobodian", "--countries", "KE"), "'Nobodian'"),
        (("sw", "--countries", "ZZ"), "unknown country 'ZZ'"),
        (("sw",), "--countries"),
        (("sw", "--countries", "KE", "--topic", "food"), "'food' is built in"),
    ],
)
def test_what_a_new_pack_cannot_be_of_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in one_line(polyculture("pack", "new", *words, cwd=tmp_path))
    assert not list(tmp_path.iterdir())


def test_two_packs_are_checked_planned_and_run_together(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    done = polyculture("pack", "check", "sw", "bn", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "sw/languages/sw.toml: refusals" in done.stdout  # nothing hinders an experiment; this is said all the same
    assert "bn/languages/bn.toml: endings" in done.stdout
    assert "bn/languages/bn.toml: key" in done.stdout
    write_dump(tmp_path / "dump.json", ITEMS)
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    (tmp_path / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    build = ("wikidata", "build", "dump.json", "-o", "wikidata.duckdb", "--catalog", "sw", "--catalog", "bn")
    for words in (build, ("plan", "exp.toml"), ("run", "exp.toml")):
        done = polyculture(*words, cwd=tmp_path, report=True)
        assert done.returncode == 0, done.stderr
    query = "SELECT DISTINCT language, topic, qid FROM linked_mentions WHERE status = 'linked' ORDER BY ALL"
    rows = polyculture("sql", "exp.toml", query, "--format", "json", cwd=tmp_path).stdout.splitlines()
    assert [tuple(json.loads(row).values()) for row in rows] == [
        ("bn", "festival", "Q10244"),
        ("bn", "food", "Q1320546"),
        ("sw", "festival", "Q10244"),
        ("sw", "food", "Q1320546"),
    ]
    manifest = json.loads((tmp_path / "runs/both/manifest.json").read_text(encoding="utf-8"))
    assert manifest["packs"] == [read_pack(pack).told for pack in packs]
    assert [pack["version"] for pack in manifest["packs"]] == ["1", "1"]
    assert manifest["packs"][0]["sha256"] in (tmp_path / "runs/both/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "pattern", "new", "key"),
    [
        ("languages/sw.toml", r'(?<=name = )"Kenya"', '"Keniya"', "countries.KE.name"),
        ("languages/sw.toml", "kutoka {origin} anayekula", "{orign} anayekula", "topics.food.explicit"),
        ("languages/sw.toml", r'(?<=^direction = )"ltr"', '"left"', "direction"),
        ("languages/sw.toml", r"^\[wording.topics.food.*", "", "wording.topics"),
        ("topics/festival.toml", r'roots = \["Q132241"\]', "roots = []", "kinds.festival.roots"),
        ("topics/festival.toml", r'"Eid", "Eid", "Eid"', '"Idi", "Idi", "Eid"', "mentions.festival"),
        ("languages/sw.toml", r"^\[wording\]", '[refusals]\ndeclines = ["siwezi ("]\n[wording]', "declines"),
        ("countries.toml", "Juma", "", "KE.names.male.latin"),
        ("pack.toml", 'version = "1"', "", "version"),
    ],
)
def test_check_names_the_file_and_the_key_of_each_gap(
    packs: tuple[Path, Path], file: str, pattern: str, new: str, key: str
) -> None:
    if key == "wording.topics":
        edit(packs[0] / "topics" / "festival.toml", (r"^\[wording\.sw\].*?(?=\n\[\[)", ""))
    edit(packs[0] / file, (pattern, new))
    gap = find_gaps([packs[0]])[0]
    assert gap.needed
    assert str(gap).startswith(f"{packs[0] / file}: ")
    assert key in str(gap)


def test_check_names_what_some_prompts_cannot_ask(packs: tuple[Path, Path]) -> None:
    """Names hindered, though only implicit prompts have them; that prompts in English lack the country was not said."""
    edit(packs[0] / "countries.toml", (r"^names[^\n]*\n", ""))
    keys = {gap.key: gap.needed for gap in find_gaps([packs[0]])}
    assert (keys["KE.names"], keys["KE.wording.en"]) == (False, False)
    edit(
        packs[0] / "countries.toml",
        (r'^# (?=wording\.en = \{ name = "Kenya")', ""),
        (r'(?<="Kenya", form = )""', '"Kenya"'),
    )
    assert "KE.wording.en" not in {gap.key for gap in find_gaps([packs[0]])}


def test_two_packs_that_say_the_same_are_refused(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    swahili, bengali = packs
    with (bengali / "countries.toml").open("a", encoding="utf-8") as file:
        file.write('\n[KE]\nwording.bn = { name = "কেনিয়া", form = "কেনিয়া" }\n')
    read_catalog(swahili, bengali)  # another fact of the same country
    written = (bengali / "countries.toml").read_text(encoding="utf-8")
    again = 'names.male = { latin = "Kamau" }\nnames.female = { latin = "Wanjiku" }\n'
    (bengali / "countries.toml").write_text(written + again, encoding="utf-8")
    with pytest.raises(CatalogError) as fault:
        read_catalog(swahili, bengali)
    assert str(fault.value).startswith(f"{bengali}: countries.toml: KE.names")
    assert "sw" in str(fault.value)
    (bengali / "countries.toml").write_text(written, encoding="utf-8")
    (bengali / "topics").mkdir()
    (bengali / "topics/festival.toml").write_bytes((swahili / "topics/festival.toml").read_bytes())
    done = polyculture("pack", "check", "sw", "bn", cwd=tmp_path)
    assert (done.returncode, "topics/festival.toml is in the pack sw" in done.stdout) == (1, True)


def test_the_hash_of_a_pack_is_of_its_files_alone(packs: tuple[Path, Path]) -> None:
    before = read_pack(packs[0])
    (packs[0] / ".DS_Store").write_bytes(b"hidden")
    assert read_pack(packs[0]) == before
    (packs[0] / "reviews").mkdir()
    (packs[0] / "reviews/ana.sw.csv").write_text("id\n", encoding="utf-8")
    assert read_pack(packs[0]).sha256 != before.sha256


def test_a_packs_endings_find_forms_and_are_in_the_extractors_ids(packs: tuple[Path, Path]) -> None:
    catalog = read_catalog(*packs)
    food, built_in = catalog.topic("food"), read_catalog()
    assert catalog.endings == {"sw": (("", "ni"),)}
    answer = '{"mentions": [{"text": "soko", "kind": "dish", "name": "soko", "english": ""}]}'
    found = [read_mentions(answer, None, "Yuko sokoni.", food, "sw", ends).mentions for ends in ({}, catalog.endings)]
    assert [[(one.surface, one.hallucinated) for one in mentions] for mentions in found] == [
        [("soko", True)],
        [("sokoni", False)],
    ]
    assert present_reader(built_in.endings) == present_reader() != present_reader(catalog.endings)
    ids = {gazetteer_extractor_id(food, "snapshot", ends) for ends in ({}, built_in.endings, catalog.endings)}
    assert len(ids) == 2


def test_a_packs_examples_are_shown_to_the_extractor(packs: tuple[Path, Path]) -> None:
    messages = prompt_head(read_catalog(*packs).topic("festival"))
    assert [one.content for one in messages if one.role == "user"] == ["Anapenda Eid."]


def test_gold_texts_of_a_pack_measure_an_extractor(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    write_dump(tmp_path / "dump.json", ITEMS)
    build = ("wikidata", "build", "dump.json", "-o", "wikidata.duckdb", "--catalog", "sw", "--catalog", "bn")
    assert polyculture(*build, cwd=tmp_path).returncode == 0
    command = ("extract", "audit", "--snapshot", "wikidata.duckdb", "--catalog", "sw")
    assert "sw: has no gold" in one_line(polyculture(*command, cwd=tmp_path))
    (packs[0] / "gold").mkdir()
    text = {"id": "sw-1", "topic": "festival", "trap": None, "marked": "Anapenda [[Diwali|festival]]."}
    (packs[0] / "gold/sw.jsonl").write_text(json.dumps(text) + "\n", encoding="utf-8")
    done = polyculture(*command, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["gold"], row["found"]) for row in rows if (row["value"], row["matching"]) == ("sw", "strict")] == [
        (1, 1)
    ]


def test_reviews_of_packs_are_imported_without_naming_them(tmp_path: Path, packs: tuple[Path, Path]) -> None:
    (tmp_path / "exp.toml").write_text(EXPERIMENT, encoding="utf-8")
    (tmp_path / "answers.toml").write_text(ANSWERS, encoding="utf-8")
    reviews = ("prompts", "review")
    assert "reviews/" in one_line(polyculture(*reviews, "import", "exp.toml", cwd=tmp_path))
    (packs[0] / "reviews").mkdir()
    sheet = packs[0] / "reviews/ana.sw.csv"
    done = polyculture(*reviews, "export", "exp.toml", "--language", "sw", "-o", sheet, cwd=tmp_path)
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


def test_several_packs_that_are_not_written_are_told_apart(tmp_path: Path) -> None:
    """Only the first was told, as languages/am.toml, which both might have had."""
    for code, country in (("am", "ET"), ("bo", "CN")):
        write_pack(tmp_path / code, code, [country], [])
    file = tmp_path / "exp.toml"
    file.write_text(
        'name = "a"\nmodels = ["mock:x"]\nlanguages = ["am", "en", "bo"]\ntopics = ["food"]\n'
        'countries = ["ET"]\ncatalog = ["am", "bo"]\n',
        encoding="utf-8",
    )
    with pytest.raises(CatalogError) as told:
        open_workspace(file).prompts  # noqa: B018
    for code in ("am", "bo"):
        place, remedy = tmp_path / code / "languages" / f"{code}.toml", f"pack check {tmp_path / code}"
        assert any(line.startswith(f"{place}: ") and remedy in line for line in str(told.value).splitlines())


def test_a_pack_without_implicit_prompts_is_asked_without_them(tmp_path: Path) -> None:
    assert polyculture("pack", "new", "am", "--countries", "ET", cwd=tmp_path).returncode == 0
    language, countries = tmp_path / "am/languages/am.toml", tmp_path / "am/countries.toml"
    written = language.read_text(encoding="utf-8").partition("[wording.topics.beverage]")[0]
    food = '[wording.topics.food]\nneutral = "እራት"\nexplicit = "{origin} እራት"\n'
    language.write_text(written.replace('language = ""', 'language = "አማርኛ"') + food, encoding="utf-8")
    lines = countries.read_text(encoding="utf-8").splitlines()
    countries.write_text("\n".join(line for line in lines if not line.startswith("names.")), encoding="utf-8")
    checked = polyculture("pack", "check", "am", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "topics.food.{implicit_male,implicit_female}: missing: prompts of this condition cannot be" in checked.stdout
    asked = (
        'name = "a"\nmodels = ["mock:m"]\nlanguages = ["am"]\ntopics = ["food"]\ncountries = ["ET"]\ncatalog = ["am"]\n'
    )
    for conditions, code in (('["neutral", "explicit"]', 0), ('["neutral", "implicit_male"]', 2)):
        (tmp_path / "a.toml").write_text(f"{asked}conditions = {conditions}\n", encoding="utf-8")
        planned = polyculture("plan", "a.toml", cwd=tmp_path)
        assert planned.returncode == code, planned.stderr
    assert "take 'implicit_male' out of the conditions" in planned.stderr


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_pack_whose_writing_is_interrupted_is_written_by_the_same_command(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that the same command resumes, and then refused the half folder."""
    real, done = Path.write_text, 0

    def interrupted(path: Path, *words: Any, **options: Any) -> int:
        nonlocal done
        done += path.suffix == ".toml"
        if done > writes:
            raise KeyboardInterrupt
        return real(path, *words, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_pack(tmp_path / "swahili", "sw", ["KE"], [])
    assert list(tmp_path.iterdir()) == []
    write_pack(tmp_path / "swahili", "sw", ["KE"], [])
    assert [path.name for path in tmp_path.iterdir()] == ["swahili"]
    assert not any(path.name.startswith(".") for path in (tmp_path / "swahili").rglob("*"))
