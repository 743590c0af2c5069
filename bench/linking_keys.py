"""What the loose key of a name is worth, by language: links made, right and wrong, against linking without keys.

    pip install snowballstemmer simplemma        # each is an arm, and left out where it is not installed
    python -m bench.linking_keys [--snapshot FILE] [--data FOLDER] [--treebanks FOLDER] [--rules NAME=FILE ...]

The arms: no key; `folding` alone (accents, kana, blanks, and the spellings and articles under `folding` in
`cache/text/inflection.toml`); the keys as shipped; folding and the Snowball stem of each word; folding and simplemma's
lemma of each word. `--rules` adds other files like ours, whose `key` has all rules of a language.

No rule was made with these sets:

| set | mentions |
| --- | --- |
| held-out names | of each item that has several names in a language, one that its snapshot has lost |
| items left out | names of every fifth item, of which the snapshot has lost all names: none may be linked |
| FmLAMA, CUBE | labels of dishes |
| BLEnD | people's answers, where the English name of the answer is that of items of a topic |
| nouns in texts | nouns of Universal Dependencies, as mentions of the items that bear their lemma |
| other nouns in texts | those whose lemma no item of the topic bears: none may be linked |
| other topics | names of items of other topics: none may be linked |
| hard cases | our own, with which rules were made: apart |

`--treebanks` holds a folder of CoNLL-U files for each language (`tr/*.conllu`). The second table uses them alone, for
any language: lemmas of nouns are the names, and forms the mentions; every fifth lemma is left out.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from bench.linking_accuracy import DATA, LABELS_A_KIND, opened
from bench.linking_key_sets import LACKING, NameBearers, SetMention, Sources, held_out, treebank, whole_sets
from bench.results import keep
from polyculture.cache.catalog import Catalog, read_catalog
from polyculture.cache.database import connect
from polyculture.cache.text.inflection import Inflection, base_language, inflections, read_inflections
from polyculture.cli.tables import print_table
from polyculture.link import keys as ours
from polyculture.link import queries as query_module
from polyculture.link.index import current_keys
from polyculture.link.index.snapshot import Snapshot, open_snapshot
from polyculture.link.linker import Linker, read_table
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.queries import numbered

SMALLEST = ("--snapshot", "{snapshot}", "--data", "{data}", "--each", "2", "--language", "en")
ABLATION, NOUNS = "Links by keys", "Nouns of treebanks by keys"

Strings: TypeAlias = "pa.Array[Any]"
KeyFunction: TypeAlias = Callable[..., Strings]  # like `link.keys.keys_of`


def no_key(normalised: Strings, *_: object, **__: object) -> Strings:
    """The normal form is the key."""
    return normalised


def by_rules(
    rules: Mapping[str, Inflection],
    parts: Sequence[str],
    normalised: Strings,
    language: str,
    plain: Strings | None = None,
    *_: object,
    **__: object,
) -> Strings:
    """Keys by the `parts` ('folding', 'key') of each language's rules."""
    base = base_language(language)
    chosen = [rule for part in parts for rule in rules.get(base, {}).get(part, ())]  # type: ignore[attr-defined]
    return ours.keys_of(normalised, language, plain, {base: chosen or [ours._LAST_LETTER]})


def by_words(
    change: Callable[[str, str], str],
    folded: KeyFunction,
    normalised: Strings,
    language: str,
    *_: object,
    **__: object,
) -> Strings:
    """Keys by folding the names of which each word is changed: its articles go first, and accents last."""
    base = base_language(language)
    rules = inflections().get(base, {}).get("folding", [])
    bare = ours._rewritten(normalised, rules) if rules else normalised
    words = [" ".join(change(word, base) for word in str(name).split()) for name in bare.to_pylist()]
    return folded(pa.array(words, pa.string()), language)


def snowball() -> Callable[[str, str], str] | None:
    """The stem of a word by Snowball, or the word where it has no such language."""
    with suppress(ImportError):
        stemmers: Any = importlib.import_module("snowballstemmer")
        import babel

        names = {
            code: str(babel.Locale.parse(code).english_name).lower()
            for code in read_catalog().languages
            if "-" not in code
        }
        known = {code: stemmers.stemmer(name) for code, name in names.items() if name in stemmers.algorithms()}

        @cache
        def stem(word: str, base: str) -> str:
            return str(known[base].stemWord(arabic(word) if base in ("ar", "fa") else word)) if base in known else word

        return stem
    return None


def simplemma() -> Callable[[str, str], str] | None:
    """The lemma of a word by simplemma, or the word where it has no such language."""
    with suppress(ImportError):
        lemmas: Any = importlib.import_module("simplemma")
        known = {code for code in read_catalog().languages if lemmas_know(lemmas, code)}

        @cache
        def lemma(word: str, base: str) -> str:
            if base not in known:
                return word
            # German nouns are found with a capital letter.
            found = lemmas.lemmatize(
                word.capitalize() if base == "de" else arabic(word) if base == "ar" else word, lang=base
            )
            return str(found).lower()

        return lemma
    return None


def lemmas_know(lemmas: Any, code: str) -> bool:
    try:
        lemmas.lemmatize("a", lang=code)
    except ValueError:
        return False
    return True


def arabic(word: str) -> str:
    """A normal form with Arabic letters, where ours has Persian ones."""
    return word.replace("ک", "ك").replace("ی", "ي")


def arms(others: Mapping[str, Path]) -> dict[str, KeyFunction]:
    """The arms by name."""
    rules = inflections()
    folding = partial(by_rules, rules, ("folding",))
    found: dict[str, KeyFunction] = {"no key": no_key, "folding": folding, "as shipped": ours.keys_of}
    for name, change in (("snowball", snowball()), ("simplemma", simplemma())):
        if change is not None:
            found[name] = partial(by_words, change, folding)
    for name, file in others.items():
        found[name] = partial(by_rules, read_inflections(file), ("key",))
    return found


@contextmanager
def used(keys: KeyFunction) -> Iterator[None]:
    """The linker makes its keys by this function."""
    modules: Any = (query_module, current_keys)
    for module in modules:
        module.keys_of = keys
    try:
        yield
    finally:
        for module in modules:
            module.keys_of = ours.keys_of


def links(mentions: Sequence[SetMention], catalog: Catalog, snapshot: Snapshot, keys: KeyFunction) -> list[str | None]:
    """The item that each mention is linked to plainly."""
    columns = [
        [one.gold.language for one in mentions],
        [one.gold.topic for one in mentions],
        [one.gold.kind or one.kind for one in mentions],
        [one.gold.mention for one in mentions],
    ]
    names = ("language", "topic", "kind", "surface")
    table = numbered(pa.table(dict(zip(names, [pa.array(column, pa.string()) for column in columns], strict=True))))
    # All keys count as made by other rules, so that they are made by this function.
    made = replace(snapshot, meta={**snapshot.meta, "keys": dict.fromkeys(snapshot.languages, "other")})
    with used(keys), Linker(catalog, made).opened(table) as connection:
        found = read_table(connection, "links")
    plain = {
        query: qid
        for query, status, qid in zip(*(found[name].to_pylist() for name in ("query", "status", "qid")), strict=True)
        if status == "linked"
    }
    return [plain.get(query) for query in table["query"].to_pylist()]


def compared(
    mentions: Sequence[SetMention], without: Sequence[str | None], made: Sequence[str | None]
) -> Counter[tuple[str, str, str]]:
    """By set and language: mentions, right links gained and lost, and wrong links made, against those without keys."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for one, before, after in zip(mentions, without, made, strict=True):
        place = one.set, one.gold.language
        expected = one.gold.expected
        counts[*place, "mentions"] += 1
        counts[*place, "gained"] += after in expected and before not in expected
        counts[*place, "lost"] += before in expected and after not in expected
        counts[*place, "wrong"] += after is not None and after not in expected and after != before
    return counts


def vocabulary(folder: Path, language: str, keys: KeyFunction) -> tuple[int, int, int, int]:
    """Forms of nouns against the lemmas of a treebank: forms; joined with their lemma alone; with another; and those
    whose lemma is left out and that are joined with another all the same.
    """
    pairs = treebank(folder, language)
    fold = fold_of(language)
    forms, lemmas = (normalise(list(texts), fold) for texts in zip(*pairs, strict=True))
    keyed = [keys(pa.array(texts, pa.string()), language).to_pylist() for texts in (forms, lemmas)]
    names = {lemma for lemma in lemmas if zlib.crc32(lemma.encode()) % LACKING}
    by_key: dict[str, set[str]] = {}
    for lemma, key in zip(lemmas, keyed[1], strict=True):
        if lemma in names:
            by_key.setdefault(key, set()).add(lemma)
    asked = right = wrong = out = 0
    for form, key, lemma in sorted(set(zip(forms, keyed[0], lemmas, strict=True))):
        if form in names or form == lemma:
            continue
        met = by_key.get(key, set())
        asked += lemma in names
        right += met == {lemma}
        wrong += lemma in names and bool(met - {lemma}) and len(met) == 1
        out += lemma not in names and len(met) == 1
    return asked, right, wrong, out


def main() -> None:
    """Prints the tables, and keeps them."""
    given = arguments()
    catalog = read_catalog()
    languages = given.language or list(catalog.languages)
    chosen = arms({name: Path(file) for name, file in (pair.split("=", 1) for pair in given.rules)})
    with opened(given.snapshot, given.data, catalog) as snapshot, tempfile.TemporaryDirectory() as folder:
        english = NameBearers(snapshot, catalog, "en")
        snapshot = _reduced(snapshot, catalog, languages, Path(folder))
        names = NameBearers(snapshot, catalog)
        mentions, lost = held_out(names, catalog, given.each * 50)
        mentions = [one for one in mentions if one.gold.language in languages]
        sources = Sources(given.data, given.treebanks, given.each)
        whole = whole_sets(sources, catalog, snapshot, names, english, languages)
        lacking = _without(snapshot, lost, Path(folder))
        counts: dict[str, Counter[tuple[str, str, str]]] = {}
        before: list[str | None] = []
        for name, keys in chosen.items():
            found = [*links(mentions, catalog, lacking, keys), *links(whole, catalog, snapshot, keys)]
            before = before or found
            counts[name] = compared([*mentions, *whole], before, found)
            if given.show and name in given.show:
                _show([*mentions, *whole], before, found)
    _print_links(counts)
    if given.treebanks:
        _print_nouns(given.treebanks, chosen, languages)


def _reduced(snapshot: Snapshot, catalog: Catalog, languages: Iterable[str], folder: Path) -> Snapshot:
    """A copy with the names of these languages alone: English as the last resort would say nothing of their keys."""
    copy = Path(shutil.copy(snapshot.path, folder / "reduced.duckdb"))
    codes = [code for language in languages for code in catalog.language(language).label_languages]
    bases = {base_language(catalog.language(language).label_languages[0]) for language in languages}
    kept = {"kept": [code for code in codes if base_language(code) in bases]}
    with connect(copy) as connection:
        for table in ("names", "keys"):
            connection.execute(f"DELETE FROM {table} WHERE NOT list_contains($kept::VARCHAR[], language)", kept)
        connection.execute("CHECKPOINT")
    return open_snapshot(copy)


def _without(snapshot: Snapshot, lost: Sequence[tuple[int, str, str]], folder: Path) -> Snapshot:
    """A copy of the snapshot without these names."""
    copy = Path(shutil.copy(snapshot.path, folder / "lacking.duckdb"))
    with connect(copy) as connection:
        items, languages, names = zip(*lost, strict=True)
        gone = {"item": pa.array(items, pa.uint32()), "language": pa.array(languages), "name": pa.array(names)}
        connection.from_arrow(pa.table(gone)).create("lost")
        connection.execute(
            "DELETE FROM names AS n USING lost AS l WHERE (n.item, n.language, n.name) = (l.item, l.language, l.name)"
        )
        connection.execute("DROP TABLE lost")
    return open_snapshot(copy)


def _show(mentions: Sequence[SetMention], without: Sequence[str | None], made: Sequence[str | None]) -> None:
    for one, before, after in zip(mentions, without, made, strict=True):
        if after != before:
            gold = one.gold
            verdict = "right" if after in gold.expected else "wrong" if after else "lost"
            print(
                "\t".join(
                    map(
                        str, (one.set, gold.language, gold.topic, gold.mention, verdict, after, "|".join(gold.expected))
                    )
                )
            )


def _print_links(counts: Mapping[str, Counter[tuple[str, str, str]]]) -> None:
    """One line a set and language: what each arm gains and makes wrong."""
    places = sorted({key[:2] for arm in counts.values() for key in arm})
    lines = []
    for place in places:
        numbers = {"mentions": str(counts["no key"][*place, "mentions"])}
        for arm, found in counts.items():
            if arm != "no key":
                numbers[arm] = "/".join(str(found[*place, what]) for what in ("gained", "lost", "wrong"))
        keep("linking_keys", ABLATION, ", ".join(place), numbers)
        lines.append((", ".join(place), *numbers.values()))
    print_table(("", *numbers), lines, title=f"{ABLATION}: right gained / right lost / wrong made, against no key")


def _print_nouns(folder: Path, chosen: Mapping[str, KeyFunction], languages: Iterable[str]) -> None:
    lines = []
    for language in languages:
        if not treebank(folder, language):
            continue
        numbers = {}
        for arm, keys in chosen.items():
            asked, *found = vocabulary(folder, language, keys)
            numbers |= {"forms": str(asked), arm: "/".join(map(str, found))}
        keep("linking_keys", NOUNS, language, numbers)
        lines.append((language, *numbers.values()))
    print_table(("", *numbers), lines, title=f"{NOUNS}: joined with the lemma / with another / of lemmas left out")


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapshot", type=Path, help="an index of the slice; built where it is not given")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data")
    parser.add_argument("--treebanks", type=Path, help="a folder of CoNLL-U files for each language")
    parser.add_argument("--rules", nargs="*", default=[], metavar="NAME=FILE", help="further arms by files of rules")
    parser.add_argument(
        "--each",
        type=int,
        default=LABELS_A_KIND,
        help=f"names of a kind, and 50 times as many held out (default: {LABELS_A_KIND})",
    )
    parser.add_argument("--language", nargs="*", help="languages (default: all)")
    parser.add_argument("--show", nargs="*", help="arms whose every changed link is printed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
