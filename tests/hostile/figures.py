"""`bench/results/hostile_servers.csv`: what became of every mode of the fault server, counted in a run of its own.

    python -m tests.hostile.figures

Each mode meets the command line twice: without a limit, followed by a run against the honest server; and with one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pytest

from bench.results import keep
from tests.hostile import modes
from tests.hostile.fault_server import TEXT, FaultServer, Mode
from tests.hostile.test_faults import LIMIT, PROMPTS, RESERVED, SAMPLES, cost, rows, write
from tests.polyculture.test_command_line import polyculture

GROUPS: dict[str, Iterable[str]] = {
    "too slow": modes.SLOW,
    "too large": modes.LARGE,
    "no HTTP": modes.BROKEN,
    "badly compressed": modes.ENCODED,
    "no chat completion": modes.USELESS,
    "the same, billed": modes.BILLED,
    "broken within": modes.WHOLE,
    "impossible counts": modes.NONSENSE,
    "missing counts": modes.UNCOUNTED,
    "counts in other forms": modes.COUNTED,
    "writes too much": modes.SPENDERS,
    "statuses": modes.STATUSES,
}


@dataclass(frozen=True)
class Figures:
    """Counts over modes, and the money by which the worst of them passed the limit, in reservations."""

    modes: int = 0
    tried: int = 0  # requests that were answered so
    rows: int = 0  # that came of them
    lost: int = 0  # whole answers that are in no row
    double: int = 0  # rows twice, or kept answers that were asked for again
    wrong: int = 0  # rows with another text than was sent
    tracebacks: int = 0
    beyond: float = 0.0  # how far the server's bill passed the limit, in answers' worth

    def __add__(self, other: Figures) -> Figures:
        names = [field.name for field in fields(self) if field.name != "beyond"]
        return Figures(
            **{name: getattr(self, name) + getattr(other, name) for name in names},
            beyond=max(self.beyond, other.beyond),
        )


def measure(mode: Mode, server: FaultServer) -> Figures:
    """One mode."""
    with tempfile.TemporaryDirectory() as free, tempfile.TemporaryDirectory() as limited:
        return _without_limit(mode, server, Path(free)) + _with_limit(mode, server, Path(limited))


def _without_limit(mode: Mode, server: FaultServer, folder: Path) -> Figures:
    server.begin(mode)
    first = polyculture("run", "--only", "generate", write(folder, server, slow=mode.name in modes.SLOW), cwd=folder)
    tried, before = len(server.asked), {row["response_id"]: row for row in rows(folder)}
    server.begin(modes.MODES["an honest answer"])
    again = polyculture("run", "--only", "generate", write(folder, server), cwd=folder)
    after = rows(folder)
    kept = {key for key, row in before.items() if row["status"] == "ok" or not row["retryable"]}
    sent = TEXT if mode.text is None else mode.text
    return Figures(
        modes=1,
        tried=tried,
        rows=len(before),
        lost=PROMPTS - sum(row["status"] == "ok" for row in before.values()) if mode.rows == "ok" else 0,
        double=len(after)
        - len({row["response_id"] for row in after})
        + max(0, len(server.asked) + len(kept) - PROMPTS),
        wrong=sum(row["text"] not in (None, sent) for row in before.values()),
        tracebacks=sum("Traceback" in result.stderr for result in (first, again)),
    )


def _with_limit(mode: Mode, server: FaultServer, folder: Path) -> Figures:
    server.begin(mode)
    file = write(folder, server, LIMIT, n=SAMPLES, slow=mode.name in modes.SLOW)
    result = polyculture("run", "--only", "generate", file, cwd=folder)
    bills, found = cost(server), rows(folder)
    answered = len(server.asked) if mode.rows == "ok" else 0
    return Figures(
        tried=len(server.asked),
        rows=len(found),
        lost=max(0, answered - len(found)),
        tracebacks=int("Traceback" in result.stderr),
        beyond=max(0.0, (sum(bills) - LIMIT) / max(RESERVED, *bills)) if bills else 0.0,
    )


HEAD = (
    "| answers | modes | tried | rows | lost | double | wrong | tracebacks | beyond `max_cost`, in answers |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)


def line(name: str, found: Figures) -> str:
    """A row of a Markdown table."""
    counts = " | ".join(str(getattr(found, field.name)) for field in fields(found) if field.name != "beyond")
    return f"| {name} | {counts} | {found.beyond:.2f} |"


def main() -> None:
    """Prints the table, group by group."""
    found: list[Figures] = []
    print(*HEAD, sep="\n", flush=True)
    with FaultServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("polyculture.cache.work.outage.LONGEST_WAIT", 0.01)
        patch.setattr("polyculture.generate.engines.openai.transport.MOST_BYTES", modes.MOST)
        for group, names in GROUPS.items():
            found.append(sum((measure(modes.MODES[name], server) for name in names), Figures()))
            print(line(group, found[-1]), flush=True)
            keep("hostile_servers", "Answers of servers", group, asdict(found[-1]))
    print(line("all", sum(found, Figures())))
    keep("hostile_servers", "Answers of servers", "all", asdict(sum(found, Figures())))


if __name__ == "__main__":
    main()
