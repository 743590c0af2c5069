"""Which requests are asked now, and which answers count, follows from what two tables declare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from polyculture.cache.store.data_identity import inputs_of
from polyculture.cache.store.layout import Layout, Measure, Requests, Table, Wanted
from polyculture.cache.store.manifest import CurrentId, Manifest, setup_id, write_manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema.asked import Requested
from polyculture.cache.store.store import open_store

NOW, BEFORE = setup_id({"dtype": "float32"}), setup_id({"dtype": "bfloat16"})


@dataclass(frozen=True, slots=True)
class WantedWord(Requested):
    use: str
    word: str
    asked_id: str


@dataclass(frozen=True, slots=True)
class Said:
    key: str
    request_id: str
    model: str
    language: str
    topic: str
    status: str


ROWS = (
    WantedWord("asked", "one", NOW, "score", "tea", "now"),
    WantedWord("imported", "one", None, "answer", "tea", "now"),
    WantedWord("of another use", "one", NOW, "answer", "tea", "now"),
    WantedWord("under a former setup", "one", BEFORE, "score", "tea", "now"),
    WantedWord("under a former id", "one", NOW, "score", "tea", "before"),
    WantedWord("of a former model", "two", NOW, "score", "tea", "now"),
    WantedWord("of a corpus", "ngram:wiki", NOW, "score", "tea", "now"),
)


def layout(requests: Requests) -> Layout:
    wanted = Table("wanted_words", WantedWord, requests=requests)
    said = Table("said", Said, key="key", wanted=Wanted("wanted_words", of=wanted))
    return Layout((wanted, said), measures=(Measure("said", (said,)),))


def manifest(**changes: object) -> Manifest:
    names = ("one", "two", "ngram:wiki")
    setups = {f"score {name}": {"dtype": "float32"} for name in names}
    asked = {"words": [CurrentId(what="tea en", id="now")], "others": [CurrentId(what="beer en", id="before")]}
    plain = Manifest(experiment="x", polyculture="0", models=["one"], setups=setups)
    return plain.model_copy(update={"asked": asked, **changes})


def counted(folder: Path, requests: Requests) -> set[str]:
    of, run = layout(requests), RunFolder(folder / "run")
    run.root.mkdir()
    write_manifest(manifest(), run.manifest)
    write_parquet(objects_to_table(of.tables[0], ROWS), run.table("wanted_words"))
    with open_store(run, of) as store:
        return {name for (name,) in store.sql("SELECT request_id FROM wanted_words").fetchall()}


CORPORA = "starts_with(w.model, 'ngram:')"


@pytest.mark.parametrize(
    ("requests", "more"),
    [
        (Requests("score"), {"under a former id"}),
        (Requests("score", instrument="words"), set()),
        (Requests("score", instrument="words", brought=CORPORA), {"of a corpus"}),
    ],
)
def test_requests_count_by_what_their_table_declares(requests: Requests, more: set[str], tmp_path: Path) -> None:
    always = {"asked", "imported", "of another use"}
    assert counted(tmp_path, requests) == always | more


def test_a_use_may_stand_in_each_row(tmp_path: Path) -> None:
    """A model has no setup for answers here: what is asked of it counts only if it was imported."""
    assert counted(tmp_path, Requests("", instrument="words")) == {"asked", "imported"}


def test_data_of_a_measure_change_with_the_models_setups_and_ids_that_its_answers_have(tmp_path: Path) -> None:
    of = layout(Requests("score", instrument="words"))
    run = RunFolder(tmp_path / "run")
    wanted, said = of.tables
    run.root.mkdir()
    write_parquet(objects_to_table(wanted, ROWS), run.table(wanted.name))
    job = Job("one", "en", "tea")
    part = run.shards(said.name, job) / "part-00000.parquet"
    part.parent.mkdir(parents=True)
    write_parquet(objects_to_table(said, [Said("k", "asked", "one", "en", "tea", "ok")]), part)

    def inputs(**changes: object) -> str:
        return inputs_of(run, manifest(**changes), of.measures[0])

    setups = manifest().setups
    tea, other = CurrentId(what="tea en", id="now"), CurrentId(what="other", id="y", measure="another")
    assert inputs() == inputs(setups={**setups, "score two": {}, "answer one": {}}), "no answer rests on these"
    assert inputs() == inputs(asked={"words": [tea, other]}), "nor on what it does not measure"
    others = [
        inputs(setups={**setups, "score one": {"dtype": "float16"}}),
        inputs(models=[]),
        inputs(asked={"words": [tea.model_copy(update={"id": "another"})]}),
        inputs(asked={"words": [tea, CurrentId(what="tea en", id="r", reads=True)]}),
        inputs(asked={"words": [tea.model_copy(update={"prompt": "1"})]}),
    ]
    assert len({inputs(), *others}) == 6
