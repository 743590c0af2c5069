"""What `plan` says of a probe: sizes are the model's own, counts those of the run, documented figures the code's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.generate.engines import ModelSpec
from polyculture.instruments.probe.forecast import Forecast, Plan, forecast
from polyculture.instruments.probe.forecast_table import COLUMNS, forecast_cells
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.tiny_models import save_causal

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

EXPERIMENT = """
name = "inside"
models = ["transformers:{model}"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
[options.transformers]
device = "cpu"
bare_prompts = true
[instruments.probe]
questions = "open.tsv"
control = ["noise", "text"]
tagger = ["rule"]
resamples = 9
answer_tokens = 4
item_tokens = 3
"""


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_sizes_are_those_of_the_loaded_model(tmp_path: Path, kind: str) -> None:
    from transformers import AutoModelForCausalLM, DynamicCache

    from polyculture.generate.engines.transformers.options import TransformersOptions
    from polyculture.generate.engines.transformers.shape import read_shape

    options = TransformersOptions(device="cpu")
    folder = save_causal(kind, tmp_path / kind)
    shape = read_shape(ModelSpec(f"transformers:{folder}"), options)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert shape is not None
    assert shape.weights == sum(one.nbytes for one in model.parameters())
    kept = DynamicCache(config=model.config)
    states = model(torch.tensor([[1, 2, 3]]), past_key_values=kept, output_hidden_states=True).hidden_states
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in kept.layers)
    assert 3 * shape.cache_of_token == held
    assert (shape.layers, shape.width) == (len(states) - 1, states[-1].shape[-1])
    assert shape.vocabulary == model.config.vocab_size
    assert read_shape(ModelSpec("transformers:nobody/absent"), options) is None


def seven_billions(arms: tuple[str, ...]) -> Forecast:
    from transformers import Qwen2Config

    from polyculture.generate.engines.transformers.options import TransformersOptions
    from polyculture.generate.engines.transformers.shape import shape_of

    config = Qwen2Config(
        vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
        num_key_value_heads=4, tie_word_embeddings=False,
    )  # fmt: skip
    shape = shape_of(config, 2, TransformersOptions())
    assert shape is not None
    assert shape.parameters == 7_615_616_512  # as its model card has it
    return forecast(shape, Plan(7000, arms, 7000 * 30, 64, 60, 24, 8))


def test_the_documented_arithmetic_is_the_codes() -> None:
    text = (Path(__file__).parents[2] / "docs" / "probe.md").read_text(encoding="utf-8")
    for named, arms in (
        ("none", ("patched",)),
        ("`noise`, `text`, `unpatched`", ("patched", "noise", "text", "unpatched")),
    ):
        cells = forecast_cells("", 28, seven_billions(arms))[2:]
        assert f"| {named} | {' | '.join(map(str, cells))} |" in text
    told = seven_billions(("patched",))
    assert told.continuations == 14 * 500 * 28
    assert told.cache == 128 * (60 + 24) * 2 * 28 * 4 * 128 * 2  # keys and values of four heads of 128, in two bytes
    compute, calls = 2 * 7_615_616_512 * 128 / 1.5e14, 28 * 0.3e-3
    writing = 1532 * 24 * (compute + calls)
    assert writing / 60 == pytest.approx(13, abs=0.5)
    assert told.seconds == pytest.approx(writing + 875 * 64 * (15_231_233_024 / 1.5e12 + calls), rel=0.06)


def test_a_plan_counts_what_a_run_writes(tmp_path: Path) -> None:
    model = save_causal("llama", tmp_path / "llama")
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=model), encoding="utf-8")
    lines = [f"q{n}\t{one}\ten\tWhat is dish {n} in {one}?" for n in (1, 2) for one in ("Iran", "Korea", "Mexico")]
    (tmp_path / "open.tsv").write_text(
        "\n".join(["question_id\tculture\tlanguage\tquestion", *lines]), encoding="utf-8"
    )
    planned = polyculture("plan", "exp.toml", cwd=tmp_path, COLUMNS="300")
    assert planned.returncode == 0, planned.stderr
    table = planned.stdout[planned.stdout.index("The whole probe on paper") :]
    row = next(line for line in table.splitlines() if line.strip().startswith("transformers:"))
    told = dict(zip(COLUMNS, re.split(r"\s{2,}", row.strip()), strict=False))
    done = polyculture("probe", "exp.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open_store(RunFolder(tmp_path / "runs" / "inside"), store_layout()) as store:
        ((readings, answers),) = store.sql(
            "SELECT count(*), count(DISTINCT question_key) FROM probe_readings JOIN probes USING (probe_id)"
        ).fetchall()
    assert (int(told["questions"]), int(told["continuations"])) == (answers, readings) == (6, 6 * (4 + 4 + 1))
