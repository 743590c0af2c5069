"""The figure of shares by level: every kind of answer has its mark and its interval, and nothing stands for nothing."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from polyculture.instruments.culture_mcq.level_figure import KINDS, level_keys, level_panel


def row(part: str, name: str | None, answered: int, low: float | None = 0.1) -> dict[str, Any]:
    shares = dict.fromkeys(KINDS, 0.2)
    limits = {f"{kind}_{end}": low if end == "low" else low and 0.3 for kind in KINDS for end in ("low", "high")}
    return {
        "part": part,
        "name": name,
        "answered": answered,
        **(shares if answered else dict.fromkeys(KINDS)),
        **limits,
    }


def test_a_mark_and_an_interval_for_each_kind_of_answer() -> None:
    rows = [row("overall", None, 1200), row("level", "high", 700), row("level", "low", 500, None),
            row("level", "mid", 0), row("target", "Iran", 50)]  # fmt: skip
    panel = level_panel("a model", rows)
    assert panel is not None
    svg = ElementTree.fromstring(panel.chart.draw())
    said = svg.get("aria-label") or ""
    assert "all: accuracy 0.20, biased 0.20, others, halved 0.20" in said
    texts = {"".join(one.itertext()) for one in svg.iter("text")}
    assert {"all (1,200)", "high (700)", "low (500)"} <= texts  # nothing of a level without answers, nor of a target
    assert not any("mid" in text or "Iran" in text for text in texts)
    assert len({key.mark for key in level_keys()}) == len(KINDS) == 5
    assert len(list(svg.iter("path"))) >= 3 * len(KINDS) + 2 * len(KINDS)  # marks, and the intervals that are there


def test_no_figure_of_no_answers() -> None:
    assert level_panel("a model", [row("overall", None, 0)]) is None
