"""A snapshot that is filled from the live service: the links of a build, and nothing asked twice."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.errors import ExperimentError, SnapshotError, WikidataError
from polyculture.link import keys
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import FillReport, fill_snapshot
from polyculture.link.api.names import Named, Searches
from polyculture.link.dumps.build import build_index
from polyculture.link.entity_json import Rows
from polyculture.link.index.assemble import write_snapshot
from polyculture.link.index.draft import answers_folder
from polyculture.link.index.tables import SCHEMAS
from polyculture.link.linker import TABLES
from polyculture.running.linking import api_settings, plan_linking
from polyculture.running.opening import open_workspace
from tests.link.test_api import OF_ANOTHER_QUESTION, settings
from tests.link_world import CATALOG, CLASSES, LANGUAGES, Entity, index_of, item, link_all, write_dump
from tests.polyculture.test_command_line import polyculture
from tests.wikidata_server import UNAVAILABLE, WikidataServer, as_wikidata

ROOT = Path(__file__).parents[2]
MERGED = {"Q99": "Q40050"}
ITEMS: list[Entity] = [
    item("Q10", "soup", P279="Q746549"),
    item("Q11", {"en": "miso soup", "ja": "味噌汁", "zh": "味噌汤"}, {"en": ["misoshiru"]}, 5, P31="Q10", P495="Q17"),
    item("Q12", "Tango", sitelinks=4, P31="Q99"),  # drink, by way of a class that was merged
    item("Q13", "Tango", sitelinks=30, P31="Q2188189", P175="Q20"),
    item("Q14", "Tango", P31="Q404"),  # of a class that was deleted
    item("Q17", "Japan"),
    item("Q20", "Ana", P31="Q5", P27="Q414"),
    *[item(f"Q{number}", f"Tango {number}", P31="Q5") for number in range(100, 180)],
    *[item(f"Q{number}", "bar", P31="Q5") for number in range(200, 320)],
    item("Q400", "bar", P31="Q746549"),
    item("Q414", "Argentina"),
    item("Q500", "of no interest", P31="Q746549"),
]
WORLD = [*CLASSES, *ITEMS]
NAMES = [
    Named("en", "a bowl of miso soup", "miso soup"),
    Named("ja", "味噌汁", None, "miso soup"),
    Named("zh-tw", "味噌湯"),
    Named("de", "Tango"),
    Named("en", "bar"),
    Named("en", "nothing of the kind"),
    Named("en", "x" * 300),
]
ASKED = [
    ("en", "food", "dish", "miso soup"),
    ("ja", "food", "dish", "味噌汁"),
    ("zh-tw", "food", "dish", "味噌湯"),
    ("de", "beverage", "drink", "Tango"),
    ("en", "music", "song", "Tango"),
    ("en", "food", "dish", "bar"),
]


@pytest.fixture
def server() -> Iterator[WikidataServer]:
    with WikidataServer(WORLD, MERGED) as running:
        yield running


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "wikidata.duckdb"


def fill(server: WikidataServer, out: Path, names: list[Named] | None = None, **more: Any) -> FillReport:
    return fill_snapshot(CATALOG, NAMES if names is None else names, out, settings(server, **more))


def rows_of(snapshot: Path, *tables: str) -> dict[str, list[Any]]:
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return {name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in tables or SCHEMAS}


def searched(server: WikidataServer) -> list[tuple[str, str]]:
    """What was searched, in which language; a search of several pages counts once."""
    return [(r["language"], r["search"]) for r in server.requests if r.get("continue") == "0"]


def fetched(server: WikidataServer) -> list[str]:
    return [qid for r in server.requests if r["action"] == "wbgetentities" for qid in r["ids"].split("|")]


def test_a_fill_holds_and_links_what_a_build_over_the_same_items_does(
    server: WikidataServer, out: Path, tmp_path: Path
) -> None:
    filled = fill(server, out).snapshot
    there = {f"Q{number}" for number, *_ in rows_of(out, "items")["items"]}
    moved = {**next(one for one in WORLD if one["id"] == "Q40050"), "redirects": {"from": "Q99", "to": "Q40050"}}
    dump = write_dump(tmp_path / "dump.json", [*(one for one in WORLD if one["id"] in there), moved])
    built = build_index(dump, tmp_path / "built.duckdb", LANGUAGES).snapshot
    content = [name for name in SCHEMAS if name != "fetched"]
    assert rows_of(out, *content) == rows_of(built.path, *content)
    by_fill, by_build = (link_all(snapshot, *ASKED) for snapshot in (filled, built))
    assert all(by_fill[name].equals(by_build[name]) for name in TABLES)
    links = by_fill["links"].to_pylist()
    assert [row["status"] for row in links] == ["linked"] * len(ASKED)
    assert {row["qid"] for row in links} == {"Q11", "Q12", "Q13", "Q400"}
    assert {(row["property"], row["country_qid"]) for row in by_fill["entity_countries"].to_pylist()} == {
        ("P495", "Q17"),
        ("P175/P27", "Q414"),
    }
    assert "Q500" not in there


@pytest.mark.parametrize("seed", range(2))
def test_in_any_world_the_links_are_those_of_a_build_over_all_of_it(seed: int, tmp_path: Path, out: Path) -> None:
    """Names that collide, classes in circles, merged and missing ones, pages, persons with and without trades."""
    draw = random.Random(seed)
    words = ["abacus", "bremolo", "cardoon", "dhurrie", "ephyral", "fjordic", "gumtree", "hyraxes"]
    between = [f"Q{number}" for number in range(900, 910)]
    kinds = [kind for topic in CATALOG.topics.values() for kind in topic.kinds.values()]
    named = [qid for kind in kinds for qid in (*kind.roots, *kind.stops)]
    above = [*between, *between, *draw.sample(named, 12), "Q99", "Q999", "Q4167410", "Q746549", "Q2188189", "Q5"]

    def some(values: list[str], most: int) -> list[str]:
        return draw.sample(values, draw.randint(0, most))

    world = [item(qid, f"class {qid}", P279=some(above, 2), P361=some(above, 1)) for qid in between]
    for number in range(100, 160):
        claims = {"P31": some(above, 2), "P279": some(above, 1), "P106": some(["Q639669", "Q901"], 1)}
        claims |= {"P495": some(["Q17", "Q30"], 1), "P175": some(["Q700", "Q701"], 1), "P27": some(["Q30"], 1)}
        labels = {code: draw.choice(words) for code in draw.sample(["en", "ja", "de", "mul"], 2)}
        world.append(item(f"Q{number}", labels, {"en": some(words, 1)}, draw.randint(0, 3), **claims))
    world += [
        item("Q700", "Ana", P31="Q5", P27="Q30"),
        item("Q701", "Bo", P31="Q5"),
        item("Q17", "J"),
        item("Q30", "U"),
    ]
    asked = [
        (language, *kind, word)
        for language in ("en", "ja", "de")
        for kind in (("food", "dish"), ("music", "song"), ("music", "artist"), ("beverage", "drink"))
        for word in words
    ]
    moved = {**next(one for one in CLASSES if one["id"] == "Q40050"), "redirects": {"from": "Q99", "to": "Q40050"}}
    built = index_of(tmp_path, [*world, moved])
    names = [Named(language, word) for language, _, _, word in asked]
    with WikidataServer([*CLASSES, *world], MERGED, folding=as_wikidata) as server:
        filled = fill(server, out, names).snapshot
    by_build, by_fill = link_all(built, *asked), link_all(filled, *asked)
    assert by_build["links"].column("status").to_pylist().count("linked") > 5
    assert by_fill["links"].to_pylist() == by_build["links"].to_pylist()
    assert by_fill["entity_countries"].to_pylist() == by_build["entity_countries"].to_pylist()


def test_birthplaces_decide_in_a_fill_what_they_decide_in_a_build(tmp_path: Path, out: Path) -> None:
    """Austria-Hungary has heirs, and Fooland is in no table; beside both stands a citizenship of today, or a work."""
    empire, us, writer = "Q28513", "Q30", "Q36180"
    world = [
        item(empire, "Austria-Hungary"),
        item(us, "US"),
        item(writer, "writer"),
        item("Q600", "Prague", P17="Q213"),
        item("Q601", "Fooland", P1366=["Q213", "Q40"]),
        item("Q602", "Franz", P31="Q5", P27=[empire, us], P19="Q600", P106=writer),
        item("Q603", "Fritz", P31="Q5", P27=["Q601", us], P19="Q600", P106=writer),
        item("Q604", "Frank", P31="Q5", P27=us, P19="Q600", P106=writer),
        item("Q606", "Letters", P31="Q7725634", P495=empire, P50="Q604"),
    ]
    asked = [
        *[("en", "book", "author", name) for name in ("Franz", "Fritz", "Frank")],
        ("en", "book", "title", "Letters"),
    ]
    built = index_of(tmp_path, world)
    with WikidataServer([*CLASSES, *world]) as server:
        filled = fill(server, out, [Named("en", name) for *_, name in asked]).snapshot
    by_build, by_fill = (link_all(source, *asked)["entity_countries"].to_pylist() for source in (built, filled))
    assert by_fill == by_build
    assert {(row["qid"], row["country"]) for row in by_fill} == {
        *((qid, country) for qid in ("Q602", "Q603") for country in ("CZ", "US")),
        ("Q604", "US"),
        ("Q606", "CZ"),
    }


def test_a_second_fill_asks_nothing_and_leaves_the_file(server: WikidataServer, out: Path) -> None:
    first = fill(server, out)
    asked, written = len(server.requests), out.read_bytes()
    again = fill(server, out, contact="")
    assert (first.requests, again.requests, len(server.requests)) == (asked, 0, asked)
    assert out.read_bytes() == written
    assert again.snapshot.identity == first.snapshot.identity
    assert not answers_folder(out).exists()


def test_more_names_grow_the_file_and_change_its_identity(server: WikidataServer, out: Path) -> None:
    first = fill(server, out, NAMES[:3])
    asked = len(server.requests)
    grown = fill(server, out)
    assert grown.snapshot.identity != first.snapshot.identity
    again = Counter([*searched(server), *fetched(server)])
    assert max(again.values()) == 1  # no item, missing ones among them, and no name is asked for twice
    assert not set(searched(server)) - {("en", "miso soup"), ("ja", "味噌汁"), ("zh-tw", "味噌湯"), ("de", "Tango"),
                                        ("en", "bar"), ("en", "nothing of the kind")}  # fmt: skip
    assert asked < len(server.requests)
    with WikidataServer(WORLD, MERGED) as other:
        at_once = fill(other, out.with_name("at-once.duckdb"))
    names = [name for name in SCHEMAS if name != "fetched"]
    assert rows_of(out, *names) == rows_of(at_once.snapshot.path, *names)


def test_it_is_polite(server: WikidataServer, out: Path) -> None:
    report = fill(server, out)
    assert report.requests == len(server.requests)
    assert server.connections == 1
    assert all("gzip" in headers["Accept-Encoding"] for headers in server.headers)
    assert all("test@example.org" in agent and agent.startswith("Polyculture/") for agent in server.agents)
    assert all(request["maxlag"] == "5" and request["format"] == "json" for request in server.requests)
    assert max(len(r["ids"].split("|")) for r in server.requests if r["action"] == "wbgetentities") == 50
    assert len(fetched(server)) == len(set(fetched(server)))
    assert len(searched(server)) == len(set(searched(server))) == len(NAMES) - 1  # no name has 300 characters


def test_what_was_asked_and_what_does_not_exist_is_recorded(server: WikidataServer, out: Path) -> None:
    began = time.time()
    fill(server, out)
    rows = rows_of(out, "fetched")["fetched"]
    found = {(language, term): hits for language, term, _, hits in rows}
    assert found["en", "miso soup"] == found["zh-tw", "味噌湯"] == [11]
    assert found["en", "nothing of the kind"] == []
    assert found["", "Q404"] == [404]
    assert all(began - 2 < at.timestamp() - time.timezone < time.time() + 2 for _, _, at, _ in rows)


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        (Named("en", "Pad Thais", "Pad Thai"), [("en", "Pad Thai"), ("en", "Pad Thais")]),
        (Named("ja", "ラーメンを", "ラーメン", "ramen"), [("ja", "ラーメン"), ("en", "ramen"), ("ja", "ラーメンを")]),
        (Named("en", "ramen", "ramen", "ramen"), [("en", "ramen")]),
        (Named("zh-tw", "味噌湯"), [("zh-tw", "味噌湯"), ("zh-tw", "味噌汤")]),
        (Named("tr", "IHLAMUR"), [("tr", "IHLAMUR"), ("tr", "ıhlamur")]),
        (Named("it", "«pizza»"), [("it", "«pizza»"), ("it", "pizza")]),
        (Named("en", "x" * 251), []),
        (Named("en", " "), []),
    ],
)
def test_a_name_is_searched_once_and_its_other_forms_where_nothing_was_found(
    name: Named, terms: list[tuple[str, str]]
) -> None:
    searches, known = Searches(CATALOG, name), dict[tuple[str, str], bool]()
    asked = []
    while more := searches.next(known):
        asked += more
        known |= dict.fromkeys(more, False)
    assert asked == terms
    first = searches.next({})
    assert not searches.next(dict.fromkeys(first, True))


KILLED = """
import sys
from pathlib import Path
from polyculture.link.api.client import ApiSettings
from polyculture.link.api.fill import fill_snapshot
from tests.link.test_fill import CATALOG, NAMES
settings = ApiSettings("test@example.org", sys.argv[1], requests_per_minute=60_000)
fill_snapshot(CATALOG, NAMES, Path(sys.argv[2]), settings)
"""


@pytest.mark.parametrize("after", [5, 10])
def test_after_a_kill_nothing_that_was_answered_is_asked_again(server: WikidataServer, out: Path, after: int) -> None:
    gate = WaitingServer(WORLD, MERGED, after)
    with gate:
        kill_when_full(gate, KILLED, gate.url, str(out))
        assert not out.exists()
        answered = gate.requests[: after - 1]
        began = len(gate.requests)
        resumed = fill(gate, out)
        later = gate.requests[began:]
    assert not [request for request in answered if request in later]
    items = [{qid for r in part if "ids" in r for qid in r["ids"].split("|")} for part in (answered, later)]
    assert not items[0] & items[1]
    whole = fill(server, out.with_name("whole.duckdb")).snapshot.meta["source"]
    assert resumed.snapshot.meta["source"]["content"] == whole["content"]


def kill_when_full(gate: WaitingServer, script: str, *words: str) -> None:
    """Runs a script until the server waits, kills it, and opens the server."""
    command = [sys.executable, "-c", script, *words]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 120
    while not gate.is_full() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.3)  # what was answered is on disk by now
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    gate.open()


class WaitingServer(WikidataServer):
    """Answers less than `after` requests; the others wait until it is opened."""

    def __init__(self, entities: list[Entity], redirects: dict[str, str], after: int) -> None:
        super().__init__(entities, redirects)
        self._after, self._opened = after, False

    def is_full(self) -> bool:
        return len(self.requests) >= self._after

    def open(self) -> None:
        self._opened = True

    def answer(self, params: dict[str, str]) -> dict[str, Any]:
        while not self._opened and params in self.requests[self._after - 1 :]:
            time.sleep(0.01)
        return super().answer(params)


def test_a_kill_between_the_snapshot_and_the_end_asks_and_changes_nothing(
    server: WikidataServer, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("polyculture.link.index.draft.remove_folder", killed)
        with pytest.raises(KeyboardInterrupt):
            fill(server, out)
    asked, written = len(server.requests), out.read_bytes()
    assert answers_folder(out).exists()
    assert fill(server, out).requests == 0
    assert (len(server.requests), out.read_bytes()) == (asked, written)
    assert not answers_folder(out).exists()


def killed(_folder: Path) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("trouble", [[UNAVAILABLE] * 8, [OF_ANOTHER_QUESTION] * 3])
def test_what_was_answered_is_kept_when_the_service_goes_away(
    server: WikidataServer, out: Path, trouble: list[Any]
) -> None:
    server.faults = [None, None, None, *trouble]
    with pytest.raises(WikidataError, match="again later to resume"):
        fill(server, out)
    assert not out.exists()
    before = server.requests[:3]
    resumed = fill(server, out)
    assert not [request for request in before if server.requests.count(request) > 1]
    whole = fill(server, out.with_name("whole.duckdb")).snapshot.meta["source"]
    assert resumed.snapshot.meta["source"]["content"] == whole["content"]


def test_no_network_is_one_line_and_leaves_nothing(out: Path) -> None:
    nobody = ApiSettings("me@example.org", "http://127.0.0.1:9/w/api.php", sleep=lambda _: None)
    with pytest.raises(WikidataError, match="does not answer"):
        fill_snapshot(CATALOG, NAMES, out, nobody)
    assert not answers_folder(out).exists()
    with pytest.raises(WikidataError, match="requires a contact"):
        fill_snapshot(CATALOG, NAMES, out, ApiSettings(""))


def test_a_language_more_fetches_the_items_anew_and_searches_nothing_again(server: WikidataServer, out: Path) -> None:
    english = CATALOG.model_copy(update={"languages": {"en": CATALOG.languages["en"]}})
    fill_snapshot(english, [Named("en", "miso soup")], out, settings(server))
    assert {language for _, language, *_ in rows_of(out, "names")["names"]} == {"en"}
    fill(server, out, [Named("en", "miso soup"), Named("ja", "味噌汁")])
    assert searched(server) == [("en", "miso soup"), ("ja", "味噌汁")]
    assert {language for _, language, *_ in rows_of(out, "names")["names"]} == {"en", "ja", "zh"}


def pulled(out: Path, languages: frozenset[str]) -> None:
    """A snapshot of an endpoint's answers, with the classes and the soup."""
    rows = Rows(languages)
    for entity in [*CLASSES, *ITEMS[:2]]:
        rows.add(entity)
    source = {"kind": "sparql", "endpoint": "http://there"}
    write_snapshot(out, languages, [rows.tables()], {"source": source, "complete": False})


def test_a_pulled_snapshot_can_be_filled(server: WikidataServer, out: Path) -> None:
    pulled(out, LANGUAGES)
    grown = fill(server, out, NAMES[:4])
    assert not set(fetched(server)) & {entity["id"] for entity in [*CLASSES, *ITEMS[:2]]}
    assert grown.snapshot.meta["source"]["onto"] == {"kind": "sparql", "endpoint": "http://there"}
    (tango,) = link_all(grown.snapshot, ASKED[3])["links"].to_pylist()
    assert tango["qid"] == "Q12"


def test_what_cannot_be_filled_is_one_line(server: WikidataServer, out: Path, tmp_path: Path) -> None:
    index = index_of(tmp_path, ITEMS).path
    before = index.read_bytes()
    with pytest.raises(SnapshotError, match="there is nothing to fill"):
        fill(server, index)
    fill(server, out, NAMES[:1])
    with pytest.raises(SnapshotError, match=f"was filled from {re.escape(server.url)}, not from http://elsewhere"):
        fill_snapshot(CATALOG, NAMES, out, ApiSettings("me@example.org", "http://elsewhere/api.php"))
    pulled(tmp_path / "pulled.duckdb", frozenset({"en", "mul"}))
    with pytest.raises(SnapshotError, match=r"was pulled without names in de"):
        fill(server, tmp_path / "pulled.duckdb", [Named("de", "Tango")])
    (tmp_path / "x.duckdb").write_bytes(b"no snapshot" * 100)
    with pytest.raises(SnapshotError, match="is not a Wikidata snapshot"):
        fill(server, tmp_path / "x.duckdb")
    assert index.read_bytes() == before


def test_answers_of_one_service_are_not_another_s(
    server: WikidataServer, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.faults = [None, (404, {}, b"")]
    with pytest.raises(WikidataError, match="HTTP 404"):
        fill(server, out)
    with (
        WikidataServer(WORLD, MERGED) as other,
        pytest.raises(SnapshotError, match=f"other endpoint: {re.escape(server.url)}, not {re.escape(other.url)}"),
    ):
        fill(other, out)
    assert not other.requests
    english = CATALOG.model_copy(update={"languages": {"en": CATALOG.languages["en"]}})
    with pytest.raises(SnapshotError, match=r"other languages: .*Delete its folder"):
        fill_snapshot(english, NAMES[:1], out, settings(server))
    monkeypatch.setattr(keys, "KEYS", keys.KEYS + 1)  # as a changed rule would
    keys.key_version.cache_clear()
    with pytest.raises(SnapshotError, match=r"other version: .*Delete its folder"):
        fill(server, out)
    monkeypatch.undo()
    keys.key_version.cache_clear()
    fill(server, out)
    assert not answers_folder(out).exists()


EXPERIMENT = """
name = "small"
models = ["openai:any"]
languages = ["en"]
topics = ["food"]
countries = ["IT"]
[link]
snapshot = "filled.duckdb"
fill = true
contact = "test@example.org"
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("fill = true", "fill = true\nrequests_per_minute = 0", "link.requests_per_minute: must be more than 0"),
        ("fill = true", "fill = true\nrequests_per_minute = inf", "link.requests_per_minute: must be"),
        ("fill = true", "fill = true\nsource = 'published'", "fill is of a file of your own"),
        ('snapshot = "filled.duckdb"\n', "", 'write snapshot = "FILE.duckdb"'),
        ('contact = "test@example.org"\n', "", "link.contact is missing"),
        ("test@example.org", "me", "'me' is neither an e-mail address nor a page"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace(old, new), encoding="utf-8")
    with pytest.raises(ExperimentError, match=re.escape(says)) as error:
        plan_linking(open_workspace(file))
    assert str(file) in str(error.value)


def test_a_plan_says_how_much_the_service_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT.replace("openai:any", "mock:m"), encoding="utf-8")
    planned = polyculture("plan", file, cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    told = " ".join(planned.stdout.split())
    assert "requests per distinct name, 200 a minute at most" in told
    workspace = open_workspace(file)
    responses = len(workspace.prompts) * workspace.sampling.n
    names = round(5 * (3 * responses) ** 0.6)  # one language and topic
    assert f"here {api_settings(workspace).requests_for(names)}" in told
    assert f"for some {names:,} distinct names. Assumed: 3 mentions a response" in told
    assert "polyculture wikidata pull exp.toml" in told
    assert not (tmp_path / "filled.duckdb").exists()
