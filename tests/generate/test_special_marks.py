"""Every mark of `reasoning.toml` as a special token, through the engines that run a model in this process."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from polyculture.generate.engines import ModelSpec, open_engine
from tests.scripted_models import save_folder, save_gguf
from tests.special_marks import differences, every_row, scripts_of

PARTS = 4  # of the rows: a model takes the more time the more texts it holds


@pytest.mark.parametrize("part", range(PARTS))
def test_transformers_hands_over_what_a_model_writes_in_special_tokens(part: int, tmp_path: Path) -> None:
    written = every_row()[part::PARTS]
    scripts = scripts_of(written)
    with open_engine(ModelSpec(f"transformers:{save_folder(scripts, tmp_path)}")) as engine:
        assert not differences(engine, written, scripts)


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs xllamacpp")
@pytest.mark.parametrize("part", range(PARTS))
def test_llamacpp_hands_over_what_a_model_writes_in_special_tokens(part: int, tmp_path: Path) -> None:
    written = every_row()[part::PARTS]
    scripts = scripts_of(written)
    file = save_gguf(scripts, tmp_path / "model.gguf")
    with open_engine(ModelSpec(f"llamacpp:{file}", {"n_parallel": 4, "context": 1024})) as engine:
        assert not differences(engine, written, scripts)
