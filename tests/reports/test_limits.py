"""What a run's sources rule out is said in `plan`, at the end of `run` and at the top of the report."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import ExperimentError
from polyculture.cache.store.linked import LINKS, SNAPSHOT_ITEMS, SnapshotItems
from polyculture.cache.store.manifest import Manifest, read_manifest, require_run, write_manifest
from polyculture.cache.store.parquet import objects_to_table, read_rows, rows_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import AUDITED_TEXTS, JUDGEMENTS, AuditedText
from polyculture.experiment.snapshots import STARTER, find_snapshot
from polyculture.extract.audit import audit_extractor
from polyculture.extract.base import Extractor
from polyculture.extract.gazetteer import Gazetteer
from polyculture.extract.gold import read_gold
from polyculture.generate.wording import country_names_in_texts
from polyculture.link.index.lexicon import lexicon
from polyculture.metrics.audit.scores import share_limits
from polyculture.metrics.limits import limits
from polyculture.reports.limits import effects, extraction_error, limit_line, read_gold_scores
from polyculture.reports.report import write_report
from polyculture.running.opening import open_workspace
from tests.extracted import extracted_by
from tests.polyculture.test_command_line import polyculture
from tests.report_run import sections_named
from tests.reports.test_page import parsed
from tests.stages import prepare
from tests.store_builder import EXTRACTOR, StoreBuilder, blank

GAZETTEER = {"with": "gazetteer", "snapshot": "x"}
LLM = {"with": "openai:reader"}
STARTER_SOURCE = {"source": {"kind": "starter", "identity": "x"}, "identity": "y"}
DUMP_SOURCE = {"source": {"kind": "dump"}, "identity": "z"}
METRIC_NAMES = ("Granularity", "Diversity", "Culture specificity", "Culture consensus")
EXPERIMENT = """
name = "pilot"
models = ["mock:m"]
languages = ["en"]
topics = ["food"]
countries = ["US"]
[sampling]
n = 2
"""


def manifest(extractor: Mapping[str, Any], snapshot: Mapping[str, Any], fill: bool = False) -> Manifest:
    linker = {"source": "snapshot", **({"fill": True} if fill else {})}
    told = extracted_by(extractor)
    return Manifest(experiment="e", polyculture="0", **told, snapshot=dict(snapshot), linker=linker)


@pytest.mark.parametrize(
    ("extractor", "snapshot", "fill", "count"),
    [
        (GAZETTEER, STARTER_SOURCE, False, 2),
        (GAZETTEER, DUMP_SOURCE, False, 1),
        (GAZETTEER, {"source": {"kind": "api"}}, True, 2),  # there the gazetteer takes the starter's names
        (LLM, STARTER_SOURCE, False, 1),
        (LLM, DUMP_SOURCE, False, 0),
        (LLM, {"source": {"kind": "api"}}, True, 0),
    ],
)
def test_limits_follow_from_the_sources(
    extractor: Mapping[str, Any], snapshot: Mapping[str, Any], fill: bool, count: int
) -> None:
    found = limits(manifest(extractor, snapshot, fill))
    assert len(found) == count
    for limit in found:
        assert tuple(name for name, _ in effects(limit)) == METRIC_NAMES


def test_an_unmeasured_extractor_is_called_so() -> None:
    assert limit_line(manifest(LLM, DUMP_SOURCE), "here") == "Note: nobody has measured the errors of reader: here"
    assert len(limit_line(manifest(GAZETTEER, STARTER_SOURCE), "report.html#before")) <= 120
    assert "with this snapshot" in extraction_error(manifest(GAZETTEER, DUMP_SOURCE)).says


def test_the_measured_error_is_that_of_this_version() -> None:
    """`gold_scores.toml` is what the gazetteer finds now; `polyculture extract audit` prints it."""
    catalog, snapshot = read_catalog(), find_snapshot(STARTER, Path())
    countries = country_names_in_texts(catalog, catalog.languages)

    @lru_cache
    def gazetteer(language: str, topic: str) -> Extractor:
        names = lexicon(snapshot, catalog, topic, language)
        return Gazetteer(names, catalog.topic(topic), language, snapshot.identity, countries)

    texts = read_gold(catalog)
    each = [row for text in texts for row in audit_extractor(gazetteer, [text], catalog).rows]
    found = np.array([(row.gold, row.found, row.hits) for row in each if (row.by, row.matching) == ("all", "strict")])
    scores = read_gold_scores()
    assert [scores.marked, scores.found, scores.both] == found.sum(axis=0).tolist()
    assert scores.texts == len(texts)
    gold, found_of, hits = found.T.astype(float)
    assert scores.precision_limits == pytest.approx(share_limits(hits, found_of), abs=1e-4)
    assert scores.recall_limits == pytest.approx(share_limits(hits, gold), abs=1e-4)
    assert scores.languages == tuple(sorted({text.language for text in texts}))


def a_run(folder: Path, extractor: Mapping[str, Any], snapshot: Mapping[str, Any]) -> RunFolder:
    builder = StoreBuilder(folder, n=2)
    prompt = builder.ask(country="JP")
    builder.answer(prompt, ["sushi"], refused=False)
    builder.answer(prompt, ["ramen"], refused=False)
    for surface, qid in (("sushi", "Q46383"), ("ramen", "Q234646")):
        builder.link(surface, qid, prompt=prompt)
        builder.entity(qid, surface, JP="P495")
    run = builder.write()
    before = read_manifest(run.manifest)
    told = extracted_by(extractor, before.extractor_ids)
    write_manifest(before.model_copy(update={**told, "snapshot": snapshot}), run.manifest)
    return run


def page_of(run: RunFolder) -> str:
    """The page's text, blanks joined."""
    write_report(run, sections=sections_named("numbers", "distrust", "method"))
    return " ".join(parsed(run).all("body")[0].text.split())


def test_the_report_says_it_before_the_numbers(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", GAZETTEER, STARTER_SOURCE)
    text = page_of(run)
    for part in ("by construction, see below", "only names that are in its snapshot", "recall 0.37 [0.34, 0.41]"):
        assert part in text
    assert "sources of this run limit every number" in text
    before = require_run(run)
    brought = {"linker": {"source": "published"}, "snapshot": DUMP_SOURCE}
    brought |= extracted_by({"with": "published"}, before.extractor_ids)
    write_manifest(before.model_copy(update=brought), run.manifest)
    text = page_of(run)  # of a study that brings its mentions and links, which claims neither
    for part in ("by construction", "limit every number", "An extractor found", "looked up in Wikidata"):
        assert part not in text
    assert "whoever marked the imported mentions" in text
    assert "none here the mentions came with the texts" in text


def test_a_judged_run_shows_its_own_error(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", LLM, DUMP_SOURCE)
    row = JUDGEMENTS.row
    said = [
        row(**blank("judgements", extraction_id=extraction, ordinal=0, judge="ana", mention="right"))
        for extraction in extractions(run)
    ]
    write_parquet(objects_to_table(JUDGEMENTS, said), run.table(JUDGEMENTS.name))
    text = page_of(run)
    assert "extraction precision 1.00 [0.00, 1.00]" in text  # of two responses
    assert "Nobody has measured" not in text


def test_a_page_says_of_which_countries_the_snapshot_has_too_few_items(tmp_path: Path) -> None:
    """Of what the store kept, where the snapshot itself is not at hand."""
    run = a_run(tmp_path / "run", LLM, DUMP_SOURCE)
    assert "What the snapshot holds" not in page_of(run)
    asked = {"topics": ["food", "book"], "languages": ["en"], "countries": ["JP", "IT"]}
    write_manifest(require_run(run).model_copy(update=asked), run.manifest)
    counts = {("food", "JP"): 12, ("food", "IT"): 9, ("book", "JP"): 0, ("book", "IT"): 10}
    rows = [SnapshotItems(topic, None, country, items, None) for (topic, country), items in counts.items()]
    rows += [SnapshotItems(topic, "en", None, 700, 1234) for topic in ("food", "book")]
    rows += [SnapshotItems(topic, None, None, 800, None) for topic in ("food", "book")]
    write_parquet(objects_to_table(SNAPSHOT_ITEMS, rows), run.table(SNAPSHOT_ITEMS.name))
    text = page_of(run)
    assert "fewer than ten items of a topic" in text
    assert text.count("Food: Italy (9); Books: Japan (0)") == 2  # before the numbers, and beside the table
    for line in (
        "all 800 800",
        "named in English 700 700",
        "their names 1,234 1,234",
        "from Japan 12 0",
        "from Italy 9 10",
    ):
        assert line in text
    assert (
        "countries from which the snapshot has fewer than ten items of a topic" not in text
    )  # of food, Japan has twelve


def test_a_page_asks_for_the_audit_of_english_names_that_links_rest_on(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", LLM, DUMP_SOURCE)
    assert "extract audit EXPERIMENT" not in page_of(run)  # no link rests on one
    links = read_rows(run.table("links"), LINKS).to_pylist()
    links = [row | {"matched_by": "english" if row["surface"] == "ramen" else "surface"} for row in links]
    write_parquet(rows_to_table(LINKS, links), run.table("links"))
    text = page_of(run)
    assert "50 % of the linked mentions rest only on the English name" in text
    assert "extract audit EXPERIMENT" in text
    read = {"language": "en", "topic": "food", "extractor_id": EXTRACTOR, "names": 0, "right_names": 0}
    audited = [AuditedText(text_id=str(at), english=4, right_english=3, **read) for at in range(12)]
    write_parquet(objects_to_table(AUDITED_TEXTS, audited), run.table("audited_texts"))
    text = page_of(run)
    assert "the right English name in 0.75 [" in text
    assert "of 48 cases" in text
    assert "The error of English names is the language's own, by its audited texts: English (12)." in text
    write_parquet(objects_to_table(AUDITED_TEXTS, audited[:9]), run.table("audited_texts"))
    assert "Nothing allows for wrong names" in page_of(run)
    assert "extract audit EXPERIMENT" not in text


def extractions(run: RunFolder) -> list[str]:
    from polyculture.cache.store.store import open_store

    with open_store(run) as store:
        return [key for (key,) in store.sql("SELECT extraction_id FROM extractions ORDER BY 1").fetchall()]


def test_plan_says_in_one_line_where_the_limits_are(tmp_path: Path) -> None:
    file = tmp_path / "pilot.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    done = polyculture("plan", file, cwd=tmp_path)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Note:")]
    assert "only names that are in its snapshot" in line
    assert line.endswith("docs/reading-a-report.md")


@pytest.mark.parametrize("preset", ["makieval", "full"])
def test_a_preset_asks_for_an_extractor(tmp_path: Path, preset: str) -> None:
    file = tmp_path / "study.toml"
    whole = f'name = "study"\npreset = "{preset}"\nmodels = ["mock:m"]\n[sampling]\nn = 1\n'
    file.write_text(whole, encoding="utf-8")
    with pytest.raises(ExperimentError, match="extracts with a model") as fault:
        prepare(open_workspace(file, None))
    assert not (tmp_path / "runs").exists()
    assert fault.value.remedy is not None
    assert '[extract] with = "openai:MODEL"' in fault.value.remedy
    for choice in ("gazetteer", "mock:reader"):
        file.write_text(f'{whole}[extract]\nwith = "{choice}"\n', encoding="utf-8")
        prepare(open_workspace(file, None))
