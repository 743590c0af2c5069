"""Wrong English names: what the audit of an extractor's names makes of the numbers, in worlds of known truth."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import AUDITED_TEXTS, GOLD_EXTRACTIONS, GOLD_MENTIONS, JUDGEMENTS, AuditedText
from polyculture.cache.store.shards import JobShards
from polyculture.cache.store.store import open_store
from polyculture.metrics.audit.corrected import CorrectedMean, _corrected, corrected_metrics
from polyculture.metrics.audit.names import (
    NAMED,
    ErrorSources,
    _ErrorShare,
    _of_shares,
    error_sources,
    name_shares,
    names_shifts,
)
from polyculture.metrics.audit.scores import share_limits
from polyculture.metrics.audit.shift import JUDGED, Shift
from polyculture.metrics.inference.jackknife import share_of
from polyculture.metrics.measure import measure
from polyculture.running.layout import store_layout
from tests.metrics.test_audit import said
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.servers import Reply, StubServer
from tests.store_builder import EXTRACTOR, StoreBuilder

OF_COUNTRY = 0.4  # of what a text names, whether by own words or by an English name
GOLD_TEXTS, GOLD_NAMES = 40, 4


def gold(random: np.random.Generator, wrong: float, language: str = "ja") -> list[AuditedText]:
    """An audit of texts with four English names each, which are wrong as often as in the run."""
    right = random.binomial(GOLD_NAMES, 1 - wrong, GOLD_TEXTS).tolist()
    audited = (GOLD_NAMES, GOLD_NAMES, GOLD_NAMES)
    return [AuditedText(f"{language} {at}", language, "food", EXTRACTOR, *audited, one) for at, one in enumerate(right)]


def world(folder: Path, random: np.random.Generator, wrong: float, responses: int = 300) -> RunFolder:
    """Each response names a thing by own words and one by English alone, whose name may be that of something else."""
    built = StoreBuilder(folder, models=("m",), n=responses)
    prompt = built.ask("ja", country="JP")
    for _ in range(responses):
        own, english = (1 + int(random.random() >= OF_COUNTRY) * 10 + random.integers(10) for _ in range(2))
        named = f"wrong {random.integers(10)}" if random.random() < wrong else f"english {english}"
        built.answer(prompt, [f"own {own}", named])
    for number in range(1, 21):
        for words in ("own", "english"):
            built.link(f"{words} {number}", f"Q{number}")
        built.entity(f"Q{number}", **({"JP": "P495"} if number <= 10 else {"IT": "P495"}))
    for number in range(10):
        built.link(f"wrong {number}", f"Q{number + 31}")
        built.entity(f"Q{number + 31}", IT="P495")
    for link in built.rows["links"]:
        link["matched_by"] = "surface" if link["surface"].startswith("own") else "english"
    run = built.write()
    keep(run, gold(random, wrong))
    measure(run)
    return run


def keep(run: RunFolder, texts: list[AuditedText]) -> None:
    write_parquet(objects_to_table(AUDITED_TEXTS, texts), run.table(AUDITED_TEXTS.name))


def corrections(run: RunFolder) -> dict[str, CorrectedMean]:
    with open_store(run, store_layout()) as store:
        return {one.metric: one for one in corrected_metrics(store)}


@pytest.mark.parametrize("wrong", [0.1, 0.3])
def test_an_audit_of_names_reaches_the_truth_that_the_reported_interval_misses(tmp_path: Path, wrong: float) -> None:
    run = world(tmp_path, np.random.default_rng(3), wrong)
    found = corrections(run)
    told = found["specificity"]
    assert (told.rests_on, told.units) == (NAMED, GOLD_TEXTS)
    assert told.low <= OF_COUNTRY <= told.high
    assert told.low < told.reported_low
    assert told.high > told.reported_high
    if wrong == 0.3:
        assert told.reported_high < OF_COUNTRY
    assert found["diversity"].corrected < found["diversity"].reported  # of its items, some are what nobody named
    assert found["diversity"].low <= 20 <= found["diversity"].high
    assert "granularity" not in found  # labels are of mentions, whatever they are called in English


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("by_english", [0.2, 0.8])
def test_limits_with_the_audit_cover_the_truth(wrong: float, by_english: float) -> None:
    """400 worlds of 150 responses with three items each: with the audit 95 % and more, without it far fewer."""
    random, covered, plainly = np.random.default_rng([int(wrong * 10), int(by_english * 10)]), 0, 0
    for _ in range(400):
        english = random.random((150, 3)) < by_english
        named_wrong = english & (random.random((150, 3)) < wrong)
        here = np.where(named_wrong, random.random((150, 3)) < 0.05, random.random((150, 3)) < OF_COUNTRY)
        low, high = share_of(here.sum(axis=1).astype(float), np.full(150, 3.0)).interval()
        texts = gold(random, wrong)
        given, faults = (np.array([float(one.english - back * one.right_english) for one in texts]) for back in (0, 1))
        error = _ErrorShare(float(faults.sum() / given.sum()), *share_limits(faults, given), len(texts))
        counts = here.size, int(english.sum()), int(here.sum()), int((english & here).sum())
        shifts = [Shift(value, 0.0, 0.0, error.texts, NAMED) for value in _of_shares(error, *counts)]
        found = _corrected("specificity", "m", "ja", float(here.mean()), low, high, *shifts)
        covered += found.low <= OF_COUNTRY <= found.high
        plainly += low <= OF_COUNTRY <= high
    assert covered >= 0.95 * 400
    if wrong * by_english > 0.2:
        assert plainly < 0.2 * 400


def test_judges_of_the_run_go_before_the_audit_and_other_extractors_do_not_count(tmp_path: Path) -> None:
    run = world(tmp_path, np.random.default_rng(5), 0.3, responses=40)
    with open_store(run, store_layout()) as store:
        rows = store.sql("SELECT extraction_id, ordinal, surface FROM linked_mentions").fetchall()
    judged = [
        replace(said("ana", one, at, mention="right", link="wrong" if name.startswith("wrong") else "right"),
                language="ja", qid=f"Q{int(name.split()[1]) + 31 * name.startswith('wrong')}")
        for one, at, name in rows
    ]  # fmt: skip
    write_parquet(objects_to_table(JUDGEMENTS, judged), run.table("judgements"))
    assert corrections(run)["specificity"].rests_on == JUDGED
    run.table("judgements").unlink()
    assert corrections(run)["specificity"].rests_on == NAMED
    keep(run, [replace(one, extractor_id="another") for one in gold(np.random.default_rng(1), 0.3)])
    assert not corrections(run)


def test_a_language_with_few_texts_gets_the_error_of_all_but_english(tmp_path: Path) -> None:
    run = world(tmp_path, np.random.default_rng(7), 0.1, responses=40)
    random = np.random.default_rng(2)
    keep(run, [*gold(random, 0.9)[:9], *gold(random, 0.0, "de"), *gold(random, 1.0, "en")])
    with open_store(run, store_layout()) as store:
        shifts = names_shifts(store)["ja", "diversity"]
        shares = {(one.what, one.language): one.value for one in name_shares(store)}
    assert {one.units for one in shifts} == {GOLD_TEXTS + 9}
    assert shares["English names", "de"] == 1
    assert shares["English names", "en"] == 0
    assert sources(run).shared == {"ja": 9}
    assert sources(run).shared_texts == GOLD_TEXTS + 9
    assert "fewer than 10 texts of the language were audited: ja (9)." in " ".join(sources(run).sentences(str))
    keep(run, gold(random, 0.5)[:9])  # too few of any
    assert not corrections(run)
    assert sources(run).lacking == {"ja": 9}
    keep(run, gold(random, 0.5)[:10])
    assert (sources(run).own, sources(run).shared, sources(run).lacking) == ({"ja": 10}, {}, {})


def sources(run: RunFolder) -> ErrorSources:
    with open_store(run, store_layout()) as store:
        return error_sources(store)


def test_the_command_says_why_a_number_has_no_interval(tmp_path: Path) -> None:
    run = world(tmp_path / "runs" / "pilot", np.random.default_rng(9), 0.3, responses=3)
    file = tmp_path / "exp.toml"
    file.write_text('name = "pilot"\nmodels = ["openai:m"]\nlanguages = ["ja"]\ntopics = ["food"]\n', encoding="utf-8")
    with open_store(run, store_layout()) as store:
        query = "SELECT DISTINCT no_interval FROM numbers WHERE metric = 'diversity' AND level = 'model, language'"
        [[reason]] = store.sql(query).fetchall()
    shown = " ".join(polyculture("audit", file, cwd=tmp_path).stderr.split())
    assert f"no interval ({reason})" in shown
    assert "diversity of m in ja" in shown
    assert "--only measure" not in shown  # it would change nothing
    measured = run.root / "numbers" / "entities.parquet"
    measured.unlink()
    assert "--only measure" in " ".join(polyculture("audit", file, cwd=tmp_path).stderr.split())


def test_the_command_shows_an_audit_without_judges_and_asks_for_either(tmp_path: Path) -> None:
    run = world(tmp_path / "runs" / "pilot", np.random.default_rng(9), 0.3, responses=60)
    file = tmp_path / "exp.toml"
    file.write_text('name = "pilot"\nmodels = ["openai:m"]\nlanguages = ["ja"]\ntopics = ["food"]\n', encoding="utf-8")
    shown = polyculture("audit", file, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "English names" in shown.stdout
    assert "specificity" in shown.stdout
    run.table(AUDITED_TEXTS.name).unlink()
    refused = polyculture("audit", file, cwd=tmp_path)
    assert refused.returncode == 2
    assert "extract audit EXPERIMENT" in " ".join(refused.stderr.split())


def test_an_audit_for_an_experiment_needs_a_run_and_a_model(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text('name = "p"\nmodels = ["mock:m"]\nlanguages = ["ja"]\ntopics = ["food"]\n', encoding="utf-8")
    alone = polyculture("extract", "audit", file, cwd=tmp_path)
    assert alone.returncode == 2
    assert "no run" in " ".join(alone.stderr.split())
    both = polyculture("extract", "audit", file, "--with", "mock:reader", cwd=tmp_path)
    assert both.returncode == 2
    assert "the experiment says who extracts" in " ".join(both.stderr.split())


MENTIONS = {"sushi": ("寿司", "sushi"), "soba": ("そば", "soba")}  # the English name as it is given
GOLD_TEXTS_OF_PACK = 12
GOLD = {"寿司": "sushi", "そば": "buckwheat noodles"}


def pack_of(folder: Path) -> None:
    """A pack with twelve gold texts, each of which names two things."""
    pack = folder / "pack"
    (pack / "gold").mkdir(parents=True)
    marked = "".join(
        json.dumps(
            {"id": f"ja-{at}", "topic": "food", "trap": None, "marked": f"{at}日目は[[寿司|dish]]、[[そば|dish]]。"}
        )
        + "\n"
        for at in range(GOLD_TEXTS_OF_PACK)
    )
    (pack / "gold" / "ja.jsonl").write_text(marked, encoding="utf-8")
    names = "".join(f"ja\t{surface}\t{surface}\t{english}\n" for surface, english in GOLD.items())
    (pack / "gold" / "names.tsv").write_text(f"language\tsurface\tname\tenglish\n{names}", encoding="utf-8")


def reading(body: Mapping[str, Any], _before: int) -> Reply:
    """Texts, and for the reader both things of each, one of them with a wrong English name."""
    found = [{"text": text, "kind": "dish", "name": text, "english": said} for text, said in MENTIONS.values()]
    said = json.dumps({"mentions": found}) if "response_format" in body else "寿司とそば。"
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    choice = {"message": {"content": said}, "finish_reason": "stop"}
    return Reply(body=json.dumps({"choices": [choice], "usage": usage}).encode())


def write(folder: Path, url: str, name: str = "p") -> Path:
    """The file of an experiment with that pack, whose texts and reader one server answers for."""
    file = folder / f"{name}.toml"
    file.write_text(
        f'name = "{name}"\nmodels = ["openai:m"]\nlanguages = ["ja"]\ntopics = ["food"]\ncountries = ["JP"]\n'
        f'catalog = "pack"\n[sampling]\nn = 2\n[extract]\nwith = "openai:reader"\n'
        f'[options.openai]\nbase_url = "{url}"\nconcurrency = 2\n',
        encoding="utf-8",
    )
    return file


def test_the_audit_of_an_experiment_s_extractor_is_kept_and_used(tmp_path: Path) -> None:
    pack_of(tmp_path)
    with StubServer(behaviour=reading) as server:
        file = write(tmp_path, server.url)
        early = polyculture("extract", "audit", file, cwd=tmp_path)
        assert early.returncode == 2
        assert polyculture("run", file, "--only", "generate", cwd=tmp_path).returncode == 0
        extracted = polyculture("run", file, "--only", "extract", cwd=tmp_path)
        assert extracted.returncode == 0, extracted.stderr
        assert polyculture("run", file, cwd=tmp_path).returncode == 0
        before = len(server.asked)
        for _ in range(2):  # the second audit asks about no text, and takes the place of the first
            audited = polyculture("extract", "audit", file, cwd=tmp_path)
            assert audited.returncode == 0, audited.stderr
            assert "12 of 24 English names are right" in " ".join(audited.stderr.split())
            assert "own, by its audited texts: ja (12)" in " ".join(audited.stderr.split())
            assert len(server.asked) - before == GOLD_TEXTS_OF_PACK
        beside = write(tmp_path, server.url, "beside")  # another run reads the answers of this one
        assert polyculture("run", beside, cwd=tmp_path).returncode == 0
        before = len(server.asked)
        assert polyculture("extract", "audit", beside, cwd=tmp_path).returncode == 0
        assert len(server.asked) == before
    spent = polyculture("sql", file, "SELECT answers FROM spending WHERE stage = 'extract audit'", cwd=tmp_path)
    assert str(GOLD_TEXTS_OF_PACK) in spent.stdout
    stale = polyculture("sql", file, "FROM stale_measures", "--format", "csv", cwd=tmp_path)
    assert stale.stdout.splitlines() == ["measure"]  # no number rests on gold texts
    query = (
        "SELECT count(*) AS texts, sum(right_english) AS r, sum(english) AS e, sum(right_names) AS n FROM audited_texts"
    )
    shown = polyculture("sql", file, query, "--format", "csv", cwd=tmp_path)
    assert shown.stdout.splitlines()[-1] == "12,12,24,24"
    with open_store(RunFolder(tmp_path / "runs" / "p"), store_layout()) as store:
        assert {one.what: one.value for one in name_shares(store) if one.language == "ja"} == {
            "dictionary forms": 1.0,
            "English names": 0.5,
        }


def test_an_audit_that_is_killed_asks_about_no_text_twice(tmp_path: Path) -> None:
    pack_of(tmp_path)
    with StubServer(behaviour=reading, latency=0.2) as server:
        file = write(tmp_path, server.url)
        assert polyculture("run", file, cwd=tmp_path).returncode == 0
        before = len(server.asked)
        process = begin_polyculture("extract", "audit", file, cwd=tmp_path)
        while len(server.asked) - before < GOLD_TEXTS_OF_PACK // 2:
            assert process.is_alive()
            time.sleep(0.01)
        process.kill()
        process.join()
        run = RunFolder(tmp_path / "runs" / "p")
        shards = JobShards(run, Job("openai:reader", "ja", "food"), [GOLD_MENTIONS, GOLD_EXTRACTIONS])
        stored = len(shards.read_journal()) + shards.read(GOLD_EXTRACTIONS.name).num_rows
        assert 0 < stored < GOLD_TEXTS_OF_PACK
        before = len(server.asked)
        audited = polyculture("extract", "audit", file, cwd=tmp_path)
        assert "12 of 24 English names are right" in " ".join(audited.stderr.split())
        assert f"{GOLD_TEXTS_OF_PACK - stored} to ask" in " ".join(audited.stderr.split())
        assert len(server.asked) - before == GOLD_TEXTS_OF_PACK - stored
