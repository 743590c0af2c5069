"""BLEnD's questions about four cultures, probed at every layer: few with a tiny model, and 50 with a real small one."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.scoring_models import smollm2
from tests.tiny_models import save_causal

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

CULTURES = ("Iran", "Mexico", "South_Korea", "UK")
MINUTES = 20  # of two cores
EXPERIMENT = """
name = "inside"
models = ["transformers:{model}"]
[options.transformers]
device = "cpu"
batch_size = 32
bare_prompts = {bare}
[instruments.probe]
{options}
"""


def probe_blend(folder: Path, data: Path, model: str, questions: int, options: str = "", *, bare: str) -> float:
    """Probes so many questions about each culture; checks that all was read at all layers. The CPU's seconds."""
    write_open(folder / "open.tsv", data / "blend" / "questions", questions)
    (folder / "exp.toml").write_text(EXPERIMENT.format(model=model, bare=bare, options=options), encoding="utf-8")
    begun = time.process_time()
    done = polyculture("probe", "exp.toml", "--questions", "open.tsv", "--control=text", cwd=folder)
    took = time.process_time() - begun
    assert done.returncode == 0, done.stderr
    with open_store(RunFolder(folder / "runs" / "inside"), store_layout()) as store:
        status = "SELECT arm, status, count(*), min(layers) FROM probes GROUP BY ALL ORDER BY arm"
        (patched, text) = store.sql(status).fetchall()
        size = questions * len(CULTURES)
        assert patched[:3] == ("patched", "ok", size)
        assert text[:3] == ("text", "ok", size)
        read = "SELECT count(*) FROM probe_readings JOIN probes USING (probe_id) WHERE arm = 'patched'"
        assert store.sql(read).fetchall() == [(size * patched[3],)]
    return took


def write_open(file: Path, sheets: Path, questions: int) -> None:
    """The first questions that are asked about all cultures and want no number, in English."""
    asked: dict[str, dict[str, tuple[str, str]]] = {}
    for culture in CULTURES:
        with (sheets / f"{culture}_questions.csv").open(encoding="utf-8-sig", newline="") as opened:
            for row in csv.DictReader(opened):
                if "Provide" not in row["Translation"]:
                    told = row["Topic"], " ".join(row["Translation"].split())
                    asked.setdefault(row["ID"], {})[culture] = told
    whole = [name for name, about in asked.items() if len(about) == len(CULTURES)][:questions]
    assert len(whole) == questions
    lines = [f"{name}\t{of}\ten\t{topic}\t{text}" for name in whole for of, (topic, text) in asked[name].items()]
    file.write_text("\n".join(["question_id\tculture\tlanguage\ttopic\tquestion", *lines]) + "\n", encoding="utf-8")


def test_questions_of_blend_are_read_at_every_layer(tmp_path: Path, shared_data: Path) -> None:
    model = save_causal("llama", tmp_path / "llama")
    options = "resamples = 19\nanswer_tokens = 4\nitem_tokens = 3"
    probe_blend(tmp_path, shared_data, str(model), 2, options, bare="true")


@pytest.mark.full
def test_a_real_small_model_is_probed_within_minutes(tmp_path: Path, shared_data: Path) -> None:
    took = probe_blend(tmp_path, shared_data, str(smollm2()), 50, bare="false")
    assert took < 2 * MINUTES * 60, f"{took:.0f} seconds of CPU"
