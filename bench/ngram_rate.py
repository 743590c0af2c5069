"""How many megabytes of text a second the n-gram model of a corpus counts, from the file to the probabilities.

    python -m bench.ngram_rate [--megabytes 500] [--processes 1] [--contexts 200] [--entities 300]

The corpora are those of `bench.mining_rate`: JSON lines in English, Japanese and Arabic, of words that are distributed
as in a language (Zipf). Asked is for 200 contexts of ten tokens, 300 entities of one to three, all of words of the
corpus: 60,000 likelihoods. The peer is what one writes first, in one process: `json.loads`, one regular expression for
the words, and a Counter of all n-grams up to four, which grows with the corpus; it reads the first twenty megabytes.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from bench.mining_rate import CORPORA, Corpus, write_corpus
from polyculture.collect.mining.corpus import open_corpus
from polyculture.instruments.corpus.count import count
from polyculture.instruments.corpus.gaps import ORDER, Needed, needed_by, pairs_of

PEER_MEGABYTES = 20
SMALLEST = ("--megabytes", "1", "--contexts", "20", "--entities", "30")


def main() -> None:
    """Prints a line per corpus: megabytes a second by the clock, of both, and the peak memory of this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500, help="of each corpus (default: 500)")
    parser.add_argument("--processes", type=int, default=1, help="(default: 1)")
    parser.add_argument("--contexts", type=int, default=200, help="(default: 200)")
    parser.add_argument("--entities", type=int, default=300, help="(default: 300)")
    options = parser.parse_args()
    print("corpus        MB  tokens/10^6  n-grams   MB/s  peak MiB   peer MB/s  ratio")
    measured: list[tuple[Corpus, Path, float, str]] = []
    with tempfile.TemporaryDirectory() as name:
        for corpus in CORPORA[:3]:
            file = write_corpus(Path(name) / f"{corpus.language}.jsonl", corpus, options.megabytes * 10**6)
            needed = asked_of(file, corpus, options.contexts, options.entities)
            spill = Path(name) / corpus.language
            spill.mkdir()
            megabytes, started = file.stat().st_size / 10**6, time.perf_counter()
            _, intake = count(open_corpus([file], "text"), needed, spill, options.processes)
            ours = megabytes / (time.perf_counter() - started)
            peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
            row = f"{corpus.name:10}  {megabytes:4.0f}  {intake.tokens / 1e6:11.1f}  {len(needed.keys):7}  {ours:5.1f}"
            measured.append((corpus, file, ours, f"{row}  {peak / 1024:8.0f}"))
        for corpus, file, ours, row in measured:  # afterwards: the memory of the peer is not ours
            theirs = peer(file, corpus)
            print(f"{row}  {theirs:10.2f}  {ours / theirs:5.1f}", flush=True)


def asked_of(file: Path, corpus: Corpus, contexts: int, count_of_entities: int) -> Needed:
    """The n-grams of contexts and entities made of the corpus' own words."""
    with file.open(encoding="utf-8") as lines:
        text = json.loads(next(lines))["text"] + json.loads(next(lines))["text"]
    words = re.findall(r"\w+", text) if corpus.separator else list(re.sub(r"\W", "", text))
    chance = random.Random(3)
    entities = [corpus.separator.join(chance.choices(words, k=chance.randint(1, 3))) for _ in range(count_of_entities)]
    prefixes = [corpus.separator.join([*chance.choices(words, k=10), ""]) for _ in range(contexts)]
    return needed_by([pair for prefix in prefixes for pair in pairs_of(prefix, entities)])


def peer(file: Path, corpus: Corpus) -> float:
    """Megabytes a second of a Counter of all n-grams."""
    token = re.compile(r"\w+|[^\w\s]" if corpus.separator else r"\S")
    grams: Counter[tuple[str, ...]] = Counter()
    read, started = 0, time.perf_counter()
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            words = token.findall(json.loads(line)["text"].lower())
            for order in range(1, ORDER + 1):
                grams.update(zip(*(islice(words, start, None) for start in range(order)), strict=False))
            read += len(line.encode())
            if read > PEER_MEGABYTES * 10**6:
                break
    return read / 10**6 / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
