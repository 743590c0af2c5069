"""The gold mentions are consistent, and the audit of linking counts correctly."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import orjson
import pytest

from polyculture.cache.errors import StoreError
from polyculture.cli.tables import WIDTH
from polyculture.generate.design import read_preset
from polyculture.link.audit.audit import LinkAuditRow, audit_links, judge, score
from polyculture.link.audit.gold import HARD_CASES, GoldMention, at_most_right, contradictions, read_gold_mentions
from polyculture.link.index.snapshot import Snapshot
from polyculture.link.index.starter import write_starter
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.queries import label_chain
from tests.link_world import CATALOG, index_of, item
from tests.polyculture.test_command_line import one_line, polyculture

HEADER = "mention\tlanguage\ttopic\texpected"
HARD = read_gold_mentions(HARD_CASES, CATALOG)

WORLD = [
    item("Q11", {"en": "ramen", "ja": "ラーメン"}, {"en": ["lamian"]}, P31="Q746549", sitelinks=50),
    item("Q12", "poached egg", P31="Q746549"),
    item("Q13", "poached egg", P31="Q746549"),
    item("Q14", "Mole", P31="Q746549"),
    item("Q15", "Mole", P31="Q999"),
    item("Q16", "Java", P31="Q999"),
    item("Q999", "thing"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return index_of(tmp_path_factory.mktemp("world"), WORLD)


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return write_starter(tmp_path_factory.mktemp("starter") / "starter.duckdb")


def food(mention: str, *expected: str, language: str = "en", kind: str | None = None) -> GoldMention:
    return GoldMention(mention, language, "food", expected, kind)


def gold_file(folder: Path, text: str) -> Path:
    file = folder / "gold.tsv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_gold_file_is_read_as_it_stands(tmp_path: Path) -> None:
    text = "# ours\n\ufefflang\tsurface\ttopic\tqid\tkind\ttrap\r\n"
    text = text.replace("\ufeff", "") + 'en\t"ramen"\tfood\tQ11|q12\tdish\tquotes\r\n\r\nen\tfoo\tfood\tnil\t\r\n'
    file = tmp_path / "gold.tsv"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_gold_mentions(file, CATALOG, ["trap"]) == [
        GoldMention('"ramen"', "en", "food", ("Q11", "Q12"), "dish", 3, {"trap": "quotes"}),
        GoldMention("foo", "en", "food", (), None, 5, {}),
    ]


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "gold.tsv", "holds no gold mentions"),
        (HEADER, "gold.tsv", "no gold mentions below its header"),
        ("mention\tlanguage\ttopic\nramen\ten\tfood", "line 1", "no column 'expected'.*header must name mention"),
        (HEADER + "\tqid\nramen\ten\tfood\tQ1\tQ1", "line 1", "two columns 'expected'"),
        (HEADER + "\nramen\ten\tfood", "line 2", "3 columns where the header has 4"),
        (HEADER + "\nramen\ten\tfood\tQ1\tQ2", "line 2", "5 columns where the header has 4"),
        (HEADER + "\n\ten\tfood\tQ1", "line 2", "an empty mention"),
        (HEADER + "\nramen\teng\tfood\tQ1", "line 2", "unknown language 'eng'. Did you mean 'en'"),
        (HEADER + "\nramen\ten\tfod\tQ1", "line 2", "unknown topic 'fod'. Did you mean 'food'"),
        (HEADER + "\nramen\ten\tfood\tramen", "line 2", "'RAMEN' is not a QID"),
        (HEADER + "\nramen\ten\tfood\tQ1|", "line 2", "no expected QID"),
        (HEADER + "\nramen\ten\tfood\tQ99999999999999999999", "line 2", "'Q9+' is not a QID"),
        (HEADER + "\nramen\ten\tfood\tQ1|NIL", "line 2", "'NIL' is not a QID.*NIL alone"),
        (HEADER + "\tkind\nramen\ten\tfood\tQ1\tdsh", "line 2", "food has no counted kind 'dsh'. Did you mean 'dish'"),
        (HEADER + "\tkind\nramen\ten\tfood\tQ1\tplace", "line 2", "food has no counted kind 'place'"),
    ],
)
def test_a_bad_gold_file_names_the_line_and_the_remedy(tmp_path: Path, text: str, where: str, what: str) -> None:
    with pytest.raises(StoreError, match=what) as caught:
        read_gold_mentions(gold_file(tmp_path, text), CATALOG)
    assert where in str(caught.value)
    assert caught.value.remedy


def test_files_that_are_none_say_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read"):
        read_gold_mentions(tmp_path / "none.tsv", CATALOG)
    (tmp_path / "latin.tsv").write_bytes(HEADER.encode() + b"\nr\xe4men\ten\tfood\tQ1")
    with pytest.raises(StoreError, match="is not UTF-8"):
        read_gold_mentions(tmp_path / "latin.tsv", CATALOG)
    with pytest.raises(StoreError, match=r"no column 'trp'\. Did you mean 'trap'"):
        read_gold_mentions(gold_file(tmp_path, HEADER + "\ttrap\nramen\ten\tfood\tQ1\tx"), CATALOG, ["trp"])


def test_the_audit_counts_as_a_hand_does(world: Snapshot) -> None:
    gold = [
        food("ramen", "Q11"),  # right, by its label
        food("lamian", "Q99999", "Q11"),  # right, by an alias; one of two answers
        food("Mole", "Q14"),  # right: two of the name, the topic decides
        food("poached egg", "Q13"),  # ambiguous, the first is the other one
        food("poached egg", "Q12", kind="dish"),  # ambiguous, the first is right
        food("rammen", "Q11"),  # wrong: left without a link, a near miss
        food("Java", "Q16"),  # wrong: in the snapshot, in no kind of the topic
        food("kimchi", "Q404"),  # outside: the item is not there
        food("Ramen", "Q404"),  # outside, and linked: wrong whatever it is linked to
        food("krandelbop"),  # NIL, right
        food("Java"),  # NIL, right: there is a Java, it is no food
        food("ラーメン", language="ja"),  # NIL says the gold, and it is linked
    ]
    result = audit_links(gold, CATALOG, world)
    every = result.all
    assert (every.mentions, every.outside) == (12, 2)
    assert every.linkable[:2] == (7, 4 / 7)
    assert every.in_topic[:2] == (6, 4 / 6)
    assert every.clear[:2] == (5, 3 / 5)
    assert every.ambiguous[:2] == (2, 1 / 2)
    assert every.links[:2] == (7, 4 / 7)
    assert every.nil[:2] == (3, 2 / 3)
    rows = {(row.by, row.value): row for row in result.rows}
    assert rows["name", "several, one in the topic"].linkable.of == 1
    assert rows["name", "several in the topic"].linkable.of == 2
    assert rows["match", "exact"].links[:2] == (7, 4 / 7)
    assert rows["matched_by", "surface"].links.of == 7
    assert (rows["language", "ja"].nil.right, rows["language", "ja"].linkable) == (0, (0, None, None))
    whys = {(one.gold.mention, one.why) for one in result.wrong}
    assert ("Java", "the expected item belongs to no kind of food") in whys
    assert ("rammen", "near miss: 91 of 100 alike, never linked") in whys
    assert ("ラーメン", "nothing is meant, and 'ラーメン' was found") in whys
    assert ("Ramen", "the expected item is not in the snapshot") in whys
    assert "kimchi" not in {mention for mention, _ in whys}


def test_a_column_of_the_gold_may_be_named_like_a_grouping_and_lines_may_differ_in_names(
    world: Snapshot, tmp_path: Path
) -> None:
    lines = ["soup\ten\tfood\tQ11\tdone\tramen", "soup\ten\tfood\tNIL\topen\tkrandelbop"]
    gold = read_gold_mentions(
        gold_file(tmp_path, "\n".join([HEADER + "\tstatus\tenglish", *lines])), CATALOG, ["status"]
    )
    result = audit_links(gold, CATALOG, world, ["status"])
    found = {(row.by, row.value): row.mentions for row in result.rows if "status" in row.by}
    assert found == {
        ("status", "linked"): 1,
        ("status", "no candidate"): 1,
        ("status in the gold", "done"): 1,
        ("status in the gold", "open"): 1,
    }
    assert all(one.right for one in result.verdicts)


def test_an_audit_does_not_depend_on_what_is_right(world: Snapshot) -> None:
    questions = [food("ramen", "Q11"), food("ramen", "Q12"), food("ramen"), food("poached egg", "Q12", "Q13")]
    verdicts = judge(questions, CATALOG, world)
    assert [one.qid for one in verdicts] == ["Q11", "Q11", "Q11", "Q12"]
    assert [one.right for one in verdicts] == [True, False, False, True]
    assert [one.gold for one in judge(questions[::-1], CATALOG, world)] == questions[::-1]


def test_a_column_of_the_gold_is_a_grouping(world: Snapshot) -> None:
    gold = [GoldMention("ramen", "en", "food", ("Q11",), other={"trap": "plain"}), food("ramens", "Q11")]
    rows = [row for row in audit_links(gold, CATALOG, world, ["trap"]).rows if row.by == "trap"]
    assert [(row.value, row.mentions) for row in rows] == [("none", 1), ("plain", 1)]


def test_nothing_to_score_is_no_score(world: Snapshot) -> None:
    row = score(judge([], CATALOG, world)).all
    assert (row.mentions, row.linkable, row.links) == (0, (0, None, None), (0, None, None))


def test_the_hard_cases_are_many_and_everywhere() -> None:
    assert len(HARD) >= 300
    languages = read_preset("full").languages
    assert {one.language for one in HARD} == set(languages)
    assert {(one.language, one.topic) for one in HARD} == {
        (language, topic) for language in languages for topic in CATALOG.topics
    }
    assert sum(not one.expected for one in HARD) >= 60
    assert len({(one.mention, one.language, one.topic) for one in HARD}) == len(HARD)
    traps = Counter(one.other["trap"] for one in HARD)
    assert {"homograph", "inflection", "diacritics", "dotless i", "emoji", "hallucinated title", "script"} <= set(traps)
    readme = HARD_CASES.with_name("README.md").read_text(encoding="utf-8")
    assert not [trap for trap in traps if f"`{trap}`" not in readme]
    assert f"{len(HARD)} lines" in readme


def test_the_starter_confirms_its_hard_cases(starter: Snapshot) -> None:
    _confirm(starter, "starter")


@pytest.mark.slow
def test_the_slice_confirms_its_hard_cases(slice_index: Snapshot) -> None:
    _confirm(slice_index, "slice")


@pytest.mark.slow
def test_the_slice_has_the_items_of_everyday_mentions(slice_index: Snapshot) -> None:
    gold = read_gold_mentions(HARD_CASES.with_name("everyday.tsv"), CATALOG, ["item"])
    assert Counter(one.language for one in gold) == dict.fromkeys(("de", "tr", "ar", "ja", "ko"), 40)
    items = [pair for one in gold for pair in zip(one.expected, one.other["item"].split("|"), strict=False)]
    with duckdb.connect(str(slice_index.path), read_only=True) as connection:
        names = set(connection.execute("SELECT 'Q' || item, name FROM names WHERE kind = 'label'").fetchall())
    assert items
    assert not set(items) - names


def _confirm(snapshot: Snapshot, name: str) -> None:
    """Every item has its base as a name; no item has an invented name; some item has a name with another meaning."""
    texts = sorted({text for one in HARD for text in (one.mention, one.other["base"])})
    keys = {fold: dict(zip(texts, normalise(texts, fold), strict=True)) for fold in ("plain", "turkish", "chinese")}
    wanted = [*texts, *(key for of_fold in keys.values() for key in of_fold.values())]
    query = "SELECT item, language, name, normalised FROM names WHERE name IN $wanted UNION ALL "
    query += "SELECT item, language, name, normalised FROM names WHERE normalised IN $wanted"
    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        rows = connection.execute(query, {"wanted": wanted}).fetchall()
    of_items = {(item, text) for item, _, *both in rows for text in both}
    of_languages = {(language, key) for _, language, _, key in rows}

    def has(one: GoldMention) -> bool:
        base, qid = one.other["base"], int(one.expected[0][1:])
        return any((qid, text) in of_items for text in (base, *(of_fold[base] for of_fold in keys.values())))

    def borne(one: GoldMention) -> bool:
        codes = [code for code, *_ in label_chain(CATALOG.language(one.language))]
        return any((code, keys[fold_of(code)][one.mention]) in of_languages for code in codes)

    for one in HARD:
        if name in one.other["confirmed"]:
            assert has(one), one
        elif one.other["confirmed"] == "invented":
            assert not borne(one), one
        elif one.other["confirmed"] == "other meaning" and name == "slice":
            assert borne(one), one


def test_hard_cases_are_linked_or_left_alone(starter: Snapshot) -> None:
    """A lower bound; the figures are in docs/evidence.md. Invented names are not linked."""
    gold = [one for one in HARD if not one.expected or "starter" in one.other["confirmed"]]
    result = audit_links(gold, CATALOG, starter)
    every = result.all
    assert every.outside == 0
    assert (every.linkable.right or 0) >= 0.97
    assert (every.links.right or 0) >= 0.98
    assert not [one for one in result.verdicts if one.nil and one.status == "linked"]


def test_the_surface_alone_links_most_hard_cases(starter: Snapshot) -> None:
    """Without the extractor's names the key has to bridge articles, cases and spellings."""
    gold = [replace(one, name=None, english=None) for one in HARD if "starter" in one.other["confirmed"]]
    result = audit_links(gold, CATALOG, starter)
    assert (result.all.linkable.right or 0) >= 0.94
    assert (result.all.links.right or 0) >= 0.99
    languages = [row.linkable.right or 0 for row in result.rows if row.by == "language"]
    assert max(languages) - min(languages) <= 0.2


@pytest.mark.slow
def test_the_targets_hold_on_the_slice(slice_index: Snapshot, shared_data: Path) -> None:
    """FmLAMA's dishes: linkable ones in the topic, unambiguous or disambiguated by the topic."""
    gold = [
        GoldMention(dish["sub_label"], dish["lang"], "food", (dish["url"].rsplit("/", 1)[1],))
        for file in sorted((shared_data / "wikidata" / "fmlama").glob("*.jsonl"))
        for dish in map(orjson.loads, file.read_bytes().splitlines())
    ]
    result = audit_links(gold, CATALOG, slice_index)
    rows: dict[tuple[str, str], LinkAuditRow] = {(row.by, row.value): row for row in result.rows}
    assert (result.all.clear.right or 0) >= 0.97
    assert (rows["name", "one item"].linkable.right or 0) >= 0.97
    assert (rows["name", "several, one in the topic"].linkable.right or 0) >= 0.9
    assert (result.all.in_topic.right or 0) >= 0.99
    assert sum(one.status == "linked" and not one.right for one in result.verdicts) <= 0.003 * len(gold)


def test_the_command_writes_the_scores_and_the_wrong_answers(tmp_path: Path) -> None:
    text = f"{HEADER}\ttrap\nramen\ten\tfood\tQ234646\tplain\nkrandelbop\ten\tfood\tNIL\t\npizza\ten\tfood\tQ234646\t\n"
    file = gold_file(tmp_path, text)
    done = polyculture("link", "audit", file, "--by", "trap", "--wrong", "wrong.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 mentions, 0 of them of items that the snapshot does not hold" in done.stdout
    assert "50.0 [9, 91]" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= WIDTH
    assert not [line for line in done.stdout.splitlines() if line.count("[") != line.count("]")]  # no share is broken
    wrong = (tmp_path / "wrong.csv").read_text(encoding="utf-8").splitlines()
    assert len(wrong) == 2
    assert wrong[1].startswith("pizza,en,food,dish,Q234646,Q177,linked,exact,surface")
    done = polyculture("link", "audit", file, "--format", "json", cwd=tmp_path)
    rows = [orjson.loads(line) for line in done.stdout.splitlines()]
    assert rows[0]["by"] == "all"
    assert rows[0]["accuracy_low"] == pytest.approx(0.0945, abs=1e-4)


def test_lines_that_give_a_mention_different_items_are_counted_and_scored_apart(
    tmp_path: Path, world: Snapshot
) -> None:
    lines = ["ramen\ten\tfood\tQ11", "Mole\ten\tfood\tQ14", "Mole\ten\tfood\tQ15", "Mole\ten\tfood\tQ14|Q12"]
    gold = read_gold_mentions(gold_file(tmp_path, "\n".join([HEADER, *lines, "Java\ten\tfood\tNIL"])), CATALOG)
    ((*together,),) = contradictions(gold)
    assert [one.line for one in together] == [3, 4, 5]
    assert at_most_right([together]) == 2  # by Q14
    rows = {(row.by, row.value): row for row in audit_links(gold, CATALOG, world).rows}
    assert (rows["gold", "different items"].linkable.of, rows["gold", "different items"].linkable.right) == (3, 2 / 3)
    assert (rows["gold", "same item in all lines"].mentions, rows["all", "all"].linkable.of) == (2, 4)
    assert not contradictions([*gold[:2], gold[1]])  # a line that is there twice is two mentions
    assert "gold" not in {row.by for row in audit_links(gold[:2], CATALOG, world).rows}


def test_the_command_says_how_many_lines_no_linker_can_get_right(tmp_path: Path) -> None:
    lines = ["ramen\ten\tfood\tQ234646", "ramen\ten\tfood\tNIL", "pizza\ten\tfood\tQ177"]
    done = polyculture("link", "audit", gold_file(tmp_path, "\n".join([HEADER, *lines])), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "different items" in line]
    assert said.startswith("2 of 3 lines give a mention different items, for example 'ramen' (en, food)")
    assert "Q234646 in line 2, NIL in line 3" in said
    assert "at most 1 of the 2 can be right" in said
    assert "different items" in done.stdout


def test_a_users_mistake_ends_in_one_line(tmp_path: Path) -> None:
    file = gold_file(tmp_path, HEADER + "\nramen\ten\tfod\tQ234646\n")
    line = one_line(polyculture("link", "audit", file, cwd=tmp_path))
    assert f"{file}, line 2: unknown topic 'fod'. Did you mean 'food'?" in line
    file = gold_file(tmp_path, HEADER + "\nramen\ten\tfood\tQ234646\n")
    assert "there is no snapshot here" in one_line(
        polyculture("link", "audit", file, "--snapshot", "none.duckdb", cwd=tmp_path)
    )
    assert "no column 'trap'" in one_line(polyculture("link", "audit", file, "--by", "trap", cwd=tmp_path))
