"""The manifest: a run's folder of another format is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.manifest import FORMAT, Manifest, read_manifest, write_manifest
from polyculture.cache.store.store import open_store
from tests.polyculture.test_command_line import one_line, polyculture
from tests.store_builder import StoreBuilder

EXPERIMENT = """
name = "test"
models = ["openai:m"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
options."openai:m" = { base_url = "http://127.0.0.1:9/v1" }
"""


@pytest.mark.parametrize("found", [FORMAT + 1, None])
def test_a_run_of_another_format_is_refused_in_one_line(tmp_path: Path, found: int | None) -> None:
    run = StoreBuilder(tmp_path / "runs" / "test").write()
    data = json.loads(run.manifest.read_bytes())
    assert data.pop("format") == FORMAT
    run.manifest.write_text(json.dumps(data if found is None else {"format": found, "unknown": 1}), encoding="utf-8")
    with pytest.raises(StoreError, match=f"reads format {FORMAT}") as told:
        open_store(run)
    assert told.value.where == run.root
    assert "the folder" in str(told.value.remedy)
    file = tmp_path / "exp.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    for command in ("run", "status", "report", "sql"):
        done = polyculture(command, file, *(["FROM run"] if command == "sql" else []), cwd=tmp_path)
        assert f"reads format {FORMAT}" in one_line(done)
        assert "the folder" in done.stderr


def test_a_damaged_manifest_is_refused_with_the_shards_kept(tmp_path: Path) -> None:
    file = tmp_path / "manifest.json"
    write_manifest(Manifest(experiment="x", polyculture="0"), file)
    assert read_manifest(file) == Manifest(experiment="x", polyculture="0")
    file.write_text(file.read_text(encoding="utf-8")[:40], encoding="utf-8")
    with pytest.raises(StoreError, match="is not a manifest") as told:
        read_manifest(file)
    assert "shards" in str(told.value.remedy)
