"""Hidden states of entities: equal to a plain pass, the index as scikit-learn's, resumable, a map that can be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from polyculture.cache.errors import EngineError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.generate.engines import ModelSpec, ScoreRequest, open_engine
from polyculture.instruments.datasets.model import CulturalEntity, DataSet, MaskedContext
from polyculture.instruments.datasets.selection import DataSelection
from polyculture.instruments.embeddings import measure
from polyculture.instruments.embeddings.separation import (
    WeightedPart,
    davies_bouldin,
    mean_separation,
    permuted_sides,
    separation,
)
from polyculture.instruments.embeddings.step import representing_jobs
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from polyculture.sources.left_out import SourceLocation
from tests.instruments.test_cbs_command import EXPERIMENT, tiny
from tests.instruments.test_cbs_store import DEMO
from tests.polyculture.test_command_line import polyculture
from tests.report_run import sections_named
from tests.tiny_models import save_causal, save_masked

PLACE = SourceLocation("made.csv")


@pytest.mark.parametrize("kind", ["gpt2", "gemma3"])
def test_vectors_are_those_of_a_plain_pass(kind: str, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = save_causal(kind, tmp_path / kind)
    words = ("soup", "fish and chips", "寿司")
    with open_engine(ModelSpec(f"transformers:{folder}", {"bos": True})) as engine:
        found = sorted(
            engine.represent([ScoreRequest("a", "we ate ", words)], ["first", "2", "last"]), key=lambda r: r.index
        )  # type: ignore[attr-defined]
        with pytest.raises(EngineError, match="has no layer '9'"):
            list(engine.represent([ScoreRequest("a", "we ate ", words)], ["9"]))  # type: ignore[attr-defined]
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    before = len(tokenizer("we ate")["input_ids"]) + 1  # and the token that begins a text
    for word, row in zip(words, found, strict=True):
        ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(f"we ate {word}")["input_ids"]]])
        with torch.no_grad():
            states = model(ids, output_hidden_states=True).hidden_states
        assert row.layers == (0, 2, len(states) - 1)
        for layer, vector in zip(row.layers, row.vectors, strict=True):
            np.testing.assert_allclose(vector, states[layer][0, before:].mean(dim=0).numpy(), atol=1e-4)


def test_what_is_no_text_of_the_models_has_a_reason(tmp_path: Path) -> None:
    with open_engine(ModelSpec(f"transformers:{save_masked(tmp_path / 'bert')}")) as engine:
        asked = [ScoreRequest("a", "we ate ", ("soup", "xyzzy"), " in the house")]
        found = {row.index: row for row in engine.represent(asked, ["last"])}  # type: ignore[attr-defined]
    assert len(found[0].vectors[0]) == 32
    assert found[1].error == "'xyzzy' tokenises to unknown tokens"


def test_the_index_is_scikit_learns_in_any_number_of_dimensions() -> None:
    from sklearn.metrics import davies_bouldin_score

    chance = np.random.default_rng(1)
    for size, width in ((30, 3), (12, 64)):
        vectors, native = chance.normal(size=(size, width)), np.arange(size) % 3 == 0
        expected = davies_bouldin_score(vectors, native)
        assert davies_bouldin(vectors, native) == pytest.approx(expected)
        found = separation(vectors, native, permutations=19)
        assert found.index == pytest.approx(expected)


def test_cultures_that_are_apart_are_told_from_chance() -> None:
    chance = np.random.default_rng(2)
    native = np.arange(40) < 20
    same = chance.normal(size=(40, 8))
    apart = separation(same + 3 * native[:, None], native, permutations=199)
    alike = separation(same, native, permutations=199)
    assert apart.p == pytest.approx(1 / 200)
    assert alike.p > 0.05
    assert apart.index < apart.by_chance
    assert separation(same[:2], np.array([True, False])) is None


def test_an_index_under_permuted_sides_is_that_of_the_index_itself() -> None:
    chance = np.random.default_rng(4)
    vectors, native = chance.normal(size=(23, 6)), np.arange(23) % 3 == 0
    found = separation(vectors, native, permutations=5)
    labels = permuted_sides(native, [""] * 23, 1, 5)
    assert list(found.permuted) == pytest.approx([davies_bouldin(vectors, one) for one in labels])


def test_p_is_right_by_chance_of_one_type_and_of_a_mean_over_types() -> None:
    """Of two groups from one and the same, at most 5 of 100 have a p of .05 or less, and so have means over types."""
    chance, native = np.random.default_rng(3), np.arange(40) < 12
    each, means = [], []
    for _ in range(200):
        parts = []
        for kind in ("food", "names"):
            found = separation(chance.standard_t(5, size=(40, 8)), native, permutations=99)
            assert found is not None
            parts.append(WeightedPart(0.5, found, kind))
        each.append(parts[0].found.p)
        mean = mean_separation(parts)
        assert mean.index == pytest.approx(np.mean([part.found.index for part in parts]))
        assert mean.by_chance == pytest.approx(np.mean([part.found.by_chance for part in parts]))
        means.append(mean.p)
    for found in (each, means):
        assert np.mean(np.array(found) <= 0.05) <= 0.1
        assert 0.4 < np.mean(found) < 0.6


def test_permutations_keep_the_numbers_of_each_stratum() -> None:
    native = np.array([True, True, False, False, True, False])
    labels = permuted_sides(native, ["f", "f", "f", "f", "both", "both"], 3, 50)
    assert set(labels[:, :4].sum(axis=1)) == {2}
    assert set(labels[:, 4:].sum(axis=1)) == {1}
    assert len({tuple(row) for row in labels.tolist()}) > 5


def test_embeddings_as_a_user_asks(tmp_path: Path) -> None:
    model = tiny()
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{model}"), encoding="utf-8")
    few = ("--data", "own", "--folder", DEMO, "--type", "food", "--culture", "Indian", "--entities", "12")
    first = polyculture("probe", "embeddings", "exp.toml", *few, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "72 done, 0 of them before, 0 failed" in first.stderr
    assert "Davies-Bouldin" in first.stdout
    numbers = tmp_path / "runs" / "likely" / "numbers" / "embeddings.parquet"
    computed = numbers.stat().st_mtime_ns
    again = polyculture("probe", "embeddings", "exp.toml", *few, cwd=tmp_path)
    assert "represent" not in again.stderr  # the model is not even opened
    assert again.stdout == first.stdout
    assert numbers.stat().st_mtime_ns == computed  # nor is anything permuted again
    other = (tmp_path / "exp.toml").read_text(encoding="utf-8").replace('name = "likely"', 'name = "beside"')
    (tmp_path / "beside.toml").write_text(other, encoding="utf-8")
    beside = polyculture("probe", "embeddings", "beside.toml", *few, cwd=tmp_path)
    assert (
        "72 done, 72 of them before" in beside.stderr or "represent" not in beside.stderr
    )  # the other run has read them
    assert beside.stdout == first.stdout
    run = RunFolder(tmp_path / "runs" / "likely")
    with open_store(run, store_layout()) as store:
        asked = "SELECT count(*), count(DISTINCT layer) FROM representations"
        assert store.sql(asked).fetchall() == [(72, 3)]
    page = write_report(run, layout=store_layout(), sections=sections_named("apart")).read_text(encoding="utf-8")
    assert 'id="apart"' in page
    drawn = [ElementTree.fromstring(one) for one in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if "Map of en" in one]
    assert len([part for one in drawn for part in one.iter() if part.tag.endswith("text") and part.text]) >= 5


def test_a_map_holds_some_of_many_entities_of_each_culture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "MOST", 5)
    native = np.arange(30) < 12
    ids = [f"{place:02d}" for place in range(30)]
    one = measure.ComparedEntities({}, ids, ids, native, np.arange(60.0).reshape(30, 2))
    mapped = measure._mapped(one)
    assert mapped.entity_ids == ["00", "01", "02", "03", "04", "12", "13", "14", "15", "16"]
    assert mapped.native.sum() == 5
    assert mapped.vectors[5].tolist() == [24.0, 25.0]


GENDERED = {
    "contexts.csv": """language,culture,type,setting,gender,context
en,Indian,names,neutral,male,He is called [MASK]
en,Indian,names,neutral,female,She is called [MASK]
en,Indian,names,neutral,male,My brother [MASK] came
en,Indian,names,neutral,,I met [MASK] today
en,Indian,names,grounded,male,The Hindu priest [MASK]
en,Indian,food,neutral,,We ate [MASK]
en,Indian,food,neutral,,They cooked [MASK] for us
""",
    "entities.csv": "language,culture,type,gender,entity\n"
    + "".join(f"en,Indian,names,female,Anita{n}\nen,Western,names,female,Susan{n}\n" for n in range(6))
    + "".join(f"en,Indian,names,male,Ravi{n}\nen,Western,names,male,George{n}\n" for n in range(4))
    + "en,Indian,names,both,Kiran\nen,Western,names,both,Robin\n"
    + "".join(f"en,Indian,food,,dal{n}\nen,Western,food,,pie{n}\n" for n in range(3)),
}


@pytest.fixture
def gendered(tmp_path: Path) -> Path:
    model = tiny()
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{model}"), encoding="utf-8")
    for name, text in GENDERED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def embeddings(folder: Path, *words: str) -> Any:
    return polyculture("probe", "embeddings", "exp.toml", "--data", "own", "--folder", folder, *words, cwd=folder)


def told(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with open_store(RunFolder(folder / "runs" / "likely"), store_layout()) as store:
        return store.sql(query).fetchall()


SIZES = """
SELECT entity_type, gender, contexts, native_entities, western_entities FROM separations WHERE layer = 0 ORDER BY ALL
"""


def test_every_name_stands_in_the_contexts_that_fit_it(gendered: Path) -> None:
    """With contexts for men, for women and for men, only what is of both genders stood in all three."""
    asked = embeddings(gendered, "--layer", "first", "--layer", "0")
    assert asked.returncode == 0, asked.stderr
    assert told(gendered, SIZES) == [
        ("food", None, 2, 3, 3),
        ("names", "female", 2, 7, 7),
        ("names", "male", 3, 5, 5),
        (None, None, 6, 14, 14),  # what is of both genders, and the context for both, counts once
    ]
    assert all(word in asked.stdout for word in ("names", "female", "by chance"))
    maps = "SELECT DISTINCT entity_type, gender, layer, contexts FROM entity_positions ORDER BY ALL"
    assert told(gendered, maps) == [("food", None, 0, 2), ("names", "female", 0, 2), ("names", "male", 0, 3)]
    mean = "SELECT estimate, types FROM separations WHERE entity_type IS NULL"
    each = (
        "SELECT (any_value(estimate) FILTER (entity_type = 'food') + avg(estimate) FILTER (entity_type = 'names')) / 2"
    )
    assert told(gendered, mean)[0] == (pytest.approx(told(gendered, f"{each} FROM separations")[0][0]), 2)


def test_two_cultures_of_one_text_have_their_own_vectors(gendered: Path) -> None:
    """The Western entities stand in the same text for both: one request, and a row for each job."""
    more = {
        "contexts.csv": "en,Mexican,food,neutral,,We ate [MASK]\n",
        "entities.csv": "".join(f"en,Mexican,food,,taco{n}\n" for n in range(3)),
    }
    for name, lines in more.items():
        (gendered / name).write_text(GENDERED[name] + lines, encoding="utf-8")
    asked = embeddings(gendered, "--layer", "first", "--type", "food", "--contexts", "1")
    assert asked.returncode == 0, asked.stderr
    found = "SELECT culture, native_entities, western_entities FROM separations ORDER BY 1"
    assert told(gendered, found) == [("Indian", 3, 3), ("Mexican", 3, 3)]


def test_fewer_contexts_are_so_many_of_each_gender_and_settings_are_named(gendered: Path) -> None:
    assert embeddings(gendered, "--layer", "first", "--contexts", "1", "--type", "names").returncode == 0
    assert [row[2:] for row in told(gendered, SIZES)] == [(1, 7, 7), (1, 5, 5)]
    more = embeddings(gendered, "--layer", "first", "--setting", "grounded", "--type", "names")
    assert more.returncode == 0, more.stderr
    found = "SELECT gender, setting, contexts FROM separations WHERE setting = 'grounded'"
    assert told(gendered, found) == [("male", "grounded", 1)]
    assert "own en Indian names female: not compared" in more.stderr


def test_a_context_that_one_culture_alone_fits_is_left_out_and_told(gendered: Path) -> None:
    kept = [line for line in GENDERED["entities.csv"].splitlines() if "Western,names,male" not in line]
    (gendered / "entities.csv").write_text("\n".join(kept).replace("names,both,Robin", "names,female,Robin"))
    asked = embeddings(gendered, "--layer", "first", "--type", "names")
    assert asked.returncode == 0, asked.stderr
    assert "own en Indian names male: 3 of 3 contexts are fitted by one culture alone: left out" in asked.stderr
    assert [row[1] for row in told(gendered, SIZES)] == ["female"]


def test_vectors_of_a_context_that_is_gone_count_no_more(gendered: Path) -> None:
    assert embeddings(gendered, "--layer", "first", "--type", "food").returncode == 0
    assert told(gendered, "SELECT count(*), any_value(contexts) FROM representations") == [(6, 2)]
    (gendered / "contexts.csv").write_text(
        GENDERED["contexts.csv"].replace("en,Indian,food,neutral,,They cooked [MASK] for us\n", "")
    )
    assert embeddings(gendered, "--layer", "first", "--type", "food", "--accept-changes").returncode == 0
    assert told(gendered, "SELECT count(*), any_value(contexts) FROM representations") == [(6, 1)]
    assert told(gendered, SIZES) == [("food", None, 1, 3, 3)]


def test_an_encoder_reads_masked_contexts_whole(tmp_path: Path) -> None:
    model = save_masked(tmp_path / "bert")
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{model}"), encoding="utf-8")
    contexts = "language,culture,type,setting,form,context\nen,Indian,food,neutral,masked,[MASK] is in the house\n"
    (tmp_path / "contexts.csv").write_text(contexts + "en,Indian,food,neutral,causal,we ate [MASK]\n")
    names = "language,culture,type,entity\n"
    (tmp_path / "entities.csv").write_text(
        names + "en,Indian,food,soup\nen,Indian,food,we\nen,Western,food,the\nen,Western,food,house\n"
    )
    asked = embeddings(tmp_path, "--form", "masked", "--layer", "last")
    assert asked.returncode == 0, asked.stderr
    assert told(tmp_path, "SELECT form, contexts, failed, native_entities, lacking FROM separations") == [
        ("masked", 1, 0, 2, None)
    ]
    [(vector,)] = told(tmp_path, "SELECT vector FROM representations WHERE entity = 'soup'")
    with open_engine(ModelSpec(f"transformers:{model}")) as engine:
        [row] = engine.represent([ScoreRequest("a", "", ("soup",), " is in the house")], ["last"])  # type: ignore[attr-defined]
    np.testing.assert_allclose(vector, row.vectors[0], atol=1e-6)


def test_a_translation_stands_only_where_its_original_may() -> None:
    """Of one type, two languages' contexts in English: an entity of one language stands in that one's alone."""

    def entity(culture: str, name: str, *languages: str) -> CulturalEntity:
        originals = {language: f"{name}-{language}" for language in languages}
        return CulturalEntity("d", "en", culture, "sports", name, None, None, None, None, PLACE, originals=originals)

    def context(text: str, source: str) -> MaskedContext:
        return MaskedContext(
            "d", "en", "Indian", "sports", None, "neutral", "causal", text, None, None, PLACE,
            source_context_id=text, source_language=source,
        )  # fmt: skip

    entities = (
        entity("Indian", "Titans", "hi"),
        entity("Indian", "Kings", "hi", "gu"),
        entity("Western", "Reds", "gu"),
        entity("Western", "Blues", "hi", "gu"),
    )
    contexts = (context("I saw [MASK]", "hi"), context("We met [MASK]", "gu"))
    dataset = DataSet("d", "Western", Path("d"), entities, contexts, english=True)
    [job] = representing_jobs(dataset, DataSelection(), lambda _line: None)
    [comparison] = job.comparisons
    assert {e.surface: len(where) for where, entities in comparison.standing for e in entities} == {
        "Titans": 1,
        "Kings": 2,
        "Reds": 1,
        "Blues": 2,
    }
