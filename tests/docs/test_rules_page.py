"""The page on rules files has the fields that targets declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.instruments.datasets.rules import ContextBlock, EntityBlock
from polyculture.instruments.questions.rules.model import QuestionBlock
from polyculture.sources.rules import FileRules
from polyculture.sources.template import fields_table

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


@pytest.mark.parametrize("block", [EntityBlock, ContextBlock, QuestionBlock])
def test_the_page_has_each_field_of_a_target_as_it_is_declared(block: type[FileRules]) -> None:
    table = "\n".join(fields_table(block))
    assert table in PAGE.read_text(encoding="utf-8"), f"The table of {block.target} in {PAGE.name} must be:\n{table}"
