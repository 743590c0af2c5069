"""Pages of docs/ are read by people who are in a hurry: their sentences are short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")), "README.md"]
MOST = 18  # words of a sentence, on average
NOT_PROSE = re.compile(r"^ *```(?s:.*?)^ *```|^<!--(?s:.*?)-->|^#.*$|^ *\|.*$|^ {4,}\S.*$", re.MULTILINE)
LIST_MARK = re.compile(r"^ *(?:[-*+]|\d+\.) +", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.!?])[*_)\"”]*\s+|\n\s*\n")


def sentences(markdown: str) -> list[int]:
    """How many words each sentence has: of paragraphs and lists, not of tables, code and headings.

    A sentence ends at a full stop, at a blank line and at an item of a list; not at a colon or a semicolon.
    """
    text = LIST_MARK.sub("\n\n", NOT_PROSE.sub("\n\n", markdown))
    text = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`\n]+`", "code", text)
    counts = [len(re.findall(r"[^\W\d_][\w'’-]*", sentence)) for sentence in SENTENCE_END.split(text)]
    return [count for count in counts if count > 1]


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page: str) -> None:
    counts = sentences((ROOT / page).read_text(encoding="utf-8"))
    mean = sum(counts) / max(len(counts), 1)
    assert mean < MOST, f"{page}: {mean:.1f} words a sentence on average; {MOST} at most"


def test_a_long_sentence_is_counted() -> None:
    text = "# A heading that is not counted\n\nOne two three. Four five six seven: eight `x y` nine; ten.\n"
    assert sentences(text) == [3, 8]
    assert sentences("- one two\n- three four five\n\n| a b c |\n\n    code that is left out\n") == [2, 3]
