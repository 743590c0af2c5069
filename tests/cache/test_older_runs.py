"""A run of November 2026 (`older_runs/2026-11`): it opens with equal numbers, and nothing in it is bought again."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

# --- The adapter: all that is known here of where things stand today, and what they are called.
from polyculture.cache.catalog import read_catalog
from polyculture.cache.catalog.read import BUILT_IN
from polyculture.cache.identity import content_id
from polyculture.cache.manifest import read_manifest, setup_id
from polyculture.cache.migrations import MIGRATIONS
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.extract.llm import llm_extractor_id
from polyculture.generate.design import PromptDesign
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.setup import model_setup
from polyculture.generate.prompts import build_prompts
from polyculture.generate.sampling import SamplingSettings, response_id
from polyculture.instruments.cbs.context_prompts import PrefixKind, PrefixOptions
from polyculture.instruments.cbs.rows import SCORES
from polyculture.instruments.cbs.selection import scoring_jobs
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.datasets.selection import Selection
from polyculture.instruments.swaps.asking import TASKS, Questions
from polyculture.instruments.swaps.classifiers import CLASSIFIER, TAGGER, labels_id, read_labels
from polyculture.instruments.swaps.prompts import read_prompts
from polyculture.instruments.swaps.rows import SWAP_ANSWERS
from polyculture.metrics import KEPT
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import polyculture
from tests.servers import Reply, StubServer, failure

# What the run calls a view or a column ("view", "view.column", or "*.column" in every view), and what it is called now.
RENAMED: Mapping[str, str] = {
    "*.help": "context_prefix",
    "*.origin": "base_context_id",
    "*.original": "source_context_id",
    "*.seam": "token_boundary",
    "*.broken_seams": "broken_boundaries",
    "*.instrument": "answer_method",
    "run_asked.instrument": "instrument",
    "*.misplaced": "off_language",
    "mention_trail.response": "text",
    "cbs.cbs": "cbs_half",  # the former count of ties
    "cbs_contexts.cbs": "cbs_half",
}
SELECTED = ("right_language", "specificity")  # a view under a selection
# What is defined anew since: granularity and specificity count a linked item once per response. Of a view: the columns
# that say something else now; None where hardly one does not. Their numbers are recomputed below.
RESTED_ON = frozenset({"linked", "other_linked", "neutral_linked", "mentions"})
INTERVAL = frozenset({"low", "high", "method", "no_interval"})
REDEFINED: Mapping[str, frozenset[str] | None] = {
    "granularity": frozenset({"granularity", "specific", "mentions"}),
    "specificity": RESTED_ON
    | {"specificity", "specificity_with_ambiguous", "associated"}
    | {"ambiguous", "associated_ambiguous"},
    "consensus": RESTED_ON,
    "cell_metrics": RESTED_ON | INTERVAL,
    **dict.fromkeys(("aggregate_values", "aggregates", "cell_mentions", "cell_values", "country_counts"), None),
    **dict.fromkeys(("country_shares", "intervals", "models", "specificity_by_property", "specificity_gain"), None),
    **dict.fromkeys(("stored_intervals", "right_language.specificity"), None),
}
COUNTING_TIES = ("estimate", "sampled_mean", "sampled_deviation")  # with ties as not Western now: `compare_halved`
# Measured again, intervals of bias scores are others; of swapped texts, sides without an answer that counts have rows;
# those of separations are of another number, in columns of its own.
REMEASURED: Mapping[str, frozenset[str] | None] = {
    **dict.fromkeys(("bias_intervals", "stored_bias_intervals"), frozenset({"low", "high", "p", *COUNTING_TIES})),
    **dict.fromkeys(("swap_intervals", "stored_swap_intervals"), None),
    **dict.fromkeys(("separations", "stored_separations"), frozenset({"low", "high"})),
    # Linked again: how sure links are was counted anew.
    **dict.fromkeys(("cultural_links", "stored_cultural_links", "links", "stored_links"), frozenset({"confidence"})),
    "cultural_entities": None,  # with their links, of which the starter that ships now has more
}
# Of `cell_metrics`, the rows of these, and of one that came since.
# Its cells have two responses: measured again, their curves have no bands.
WITHHELD = frozenset({"saturation", "stored_saturation_intervals"})
NOT_THERE = "no candidate"
REDEFINED_METRICS = ("granularity", "specificity", "specificity_gain", "granularity_defined")
SHARDED = {
    "responses": "response_id",
    "extractions": "extraction_id",
    "scores": "score_id",
    "swap_answers": "answer_id",
    "representations": "representation_id",
}


def open_run(folder: Path) -> Any:
    """The store of a run's folder, read-only, with all views; those that others rest on are computed once."""
    return open_store(RunFolder(folder), store_layout(), KEPT, selections=SELECTED[:1])


def views_of(store: Any) -> list[str]:
    """The names of all views, and of one under a selection."""
    query = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' ORDER BY 1"
    return [row[0] for row in store.sql(query).fetchall()] + [".".join(SELECTED)]


def ledger_of(folder: Path) -> dict[str, float]:
    """What each account has spent, where it has."""
    book = json.loads((folder / "ledger" / "ledger.json").read_bytes())
    assert not any(account["reserved"] for account in book["accounts"].values())
    return {name: account["spent"] for name, account in book["accounts"].items() if account["spent"]}


# --- The evidence.

OLDER = Path(__file__).parents[1] / "older_runs" / "2026-11"
ADDRESS = "http://127.0.0.1:18080/v1"  # where the run's server was; nobody is there now
GPT2 = "transformers:models/gpt2"
# The views that are published; of the others a hash of the rows is kept.
PUBLISHED = (
    "audited_mentions",
    "bias_intervals",
    "cbs",
    "cell_metrics",
    "consensus",
    "cultural_links",
    "diversity_companions",
    "granularity",
    "health",
    "links",
    "ner_f1",
    "qa_accuracy",
    "score_health",
    "sentiment_association",
    "separations",
    "specificity",
    "spending",
)
# Metrics that were added since.
LATER = (
    "dominance",
    *("macro_f1", "macro_f1_difference", "missed_positive_rate", "missed_negative_rate"),
    *("strict_accuracy", "strict_precision", "strict_recall", "strict_f1"),
)
LATER_RULES = ("probability", "calibrated")  # rules of likelihoods that were added since
# Drawn anew by t-SNE, whose places are not the same on every machine.
DRAWN_ANEW = ("entity_positions", "stored_entity_positions")
FOODS = ("--data", "own:foods", "--folder", "foods")
PLACES = ("--data", "own:places", "--folder", "places", "--entities", "2", "--draws", "2")
TERN = ("--model", "openai:tern")
HELP = ("--help-with", "token", "--help-with", "demonstrations", "--demonstrations", "1")
# Commands that made it, with their exit codes (4: some answers failed). Not `corpus`: a copy of its files is another
# corpus. What `--phrasings` and `--english` ask is known by its ids, below.
AGAIN = (
    (0, "cbs", *FOODS, "--model", GPT2, *HELP),
    (4, "cbs", *FOODS, *TERN),
    (0, "embeddings", *FOODS, "--model", GPT2, "--contexts", "2", "--layer", "first", "--layer", "last"),
    (4, "sentiment", *PLACES, *TERN),
    (0, "qa", *PLACES, *TERN),
    (0, "ner", *PLACES, *TERN),
    (0, "ner", *PLACES, "--tagger", "models/tagger"),
)


def now(view: str, column: str | None = None) -> str:
    """What a view, or a column of it, is called now."""
    if column is None:
        return RENAMED.get(view, view)
    return RENAMED.get(f"{view}.{column}", RENAMED.get(f"*.{column}", column))


def plain(value: Any) -> Any:
    """A value as JSON has it; floats to nine digits, since the order of a sum is not fixed."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return f"{value:.9g}" if not math.isfinite(value) else float(f"{value:.9g}") + 0.0
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def rows_of(store: Any, view: str, columns: list[str]) -> list[list[Any]]:
    """The rows of a view in an order of their own: that of their JSON."""
    chosen = ", ".join(f'"{now(view, column)}"' for column in columns)
    added = {"metric": LATER, "rule": LATER_RULES}
    kept = [f"coalesce({name} NOT IN {(*words, '')}, true)" for name, words in added.items() if name in columns]
    later = f"WHERE {' AND '.join(kept)}" if kept else ""
    found = [plain(row) for row in store.sql(f"SELECT {chosen} FROM {now(view)} {later}").fetchall()]
    return sorted(found, key=lambda row: json.dumps(row, ensure_ascii=False))


def seen(store: Any, view: str, columns: list[str]) -> dict[str, Any]:
    """What is kept of a view: its columns, how many rows it has, their hash, and the rows where they are published."""
    rows = rows_of(store, view, columns)
    digest = hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:16]
    kept = {"rows": rows} if view in PUBLISHED else {}
    return {"columns": columns, "count": len(rows), "hash": digest, **kept}


def write_numbers(folder: Path, file: Path, state: str) -> None:
    """Adds what a run says in one of its states to the numbers: `whole`, or `opened` with records in journals.

    Of the second state only views that differ are kept.
    """
    numbers = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    with open_run(folder) as store:
        said = {view: seen(store, view, store.sql(f"FROM {view}").columns) for view in views_of(store)}
        ids = {
            table: [row[0] for row in store.sql(f"SELECT {key} FROM stored_{table} ORDER BY 1").fetchall()]
            for table, key in SHARDED.items()
        }
    if state == "whole":
        numbers |= {
            "whole": said,
            "ledger": {name: plain(spent) for name, spent in ledger_of(folder).items()},
            "ids": ids,
        }
    else:
        numbers[state] = {view: {**one, "rows": None} for view, one in said.items() if one != numbers["whole"][view]}
    file.write_text(_a_row_a_line(numbers), encoding="utf-8")


def _a_row_a_line(numbers: Mapping[str, Any]) -> str:
    """JSON whose changes can be read."""
    lines = json.dumps(numbers, ensure_ascii=False, indent=1)
    lines = re.sub(r"\n {5,}", " ", lines)
    return re.sub(r'\n {3,}(?=["\]}]|\d)', " ", lines) + "\n"


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((OLDER / "numbers.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder of the experiment file, with the run in `runs/older`."""
    folder = tmp_path / "workspace"
    shutil.copytree(OLDER / "workspace", folder)
    shutil.copytree(OLDER / "run", folder / "runs" / "older")
    keep_prompts(folder)
    return folder


# What the texts of its prompts need now: there were no other wordings or names.
PROMPTS = '[prompts]\nwordings = ["paragraph"]\nnames = "older"\n'
DESIGN = PromptDesign(("paragraph",), "older")


def keep_prompts(folder: Path) -> None:
    """The experiment file goes on with the texts of the run; templates that were mended since are the user's own."""
    file = folder / "older.toml"
    text = file.read_text(encoding="utf-8").replace("\n", '\ncatalog = "mine"\n', 1)
    file.write_text(f"{text}\n{PROMPTS}", encoding="utf-8")
    (folder / "mine" / "topics").mkdir(parents=True)
    for topic, own in tomllib.loads((OLDER / "templates.toml").read_text(encoding="utf-8")).items():
        built_in = (BUILT_IN / "topics" / f"{topic}.toml").read_text(encoding="utf-8")
        [(language, templates)] = own["wording"].items()
        lines = "".join(f"{condition} = {json.dumps(text)}\n" for condition, text in templates.items())
        whole = f"{built_in}\n[wording.{language}]\n{lines}"
        (folder / "mine" / "topics" / f"{topic}.toml").write_text(whole, encoding="utf-8")


@pytest.fixture
def busy() -> Iterator[StubServer]:
    """A server that fails as it did when the run was made: what may pass is asked again, and does not pass."""

    def behave(body: Mapping[str, Any], _before: int) -> Reply:
        return failure(503, "the reader is overloaded" if "response_format" in body else "overloaded")

    with StubServer(behaviour=behave) as server:
        yield server


def moved(text: str, server: StubServer) -> str:
    """An experiment file whose server has moved to where another one answers for it."""
    return text.replace(f'"{ADDRESS}"', f'"{server.url}"\ndeployment = "{ADDRESS}"')


def compare(
    folder: Path,
    expected: Mapping[str, Mapping[str, Any]],
    redefined: Mapping[str, frozenset[str] | None] = REDEFINED,
) -> None:
    """Every view says what it said."""
    with open_run(folder) as store:
        different = {}
        for view, said in expected.items():
            if view in redefined:
                compare_the_rest(store, view, said, redefined[view])
                continue
            found = seen(store, view, said["columns"])
            if (found["count"], found["hash"]) != (said["count"], said["hash"]):
                before, after = said.get("rows") or [], found.get("rows") or []
                lost, new = (
                    [row for row in one if row not in other] for one, other in ((before, after), (after, before))
                )
                different[view] = (said["count"], found["count"], lost[:2], new[:2])
        assert not different


def compare_the_rest(store: Any, view: str, said: Mapping[str, Any], changed: frozenset[str] | None) -> None:
    """A view that is defined anew says what it said in its other columns, and of other metrics."""
    if changed is None or not said.get("rows"):
        return
    places = [place for place, column in enumerate(said["columns"]) if column not in changed]
    columns = [said["columns"][place] for place in places]
    before = [[row[place] for place in places] for row in said["rows"]]
    # The starter has more items than when the run was made: names that it lacked may have a link now.
    named = places.index(said["columns"].index("status")) if "status" in said["columns"] else 0
    unknown = [row[:named] for row in before if NOT_THERE in row]
    both = [
        sorted((row for row in rows if row[0] not in REDEFINED_METRICS and row[:named] not in unknown), key=json.dumps)
        for rows in (before, rows_of(store, view, columns))
    ]
    assert both[0] == both[1], view


def compare_halved(folder: Path, said: Mapping[str, Any]) -> None:
    """Bias scores with ties counted half, as they were, stand among the variants."""
    places = [place for place, column in enumerate(said["columns"]) if column not in ("low", "high", "p")]
    columns = ", ".join(now("bias_intervals", said["columns"][place]) for place in places)
    where = "ties_count = 'half' AND average = 'contexts' AND gender IS NULL AND rule IN ('sum', 'mean')"
    with open_run(folder) as store:
        found = [plain(row) for row in store.sql(f"SELECT {columns} FROM bias_variants WHERE {where}").fetchall()]
    before = [[row[place] for place in places] for row in said["rows"]]
    assert sorted(found, key=json.dumps) == sorted(before, key=json.dumps)


def test_its_numbers_are_those_of_linked_items_once_per_response(workspace: Path) -> None:
    """What is defined anew, recomputed from the mentions and their links."""
    with open_run(workspace / "runs" / "older") as store:
        cell = "model, language, topic, condition, country"
        mentions = store.sql(
            f"SELECT {cell}, response_id, qid, granularity FROM linked_mentions WHERE status = 'linked'"
        ).fetchall()
        associated = set(store.sql("SELECT qid, country FROM entity_countries").fetchall())
        granularity = store.sql(f"SELECT {cell}, granularity, incidences FROM granularity").fetchall()
        specificity = store.sql(f"SELECT {cell}, specificity, incidences FROM specificity").fetchall()
        shown = store.sql("SELECT count(low) FROM cell_metrics").fetchall()
    labels: dict[tuple[Any, ...], dict[tuple[str, str], list[int]]] = {}
    for *place, response, qid, label in mentions:
        labels.setdefault(tuple(place), {}).setdefault((response, qid), []).append(label)
    assert len(labels) > 5
    for *place, value, incidences in granularity:
        items = labels.get(tuple(place), {})
        assert incidences == len(items)
        means = [sum(own) / len(own) for own in items.values()]
        assert value == (pytest.approx(sum(means) / len(means)) if means else None)
    for model, language, topic, condition, country, value, incidences in specificity:
        place = (model, language, topic, condition, None if condition == "neutral" else country)
        own = [(qid, country) in associated for _, qid in labels.get(place, {})]
        assert incidences == len(own)
        assert value == (pytest.approx(sum(own) / len(own)) if own else None)
    assert shown == [(0,)]  # its intervals are of the former definitions


def test_it_opens_with_the_numbers_that_it_had(workspace: Path, numbers: dict[str, Any]) -> None:
    run = workspace / "runs" / "older"
    assert len(numbers["whole"]) > 90
    compare(run, numbers["whole"] | numbers["opened"])
    assert ledger_of(run) == pytest.approx(numbers["ledger"])


@pytest.mark.slow
def test_nothing_in_it_is_asked_again_and_its_numbers_stay(
    workspace: Path, numbers: dict[str, Any], busy: StubServer
) -> None:
    run, file = workspace / "runs" / "older", workspace / "older.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(moved(text, busy), encoding="utf-8")
    with open_run(run) as store:
        may_pass = [
            store.sql(f"SELECT count(*) FROM {table} WHERE retryable AND status = 'failed'").fetchall()[0][0]
            for table in ("responses", "extractions")
        ]
    assert all(may_pass)
    done = polyculture("run", file, cwd=workspace)
    assert done.returncode == 4, done.stderr
    extracted = sum("response_format" in body for body in busy.bodies)
    assert [len(busy.bodies) - extracted, extracted] == may_pass
    file.write_text(text, encoding="utf-8")
    before = parts(run)
    for code, command, *words in AGAIN:
        again = polyculture(str(command), file, *map(str, words), cwd=workspace)
        assert again.returncode == code, again.stderr
    assert sum(may_pass) == len(busy.bodies)
    after = parts(run)
    assert before.items() <= after.items()
    assert list(run.rglob("swap_readings/**/part-*"))
    journals = {name.rpartition("/")[0] for name in after.keys() - before.keys()}
    assert {name.partition("/")[0] for name in journals} == {"scores", "swap_answers"}
    assert len(after) == len(before) + len(journals) == len(before) + 2  # what the two journals held
    assert not list(run.rglob("journal.jsonl"))
    whole = {view: said for view, said in numbers["whole"].items() if view not in WITHHELD.union(DRAWN_ANEW)}
    compare(run, whole, {**REDEFINED, **REMEASURED})
    compare_halved(run, whole["bias_intervals"])
    with open_run(run) as store:
        assert store.sql("SELECT count(*) > 0, count(low), count(high) FROM saturation").fetchall() == [(True, 0, 0)]
    assert ledger_of(run) == pytest.approx(numbers["ledger"])


def split(part: Path, renamed: Mapping[str, str]) -> None:
    """Moves the second half of a part's rows into the job's next part, under the present names of the columns."""
    rows = pq.read_table(part)
    half, names = rows.num_rows // 2, {before: now for now, before in renamed.items()}
    assert names.keys() <= set(rows.column_names)
    number = len(list(part.parent.glob("part-*.parquet")))
    later = rows.slice(half).rename_columns([names.get(name, name) for name in rows.column_names])
    pq.write_table(rows.slice(0, half), part)
    pq.write_table(later, part.with_name(f"part-{number:05d}.parquet"))


def test_parts_with_former_and_present_column_names_stand_in_one_job(workspace: Path, numbers: dict[str, Any]) -> None:
    run = workspace / "runs" / "older"
    before = read_manifest(run / "manifest.json")
    assert before is not None
    assert before.migrations == []
    for table in (SCORES, SWAP_ANSWERS):
        for part in sorted(run.glob(f"{table.name}/**/part-*.parquet")):
            split(part, table.renamed)
    compare(run, numbers["whole"] | numbers["opened"])
    stored = parts(run)
    for code, command, *words in (AGAIN[1], AGAIN[4]):  # no server answers: whatever they asked would fail
        done = polyculture(str(command), workspace / "older.toml", *map(str, words), cwd=workspace)
        assert done.returncode == code, done.stderr
    now = parts(run)
    assert stored.items() <= now.items()
    assert {name.partition("/")[0] for name in now.keys() - stored.keys()} == {"scores", "swap_answers"}
    assert len(now) == len(stored) + 2  # what the journals held, in parts under the present names
    made_again = {"bias_intervals", "cbs", "scores", "score_health", "swap_answers", "swap_intervals", "qa_accuracy"}
    compare(run, {view: numbers["whole"][view] for view in made_again}, {**REDEFINED, **REMEASURED})
    after = read_manifest(run / "manifest.json")
    assert after is not None
    assert after.migrations == list(MIGRATIONS)


def parts(run: Path) -> dict[str, str]:
    """The parts of all jobs, by the hash of what is in them.

    Without readings: the present reader reads what is there once more, and as it was read; nothing is asked for that.
    """
    found = [part for part in run.rglob("part-*") if part.relative_to(run).parts[0] != "swap_readings"]
    return {str(part.relative_to(run)): hashlib.sha256(part.read_bytes()).hexdigest() for part in found}


def test_a_run_beside_it_takes_its_answers_over(workspace: Path, busy: StubServer, numbers: dict[str, Any]) -> None:
    text = moved((workspace / "older.toml").read_text(encoding="utf-8"), busy)
    beside = workspace / "beside.toml"
    beside.write_text(text.replace('name = "older"', 'name = "beside"'), encoding="utf-8")
    with open_run(workspace / "runs" / "older") as store:
        failed = "SELECT model, count(*) FROM responses WHERE status = 'failed' GROUP BY 1"
        lacking = dict(store.sql(failed).fetchall())
        [(said,)] = store.sql("SELECT count(*) FROM responses WHERE status = 'ok'").fetchall()
    done = polyculture("generate", beside, cwd=workspace)
    assert done.returncode == 4, done.stderr
    # A failure is not taken over: what failed there is asked here; one more failure stood in a journal.
    assert len(busy.bodies) == sum(lacking.values()) + 1
    with open_run(workspace / "runs" / "beside") as store:
        assert store.sql("SELECT count(*) FROM responses WHERE status = 'ok'").fetchall() == [(said,)]
    found = "SELECT count(*) FROM extractions WHERE status = 'ok'"
    with open_run(workspace / "runs" / "older") as store:
        [(extracted,)] = store.sql(found).fetchall()
    before = len(busy.bodies)
    assert polyculture("extract", beside, cwd=workspace).returncode == 4
    assert len(busy.bodies) - before == said - extracted > 0
    with open_run(workspace / "runs" / "beside") as store:
        assert store.sql(found).fetchall() == [(extracted,)]
        assert store.sql("SELECT coalesce(sum(answers), 0) FROM spending").fetchall() == [(0,)]


def generate(file: Path, code: int) -> str:
    """What `generate` tells, with its exit code."""
    done = polyculture("generate", file, cwd=file.parent)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_its_texts_adopt_the_setup_of_its_own_file_and_another_is_refused(workspace: Path, busy: StubServer) -> None:
    run, file = workspace / "runs" / "older", workspace / "older.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(ADDRESS, busy.url), encoding="utf-8")
    told = generate(file, 2)
    assert f"openai:tern: base_url was '{ADDRESS}' and is now '{busy.url}'" in told
    assert "openai:reader: base_url was" in told
    assert "gpt2" not in told
    assert not busy.bodies
    file.write_text(moved(text, busy), encoding="utf-8")
    told = generate(file, 4)
    adopts = "The texts of this run are of a version that kept no setup; they are taken to be made by openai:tern"
    assert told.count(adopts) == 1
    assert f"openai:plover (base_url '{ADDRESS}')" in told
    assert adopts not in generate(file, 4)
    weights = workspace / "models" / "gpt2" / "model.safetensors"
    weights.write_bytes(weights.read_bytes() + b"\0")
    assert "transformers:models/gpt2: weights was 'sha256:3448adb3ce22d5be'" in generate(file, 2)
    with open_run(run) as store:
        setups = "SELECT count(DISTINCT model), count(setup_id) < count(*) FROM responses WHERE status = 'ok'"
        assert store.sql(setups).fetchall() == [(3, True)]


def test_texts_of_an_overwritten_file_are_of_the_file_that_wrote_them(workspace: Path, busy: StubServer) -> None:
    file = workspace / "older.toml"
    file.write_text(moved(file.read_text(encoding="utf-8"), busy), encoding="utf-8")
    weights = workspace / "models" / "gpt2" / "model.safetensors"
    weights.write_bytes(weights.read_bytes() + b"\0")
    assert "transformers:models/gpt2: weights was 'sha256:3448adb3ce22d5be'" in generate(file, 2)


def test_the_texts_that_are_asked_by_default_now_are_a_change(workspace: Path, busy: StubServer) -> None:
    """Its paragraphs are one wording of several; the refusal says how to go on with them."""
    file = workspace / "older.toml"
    text = moved(file.read_text(encoding="utf-8"), busy)
    file.write_text(text.replace(PROMPTS, ""), encoding="utf-8")
    told = generate(file, 2)
    assert "prompts.wordings was ['paragraph'] and is now ['write']" in told
    assert 'write wordings = ["paragraph"], names = "older" under [prompts]' in told
    planned = polyculture("plan", file, cwd=file.parent)
    assert "prompts.wordings was ['paragraph'] and is now ['write']" in planned.stderr
    assert busy.bodies == []


def test_without_its_manifest_nothing_of_it_is_asked_again(workspace: Path, busy: StubServer) -> None:
    run, file = workspace / "runs" / "older", workspace / "older.toml"
    with open_run(run) as store:
        [(failed, texts)] = store.sql(
            "SELECT count(*) FILTER (retryable AND status = 'failed'), count(*) FILTER (status = 'ok') FROM responses"
        ).fetchall()
    (run / "manifest.json").rename(workspace / "elsewhere.json")
    file.write_text(moved(file.read_text(encoding="utf-8"), busy), encoding="utf-8")
    generate(file, 4)
    assert len(busy.bodies) == failed
    with open_run(run) as store:
        assert store.sql("SELECT count(*) FROM responses WHERE status = 'ok'").fetchall() == [(texts,)]


def test_the_ids_of_what_was_paid_for_are_those_that_the_code_computes(
    workspace: Path, numbers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    stored = {table: set(ids) for table, ids in numbers["ids"].items()}
    manifest = read_manifest(workspace / "runs" / "older" / "manifest.json")
    assert manifest is not None
    catalog = read_catalog(workspace / "mine")
    axes = {name: getattr(manifest, name) for name in ("languages", "topics", "countries", "conditions")}
    prompts = build_prompts(catalog, **axes, design=DESIGN)
    sampling = SamplingSettings(n=2, max_tokens=16, seed=1)
    assert manifest.sampling_id == sampling.sampling_id
    asked = {
        response_id(model, prompt.text, sampling.sampling_id, sample)
        for model in manifest.models
        for prompt in prompts
        for sample in range(2)
    }
    assert asked < stored["responses"]
    assert len(stored["responses"] - asked) == 8  # of another seed
    extractors = {topic: llm_extractor_id("openai:reader", catalog.topic(topic)) for topic in manifest.topics}
    assert manifest.extractor_ids == extractors
    ids = {content_id(response, extractor) for response in asked for extractor in extractors.values()}
    with open_run(workspace / "runs" / "older") as store:
        read = {row[0] for row in store.sql("SELECT extraction_id FROM extractions").fetchall()}
    assert read <= ids

    dataset = load(rules_of("own:foods"), Path("foods"))
    options: dict[str, dict[str, Any]] = {
        "openai:tern": {"base_url": ADDRESS, "tokenizer": "models/gpt2"},
        GPT2: {"bare_prompts": True, "device": "cpu"},
    }
    setups = {model: model_setup(ModelSpec(model, chosen), "score") for model, chosen in options.items()}
    assert setups.items() <= {name.removeprefix("score "): setup for name, setup in manifest.setups.items()}.items()
    both = PrefixOptions((PrefixKind.TOKEN, PrefixKind.DEMONSTRATIONS), 1)
    jobs = [
        *scoring_jobs(dataset, "openai:tern", Selection(), setup_id=setup_id(setups["openai:tern"])),
        *scoring_jobs(dataset, GPT2, Selection(), both, setup_id(setups[GPT2])),
        *scoring_jobs(dataset, GPT2, Selection(phrasings=True), setup_id=setup_id(setups[GPT2])),
        *scoring_jobs(in_english(dataset), GPT2, Selection(), setup_id=setup_id(setups[GPT2])),
    ]
    scores = {pair.score_id for job in jobs for pair in job.pairs()}
    with open_run(workspace / "runs" / "older") as store:
        of_corpus = store.sql("SELECT score_id FROM stored_scores WHERE starts_with(model, 'ngram:')").fetchall()
    assert stored["scores"] == scores | {row[0] for row in of_corpus}

    english = read_prompts("en")
    now_asked = {f"{task} prompt en": Questions(TASKS[task], english, english).prompt_id for task in TASKS}
    labels = read_labels()
    now_asked |= {"sentiment classifier en": labels_id(CLASSIFIER, labels), "ner tagger en": labels_id(TAGGER, labels)}
    assert manifest.asked["swaps"] == now_asked
    with open_run(workspace / "runs" / "older") as store:
        columns = "answer_id, prompt_id, model, setup_id, context_id, entity_id, draw"
        answers = store.sql(f"SELECT {columns} FROM stored_swap_answers").fetchall()
    assert answers
    assert all(answer[0] == content_id(*answer[1:]) for answer in answers)
    vectors = _representation_ids(dataset, setup_id(model_setup(ModelSpec(GPT2, options[GPT2]), "represent")))
    assert vectors == stored["representations"]


def _representation_ids(dataset: Any, setup: str) -> set[str]:
    neutral = Selection(("hi",), (), ("food",), ("neutral",), "causal", 2)
    [job] = scoring_jobs(dataset, GPT2, neutral)
    contexts = sorted(context.context_id for context, _ in job.asked)
    entities = [entity.entity_id for entity in job.asked[0][1]]
    return {content_id(GPT2, setup, contexts, one, layer) for one in entities for layer in ("first", "last")}
