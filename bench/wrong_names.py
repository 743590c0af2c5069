"""What a wrong English name does to linking, and whether a check against own-language names would see it.

    python -m bench.wrong_names [--snapshot FILE] [--data FOLDER] [--draws 10] [--each 100]

A wrong name is another mention's of the same language and topic, in so many per cent of the mentions, drawn anew in
each draw. The check that is tried: a link by the extractor's English name alone becomes ambiguous if the item has names
in the mention's language and none of them is like the mention, by rapidfuzz. Its thresholds by script are the highest
that lose at most one right link in a hundred on half of FmLAMA's other names, and are then tried on the other sets.
What was measured: docs/evidence.md.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
from rapidfuzz import fuzz
from rapidfuzz.distance import Jaro

from bench.linking_accuracy import DATA, opened
from bench.linking_sets import GoldSet, cube, fmlama, hard_cases
from bench.results import keep
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.database import connect
from polyculture.cli.tables import print_table
from polyculture.link.audit.audit import LinkVerdict, judge
from polyculture.link.audit.gold import HARD_CASES, GoldMention, read_gold_mentions
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.queries import label_chain


def _jaro(one: str, other: str) -> float:
    return 100 * Jaro.similarity(one, other)


WRONG = (0, 10, 30, 60)  # per cent of the English names
SCORERS: Mapping[str, Callable[[str, str], float]] = {"ratio": fuzz.ratio, "partial": fuzz.partial_ratio, "jaro": _jaro}
THRESHOLDS = (20, 40, 60)
COUNTRIES = {"India": "hi", "Italy": "it", "Japan": "ja", "Turkey": "tr"}  # of CUBE, with a language of the slice
TUNED_ON = "FmLAMA's other names, first half"
SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--draws", "1", "--each", "2")
Rule = Callable[["DrawVerdict"], bool]


@dataclass(frozen=True, slots=True)
class NameTrial:
    """Mentions with their right English names, those whose names serve as wrong ones, and what they are linked with."""

    gold: list[GoldMention]
    others: list[GoldMention]
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class DrawVerdict:
    """A verdict of a draw, and how like the mention the item's names in its language are, by scorer.

    Empty where the link is not by English alone, or the item has no such name.
    """

    rate: int
    draw: int
    verdict: LinkVerdict
    script: str
    likeness: Mapping[str, float]

    @property
    def plain(self) -> bool:
        """Whether it is linked, and not ambiguous."""
        return self.verdict.status == "linked"


def main() -> None:
    """Prints the tables, and keeps them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", type=Path, help="an index of the slice; built where it is not given")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--each", type=int, default=100, help="labels of a language, of FmLAMA's")
    given = parser.parse_args()
    catalog = read_catalog()
    with opened(given.snapshot, given.data, catalog) as snapshot:
        answers = {
            name: list(_answers(trial, catalog, given.draws))
            for name, trial in _sets(given.data / "wikidata", snapshot, catalog, given.each)
        }
    rules = _rules(answers[TUNED_ON])
    _show("Wrong English names", {name: _by_rate(found) for name, found in answers.items()})
    for name, found in answers.items():
        _show(
            f"Checks of links by English alone: {name}",
            {rule: _checked(found, spares) for rule, spares in rules.items()},
        )
    for name, found in answers.items():
        _show(f"Wrong English names, by language: {name}", dict(_by_language(found)))


def _sets(data: Path, snapshot: Snapshot, catalog: Catalog, each: int) -> Iterator[tuple[str, NameTrial]]:
    yield "everyday", _trial(read_gold_mentions(HARD_CASES.with_name("everyday.tsv"), catalog), snapshot)
    yield "hard cases", _trial(hard_cases(catalog, "slice", 1.0).gold, snapshot)
    dishes = _with_english(list(fmlama(data)))
    dice = random.Random(1)
    languages = sorted({one.language for one in dishes})
    labels = {code: [one for one in dishes if one.language == code] for code in languages}
    some = [one for own in labels.values() for one in dice.sample(own, min(each, len(own)))]
    yield "FmLAMA", _trial(some, snapshot)
    yield "CUBE", _trial(list(_cube_at_home(data, snapshot, catalog)), snapshot)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(snapshot.path, Path(folder) / "copy.duckdb"))
        other_names = _held_out(dishes, copy, catalog)
        dice.shuffle(other_names)
        half = len(other_names) // 2
        yield TUNED_ON, NameTrial(other_names[:half], dishes, open_snapshot(copy))
        yield "FmLAMA's other names, second half", NameTrial(other_names[half:], dishes, open_snapshot(copy))


def _trial(gold: list[GoldMention], snapshot: Snapshot) -> NameTrial:
    return NameTrial(gold, gold, snapshot)


def _with_english(sets: Sequence[GoldSet]) -> list[GoldMention]:
    """FmLAMA's labels in other languages than English, with the English one of the same item."""
    english = {one.expected: one.mention for of in sets if of.name == "FmLAMA en" for one in of.gold}
    others = [one for of in sets if of.name != "FmLAMA en" for one in of.gold]
    return [replace(one, english=english[one.expected]) for one in others if one.expected in english]


def _cube_at_home(data: Path, snapshot: Snapshot, catalog: Catalog) -> Iterator[GoldMention]:
    """CUBE's dishes under their label in a language of their country, with CUBE's name as the English one."""
    rows = orjson.loads((data / "cube" / "CUBE_1K.json").read_bytes())
    countries = {row["id"]: row["country"] for row in rows}
    with connect(snapshot.path, read_only=True) as connection:
        for dish in cube(data).gold:
            language = COUNTRIES.get(countries[dish.expected[0]])
            if language is None:
                continue
            params = {"item": int(dish.expected[0][1:]), "code": catalog.language(language).label_languages[0]}
            query = "SELECT min(name) FROM names WHERE item = $item AND language = $code AND kind = 'label'"
            ((label,),) = connection.execute(query, params).fetchall()
            if label is not None:
                yield replace(dish, mention=label, language=language, english=dish.mention)


def _held_out(gold: Sequence[GoldMention], copy: Path, catalog: Catalog) -> list[GoldMention]:
    """The mentions whose item has another name in their language: the mention's own is taken from the snapshot.

    So own words miss, as those do that Wikidata lacks, and the English name decides.
    """
    chosen = []
    with connect(copy) as connection:
        for one in gold:
            codes = _own_codes(catalog, one.language)
            (form,) = normalise([one.mention], fold_of(codes[0]))
            params = {"item": int(one.expected[0][1:]), "codes": codes}
            where = "WHERE item = $item AND list_contains($codes, language)"
            rows = connection.execute(f"SELECT name, normalised FROM names {where}", params).fetchall()
            own = [name for name, normalised in rows if normalised == form]
            if own and len(own) < len(rows):
                for table in ("names", "keys"):
                    named = f"DELETE FROM {table} {where} AND list_contains($own, name)"
                    connection.execute(named, {**params, "own": own})
                chosen.append(one)
    return chosen


def _own_codes(catalog: Catalog, language: str) -> list[str]:
    """The languages of Wikidata's names in the language: no English as the last resort, and no `mul`."""
    return [code for code, last in label_chain(catalog.language(language)) if not last and code != "mul"]


def _answers(trial: NameTrial, catalog: Catalog, draws: int) -> Iterator[DrawVerdict]:
    """The verdicts on the mentions in each draw of each share of wrong names."""
    rounds = [(rate, draw) for rate in WRONG for draw in range(draws if rate else 1)]
    drawn = [(rate, draw, one) for rate, draw in rounds for one in _misnamed(trial, rate, draw)]
    verdicts = judge([one for *_, one in drawn], catalog, trial.snapshot)
    names = _names(verdicts, trial.snapshot)
    for (rate, draw, one), verdict in zip(drawn, verdicts, strict=True):
        codes = _own_codes(catalog, one.language)
        item_names = [form for code, form in names.get(verdict.qid or "", ()) if code in codes]
        likeness: dict[str, float] = {}
        if verdict.matched_by == "english" and item_names:
            texts = normalise([one.mention, one.name or one.mention], fold_of(codes[0]))
            likeness = {
                name: max(scorer(text, form) for text in texts for form in item_names)
                for name, scorer in SCORERS.items()
            }
        yield DrawVerdict(rate, draw, verdict, _script(one.mention), likeness)


def _misnamed(trial: NameTrial, rate: int, draw: int) -> Iterator[GoldMention]:
    dice = random.Random(f"{rate} {draw}")
    alike: dict[tuple[str, str], list[GoldMention]] = {}
    for one in trial.others:
        alike.setdefault((one.language, one.topic), []).append(one)
    for one in trial.gold:
        others = [other for other in alike[one.language, one.topic] if other.expected != one.expected]
        wrong = dice.random() < rate / 100 and others
        yield replace(one, english=dice.choice(others).english) if wrong else one


def _names(verdicts: Sequence[LinkVerdict], snapshot: Snapshot) -> dict[str, list[tuple[str, str]]]:
    """Language and normal form of the names of the items of links by English alone."""
    items = sorted({int(one.qid[1:]) for one in verdicts if one.qid and one.matched_by == "english"})
    names: dict[str, list[tuple[str, str]]] = {}
    with connect(snapshot.path, read_only=True) as connection:
        query = "SELECT item, language, normalised FROM names WHERE list_contains($items::UINTEGER[], item)"
        for item, language, form in connection.execute(query, {"items": items}).fetchall():
            names.setdefault(f"Q{item}", []).append((language, form))
    return names


def _script(text: str) -> str:
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    first = scripts.most_common(1)[0][0] if scripts else "?"
    return "Han and kana" if first in ("CJK", "HIRAGANA", "KATAKANA") else first.title()


def _rules(tuning: Sequence[DrawVerdict]) -> dict[str, Rule]:
    """By name: whether a rule leaves a link as it is."""
    rules: dict[str, Rule] = {"no check": lambda _: True}
    for name in SCORERS:
        for threshold in THRESHOLDS:
            rules[f"{name}, {threshold}"] = _at({}, threshold, name)
        rules[f"{name}, by script"] = _at(_thresholds(tuning, name), 0, name)
    return rules


def _at(thresholds: Mapping[str, float], otherwise: float, scorer: str) -> Rule:
    return lambda one: one.likeness.get(scorer, 100.0) >= thresholds.get(one.script, otherwise)


def _thresholds(tuning: Sequence[DrawVerdict], scorer: str) -> dict[str, float]:
    """By script: the highest threshold that loses at most one in a hundred of the right links with right names."""
    found = {}
    for script in sorted({one.script for one in tuning}):
        right = [one for one in tuning if one.script == script and not one.rate and one.plain and one.verdict.right]
        likeness = sorted(one.likeness.get(scorer, 100.0) for one in right)
        found[script] = likeness[len(likeness) // 100] if likeness else 0.0
    print(f"{scorer}, thresholds by script: { ({name: round(at) for name, at in found.items()}) }")
    return found


def _rounds(answers: Sequence[DrawVerdict], rate: int) -> list[list[DrawVerdict]]:
    draws: dict[int, list[DrawVerdict]] = {}
    for one in answers:
        if one.rate == rate:
            draws.setdefault(one.draw, []).append(one)
    return list(draws.values())


def _precision(answers: Sequence[DrawVerdict], spares: Rule) -> float | None:
    return _per_cent([one.verdict.right for one in answers if one.plain and spares(one)])


def _recall(answers: Sequence[DrawVerdict], spares: Rule) -> float | None:
    linkable = [one for one in answers if one.verdict.linkable]
    return _per_cent([one.plain and one.verdict.right and spares(one) for one in linkable])


def _nils(answers: Sequence[DrawVerdict]) -> float | None:
    return _per_cent([one.plain for one in answers if one.verdict.nil])


def _by_english(answers: Sequence[DrawVerdict]) -> float | None:
    return _per_cent([one.verdict.matched_by == "english" for one in answers if one.plain])


def _disagreeing(answers: Sequence[DrawVerdict]) -> float | None:
    return _per_cent([one.verdict.english_qid is not None for one in answers if one.plain])


def _per_cent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None


def _span(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    middle = f"{statistics.median(known):.1f}"
    return middle if len(known) == 1 else f"{middle} [{min(known):.1f}, {max(known):.1f}]"


def _by_rate(answers: Sequence[DrawVerdict]) -> dict[str, str]:
    every: Rule = lambda _: True  # noqa: E731
    first = _rounds(answers, 0)[0]
    row = {"mentions": f"{len(first)}, NIL {sum(one.verdict.nil for one in first)}"}
    for rate in WRONG:
        draws = _rounds(answers, rate)
        row[f"{rate} %: of links right"] = _span([_precision(draw, every) for draw in draws])
        row[f"{rate} %: linked rightly"] = _span([_recall(draw, every) for draw in draws])
        row[f"{rate} %: by English"] = _span([_by_english(draw) for draw in draws])
        row[f"{rate} %: disagreeing"] = _span([_disagreeing(draw) for draw in draws])
        row[f"{rate} %: NILs linked"] = _span([_nils(draw) for draw in draws])
    return row


def _checked(answers: Sequence[DrawVerdict], spares: Rule) -> dict[str, str]:
    row = {}
    for rate in WRONG:
        draws = _rounds(answers, rate)
        row[f"{rate} %: of links right"] = _span([_precision(draw, spares) for draw in draws])
        row[f"{rate} %: linked rightly"] = _span([_recall(draw, spares) for draw in draws])
        caught = [[one.verdict.right for one in draw if one.plain and not spares(one)] for draw in draws]
        wrong, right = (_span([sum(hit is side for hit in draw) for draw in caught]) for side in (False, True))
        row[f"{rate} %: wrong links gone"], row[f"{rate} %: right links gone"] = wrong, right
    return row


def _by_language(answers: Sequence[DrawVerdict]) -> Iterator[tuple[str, dict[str, str]]]:
    for language in sorted({one.verdict.gold.language for one in answers}):
        row = _by_rate([one for one in answers if one.verdict.gold.language == language])
        yield language, {column: value for column, value in row.items() if "rightly" not in column}


def _show(title: str, table: Mapping[str, Mapping[str, str]]) -> None:
    for row, numbers in table.items():
        keep("wrong_names", title, row, numbers)
    columns = next(iter(table.values()))
    print_table(("", *columns), [(row, *numbers.values()) for row, numbers in table.items()], title=title)


if __name__ == "__main__":
    main()
