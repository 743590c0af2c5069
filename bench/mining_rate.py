"""How many megabytes of text a second one core mines, from the file on disk to the counted n-grams.

    python -m bench.mining_rate [--megabytes 200] [--one-in 1]

The corpora are generated: JSON lines in English, Japanese and Arabic, the latter also with every letter as a \\uXXXX
escape, of words that are distributed as in a language (Zipf) with a mean of some 400 a document. In one of fifty
documents (`--one-in`) a pattern stands, followed or preceded by a dish.

The peer is what one writes first: `json.loads` of every line, one regular expression of all patterns' fixed texts (the
standard library's), ignoring case, and the words beside each match into a Counter. It does less: no folding of
spellings, no word boundaries, no documents, no contexts, no choice among nested n-grams, and its memory grows with the
corpus. Both run in one process; the time is that of the CPU.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from polyculture.collect.mining.corpus import open_corpus
from polyculture.collect.mining.count import counted
from polyculture.collect.mining.patterns import read_patterns
from polyculture.collect.mining.sweep import sweep

Result = TypeVar("Result")
VOCABULARY = 50_000
ONE_IN = 50  # documents hold a pattern
SMALLEST = ("--megabytes", "1")
PATTERNS = """
[en]
patterns = [
    "recipe of ___", "recipe for ___", "how to cook ___", "how to make ___", "___ is a traditional dish",
    "a bowl of ___", "a plate of ___", "dishes such as ___", "___ is a popular dish", "national dish is ___",
]
[ar]
patterns = [
    "طريقة عمل ___", "طريقة تحضير ___", "وصفة ___", "مقادير ___", "___ طبق تقليدي",
    "أكلة ___", "طبق ___", "مكونات ___", "___ أكلة شعبية", "أطباق مثل ___",
]
[ja]
patterns = [
    "___の作り方", "___のレシピ", "___の材料", "___を作りました", "___を食べました",
    "名物の___", "郷土料理の___", "手作り___", "___が食べたい", "簡単___",
]
"""


@dataclass(frozen=True)
class Corpus:
    """What a corpus is made of."""

    name: str
    language: str
    letters: str
    separator: str
    stop: str
    dishes: Sequence[str]
    escaped: bool = False


ARABIC = partial(
    Corpus,
    language="ar",
    letters="ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    separator=" ",
    stop="، ",
    dishes=("الكبسة", "الكبسة السعودية", "المنسف", "المقلوبة", "الدجاج المشوي", "ورق العنب"),
)
CORPORA = (
    Corpus(
        "English",
        "en",
        string.ascii_lowercase,
        " ",
        ". ",
        ("chicken soup", "chicken soup with rice", "shepherd's pie", "fish & chips", "trifle", "bangers and mash"),
    ),
    Corpus(
        "Japanese",
        "ja",
        "".join(map(chr, [*range(0x3042, 0x3093), *range(0x4E00, 0x4E00 + 900)])),
        "",
        "。",
        ("肉じゃが", "親子丼", "チキンカレー", "味噌汁", "お好み焼き"),
    ),
    ARABIC("Arabic"),
    ARABIC("Arabic, escaped", escaped=True),
)


def main() -> None:
    """Prints a line per corpus: megabytes a second of both, what they found, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200, help="of each corpus (default: 200)")
    parser.add_argument("--one-in", type=int, default=ONE_IN, help=f"documents holds a pattern (default: {ONE_IN})")
    options = parser.parse_args()
    size = options.megabytes * 10**6
    print("corpus             MB   MB/s  places  chosen   peer MB/s  places   ratio")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        patterns = folder / "patterns.toml"
        patterns.write_text(PATTERNS, encoding="utf-8")
        for corpus in CORPORA:
            file = write_corpus(folder / f"{corpus.language}-{corpus.escaped}.jsonl", corpus, size, options.one_in)
            ours, (places, chosen) = seconds(partial(mine, file, patterns, corpus.language, folder / "work"))
            theirs, matched = seconds(
                partial(mine_plainly, file, texts_of(patterns, corpus.language), bool(corpus.separator))
            )
            megabytes = file.stat().st_size / 10**6
            print(
                f"{corpus.name:16}  {megabytes:4.0f}  {megabytes / ours:5.0f}  {places:6}  {chosen:6}"
                f"  {megabytes / theirs:10.0f}  {matched:6}  {theirs / ours:6.1f}",
                flush=True,
            )
            file.unlink()


def seconds(work: Callable[[], Result]) -> tuple[float, Result]:
    """The CPU time of `work`, and what it returns."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def mine(file: Path, patterns: Path, language: str, folder: Path) -> tuple[int, int]:
    """All that `polyculture corpus mine` does, in this process: places with a pattern, and n-grams chosen."""
    chosen, filters = read_patterns(patterns, language)
    intake = sweep(open_corpus([file], "text"), chosen, filters.stop_words_at, folder)
    with counted(intake, chosen, filters, folder) as found:
        return intake.hits, found.chosen


def mine_plainly(file: Path, patterns: Sequence[str], spaced: bool) -> int:
    """The peer: one expression finds the fixed texts, another takes the words beside them."""
    sides = {text.replace("___", "").strip().lower(): text.startswith("___") for text in patterns}
    anchors = re.compile("|".join(sorted(map(re.escape, sides), key=len, reverse=True)), re.IGNORECASE)
    gram = r"[\w'&]+(?:\s+[\w'&]+){0,3}" if spaced else r"\w{1,12}"
    after, before = re.compile(rf"\s*({gram})"), re.compile(rf"({gram})\s*$")
    counts: Counter[str] = Counter()
    places = 0
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            for anchor in anchors.finditer(text):
                start, end = anchor.span()
                leads = sides[anchor[0].lower()]
                found = before.search(text[max(0, start - 60) : start]) if leads else after.match(text, end)
                if found:
                    places += 1
                    words = found[1].split() if spaced else list(found[1])
                    joined = " " if spaced else ""
                    counts.update(joined.join(words[:length]) for length in range(1, len(words) + 1))
    return places


def texts_of(patterns: Path, language: str) -> list[str]:
    """The patterns of a language as they are written."""
    return [pattern.text for pattern in read_patterns(patterns, language)[0].patterns]


def write_corpus(file: Path, corpus: Corpus, size: int, one_in: int = ONE_IN) -> Path:
    """Writes JSON lines of about `size` bytes."""
    randomness = random.Random(7)
    patterns = [line.strip(' ",') for line in PATTERNS.split(f"[{corpus.language}]")[1].split("]")[0].split('"')]
    written = 0
    with file.open("w", encoding="utf-8") as lines:
        for text in documents(corpus, [pattern for pattern in patterns if "___" in pattern], randomness, one_in):
            written += lines.write(json.dumps({"id": written, "text": text}, ensure_ascii=corpus.escaped) + "\n")
            if lines.tell() >= size:
                return file
    return file


def documents(corpus: Corpus, patterns: Sequence[str], randomness: random.Random, one_in: int) -> Iterator[str]:
    """Texts without end."""
    words = ["".join(randomness.choices(corpus.letters, k=randomness.randint(1, 9))) for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    while True:
        count = int(randomness.lognormvariate(5.7, 0.8)) + 1
        drawn = randomness.choices(words, cum_weights=weights, k=count)
        paragraphs = [drawn[start : start + 80] for start in range(0, count, 80)]
        sentences = [
            corpus.stop.join(corpus.separator.join(part[at : at + 16]) for at in range(0, len(part), 16))
            for part in paragraphs
        ]
        if not randomness.randrange(one_in):
            said = randomness.choice(patterns).replace("___", randomness.choice(corpus.dishes))
            sentences.insert(randomness.randint(0, len(sentences)), f"{said}{corpus.stop}{sentences[0]}")
        yield "\n".join(sentences)


if __name__ == "__main__":
    main()
