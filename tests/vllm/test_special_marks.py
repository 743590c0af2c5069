"""Every mark of `reasoning.toml` as a special token, and the end of a turn, through a real vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.generate.engines import ModelSpec, open_engine
from tests.generate import test_stop_token
from tests.scripted_models import save_folder
from tests.special_marks import differences, every_row, scripts_of
from tests.vllm.conftest import ARGUMENTS

pytestmark = pytest.mark.vllm


def test_vllm_hands_over_what_a_model_writes_in_special_tokens(python: str, tmp_path: Path) -> None:
    written = every_row()
    scripts = scripts_of(written)
    options = {**ARGUMENTS, "python": python, "max_model_len": len(scripts.next_tokens())}
    with open_engine(ModelSpec(f"vllm:{save_folder(scripts, tmp_path)}", options)) as engine:
        assert not differences(engine, written, scripts)


def test_vllm_stops_where_the_chat_template_ends_a_turn(python: str, tmp_path: Path) -> None:
    scripts = test_stop_token.scripts_of("<turn_over>")
    options = {**ARGUMENTS, "python": python, "max_model_len": len(scripts.next_tokens())}
    with open_engine(ModelSpec(f"vllm:{save_folder(scripts, tmp_path)}", options)) as engine:
        found = [(text, reasoning) for text, reasoning, _ in test_stop_token.answers(engine, scripts)]
    assert found == [(text, reasoning) for text, reasoning, _ in test_stop_token.READ]
