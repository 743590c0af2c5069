"""The command `corpus mine extract`: a model reads windows of text, within the experiment's budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import BudgetError, IncompleteError, JobHeldError, StoreError
from polyculture.cache.files import store_faults
from polyculture.cache.manifest import setup_id
from polyculture.cache.outcome import Outcome
from polyculture.cache.spreadsheet import read_sheet_rows
from polyculture.cli.tables import write_sheet
from polyculture.collect.mining.sheet import COUNT_COLUMNS
from polyculture.collect.mining.window_reading import (
    FAILED,
    LEFT_OUT_COLUMNS,
    LIST_COLUMNS,
    Reader,
    Window,
    WindowAnswer,
    bought_answers,
    cost,
    entity_rows,
    keep,
    kept_answers,
    read_windows,
)
from polyculture.console import say, watch
from polyculture.experiment.file import check_prices
from polyculture.experiment.opening import open_workspace
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import SAMPLING, ModelSpec
from polyculture.generate.engines.setup import model_setup
from polyculture.running.budget import most_cost, within_budget
from polyculture.running.models import load_model

Windows = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the command line names."""

    windows: Path
    experiment: Path
    model: str
    kind: str
    output: Path
    limit: int | None
    runs: Path | None

    @property
    def journal(self) -> Path:
        """The answers, beside the output."""
        return self.output.with_name(f".{self.output.name}.answers.jsonl")


def extract_entities(reading: Reading, *, plan: bool) -> None:
    """Has a model read windows, and writes the entities and what is left out; with `plan`, only says what it would ask.

    Raises `StoreError` for a file that is no list of windows, `IncompleteError` where answers failed that may pass,
    `BudgetError`, after what came is written, where the rest may cost more than the experiment's limit.
    """
    windows = read_sheet_rows(reading.windows, COUNT_COLUMNS, "Give a file of polyculture corpus mine.")[
        : reading.limit
    ]
    if not windows:
        raise StoreError("holds no windows", where=reading.windows, remedy="Give a file of polyculture corpus mine.")
    workspace = open_workspace(reading.experiment, reading.runs)
    check_prices(workspace.experiment, workspace.file, reading.model)
    spec = workspace.experiment.model_spec(reading.model)
    language = read_catalog().language(windows[0]["language"]).name
    reader = Reader(reading.model, setup_id(model_setup(spec, "sample")), language, reading.kind)
    if plan:
        _tell_plan(reading, workspace, spec, reader, _missing(reader, windows, kept_answers(reading.journal)))
        return
    lock = FileLock(f"{reading.journal}.lock", timeout=0)
    try:
        with store_faults(reading.journal), lock:
            _extract(reading, workspace, spec, reader, windows)
    except Timeout as fault:
        raise JobHeldError(f"{reading.output}: another process is at work on it; wait until it has ended") from fault


def _extract(reading: Reading, workspace: Workspace, spec: ModelSpec, reader: Reader, windows: Windows) -> None:
    answers = kept_answers(reading.journal)
    missing = _missing(reader, windows, answers)
    stopped = _ask(reading, workspace, spec, reader, missing, answers) if missing else None
    _write(reading, reader, windows, answers)
    _tell_spent(reading, workspace)
    if stopped is not None:
        raise stopped
    if failed := sum(answer.status == FAILED and answer.retryable for answer in answers.values()):
        raise IncompleteError(f"{failed} windows were not answered; run the same command again")


def _missing(reader: Reader, windows: Windows, answers: dict[str, WindowAnswer]) -> list[Window]:
    """The windows without an answer, each once."""
    return list({key: window for window in windows if (key := reader.key(window)) not in answers}.values())


def _ask(
    reading: Reading,
    workspace: Workspace,
    spec: ModelSpec,
    reader: Reader,
    missing: list[Window],
    answers: dict[str, WindowAnswer],
) -> BudgetError | None:
    """Adds what the model answers to `answers`; returns why it was stopped before the end, if it was."""

    def spent() -> float:
        return cost(bought_answers(reading.journal), workspace.experiment.price) or 0.0

    account = f"mine {reading.journal.resolve()}"
    with load_model(spec, SAMPLING) as engine, watch("windows", len(missing)) as progress:
        try:
            with within_budget(workspace, engine, spec, account, spent) as limited:
                read = keep(reading.journal, read_windows(limited, reader, missing, answers))
                for number, answer in enumerate(read, start=1):
                    answers[answer.key] = answer
                    progress(Outcome(number, 0))
        except BudgetError as fault:
            return fault
    return None


def _write(reading: Reading, reader: Reader, windows: Windows, answers: dict[str, WindowAnswer]) -> None:
    entities, left_out = entity_rows(windows, reader, answers)
    write_sheet(reading.output, LIST_COLUMNS, entities)
    beside = reading.output.with_name(f"{reading.output.stem}.left-out.csv")
    write_sheet(beside, LEFT_OUT_COLUMNS, left_out)
    read = len(windows) - len(left_out)
    say(f"Wrote {reading.output}: {len(entities)} entities in {read} of {len(windows)} windows")
    if left_out:
        reasons = Counter(row[3] or row[2] for row in left_out)
        told = "; ".join(f"{reason}: {number}" for reason, number in reasons.most_common())
        say(f"Wrote {beside}: {told}")


def _tell_spent(reading: Reading, workspace: Workspace) -> None:
    bought = list(bought_answers(reading.journal))
    tokens = sum((answer.prompt_tokens or 0) + (answer.completion_tokens or 0) for answer in bought)
    spent = cost(bought, workspace.experiment.price)
    price = f"{spent:.4f} by the prices of {reading.experiment.name}" if spent is not None else "no price is known"
    say(f"All answers so far: {tokens:,} tokens; {price}")


def _tell_plan(reading: Reading, workspace: Workspace, spec: ModelSpec, reader: Reader, missing: list[Window]) -> None:
    """Says how many windows would be asked, and the most that they may cost."""
    say(f"{reading.output}: {len(missing)} windows to ask, of {spec.model}")
    costs = [most_cost(workspace, spec, reader.request(window)) for window in missing]
    known = [one for one in costs if one is not None]
    if len(known) < len(costs):
        say(f'no price is known: add [prices."{spec.model}"] to {reading.experiment.name}')
        return
    limit = workspace.experiment.max_cost
    say(f"they cost {sum(known):.4f} at most{f'; max_cost is {limit:g}, for all of the run' if limit else ''}")
