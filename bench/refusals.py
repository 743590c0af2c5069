"""How fast and how exact the detector of refusals is.

python -m bench.refusals [--texts 100000]

Texts are the gold of the 13 languages, one refusal to nine answers, each made another by a number at its end. The peer
is the common way in evaluation scripts: the same phrases of refusal as one alternation of Python's `re`, searched in
each folded text. It has no rules about what follows a phrase, so that its precision is printed, too.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle

from scipy.stats import binomtest

from bench.refusal_gold import Example, read_gold
from bench.results import keep
from polyculture.generate.refusals import (
    KINDS,
    built_in_languages,
    fold_text,
    is_refusal,
    phrases_for,
    refusal_detector,
)

SMALLEST = ("--texts", "130")
Judge = Callable[[str], bool]


def alternation(language: str) -> Judge:
    """The peer: does any phrase of refusal stand anywhere in the text?"""
    phrases = [one for some in phrases_for(language) for kind in KINDS[:2] for one in some.of(kind)]
    pattern = re.compile("|".join(phrases))
    return lambda text: pattern.search(fold_text(text)) is not None


def seconds(judge: Judge, texts: Iterable[str]) -> float:
    started = time.perf_counter()
    for text in texts:
        judge(text)
    return time.perf_counter() - started


def share(hits: int, of: int) -> str:
    """A share with its Wilson interval, 95 %."""
    if not of:
        return "-"
    bounds = binomtest(hits, of).proportion_ci(0.95, method="wilson")
    return f"{hits / of:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


def accuracy(examples: Sequence[Example], judge: Callable[[Example], bool]) -> dict[str, object]:
    """How many refusals and answers, recall, precision and false positives of answers."""
    found = [(example.refuses, judge(example)) for example in examples]
    hits = sum(refuses and judged for refuses, judged in found)
    refusals, judged = sum(refuses for refuses, _ in found), sum(judged for _, judged in found)
    return {
        "refusals": refusals,
        "answers": len(found) - refusals,
        "recall": share(hits, refusals),
        "precision": share(hits, judged),
        "answers taken for refusals": judged - hits,
    }


def line(row: str, found: Mapping[str, object]) -> None:
    """Prints and keeps a line. Figures of a batch before the phrases were tuned on it stand in another table."""
    print(f"{row:16}", *found.values(), sep="  ")
    keep("refusals", "Refusals in text, now", row, found)


def mixed(examples: Sequence[Example], size: int) -> list[str]:
    """One refusal to nine answers, no text twice."""
    refusals, answers = (cycle([one.text for one in examples if one.refuses is part]) for part in (True, False))
    return [f"{next(refusals if number % 10 == 0 else answers)} {number}" for number in range(size)]


def main(texts: int) -> None:
    gold = {language: read_gold(language) for language in sorted(built_in_languages())}
    peers = {language: alternation(language) for language in gold}
    print("language  refusals answers  recall  precision  false positives")
    for language, examples in gold.items():
        for name, part in (("tuned", False), ("held out", True)):
            chosen = [example for example in examples if example.held_out is part]
            line(f"{language}, {name}", accuracy(chosen, lambda one, code=language: is_refusal(one.text, code)))
    for name, held_out in (("tuned", False), ("held out", True)):
        pairs = {one: code for code, examples in gold.items() for one in examples if one.held_out is held_out}
        line(f"all, {name}", accuracy(list(pairs), lambda one, of=pairs: is_refusal(one.text, of[one])))
        line(f"peer, {name}", accuracy(list(pairs), lambda one, of=pairs: peers[of[one]](one.text)))
    ours = theirs = 0.0
    for language, examples in gold.items():
        sample = mixed(examples, max(1, texts // len(gold)))
        detector = refusal_detector(language)
        ours += seconds(lambda text, d=detector: d.find(text) is not None, sample)
        theirs += seconds(peers[language], sample)
    keep("refusals", "Speed", f"{texts} texts", {"s": f"{ours:.2f}", "ratio to re": f"{theirs / ours:.1f}"})
    print(f"{texts} texts: {ours:.2f} s; re alternation: {theirs:.2f} s; ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    main(parser.parse_args().texts)
