"""The gold texts are consistent, and the audit counts correctly."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import StoreError
from polyculture.cache.work.outcome import Outcome
from polyculture.extract.audit import ExtractionAudit, audit_extractor
from polyculture.extract.base import Extracted, FoundMention, ResponseText
from polyculture.extract.boundaries import Boundaries
from polyculture.extract.gold import GOLD, GoldText, read_gold, unmark
from polyculture.metrics.audit.scores import FEWEST

CATALOG = read_catalog()
TRAPS = {None, "cutlery", "brand", "metaphor", "nothing", "other_topic", "homograph"}


def test_marks_become_offsets() -> None:
    text, mentions = unmark("[[Aiko|person]] eats [[ramen|dish]] and [[ラーメン|dish]].")
    assert text == "Aiko eats ramen and ラーメン."
    assert [(m.surface, m.kind, text[m.start : m.end]) for m in mentions] == [
        ("Aiko", "person", "Aiko"), ("ramen", "dish", "ramen"), ("ラーメン", "dish", "ラーメン"),
    ]  # fmt: skip


def test_gold_texts_are_of_all_topics_and_their_mentions_whole() -> None:
    gold = read_gold(CATALOG)
    languages = {text.language for text in gold}
    assert {(text.language, text.topic) for text in gold} == {
        (one, topic) for one in languages for topic in CATALOG.topics
    }
    assert {text.trap for text in gold} == TRAPS
    assert len({text.text_id for text in gold}) == len({text.text for text in gold}) == len(gold)
    for text in gold:
        assert_whole(text)


def assert_whole(text: GoldText) -> None:
    assert unicodedata.is_normalized("NFC", text.text)
    counted = {name for name, kind in CATALOG.topic(text.topic).kinds.items() if kind.counted}
    assert text.trap != "nothing" or not counted & {mention.kind for mention in text.mentions}
    for mention in text.mentions:
        assert mention.surface == mention.surface.strip()
        assert text.text[mention.start : mention.end] == mention.surface
        if text.language in ("de", "en", "es", "hi") and mention.kind != "person":  # "Omars" names Omar
            assert mention.start is not None
            assert mention.end is not None
            assert Boundaries("none").free(text.text, mention.start, mention.end), mention


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"id": "a", "topic": "food", "trap": null}', "line 1: not a gold text"),
        ("ramen", "line 1: not a gold text"),
        (
            '{"id": "a", "topic": "foot", "trap": null, "marked": "x"}',
            "line 1: unknown topic 'foot'.*Did you mean 'food'",
        ),
        ('{"id": "a", "topic": "food", "trap": null, "marked": "[[x|dsh]]"}', "food has no kind 'dsh'.*Did you mean"),
        ('{"id": "a", "topic": "food", "trap": null, "marked": "[[x|dish]"}', "a mark is not closed"),
    ],
)
def test_a_broken_gold_file_names_the_line(tmp_path: Path, line: str, what: str) -> None:
    (tmp_path / "en.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(StoreError, match=what):
        read_gold(CATALOG, [tmp_path])


def test_an_empty_folder_and_a_missing_language_say_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds.*texts"):
        read_gold(CATALOG, [tmp_path])
    with pytest.raises(StoreError, match=r"texts.*'xx'"):
        read_gold(CATALOG, languages=("xx",))


class Fixed:
    """An extractor with given answers."""

    extractor_id, costly = "fixed", False

    def __init__(self, answers: dict[str, Extracted]) -> None:
        self.answers = answers

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        for response in responses:
            yield self.answers[response.response_id]


def run(marked: dict[str, str], found: dict[str, list[tuple[str, str]] | str]) -> ExtractionAudit:
    """An audit of food texts, with the (surface, kind) found in each at their first places, or the failure."""
    gold = [GoldText(key, "en", "food", None, *unmark(text)) for key, text in marked.items()]
    answers = {}
    for text in gold:
        said = found[text.text_id]
        if isinstance(said, str):
            answers[text.text_id] = Extracted(text.text_id, "failed", error=said, retryable=False)
        else:
            mentions = tuple(_mention(text.text, surface, kind) for surface, kind in said)
            answers[text.text_id] = Extracted(text.text_id, "ok", mentions, prompt_tokens=5, completion_tokens=2)
    return audit_extractor(lambda _language, _topic: Fixed(answers), gold, CATALOG)


def _mention(text: str, surface: str, kind: str) -> FoundMention:
    start = text.find(surface)
    if start < 0:
        return FoundMention(surface, kind, None, None, hallucinated=True)
    return FoundMention(surface, kind, start, start + len(surface))


def test_the_audit_counts_as_a_hand_does() -> None:
    marked = {
        "a": "[[Aiko|person]] eats [[ramen|dish]] with [[pork|ingredient]].",
        "b": "[[Soup|dish_category]] and [[soup|dish_category]].",
        "c": "[[sushi|dish]]",
    }
    # a: ramen right, pork of another kind, tofu made up; b: one of two; c failed.
    found: dict[str, list[tuple[str, str]] | str] = {
        "a": [("ramen", "dish"), ("pork", "dish"), ("tofu", "ingredient")],
        "b": [("soup", "dish_category")],
        "c": "cut",
    }
    result = run(marked, found)
    rows = {(row.by, row.value, row.matching): row for row in result.rows}
    strict = rows["all", "all", "strict"]
    counts = (strict.texts, strict.failed, strict.gold, strict.found, strict.hits, strict.hallucinated)
    assert counts == (3, 1, 4, 4, 2, 1)
    assert (strict.precision, strict.recall, strict.f1) == (0.5, 0.5, 0.5)
    assert rows["all", "all", "span"].hits == 3
    person = rows["kind", "food person", "strict"]
    assert (person.gold, person.found, person.precision, person.recall) == (1, 0, None, 0.0)
    dish = rows["kind", "food dish", "strict"]
    assert (dish.gold, dish.found, dish.hits) == (1, 2, 1)
    assert result.failures == {"c": "cut"}
    assert (result.texts, result.prompt_tokens, result.completion_tokens) == (3, 10, 4)
    assert json.loads(json.dumps(result.as_json()))["rows"][0]["by"] == "all"


def test_names_are_scored_where_gold_has_them(tmp_path: Path) -> None:
    line = {"id": "a", "topic": "food", "trap": None, "marked": "[[tacos|dish]] [[pho|dish]] [[naan|dish]]"}
    (tmp_path / "en.jsonl").write_text(json.dumps(line), encoding="utf-8")
    names = "language\tsurface\tname\tenglish\nen\ttacos\ttaco\tTaco|taco (dish)\nen\tpho\tpho|phở\t\n"
    (tmp_path / "names.tsv").write_text(names, encoding="utf-8")
    found = (
        FoundMention("tacos", "dish", 0, 5, name="tacos", english="taco"),
        FoundMention("pho", "dish", 6, 9, name="Phở", english="noodles"),
        FoundMention("naan", "dish", 10, 14, name="naan"),
    )
    answers = {"a": Extracted("a", "ok", found)}
    result = audit_extractor(lambda *_: Fixed(answers), read_gold(CATALOG, [tmp_path]), CATALOG)
    rows = {row.matching: row for row in result.rows if row.by == "all"}
    assert [(rows[one].gold, rows[one].found, rows[one].hits) for one in ("span", "name", "english")] == [
        (3, 3, 3), (2, 2, 1), (1, 1, 1),
    ]  # fmt: skip
    assert rows["name"].precision_interval is not None
    (tmp_path / "names.tsv").write_text(names + "en\tnaan\n", encoding="utf-8")
    with pytest.raises(StoreError, match=r"names\.tsv.*line 4"):
        read_gold(CATALOG, [tmp_path])


def test_gold_names_are_of_surfaces_in_the_texts() -> None:
    gold = read_gold(CATALOG)
    surfaces = {(text.language, mention.surface) for text in gold for mention in text.mentions}
    named = [line.split("\t")[:2] for line in (GOLD / "names.tsv").read_text("utf-8").splitlines()[1:]]
    assert {tuple(one) for one in named} <= surfaces
    assert len({tuple(one) for one in named}) == len(named)


def test_nothing_to_find_and_nothing_found_is_no_score() -> None:
    result = run({"a": "Nothing here."}, {"a": []})
    row = result.rows[0]
    assert (row.precision, row.recall, row.f1, row.precision_interval, row.f1_interval) == (None,) * 5


def test_perfect_answers_score_one_everywhere() -> None:
    gold = read_gold(CATALOG)
    answers = {text.text_id: Extracted(text.text_id, "ok", text.mentions) for text in gold}
    seen: list[Outcome] = []
    result = audit_extractor(lambda _language, _topic: Fixed(answers), gold, CATALOG, seen.append)
    assert {row.f1 for row in result.rows if row.gold} == {1.0}
    assert {row.precision for row in result.rows if row.found} == {1.0}
    assert seen[-1] == Outcome(len(gold), 0)
    assert {row.value for row in result.rows if row.by == "trap"} == {trap or "none" for trap in TRAPS}


def test_our_gold_has_enough_texts_with_names_for_an_error_of_each_language() -> None:
    named = Counter(text.language for text in read_gold(CATALOG) if any(one.english for one in text.mentions))
    assert set(named) == {text.language for text in read_gold(CATALOG)}
    assert min(named.values()) >= FEWEST, named
