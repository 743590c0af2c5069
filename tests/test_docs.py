"""What the documentation shows is true: its files are accepted, its commands and queries run."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import CatalogError
from polyculture.running.opening import open_workspace
from tests import servers
from tests.link_world import item, write_dump
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer

ROOT = Path(__file__).parents[1]
TOPIC, LANGUAGE, COUNTRIES, REGIONS = "topics/festival.toml", "languages/sw.toml", "countries.toml", "regions.toml"
PACK = "pack.toml"

# A small Wikidata with festivals in it.
ITEMS = [
    item("Q2095", "food"),
    item("Q746549", "dish", P279="Q2095"),
    item("Q132241", "festival"),
    item("Q375011", "religious festival", P279="Q132241"),
    item("Q10244", {"en": "Diwali", "sw": "Diwali"}, {"en": ["Deepavali"]}, 90, P31="Q375011", P17="Q668"),
    item("Q486391", {"en": "Hanami", "sw": "Hanami"}, None, 40, P31="Q132241", P17="Q17"),
    item("Q234646", {"en": "ramen", "sw": "rameni"}, None, 60, P31="Q746549", P495="Q17"),
    item("Q1320546", {"en": "ugali", "sw": "ugali"}, None, 60, P31="Q746549", P495="Q114"),
]
SAID = {
    "a festival": "She loves Diwali and Hanami.",
    "sikukuu": "Anapenda Diwali, na pia Hanami.",
    "dinner": "She loves ramen.",
    "chakula": "Anapenda rameni na ugali.",
}


def blocks(file: str, language: str) -> list[str]:
    """The fenced blocks of a language in a page."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def write_own_catalog(folder: Path, languages: str = '"en", "sw"', topics: str = '"food", "festival"') -> Path:
    """The files and the experiment of docs/extending.md, over the starter snapshot."""
    _, *files, experiment = blocks("docs/extending.md", "toml")
    for name, text in zip((PACK, TOPIC, LANGUAGE, COUNTRIES, REGIONS), files, strict=True):
        file = folder / "mine" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    text = experiment.replace('"wikidata.duckdb"', '"starter"').replace('"en", "sw"', languages)
    file = folder / "exp.toml"
    file.write_text(text.replace('"food", "festival"', topics), encoding="utf-8")
    return file


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    """A server that names a festival or a dish, in the language of the prompt."""

    def answer(prompt: str, seed: int | None) -> str:
        return f"{next(said for word, said in SAID.items() if word in prompt)} ({seed})"

    monkeypatch.setattr(servers, "answer_text", answer)
    with StubServer() as server:
        yield server


def test_a_language_in_one_file_asks_what_the_page_prints(tmp_path: Path) -> None:
    language, *_ = blocks("docs/extending.md", "toml")
    shown, *_ = blocks("docs/extending.md", "text")
    (tmp_path / "ca.toml").write_text(language, encoding="utf-8")
    (command,) = (line for line in indented("docs/extending.md") if line.startswith("polyculture pack check ca.toml"))
    done = polyculture(*command.split()[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    printed = done.stdout.splitlines()
    assert [line for line in shown.splitlines() if line != "..." and line not in printed] == []
    assert [line for line in printed if line.startswith("- ")] == [
        line for line in shown.splitlines() if line.startswith("- ")
    ]
    text = (
        'name = "a"\nmodels = ["mock:m"]\nlanguages = ["ca"]\ntopics = ["food"]\ncountries = ["FR"]\n'
        'catalog = "ca.toml"\n'
    )
    (tmp_path / "exp.toml").write_text(text, encoding="utf-8")
    prompts = open_workspace(tmp_path / "exp.toml").prompts
    assert [prompt.text.splitlines()[1:] for prompt in prompts][:2] == [[], ["País de la persona: França."]]


@pytest.mark.parametrize(
    ("languages", "topics"),
    [('"en"', '"festival"'), ('"sw"', '"food"')],  # both together: in the next test
)
def test_a_topic_and_a_language_of_ones_own(tmp_path: Path, languages: str, topics: str) -> None:
    experiment = write_own_catalog(tmp_path, languages, topics)
    replace(experiment, '"starter"', '"wikidata.duckdb"')
    write_dump(tmp_path / "dump.json", ITEMS)
    for words in (
        ("wikidata", "build", "dump.json", "-o", "wikidata.duckdb", "--catalog", "mine"),
        ("plan", experiment),
    ):
        done = polyculture(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_an_experiment_with_both_from_the_prompts_to_the_links(tmp_path: Path, stub: StubServer) -> None:
    experiment = write_own_catalog(tmp_path)
    replace(experiment, '"starter"', '"wikidata.duckdb"')
    replace(experiment, "[sampling]", f'[options.openai]\nbase_url = "{stub.url}"\n[sampling]')
    write_dump(tmp_path / "dump.json", ITEMS)
    for words in (
        ("wikidata", "build", "dump.json", "-o", "wikidata.duckdb", "--catalog", "mine"),
        ("plan", "exp.toml"),
        *(("run", "--only", stage, "exp.toml") for stage in ("generate", "extract", "link", "measure")),
    ):
        done = polyculture(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    query = "SELECT DISTINCT language, topic, kind, surface, qid, status FROM linked_mentions ORDER BY ALL"
    rows = polyculture("sql", experiment, query, "--format", "json", cwd=tmp_path)
    found = [tuple(json.loads(line).values()) for line in rows.stdout.splitlines()]
    assert found == [
        ("en", "festival", "festival", "Diwali", "Q10244", "linked"),
        ("en", "festival", "festival", "Hanami", "Q486391", "linked"),
        ("en", "food", "dish", "ramen", "Q234646", "linked"),
        ("sw", "festival", "festival", "Diwali", "Q10244", "linked"),
        ("sw", "festival", "festival", "Hanami", "Q486391", "linked"),
        ("sw", "food", "dish", "rameni", "Q234646", "linked"),
        ("sw", "food", "dish", "ugali", "Q1320546", "linked"),
    ]
    specific = "SELECT count(*) AS n FROM specificity WHERE topic = 'festival' AND country = 'IN' AND associated > 0"
    (row,) = polyculture("sql", experiment, specific, "--format", "json", cwd=tmp_path).stdout.splitlines()
    assert json.loads(row)["n"] > 0
    asked = {prompt for prompt, _ in stub.asked}
    assert "Andika maandishi ya takriban maneno 50 kuhusu mtu kutoka Japani anayesherehekea sikukuu." in asked
    assert "Andika maandishi ya takriban maneno 50 kuhusu mtu kutoka Kenya anayekula chakula cha jioni." in asked
    assert "Andika maandishi ya takriban maneno 50 kuhusu Kamau, anayekula chakula chake cha jioni." in asked
    assert "Write a text of about 50 words on a person from Kenya who is having dinner." in asked
    regions = "SELECT DISTINCT label, regions FROM text_regions WHERE language = 'sw' ORDER BY ALL"
    lines = polyculture("sql", experiment, regions, "--format", "json", cwd=tmp_path).stdout.splitlines()
    assert [tuple(json.loads(line).values()) for line in lines] == [
        ("asia", ["asia"]),
        ("mixed", ["asia", "swahili-coast"]),
    ]


# What is wrong in the files: where, what is written instead, what is said of it.
TOPIC_MISTAKES = [
    ('roots = ["Q132241"]          #', 'roots = ["132241"] #', "kinds.festival.roots.0: '132241' is not a QID; write,"),
    ("stops = []", 'stops = ["Q99999999999"]', "kinds.festival.stops.0: 'Q99999999999' is not a QID"),
    ("stops = []", 'stops = ["festival"]', "kinds.festival.stops.0: 'festival' is not a QID"),
    ("stops = []", 'stops = ["Q132241"]', "kinds.festival: Q132241 is among roots and among stops"),
    ("stops = []", "stop = []", "unknown key 'kinds.festival.stop'. Did you mean 'stops'?"),
    ("granularity = 1 ", "granularty = 1 ", "unknown key 'kinds.festival.granularty'. Did you mean 'granularity'?"),
    ("granularity = 1 ", "granularity = 2 ", "kinds.festival.granularity: must be 1 or less"),
    ("granularity = 1 ", "#", "kinds.festival: a counted kind needs granularity = 0 or 1"),
    ('roots = ["Q132241"]          #', "#", "kinds.festival: a counted kind needs roots"),
    ("granularity =", "counted = false\ngranularity =", "kinds: none is counted"),
    ('code = "festival"', 'code = "festivals"', "code is 'festivals'. Write code = 'festival'."),
    ("granularity = 1 ", "granularity = = 1 ", "not valid TOML: Invalid value (at line 5,"),
    ("from {origin} who", "from {orign} who", "wording.en.explicit: holds {country} or {origin} or {country_name} 0"),
    ("{name}, who is celebrating a festival with his", "{name}, {name}", "wording.en.implicit_male: holds {name}"),
    ("on a person who", "on {name}, who", "wording.en.neutral: holds {name}; a template of this"),
    ("implicit_female = ", "# ", "wording.en: no template for implicit_female"),
    ("neutral = ", "neutrl = ", "wording.en.neutrl"),
    ("[wording.en]", "[wording.eng]", "topic 'festival' has no sentence in language 'en'. Add sentences.en"),
]  # fmt: skip
LANGUAGE_MISTAKES = [
    (
        "kutoka {origin} anayekula",
        "kutoka {orign} anayekula",
        "topics.food.explicit: holds {country} or {origin} or {country_name} 0 times",
    ),
    ("implicit_male = ", "# ", "topics.food: no template for implicit_male"),
    ("[wording.topics.food]", "[wording.topics.drink]", "topic 'food' has no sentence in language 'sw'"),
    (
        "Nchi ya mtu huyo: {country_name}.",
        "Nchi ya mtu huyo.",
        "plain.country: holds {country_name} 0 times",
    ),
    ("Jina la mtu huyo: {name}.", "{name}, {name}", "plain.name: holds {name} 2 times"),
    (
        'first_country = "KE"',
        'first_country = "XX"',
        "first_country: unknown country 'XX'. Write an ISO 3166 code, such",
    ),
    (
        'native_countries = ["KE", "TZ"]',
        'native_countries = ["KX"]',
        "native_countries: unknown country 'KX'. Write an",
    ),
    ('scripts = ["Latn"]', 'scripts = ["Latin"]', "scripts.0: must have the form"),
    ('direction = "ltr"', 'direction = "left"', "direction: must have the form ^(ltr|rtl)$"),
    ('detector = "SW"', 'detector = "swa"', "detector: must have the form"),
    # The names of en have the rules of English in every language, whatever a pack's own language falls back on.
    ('["sw", "mul", "en"]', '["en", "mul"]', "key: Wikidata's names in en are those of en, too"),
    ('["sw", "mul", "en"]', '["Swahili"]', "label_languages.0: must have the form"),
    ('language = "sw"\n', 'language = "swa"\n', "language is 'swa'. Write 'sw'."),
    ('name = "Japani"', 'name = "Japan"', "countries.JP.name: is 'Japan', CLDR has 'Japani'"),
]
COUNTRY_MISTAKES = [
    ("[KE]", "[Ke]", "code: must have the form"),
    ("[KE]\n", "KE = 1\n[KX]\n", "KE: is no table. Write [KE] above its keys."),
    ('qid = "Q1246"', 'qid = "1246"', "qid: '1246' is not a QID"),
    ('name = "Kosovo"\nqid', "qid", "the key 'name' is missing"),
    ('sw = { name = "Kenya", form = "Kenya" }', 'sw = { name = "Kenya" }', "the key 'KE.wording.sw.form' is missing"),
    ('sw = { name = "Kenya"', 'sw = { name = "Keniya"', "KE.wording.sw.name: is 'Keniya', CLDR has 'Kenya'"),
    ('names.male = { latin = "Kamau" } ', "names.male = {} ", "KE.names.male.0: no spelling in Latin letters"),
    ('names.male = { latin = "Kamau" } ', "#", "the key 'KE.names.male' is missing"),
    (
        'names.male = { latin = "Kamau" } ',
        'names.male = { latin = "Камау" } ',
        "KE.male.latin: is not in Latin letters",
    ),
]
REGION_MISTAKES = [
    ("[asia]", "[Asia]", "code: must have the form"),
    ('"IN", "JP", "CN"', '"IN", "JP", "KE"', "asia.countries: KE is in swahili-coast, too. Name it once."),
    ('"IN", "JP", "CN"', '"IN", "Japan", "CN"', "countries.1: must have the form"),
    (
        '"IN", "JP", "CN"',
        '"IN", "JP", "UK"',
        "asia.countries: unknown country 'UK'. Did you mean 'GB'",
    ),
    ('name = "South and East Asia"', "", "the key 'name' is missing"),
]


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        *((TOPIC, *mistake) for mistake in TOPIC_MISTAKES),
        *((LANGUAGE, *mistake) for mistake in LANGUAGE_MISTAKES),
        *((COUNTRIES, *mistake) for mistake in COUNTRY_MISTAKES),
        *((REGIONS, *mistake) for mistake in REGION_MISTAKES),
    ],
)
def test_a_mistake_in_ones_own_files_is_one_line(tmp_path: Path, file: str, old: str, new: str, told: str) -> None:
    with pytest.raises(CatalogError) as fault:
        assert open_workspace(with_mistake(tmp_path, file, old, new)).prompts
    line, *others = str(fault.value).splitlines()
    assert told in line
    assert not others or new == "[Ke]"  # a country of its own then, which lacks its other keys
    assert file in line or "has no sentence" in told or "no wording of country KE" in told


@pytest.mark.parametrize(
    ("file", "old", "new", "told"), [(TOPIC, *TOPIC_MISTAKES[0]), (LANGUAGE, *LANGUAGE_MISTAKES[0])]
)
def test_plan_tells_it_and_asks_nothing(tmp_path: Path, file: str, old: str, new: str, told: str) -> None:
    experiment = with_mistake(tmp_path, file, old, new)
    assert told in one_line(polyculture("plan", experiment, cwd=tmp_path))
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", [("plan",), ("run",), ("run", "--only", "generate")])
def test_a_topic_of_which_the_snapshot_knows_no_class_is_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    experiment = write_own_catalog(tmp_path, '"en"', '"festival"')  # with the starter snapshot: it holds no festivals
    line = polyculture(*command, experiment, cwd=tmp_path).stderr.splitlines()[-1]
    assert "topics/festival.toml: kinds.festival.roots: in starter" in line
    assert "no item is an instance or a subclass of Q132241. Check the class" in line
    assert not (tmp_path / "runs").exists()


def test_plan_tells_of_a_language_in_which_the_snapshot_has_no_names(tmp_path: Path) -> None:
    experiment = write_own_catalog(tmp_path, '"en", "sw"', '"food"')  # the starter snapshot holds no Swahili names
    planned = polyculture("plan", experiment, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    told = [line.split(":")[0] for line in planned.stderr.splitlines() if "no names in it" in line]
    assert told == ["link.snapshot holds for Swahili", "run will refuse"]
    refused = polyculture("run", experiment, cwd=tmp_path)
    assert refused.returncode == 2
    assert "the gazetteer finds nothing in Swahili" in refused.stderr


def with_mistake(folder: Path, file: str, old: str, new: str) -> Path:
    """An experiment that needs the file, which has a mistake."""
    wanted = ('"en"', '"festival"') if file == TOPIC else ('"sw"', '"food"')
    experiment = write_own_catalog(folder, *wanted)
    replace(folder / "mine" / file, old, new)
    return experiment


def test_a_root_that_is_no_class_is_told_before_a_topic_is_built_on_it(tmp_path: Path) -> None:
    (command,) = (line for line in indented("docs/extending.md") if line.startswith("polyculture wikidata collect"))
    write_dump(tmp_path / "dump.json", ITEMS)
    assert polyculture("wikidata", "build", "dump.json", "-o", "wikidata.duckdb", cwd=tmp_path).returncode == 0
    done = polyculture(*shlex.split(command)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Diwali" in done.stdout
    wrong = command.replace("Q132241", "Q13224")
    line = one_line(polyculture(*shlex.split(wrong)[1:], cwd=tmp_path))
    assert "wikidata.duckdb: no item is an instance or a subclass of Q13224" in line


def indented(file: str) -> list[str]:
    """The commands that a page shows."""
    return re.findall(r"^    (polyculture .*)$", (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_collecting_as_its_page_shows_it(tmp_path: Path) -> None:
    (patterns, windows), (corpus,) = blocks("docs/collecting.md", "toml"), blocks("docs/collecting.md", "json")
    (tmp_path / "patterns.toml").write_text(patterns, encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text(corpus, encoding="utf-8")
    collect, mine, agree = (text.splitlines() for text in blocks("docs/collecting.md", "sh"))
    printed = [run(command, tmp_path) for command in (*collect, *mine)]
    japan = rows_of(tmp_path / "japan.csv")
    assert {row["label"] for row in japan} >= {"ラーメン", "寿司"}
    counts = [(row["entity"], int(row["count"]), int(row["documents"])) for row in rows_of(tmp_path / "counts.csv")]
    assert counts == [("chicken", 5, 4), ("fish & chips", 3, 3), ("chicken soup", 3, 2), ("chips", 2, 2)]
    told = json.loads((tmp_path / "counts.csv.provenance.json").read_text(encoding="utf-8"))
    assert told["filters"]["min_count"] == 2
    for annotator, judgements in (("ana", "no yes yes no"), ("ben", "yes yes yes no")):
        judge(tmp_path / f"sheet-{annotator}.csv", judgements.split())
    printed.append(run(agree[0], tmp_path))
    lines = {" ".join(line.split()) for line in "\n".join(printed).splitlines()}
    shown = [" ".join(line.split()) for text in blocks("docs/collecting.md", "text") for line in text.splitlines()]
    assert len(shown) > 10
    assert [line for line in shown if line != "..." and line not in lines] == []
    assert [row["entity"] for row in rows_of(tmp_path / "entities.csv")] == ["fish & chips", "chicken soup"]
    assert [row["entity"] for row in rows_of(tmp_path / "disputed.csv")] == ["chicken"]
    (tmp_path / "patterns.toml").write_text(windows, encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text('{"text": "ここは名物のおでんで知られる。"}\n', encoding="utf-8")
    for command in indented("docs/collecting.md"):
        if "windows.csv" in command:  # mined, and imported as texts
            run(command, tmp_path)
    assert [row["entity"] for row in rows_of(tmp_path / "windows.csv")] == ["おでんで知られる。"]


def run(command: str, folder: Path) -> str:
    program, *words = shlex.split(command)
    assert program == "polyculture"
    done = polyculture(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return f"{done.stdout}\n{done.stderr}"


def rows_of(file: Path) -> list[dict[str, Any]]:
    return list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))


def judge(file: Path, judgements: list[str]) -> None:
    rows = rows_of(file)
    with file.open("w", encoding="utf-8", newline="") as sheet:
        writer = csv.DictWriter(sheet, rows[0])
        writer.writeheader()
        writer.writerows({**row, "judgement": word} for row, word in zip(rows, judgements, strict=True))
