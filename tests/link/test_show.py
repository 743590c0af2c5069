"""The gazetteer's lexicon, `wikidata show` of an item, and `link show` of a surface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.errors import CatalogError, SnapshotError
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.linker import Linker
from polyculture.link.show.explain import Explanation, NamedItem, explain
from polyculture.link.show.items import describe
from tests.link_world import CATALOG, index_of, item
from tests.polyculture.test_command_line import one_line, polyculture
from tests.test_house import ROOT

ITEMS = [
    item("Q10", {"en": "soup", "ja": "スープ"}, P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "de": "Misosuppe"}, {"ja": ["みそしる"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", {"en": "gift", "ja": "ギフト"}, P31="Q746549"),
    item("Q13", {"en": "gift"}, sitelinks=5, P31="Q10"),
    item("Q14", {"en": "Ana"}, P31="Q5"),
    item("Q15", {"en": "curry soup"}, P31=["Q10", "Q16"]),
    item("Q16", {"en": "curry"}, P279="Q746549"),
]


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return index_of(tmp_path_factory.mktemp("items"), ITEMS)


def test_the_lexicon_holds_the_names_that_a_text_may_use(items: Snapshot) -> None:
    rows = {row["surface"]: (row["kind"], row["qid"]) for row in lexicon(items, CATALOG, "food", "ja").to_pylist()}
    assert rows["味噌汁"] == rows["みそしる"] == rows["miso soup"] == ("dish", "Q11")
    assert rows["gift"] == ("dish", "Q12")  # the nearer one
    assert "Ana" not in rows
    assert "Misosuppe" not in rows
    german = {row["surface"] for row in lexicon(items, CATALOG, "food", "de").to_pylist()}
    assert german == {"Misosuppe"}  # in a German text, gift is poison
    english = lexicon(items, CATALOG, "food", "en")
    assert english.column_names == ["surface", "kind", "qid"]
    surfaces = [str(surface) for surface in english.column("surface").to_pylist()]
    assert surfaces == sorted(set(surfaces))
    own = {row["surface"] for row in lexicon(items, CATALOG, "food", "ja", own_only=True).to_pylist()}
    assert own < set(rows)  # the audit counted English fallbacks as Japanese names
    assert not {name for name in own if name.isascii()}
    assert lexicon(items, CATALOG, "food", "en", own_only=True) == english
    with pytest.raises(CatalogError, match="Did you mean 'food'"):
        lexicon(items, CATALOG, "foods", "en")


def test_an_item_is_described(items: Snapshot) -> None:
    found = describe(items, CATALOG, "q11")
    assert (found.qid, found.label) == ("Q11", "miso soup")
    assert ("ja", "味噌汁", "みそしる") in found.names
    assert found.claims == [("P31", "instance of", "Q10", "soup"), ("P495", "country of origin", "Q17", None)]
    assert found.countries == [("JP", "Q17", "P495")]
    assert ("food", "dish", 2, "miso soup (Q11) > soup (Q10) > dish (Q746549)") in found.ways
    assert [title for title, _, _ in found.tables()][1:] == [
        "Names",
        "Statements",
        "Countries",
        "Kinds that it reaches",
    ]
    assert all(len(row) == len(columns) for _, columns, rows in found.tables() for row in rows)


def test_of_equally_short_paths_that_of_the_smallest_number_is_shown(items: Snapshot) -> None:
    ways = describe(items, CATALOG, "Q15").ways
    found = [way for topic, kind, _, way in ways if (topic, kind) == ("food", "dish")]
    assert found == ["curry soup (Q15) > soup (Q10) > dish (Q746549)"]


def test_a_root_reaches_itself(items: Snapshot) -> None:
    ways = describe(items, CATALOG, "Q40050").ways
    assert ("beverage", "drink", 0, "drink (Q40050)") in ways


@pytest.mark.parametrize(
    ("qid", "says"), [("Q99", "has no item Q99"), ("ramen", "'ramen' is not a QID"), ("Q0", "not a QID")]
)
def test_an_unknown_item_is_one_line(items: Snapshot, qid: str, says: str) -> None:
    with pytest.raises(SnapshotError, match=says):
        describe(items, CATALOG, qid)


WORLD = [
    item("Q17", {"en": "Japan", "ja": "日本", "th": "ญี่ปุ่น"}),
    item("Q10", {"en": "soup", "ja": "スープ"}, P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "th": "ซุปมิโซะ"}, {"en": ["misoshiru"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", "white miso soup", {"en": ["Misoshiru"]}, 1, P31="Q10"),
    item("Q13", "misoshiru", P31="Q5"),
    item("Q20", "stew", P31="Q746549"),
    item("Q21", "Stew", P31="Q746549"),
    item("Q22", "stew", P31="Q746549"),
    *[item(f"Q{number}", "stew", P31="Q5") for number in range(30, 40)],
    item("Q50", "[bold]x[/bold] \x1b[31mred\x1b[0m :smile: \u202eback", {"en": ["hot soup"]}, P31="Q10", P27="Q17"),
    item("Q51", {"th": "มีโซะ"}, P31="Q10", P50="Q52"),
    item("Q52", "Ana", P31="Q5", P27="Q414"),
]


@pytest.fixture
def world(tmp_path: Path) -> Linker:
    return Linker(CATALOG, index_of(tmp_path, WORLD))


def the_dish(world: Linker, surface: str, language: str = "en", rivals: int = 5) -> Explanation:
    (found,) = explain(world, surface, language, "food", "dish", rivals=rivals)
    return found


def test_a_link_is_explained(world: Linker) -> None:
    found = the_dish(world, "misoshiru")
    assert (found.status, found.candidates, found.survivors) == ("linked", 3, 2)
    chosen = found.chosen
    assert chosen.item == NamedItem("Q11", "miso soup", None, None)
    assert (chosen.matched_by, chosen.match, chosen.matched) == ("surface", "exact", "misoshiru")
    assert [step.label for step in chosen.path] == ["soup", "dish"]
    assert (chosen.reached_kind, chosen.distance, chosen.sitelinks) == ("dish", 2, 5)
    (country,) = found.countries
    assert (country.item.label, country.country, country.property) == ("Japan", "JP", "P495")
    assert country.property_name == "country of origin"
    assert [(rival.item.qid, rival.reason) for rival in found.rivals] == [
        ("Q12", "lost to Q11: less prominent, 1 sitelinks against 5"),
        ("Q13", "rejected: not in topic food"),
    ]


def test_labels_are_given_in_the_language_of_the_surface_too(world: Linker) -> None:
    found = the_dish(world, "ซุปมิโซะ", "th")
    assert found.chosen.item == NamedItem("Q11", "miso soup", "ซุปมิโซะ", None)
    assert found.countries[0].item == NamedItem("Q17", "Japan", "ญี่ปุ่น", None)
    unnamed = the_dish(world, "มีโซะ", "th")
    assert unnamed.chosen.item == NamedItem("Q51", None, "มีโซะ", None)
    assert [(c.property, c.property_name) for c in unnamed.countries] == [
        ("P50/P27", "country of citizenship of author")
    ]


def test_a_near_miss_is_shown_and_not_linked(world: Linker) -> None:
    assert (chosen := the_dish(world, "miso soups").chosen) is not None
    assert (chosen.item.qid, chosen.match, chosen.matched) == ("Q11", "key", "miso soup")
    slip = the_dish(world, "misso soup")
    assert (slip.status, slip.chosen) == ("no candidate", None)
    assert [(near.qid, near.name) for near in slip.near_misses] == [("Q11", "miso soup")]
    assert slip.near_misses[0].reason.startswith("near miss")
    assert the_dish(world, "wholly unheard of").near_misses == ()


def test_the_extractors_names_are_looked_up_too(world: Linker) -> None:
    (found,) = explain(world, "nothing known", "th", "food", "dish", english="miso soup")
    assert (found.chosen.item.qid, found.chosen.matched_by) == ("Q11", "english")


def test_an_english_name_of_another_item_is_shown(world: Linker, tmp_path: Path) -> None:
    (found,) = explain(world, "ซุปมิโซะ", "th", "food", "dish", english="white miso soup")
    assert (found.chosen.item.qid, found.english_item.qid) == ("Q11", "Q12")
    (agrees,) = explain(world, "ซุปมิโซะ", "th", "food", "dish", english="miso soup")
    assert agrees.english_item is None
    words = ["ซุปมิโซะ", "--language", "th", "--topic", "food", "--snapshot", world.source.path]
    told = show(*words, "--english", "white miso soup", cwd=tmp_path)
    assert "the English name disagrees: it matches white miso soup (Q12)\n" in told
    assert "disagrees" not in show(*words, "--english", "miso soup", cwd=tmp_path)


def test_an_ambiguous_one_has_its_rivals_and_no_more_than_are_wanted(world: Linker) -> None:
    found = the_dish(world, "stew", rivals=3)
    assert (found.status, found.candidates, found.survivors) == ("ambiguous", 13, 3)
    assert (found.chosen.item.qid, found.chosen.rank) == ("Q20", 1)
    assert [rival.item.qid for rival in found.rivals] == ["Q21", "Q22", "Q30"]
    assert found.rivals[0].reason == "too close to Q20 to tell"
    assert the_dish(world, "stew", rivals=0).rivals == ()


def test_why_nothing_is_meant(world: Linker) -> None:
    nobody = the_dish(world, "Ana")
    assert (nobody.status, nobody.chosen, nobody.countries) == ("no path", None, ())
    assert [rival.item.qid for rival in nobody.rivals] == ["Q52"]
    nothing = the_dish(world, "wholly unheard of")
    assert (nothing.status, nothing.chosen, nothing.rivals) == ("no candidate", None, ())


def test_every_kind_that_counts_is_explained(world: Linker) -> None:
    kinds = [explanation.kind for explanation in explain(world, "soup", "en", "food")]
    assert kinds == [name for name, kind in CATALOG.topic("food").kinds.items() if kind.counted]


def show(*words: str | Path, cwd: Path, **environment: str) -> str:
    """The output of `link show`."""
    shown = polyculture("link", "show", *words, cwd=cwd, POLYCULTURE_CACHE=str(cwd / "cache"), **environment)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def test_the_tree(world: Linker, tmp_path: Path) -> None:
    options = ("--language", "en", "--topic", "food", "--kind", "dish", "--snapshot", "index.duckdb")
    assert show("misoshiru", *options, cwd=tmp_path).splitlines() == [
        '"misoshiru" in English, food, looked up in index.duckdb',
        "├── normal form: misoshiru",
        "└── as dish: linked",
        "    ├── miso soup (Q11)",
        '    │   ├── matched: exact match of the surface, "misoshiru" (en)',
        "    │   ├── path: miso soup (Q11) > soup (Q10) > dish (Q746549)",
        "    │   ├── country: JP, Japan (Q17), by P495 country of origin",
        "    │   └── 5 sitelinks; linked: the best of those in the topic",
        '    ├── white miso soup (Q12): exact match of the surface, "Misoshiru" (en); '
        "lost to Q11: less prominent, 1 sitelinks against 5",
        '    └── misoshiru (Q13): exact match of the surface, "misoshiru" (en); rejected: not in topic food',
    ]
    crowd = show("stew", *options, "--rivals", "1", cwd=tmp_path)
    assert "as dish: ambiguous" in crowd
    assert "... and 11 more" in crowd
    near = show("misso soup", *options, cwd=tmp_path)
    assert '"miso soup" (en), Q11: near miss' in near


def test_kinds_with_the_same_outcome_are_shown_once(world: Linker, tmp_path: Path) -> None:
    options = ("--language", "ja", "--topic", "food", "--snapshot", "index.duckdb")
    assert "as dish, dish_category: linked" in show("味噌汁", *options, cwd=tmp_path)


def test_a_label_is_printed_and_does_nothing(world: Linker, tmp_path: Path) -> None:
    options = ("--language", "en", "--topic", "food", "--kind", "dish", "--snapshot", "index.duckdb")
    for environment in ({}, {"FORCE_COLOR": "1"}):
        printed = show("hot soup", *options, cwd=tmp_path, **environment)
        assert "[bold]x[/bold] \ufffd[31mred\ufffd[0m :smile: \ufffdback (Q50)" in printed
    assert "\x1b" not in show("hot [red]soup[/red] \x1b[31m", *options, cwd=tmp_path)


def test_a_very_long_surface_is_cut_where_it_is_printed(world: Linker, tmp_path: Path) -> None:
    options = ("--language", "ja", "--topic", "food", "--kind", "dish", "--snapshot", "index.duckdb")
    printed = show("汁" * 10_000, *options, cwd=tmp_path)
    assert max(map(len, printed.splitlines())) < 400
    assert printed.count("… (10,000 characters)") == 2
    assert "as dish: no candidate" in printed


def test_the_same_as_data(world: Linker, tmp_path: Path) -> None:
    options = ("--language", "en", "--topic", "food", "--snapshot", "index.duckdb", "--format", "json")
    told: dict[str, Any] = json.loads(show("Misoshiru", *options, "--rivals", "1", cwd=tmp_path))
    assert {key: told[key] for key in ("surface", "normal_form", "language", "topic", "source")} == {
        "surface": "Misoshiru",
        "normal_form": "misoshiru",
        "language": "en",
        "topic": "food",
        "source": "index.duckdb",
    }
    dish = told["kinds"][0]
    assert (dish["kind"], dish["status"], dish["candidates"]) == ("dish", "linked", 3)
    assert (dish["chosen"]["item"]["qid"], dish["chosen"]["match"]) == ("Q11", "exact")
    assert [step["label"] for step in dish["chosen"]["path"]] == ["soup", "dish"]
    assert len(dish["rivals"]) == 1
    markup = json.loads(show("hot soup", *options, cwd=tmp_path))["kinds"][0]["chosen"]["item"]["label"]
    assert markup == "[bold]x[/bold] \x1b[31mred\x1b[0m :smile: \u202eback"


def test_the_starter_snapshot_is_looked_into(tmp_path: Path) -> None:
    printed = show("着物", "--language", "ja", "--topic", "clothing", cwd=tmp_path)
    assert "in Japanese, clothing, looked up in starter\n" in printed
    assert "kimono · 着物 (Q483444)" in printed
    assert "country: JP, Japan · 日本 (Q17), by P495 country of origin" in printed
    unknown = show("เสื้อฮาวาย", "--language", "th", "--topic", "clothing", cwd=tmp_path)
    assert "as garment, style: no candidate" in unknown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("kimono", "--language", "jp", "--topic", "clothing"), "unknown language 'jp'"),
        (("kimono", "--language", "ja", "--topic", "cloth"), "Did you mean 'clothing'?"),
        (("kimono", "--language", "ja", "--topic", "clothing", "--kind", "garmet"), "Did you mean 'garment'?"),
        (
            ("Rome", "--language", "en", "--topic", "food", "--kind", "place"),
            "is a kind that is never linked. Linked: dish",
        ),
        (("kimono", "--language", "ja", "--topic", "clothing", "--snapshot", "n.duckdb"), "there is no snapshot here"),
        (("kimono", "--language", "ja", "--topic", "clothing", "--snapshot", ""), "no snapshot is named. Name a file"),
        ((" ", "--language", "ja", "--topic", "clothing"), "the surface is empty"),
        (("su\udcffshi", "--language", "en", "--topic", "food"), "the surface holds bytes that are no UTF-8"),
        (("sushi", "--language", "en", "--topic", "food", "--name", "\udcff"), "--name holds bytes that are no UTF-8"),
        (("sushi", "--language", "en", "--topic", "food", "--english", " "), "--english is empty"),
        (
            ("kimono", "--language", "ja", "--topic", "clothing", "--catalog", "nowhere"),
            "nowhere: is no culture pack",
        ),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    shown = polyculture("link", "show", *words, cwd=tmp_path, POLYCULTURE_CACHE=str(tmp_path / "cache"))
    assert says in one_line(shown)


@pytest.mark.parametrize("damage", ["overwritten", "truncated"])
def test_a_damaged_snapshot_is_one_line(world: Linker, tmp_path: Path, damage: str) -> None:
    assert isinstance(world.source, Snapshot)
    snapshot = world.source.path
    data, names = snapshot.read_bytes(), _first_block_of_names(snapshot)
    file = tmp_path / "damaged.duckdb"
    file.write_bytes(data[: names + 100] + (bytes(1_000) + data[names + 1_100 :] if damage == "overwritten" else b""))
    shown = polyculture(
        *("link", "show", "misoshiru", "--language", "en", "--topic", "food", "--snapshot", file), cwd=tmp_path
    )
    assert "damaged.duckdb: is damaged or truncated. Build it again" in one_line(shown)


def _first_block_of_names(snapshot: Path) -> int:
    """The offset of the first block with names: after three headers of 4 KiB and earlier blocks."""
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        found = connection.execute(
            "SELECT min(block_id) * any_value(block_size) FROM pragma_storage_info('names'), pragma_database_size() "
            "WHERE block_id >= 0"
        ).fetchone()
    return 3 * 4_096 + int(found[0])


@pytest.mark.slow
def test_the_slice_tells_the_truth_about_a_shirt(slice_index: Snapshot, tmp_path: Path) -> None:
    """The snapshot has Hawaii in Thai, and no Hawaiian shirt."""
    linker = Linker(CATALOG, slice_index)
    for found in explain(linker, "เสื้อฮาวาย", "th", "clothing"):
        assert (found.status, found.chosen) == ("no candidate", None)
    (rice,) = explain(linker, "พีบิมบับ", "th", "food", "dish")
    assert (rice.chosen.item.qid, rice.chosen.item.label, rice.chosen.match) == ("Q648352", "bibimbap", "exact")
    assert [step.qid for step in rice.chosen.path] == ["Q746549"]


def test_showing_a_link_loads_nothing_that_it_does_not_need(world: Linker) -> None:
    """The command answers in less than a second because it loads what it uses; how long that takes, no test can say."""
    assert isinstance(world.source, Snapshot)
    words = ["polyculture", "link", "show", "miso soups", "--language", "en", "--topic", "food", "--snapshot"]
    program = f"import sys; sys.argv = {[*words, str(world.source.path)]!r}\n"
    program += "from polyculture.__main__ import main\ntry: main()\nexcept SystemExit: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT)
    loaded = {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert {"duckdb", "polyculture"} < loaded
    assert not loaded & {
        "numpy",
        "pandas",
        "networkx",
        "scipy",
        "rich",
        "msgspec",
        "jinja2",
        "httpx",
        "aiohttp",
        "openai",
        "lingua",
        "babel",
        "torch",
    }
