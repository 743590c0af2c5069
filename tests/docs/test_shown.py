"""The commands of the pages run, and print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.settings import LONG, SETTINGS
from tests.docs.shown import PICTURE, PRIVATE, Part, difference, outputs, parts, rewritten
from tests.docs.test_site import PAGES
from tests.test_house import ROOT

REWRITE = "python -m tests.docs.shown"
# Pages with outputs that need a set of a publisher, a server, or what a person does in between.
OTHERS = {
    "docs/collecting.md",
    "docs/extending.md",
    "docs/kobbq.md",
    "docs/publishing.md",
    "docs/standard-study.md",
}
# Pages of commands without an output, and why.
WITHOUT = {"docs/probe.md": "a probe reads a model's weights, at every layer"}


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in SETTINGS if page not in LONG])
def test_the_commands_print_what_the_page_shows(tmp_path: Path, page: str) -> None:
    folder = tmp_path / "page"
    SETTINGS[page](folder)
    shown = [(part.text, printed) for part, printed in outputs(read(page), folder)]
    assert shown
    old = [name for name in PICTURE.findall(read(page)) if drawn(folder / name) != drawn((ROOT / page).parent / name)]
    assert not old, f"`{REWRITE} {page}` draws them anew"
    for text, printed in shown:
        line = difference(text, printed)
        assert line is None, f"{page}: {line!r} is not printed so. `{REWRITE} {page}` writes it anew:\n{printed}"


@pytest.mark.parametrize("page", SETTINGS)
def test_no_page_shows_what_hangs_on_a_machine_or_a_day(page: str) -> None:
    assert not [text for text in texts(page) if PRIVATE.search(text)]


def drawn(picture: Path) -> bytes | None:
    return picture.read_bytes() if picture.exists() else None


def texts(page: str) -> list[str]:
    return [part.text for part in parts(read(page)) if part.sort == "text"]


def test_each_page_with_an_output_is_run() -> None:
    shown = {page for page in [*PAGES, "README.md"] if "```text" in read(page)}
    assert shown == {*SETTINGS} | OTHERS
    assert not shown & {*WITHOUT}
    assert {*WITHOUT} <= {*PAGES}


PRINTED = (
    "table of 3\n\n a   b \n ─────\n 1   2 \n 3   4 \nen food: 6 done, 0 of them before, 0 failed\nnote: see below\n"
)


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ("table of 3\na b\n──\n1 2\n3 4\nnote: see below\n", None),
        ("table of 3\n...\n 3  4\n...\n", None),
        ("...\nnote: ... below\n", None),
        ("...\n", None),
        ("table of 3\n", "more is printed:  a   b"),
        ("a b\n...\n", "a b"),  # what stands above is left out without a mark
        ("...\n3 4\n1 2\n...\n", "3 4"),
        ("table of 4\n...\n", "table of 4"),
        ("...\n1 2\n3 5\n...\n", "3 5"),
        ("...\n3 4\n", "3 4"),
        ("", "more is printed: table of 3"),
    ],
)
def test_a_changed_output_is_noticed(shown: str, wrong: str | None) -> None:
    assert difference(shown, PRINTED) == wrong


@pytest.mark.parametrize(
    ("shown", "new"),
    [
        ("...\n 1   2 \n 3   5 \n...\n", "...\n 1   2 \n 3   4\n...\n"),
        ("table of ...\nan old line of long ago\n...\n", "table of ...\n...\n"),
        ("", "table of 3\n a   b\n ─────\n 1   2\n 3   4\n...\nnote: see below\n"),
    ],
)
def test_an_output_is_written_anew_and_what_was_left_out_stays_out(shown: str, new: str) -> None:
    assert rewritten(shown, PRINTED) == new
    assert difference(new, PRINTED) is None


def test_no_picture_is_left_behind() -> None:
    shown = {name for page in SETTINGS for name in PICTURE.findall(read(page))}
    assert len(shown) >= 5
    assert shown == {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "figures").rglob("*.svg")}


def test_an_output_below_no_command_is_an_error() -> None:
    with pytest.raises(ValueError, match="follows on no command"):
        list(parts("```sh\npolyculture\n```\n\nIt says:\n\n```text\na\n```\n"))
    page = "Save this as `a.toml`:\n\n```toml\na = 1\n```\n\n```sh\nls\n```\n\n```text\na.toml\n```\n"
    assert [(part.sort, part.name) for part in parts(page)] == [("file", "a.toml"), ("sh", ""), ("text", "")]
    assert all(isinstance(part, Part) and page[part.place] == part.text for part in parts(page))
