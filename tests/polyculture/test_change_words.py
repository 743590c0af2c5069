"""What is said of a change: one cause for one edit."""

from __future__ import annotations

from typing import Any

from polyculture.cache.store.manifest import TEXTS, CurrentId, Manifest
from polyculture.running.changes import changes_between


def manifest(id_: str, settings: dict[str, Any]) -> Manifest:
    extractor = CurrentId(what="food", id=id_, settings=settings)
    return Manifest(experiment="e", polyculture="0", asked={TEXTS: [extractor]})


MODEL = manifest("a", {"extract.with": "openai:m", "prompt": "one"})
GAZETTEER = manifest("b", {"extract.with": "gazetteer", "rules": "r"})
REWORDED = manifest("c", {"extract.with": "openai:m", "prompt": "two"})


def test_another_extractor_is_no_other_prompt_and_no_other_rules() -> None:
    lines = [str(change) for change in changes_between(MODEL, GAZETTEER, 0, {})]
    assert lines == ["food: extract.with was 'openai:m' and is now 'gazetteer'"]


def test_another_prompt_of_the_same_extractor_is_said() -> None:
    lines = [str(change) for change in changes_between(MODEL, REWORDED, 0, {})]
    assert lines == ["food: the prompt has another text"]
