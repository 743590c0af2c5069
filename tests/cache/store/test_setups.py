"""What was made under other settings is never counted with what is made now, and counts again when they come back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyculture.cache import identity
from polyculture.cache.errors import EngineError, IncompleteError
from polyculture.cache.store.manifest import read_manifest
from polyculture.cache.store.parquet import is_stored, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.setup import model_setup
from polyculture.running.layout import store_layout
from tests.instruments.test_cbs_command import EXPERIMENT
from tests.polyculture.test_command_line import polyculture
from tests.tiny_models import save_causal, save_masked

pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")

# Of a type that is no topic: nothing is linked, which would take longer than to score it.
ENTITIES = """language,culture,type,entity,gender,qid
en,Japanese,dishes,soup,,
en,Japanese,dishes,rice,,
en,Western,dishes,bread,,
en,Western,dishes,cake,,
"""
CONTEXTS = """language,culture,type,setting,gender,context
en,Japanese,dishes,neutral,female,we ate the [MASK]
en,Japanese,dishes,neutral,,tea with [MASK]
"""
SIZE = 2 * 4


def write(folder: Path, name: str, **files: str) -> Path:
    """A data set of one's own in a folder of that name."""
    (folder / name).mkdir(exist_ok=True)
    for file, text in {"entities": ENTITIES, "contexts": CONTEXTS, **files}.items():
        (folder / name / f"{file}.csv").write_text(text, encoding="utf-8")
    return folder / name


def experiment(folder: Path, model: Path, options: str = "") -> Path:
    file = folder / "exp.toml"
    told = f"[options.transformers]\n{options}\n"
    file.write_text(EXPERIMENT.format(model=f"transformers:{model}") + told, encoding="utf-8")
    return file


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    run = RunFolder(folder / "runs" / "likely")
    manifest = read_manifest(run.manifest)
    assert manifest is not None
    with open_store(run, store_layout(), manifest=manifest) as store:
        return [tuple(row) for row in store.sql(query).fetchall()]


def score(file: Path, folder: Path, data: str = "own", code: int = 0, *words: str) -> str:
    """What `cbs` tells of its work, whatever has changed."""
    words = words or ("--accept-changes",)
    done = polyculture("cbs", file, "--data", data, "--folder", folder, *words, cwd=file.parent)
    assert done.returncode == code, done.stderr
    return done.stderr


SCORES = "SELECT context_id, entity, log_probability FROM scores ORDER BY ALL"
STORED = "SELECT count(*) FROM stored_scores"


def test_scores_of_another_option_or_other_weights_are_kept_apart(tmp_path: Path) -> None:
    own, model = write(tmp_path, "own"), save_causal("gpt2", tmp_path / "model")
    weights = model / "model.safetensors"
    before = weights.read_bytes()

    def run(options: str = "") -> tuple[list[tuple[Any, ...]], str]:
        told = score(experiment(tmp_path, model, options), own)
        return rows(tmp_path, SCORES), told

    plain, _ = run()
    refused = score(experiment(tmp_path, model, "bos = true"), own, "own", 2, "--contexts", "9")
    assert "bos" in refused
    assert f"{SIZE} scores" in refused
    assert rows(tmp_path, SCORES) == plain
    with_bos, told = run("bos = true")
    assert len(plain) == len(with_bos) == SIZE
    assert all(one[2] != other[2] for one, other in zip(plain, with_bos, strict=True))
    assert "bos was not set" in told
    assert f"{SIZE} scores" in told
    weights.write_bytes(before[:-4] + b"\x00\x00\x80\x3f")
    _, told = run("bos = true")
    assert "weights was 'sha256:" in told
    assert f"{SIZE} done, 0 of" in told
    weights.write_bytes(before)
    assert run("bos = true\nbatch_size = 2")[0] == with_bos
    assert run()[0] == plain
    assert rows(tmp_path, STORED) == [(3 * SIZE,)], "what was there before is asked again"
    model.rename(tmp_path / "elsewhere")
    assert run()[0] == plain, "numbers that are there can be told without the model"


def test_vectors_of_another_option_are_kept_apart(tmp_path: Path) -> None:
    own, model = write(tmp_path, "own"), save_causal("gpt2", tmp_path / "model")
    for options in ("", "bos = true", ""):
        file, words = experiment(tmp_path, model, options), ("--data", "own", "--layer", "last", "--entities", "1")
        words = (*words, "--folder", own, "--accept-changes")
        assert polyculture("probe", "embeddings", file, *words, cwd=tmp_path).returncode == 0
        assert rows(tmp_path, "SELECT count(*), count(DISTINCT setup_id) FROM representations") == [(2, 1)]
    assert rows(tmp_path, "SELECT count(*) FROM stored_representations") == [(4,)]


def test_another_way_to_fill_masks_scores_anew_and_failures_are_told_each_time(tmp_path: Path) -> None:
    own = write(tmp_path, "own", entities=ENTITIES + "en,Western,dishes,xyzzy,,\nen,Western,dishes,bread and cake,,\n")
    model, told = save_masked(tmp_path / "model"), []
    for options in ("", "", 'masked = "pseudo"'):
        told.append(score(experiment(tmp_path, model, options), own, code=IncompleteError.exit_code))
        assert "the view failures" in told[-1].splitlines()[-1]
    assert ["10 done, 10 of" in one for one in told] == [False, True, False]
    assert all("10 done" in one and "2 failed" in one for one in told)
    pairs = """
        SELECT count(DISTINCT log_probability) FROM stored_scores JOIN stored_wanted_scores USING (request_id)
        JOIN dataset_entities USING (entity_id) WHERE entity = 'bread and cake' GROUP BY context_id
    """
    assert rows(tmp_path, pairs) == [(2,), (2,)]


def test_two_folders_are_told_apart_and_nothing_of_the_first_is_lost(tmp_path: Path) -> None:
    one, other = write(tmp_path, "one"), write(tmp_path, "other", entities=ENTITIES.replace("soup", "tea"))
    file = experiment(tmp_path, save_causal("gpt2", tmp_path / "model"))
    score(file, one)
    first = rows(tmp_path, SCORES)
    told = score(file, other)
    assert "--data own:NAME" in told
    assert "2 scores of the last run" in told
    assert "soup" not in {row[1] for row in rows(tmp_path, SCORES)}
    score(file, one)
    assert rows(tmp_path, SCORES) == first
    assert rows(tmp_path, STORED) == [(SIZE + 2,)]
    score(file, other, "own:second")
    assert rows(tmp_path, "SELECT dataset, count(*) FROM scores GROUP BY ALL ORDER BY 1") == [
        ("own", SIZE), ("second", SIZE),
    ]  # fmt: skip


def test_what_the_data_set_says_of_an_entity_is_what_it_says_now(tmp_path: Path) -> None:
    own, file = write(tmp_path, "own"), experiment(tmp_path, save_causal("gpt2", tmp_path / "model"))
    score(file, own)
    write(tmp_path, "own", entities=ENTITIES.replace("soup,,", "soup,,Q41415").replace("cake,,", "cake,male,"))
    score(file, own)
    named = "SELECT DISTINCT entity, publisher_qid FROM scores WHERE publisher_qid IS NOT NULL"
    assert rows(tmp_path, named) == [("soup", "Q41415")]
    assert rows(tmp_path, "SELECT count(*) FROM scores WHERE entity = 'cake'") == [(1,)], "it fits one context now"
    assert rows(tmp_path, STORED) == [(SIZE,)]


def test_a_model_that_was_another_one_when_it_was_opened_is_told(tmp_path: Path) -> None:
    own, file = write(tmp_path, "own"), experiment(tmp_path, save_causal("gpt2", tmp_path / "model"))
    score(file, own)
    (part,) = (tmp_path / "runs" / "likely" / "scores").rglob("part-*.parquet")
    table = pq.read_table(part)
    versions = ["model@older", *table["model_version"].to_pylist()[1:]]
    place = table.schema.get_field_index("model_version")
    pq.write_table(table.set_column(place, "model_version", pa.array(versions)), part)
    told = score(file, own)
    assert "model sha256:" in told
    assert "model@older" in told


def test_only_what_decides_is_in_a_setup(tmp_path: Path) -> None:
    def setup(model: str, **options: Any) -> dict[str, Any]:
        return model_setup(ModelSpec(model, options), "score")

    plain = setup("transformers:some/name")
    assert plain == setup("transformers:some/name", batch_tokens=64, attention="eager", bare_prompts=True)
    assert plain != setup("transformers:some/name", dtype="bfloat16")
    assert setup("openai:m", tokenizer="t", concurrency=3, max_retries=1) == {"tokenizer": "t"}
    assert setup("vllm:m", quantization="fp8", gpu_memory_utilization=0.5) == {"quantization": "fp8"}
    (tmp_path / "model.gguf").write_bytes(b"GGUF one")
    one = setup(f"llamacpp:{tmp_path}/model.gguf")
    (tmp_path / "model.gguf").write_bytes(b"GGUF other")
    assert one.keys() == {"weights"}
    assert one != setup(f"llamacpp:{tmp_path}/model.gguf")


def test_a_text_is_known_by_more_than_a_score() -> None:
    def setup(model: str, **options: Any) -> dict[str, Any]:
        return model_setup(ModelSpec(model, options), "sample")

    assert setup("llamacpp:absent.gguf", context=64, n_parallel=2, threads=1) == {"context": 64}
    assert setup("vllm:m", max_model_len=64, gpu_memory_utilization=0.5) == {"max_model_len": 64}
    assert setup("transformers:org/m", device="cpu") == setup("transformers:org/m", device="cpu", dtype="float32")
    assert setup("transformers:org/m", device="cuda:1") != setup("transformers:org/m", device="cpu")
    assert setup("openai:m", extra_body={"a": (1, 2.0)}, deadline=3.0) == {"extra_body": {"a": [1, 2.0]}}


def test_a_deployment_is_known_by_its_name_wherever_it_is() -> None:
    def setup(use: Any = "sample", **options: Any) -> dict[str, Any]:
        return model_setup(ModelSpec("openai:m", options), use)

    here, there = "http://localhost:8000/v1", "http://localhost:8001/v1"
    assert setup(base_url=here) == setup(base_url=f"{here}/") == {"base_url": here}
    for use in ("score", "answer", "sample"):
        assert setup(use, base_url=there, deployment=here) == setup(use, base_url=here)
        assert setup(use, base_url=there, deployment="lab") == setup(use, base_url=here, deployment="lab")
        assert setup(use, base_url=there, deployment="https://api.openai.com/v1") == {}
    for wrong in ("", " ", "a\nb", "sk-" + "a1" * 12):
        with pytest.raises(EngineError, match="deployment") as caught:
            setup(base_url=here, deployment=wrong)
        assert "sk-" not in str(caught.value)


def test_a_template_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    template, model = tmp_path / "chat.jinja", save_causal("gpt2", tmp_path / "model")

    def served(known: dict[str, Any] | None = None) -> dict[str, Any]:
        spec = ModelSpec("vllm:org/m", {"chat_template": str(template)})
        return model_setup(spec, "sample", known or {})

    template.write_text("{{ one }}")
    first = served()
    template.write_text("{{ two }}")
    second = served()
    assert first != second
    template.rename(tmp_path / "elsewhere")
    assert served(second) == second, "where the file is absent it is taken for the one that was there"
    spec = ModelSpec(f"transformers:{model}")
    before, scored = model_setup(spec, "sample"), model_setup(spec, "score")
    (model / "chat_template.jinja").write_text("{{ messages }}")
    assert model_setup(spec, "sample") != before
    assert model_setup(spec, "score") == scored, "a template decides no score"


def test_every_file_of_a_model_in_parts_is_in_its_setup(tmp_path: Path) -> None:
    parts = [tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2)]
    for part in parts:
        part.write_bytes(b"GGUF")
    (tmp_path / "other-00002-of-00002.gguf").write_bytes(b"GGUF")
    spec = ModelSpec(f"llamacpp:{parts[0]}")
    before = model_setup(spec, "sample")
    parts[1].write_bytes(b"GGUF other")
    assert model_setup(spec, "sample") != before


def test_the_hash_of_a_large_file_is_kept_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYCULTURE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(identity, "_LARGE", 4)
    monkeypatch.setattr(identity, "_SETTLED", -60.0)
    read: list[Path] = []
    monkeypatch.setattr(identity, "file_sha256", lambda path: (read.append(path), path.read_text())[1])
    file = tmp_path / "m.gguf"
    file.write_text("one..")
    for _ in range(2):
        assert identity.model_sha256(file) == "one.."
        identity._sha256_of.cache_clear()
    assert len(read) == 1
    kept = file.stat()
    file.write_text("two..")
    os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))  # as `cp --preserve` leaves it
    assert identity.model_sha256(file) == "two.."


def test_no_key_reaches_a_setup() -> None:
    key = "sk-" + "a1b2" * 6
    options = {"chat_template_kwargs": {"token": key, "say": f"as {key}", "deep": [{"api_key": "x"}]}, "hf_token": key}
    setup = model_setup(ModelSpec("vllm:m", options), "sample")
    assert key not in str(setup)
    assert "x" not in str(setup["chat_template_kwargs"]["deep"])


def test_a_table_that_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    rows, path = pa.table({"a": ["x", None], "b": [1, 2]}), tmp_path / "rows.parquet"
    assert not is_stored(rows, path)
    write_parquet(rows, path)
    assert is_stored(rows, path)
    assert not is_stored(rows.slice(1), path)
    assert not is_stored(rows.select(["a"]), path)
    path.write_bytes(path.read_bytes()[:-8])
    assert not is_stored(rows, path)
