"""What judges call wrong reaches a comparison: between languages, whose errors differ."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from polyculture.cache.store.parquet import objects_to_table, read_rows, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import JUDGEMENTS, MENTIONS, Judgement, Prompt
from polyculture.cache.store.shards import committed_parts
from polyculture.cache.store.store import open_store
from polyculture.metrics.audit.corrected import judged_shifts, turned
from polyculture.metrics.comparison.compare import ComparisonRow
from polyculture.metrics.comparison.question import ComparisonQuestion
from polyculture.metrics.comparison.table import lines_of, remarks_of
from polyculture.running.comparing import compared
from polyculture.running.layout import store_layout
from polyculture.running.opening import open_workspace
from tests.metrics.compared_runs import Random, mention, write_run

LANGUAGES = ("de", "ja")


def says(random: Random, model: str, prompt: Prompt) -> list[dict[str, object]]:
    """Specific in 9 of 10 in Japanese, in 6 of 10 in German, as the extractor sees it."""
    del model
    chance = 0.9 if prompt.language == "ja" else 0.6
    return [mention(item, bool(random.random() < chance)) for item in random.choice(12, 2, replace=False).tolist()]


def rows_of(file: Path, *names: str) -> list[ComparisonRow]:
    asked = ComparisonQuestion(names, metrics=("granularity", "consensus"), targets=("same_prompts",))
    said: list[str] = []
    with ExitStack() as stack:
        return list(compared(stack, open_workspace(file), asked, said.append).rows)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge finds each second specific Japanese mention general, and all German ones right."""
    folder = tmp_path_factory.mktemp("judged")
    file = write_run(folder, "run", says)
    run = RunFolder(folder / "runs" / "run")
    rows = [row for part in committed_parts(run, MENTIONS) for row in read_rows(part, MENTIONS).to_pylist()]
    judgements = []
    for at, row in enumerate(rows):
        wrong = row["language"] == "ja" and row["granularity"] == 1 and at % 2
        where = (row["extraction_id"], row["ordinal"], row["language"], row["topic"])
        judgements.append(Judgement("ana", *where, "right", 0 if wrong else row["granularity"], None, None, None))
    write_parquet(objects_to_table(JUDGEMENTS, judgements), run.table("judgements"))
    return file


def test_a_difference_of_languages_is_corrected_by_the_shift_of_each(judged: Path) -> None:
    row = rows_of(judged, "ja", "de")[0]
    told = row.difference
    with open_store(RunFolder(judged.parent / "runs" / "run"), store_layout()) as store:
        shift = {language: judged_shifts(store)[language, "granularity"][0].value for language in LANGUAGES}
    assert shift["ja"] < -0.3
    assert abs(shift["de"]) < 1e-9
    assert told.corrected == pytest.approx(told.difference + shift["ja"] - shift["de"])
    assert told.corrected_high - told.corrected_low > told.high - told.low  # the sample's own uncertainty comes on top


def test_a_verdict_that_the_correction_turns_is_remarked(judged: Path) -> None:
    rows = rows_of(judged, "ja", "de")
    assert rows[0].difference.verdict == "higher"
    assert turned(rows[0])
    assert any("granularity" in line and "not so once judged errors are corrected" in line for line in remarks_of(rows))
    assert any("corrected" in line for line in lines_of(rows))


def test_between_models_of_the_same_languages_nothing_is_corrected(judged: Path) -> None:
    assert {row.difference.corrected for row in rows_of(judged, "openai:one", "openai:two")} == {None}


def test_consensus_of_two_languages_alone_says_why_there_is_none(judged: Path) -> None:
    rows = rows_of(judged, "ja", "de")
    told = next(row.difference for row in rows if row.difference.metric == "consensus")
    assert (told.reason, told.difference, told.left_out > 0) == ("no cell has both numbers", None, True)
    assert any("consensus is of two languages" in line for line in remarks_of(rows))
