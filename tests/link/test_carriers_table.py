"""The table of carrier words in `docs/carriers.md` is what `link/carriers.toml` holds.

python -m tests.link.test_carriers_table    # writes the table anew
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyculture.link.within import _MARKS, carriers
from tests.link_world import CATALOG

PAGE = Path(__file__).parents[2] / "docs" / "carriers.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->"
SHOWN = 4  # examples of a cell
COLUMNS = (
    "language",
    "numbers x measures",
    "before a thing",
    "after it",
    "further, before what is worn or ridden",
    "before a title",
    "after it",
    "beside a band",
    "beside a genre",
    "creator before, after",
)


def table() -> str:
    """A row a language: how many words each list has, and some of them."""
    lines = [f"| {' | '.join(COLUMNS)} |", "| --- " * len(COLUMNS) + "|"]
    for code, own in carriers().items():
        if code == "topics":
            continue
        counted = (
            f"{len(own['numbers'])} x {len(own['measures'])}: {_some(own['measures'])}" if "numbers" in own else ""
        )
        sides = [
            own["things"]["before"],
            own["things"]["after"],
            own["wear"]["before"],
            own["works"]["before"],
            own["works"]["after"],
            [*own["groups"]["before"], *own["groups"]["after"]],
            [*own["genres"]["before"], *own["genres"]["after"]],
        ]
        cells = [
            CATALOG.language(code).name,
            counted,
            *(f"{len(words)}: {_some(words)}" if words else "" for words in sides),
        ]
        joints = ", ".join(
            " ".join(word or "(nothing)" for word in own["creator"][side]) or "none" for side in ("before", "after")
        )
        lines.append(f"| {' | '.join([*cells, joints])} |")
    return "\n".join([*lines, "", f"Title marks, in every language: {', '.join(f'{a} {b}' for a, b in _MARKS)}.", ""])


def _some(words: Sequence[str]) -> str:
    """Some of the words, from the whole length of the list, for it begins with articles."""
    step = max(1, len(words) // SHOWN)
    return ", ".join(words[step // 2 :: step][:SHOWN])


def test_the_table_of_the_page_is_that_of_the_file() -> None:
    shown = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    assert shown == table(), "write it anew: python -m tests.link.test_carriers_table"


def main() -> None:
    """Writes the table into the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
