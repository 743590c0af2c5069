"""Every mark of `reasoning.toml` as a special token, through a real vLLM."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.generate.engines import ModelSpec, open_engine
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
