"""How exact the detector of refusals is, on the labelled texts of `bench/refusal_gold.py`.

python -m bench.refusals [--language en]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scipy.stats import binomtest

from bench.refusal_gold import LabelledText, read_gold
from bench.results import keep
from polyculture.generate.refusals import built_in_languages, is_refusal

SMALLEST = ("--language", "en")
PARTS = (("tuned", False), ("held out", True))
JudgedTexts = Sequence[tuple[LabelledText, bool]]  # and whether the detector takes it for a refusal


def share(hits: int, of: int) -> str:
    """A share with its Wilson interval, 95 %."""
    if not of:
        return "-"
    bounds = binomtest(hits, of).proportion_ci(0.95, method="wilson")
    return f"{hits / of:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


def line(row: str, judged: JudgedTexts) -> None:
    """Prints and keeps a line. Figures of a batch before the phrases were tuned on it stand in another table."""
    hits = sum(example.refuses and found for example, found in judged)
    refusals, taken = sum(example.refuses for example, _ in judged), sum(found for _, found in judged)
    numbers = {
        "refusals": refusals,
        "answers": len(judged) - refusals,
        "recall": share(hits, refusals),
        "precision": share(hits, taken),
        "answers taken for refusals": taken - hits,
    }
    print(f"{row:16}", *numbers.values(), sep="  ")
    keep("refusals", "Refusals in text, now", row, numbers)


def main() -> None:
    """Prints a line per language and part, and one of all languages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", nargs="*", default=sorted(built_in_languages()))
    judged = {
        language: [(example, bool(is_refusal(example.text, language))) for example in read_gold(language)]
        for language in parser.parse_args().language
    }
    print("language  refusals answers  recall  precision  false positives")
    for name, held_out in PARTS:
        parts = {code: [one for one in own if one[0].held_out is held_out] for code, own in judged.items()}
        for language, own in parts.items():
            line(f"{language}, {name}", own)
        line(f"all, {name}", [one for own in parts.values() for one in own])


if __name__ == "__main__":
    main()
