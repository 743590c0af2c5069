"""The report's first screen says in how many wordings and about which persons was asked."""

from __future__ import annotations

import re
from pathlib import Path

from polyculture.reports.opening import wordings_and_names
from polyculture.reports.report import write_report
from tests.report_run import sections_named
from tests.store_builder import StoreBuilder


def _opening(page: str) -> str:
    header = page[page.index('<header class="opening">') : page.index("</header>")]
    return " ".join(re.sub(r"<[^>]*>", " ", header).split())


def test_the_header_names_wordings_names_and_the_countries_of_persons(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path, countries=("JP",), n=1)
    for wording, men in (("paragraph", ("Tom", "Ben")), ("scene", ("Jim", "Bob"))):
        asked = [builder.ask(wording=wording), builder.ask(country="JP", wording=wording)]
        asked += [builder.ask("en", "food", "US", "implicit_male", wording, man) for man in men]
        asked.append(builder.ask("ja", "food", "JP", "implicit_male", wording, f"{wording} Ken"))
        for prompt in asked:
            builder.answer(prompt, ["ramen"])
    builder.link("ramen", "Q1")
    builder.entity("Q1")
    opening = _opening(write_report(builder.write(), sections=sections_named("numbers")).read_text(encoding="utf-8"))
    assert "Japan ; United States (only by names of persons, in English)" in opening
    assert "2 wordings, 2 names each; 1 sample each" in opening


def test_names_that_wordings_share_are_said_to_be_shared() -> None:
    assert wordings_and_names(3, 1, shared=True) == "3 wordings, 1 name each (wordings share names)"
    assert wordings_and_names(1, 0, shared=False) == "1 wording"
    assert wordings_and_names(0, 0, shared=False) is None
