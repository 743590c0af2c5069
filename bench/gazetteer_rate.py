"""How many responses a second the gazetteer reads, with the names of the starter snapshot, on one core.

    python -m bench.gazetteer_rate [--copies 20] [--language en]

The peer is what one writes first: one regular expression of all names between word boundaries, longest first, ignoring
case (the standard library's `re`). It does less: no folding, no plurals, no particles, no rules for capital letters.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from polyculture.cache.catalog import read_catalog
from polyculture.extract.base import ResponseText
from polyculture.extract.gazetteer import Gazetteer
from polyculture.extract.gold import read_gold
from polyculture.link.index.lexicon import lexicon
from polyculture.link.index.starter import write_starter

SMALLEST = ("--copies", "1", "--language", "en", "ja")
TOPIC = "food"


def seconds(work: Callable[[], int]) -> tuple[float, int]:
    """The CPU time of `work`, and what it counted."""
    started = time.process_time()
    found = work()
    return time.process_time() - started, found


def main() -> None:
    """Prints a line per language: texts a second, mentions found, and the ratio to the peer."""
    catalog = read_catalog()
    gold = read_gold(catalog)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=20, help="how often each text is read (default: 20)")
    parser.add_argument("--language", nargs="*", default=sorted({text.language for text in gold}), help="default: all")
    options = parser.parse_args()
    copies = options.copies
    print("language  names  letters/text    texts/s  found    peer texts/s  found   ratio")
    with tempfile.TemporaryDirectory() as folder:
        snapshot = write_starter(Path(folder) / "starter.duckdb")
        for language in options.language:
            texts = [text.text for text in gold if text.language == language] * copies
            names = lexicon(snapshot, catalog, TOPIC, language)
            gazetteer = Gazetteer(names, catalog.topic(TOPIC), language, snapshot.identity)
            responses = [ResponseText(str(number), language, text) for number, text in enumerate(texts)]
            ours, found = seconds(partial(count_mentions, gazetteer, responses))
            pattern = compile_names(str(row["surface"]) for row in names.to_pylist())
            theirs, matched = seconds(partial(count_matches, pattern, texts))
            letters = sum(map(len, texts)) / len(texts)
            print(
                f"{language:8}  {names.num_rows:5}  {letters:12.0f}  {len(texts) / ours:9,.0f}  {found // copies:5}"
                f"  {len(texts) / theirs:14,.0f}  {matched // copies:5}  {theirs / ours:6.1f}"
            )


def count_mentions(gazetteer: Gazetteer, responses: Iterable[ResponseText]) -> int:
    return sum(len(one.mentions) for one in gazetteer.extract(responses))


def count_matches(pattern: re.Pattern[str], texts: Iterable[str]) -> int:
    return sum(len(pattern.findall(text)) for text in texts)


def compile_names(names: Iterable[str]) -> re.Pattern[str]:
    """One expression of all names, longest first."""
    longest_first = sorted(set(names), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


if __name__ == "__main__":
    main()
