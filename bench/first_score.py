"""Where the time goes before the first pair of `polyculture cbs` is scored, in seconds of wall clock and of CPU.

    python -m bench.first_score MODEL [--data camellia] [--folder FOLDER] [--contexts 4] [--entities 10]

MODEL is a name, a folder or a GGUF file for the `transformers` engine. The command runs in this process and ends with
the first score. A phase holds its own time: what another phase inside it took is counted there. The last column says
who can change it: `ours`, or `model` for what transformers needs to load it, which a GGUF file makes long.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DATA = Path(__file__).parents[2] / "shared" / "data" / "camellia"
SMALLEST = ("{model}", "--folder", "{data}/camellia", "--contexts", "1", "--entities", "2")
OURS, MODEL = "ours", "model"
# Functions that are phases: who can change it, its name, the module, and the function in it.
PHASES = (
    (OURS, "read the experiment", "polyculture.experiment.workspace", "open_workspace"),
    (OURS, "read the sheets", "polyculture.instruments.datasets.load", "load"),
    (OURS, "choose contexts and entities, plan jobs", "polyculture.running.studies", "Question.study"),
    (OURS, "check setups, write what counts", "polyculture.running.studies", "check_setups"),
    (OURS, "check setups, write what counts", "polyculture.running.studies", "Question.make_valid"),
    (OURS, "open the store", "polyculture.running.steps", "StepRunner.recover"),
    (OURS, "open the store", "polyculture.cache.worker", "read_state"),
    (MODEL, "tokenizer, weights: the rest", "polyculture.generate.engines.transformers.engine", "load"),
    (OURS, "probe the tree mask", "polyculture.generate.engines.transformers.causal", "tree_fits"),
    (OURS, "tokenise pairs", "polyculture.generate.engines.token_boundary", "_Reader.__init__"),
    (OURS, "tokenise pairs", "polyculture.generate.engines.token_boundary", "_Reader.read"),
    (OURS, "first pass of the model", "polyculture.generate.engines.transformers.tree", "TreePasses.run"),
)
LOADERS = (
    (MODEL, "load the settings", "AutoConfig"),
    (MODEL, "load the weights", "AutoModelForCausalLM"),
    (MODEL, "load the tokenizer", "AutoTokenizer"),
)


class FirstScoreError(Exception):
    """The first score is there."""


class Clock:
    """Seconds of wall clock and of CPU per phase; time inside another phase belongs to that one alone."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str], tuple[float, float]] = {}
        self._open: list[tuple[str, str]] = [(OURS, "the rest")]
        self._since = self._now()

    @contextmanager
    def phase(self, who: str, name: str) -> Iterator[None]:
        self._turn()
        self._open.append((who, name))
        try:
            yield
        finally:
            self._turn()
            self._open.pop()

    def _turn(self) -> None:
        now = self._now()
        wall, cpu = self.seconds.get(self._open[-1], (0.0, 0.0))
        self.seconds[self._open[-1]] = (wall + now[0] - self._since[0], cpu + now[1] - self._since[1])
        self._since = now

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def timed(self, who: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def inside(*values: Any, **named: Any) -> Any:
            with self.phase(who, name):
                found = function(*values, **named)
                # The whole of a generator is its phase; only the first score counts here.
                return iter(list(found)) if isinstance(found, Iterator) else found

        return inside


def watch_phases(clock: Clock) -> None:
    """Replaces each phase's function by one that is timed, and the first score by the end."""
    for who, name, module, path in PHASES:
        *owners, attribute = path.split(".")
        owner = import_module(module)
        for step in owners:
            owner = getattr(owner, step)
        setattr(owner, attribute, clock.timed(who, name, getattr(owner, attribute)))
    _watch_loaders(clock)

    def end(*_: Any) -> None:
        raise FirstScoreError

    import_module("polyculture.instruments.cbs.step").score_row = end  # type: ignore[attr-defined]


def _watch_loaders(clock: Clock) -> None:
    transformers = import_module("transformers")
    for who, name, kind in LOADERS:
        loader = getattr(transformers, kind)
        loader.from_pretrained = clock.timed(who, name, loader.from_pretrained)


def experiment(folder: Path, model: str) -> Path:
    file = folder / "first_score.toml"
    file.write_text(f'name = "first"\nmodels = ["transformers:{model}"]\n', encoding="utf-8")
    return file


def main() -> None:
    """Prints a line per phase and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", default="camellia")
    parser.add_argument("--folder", type=Path, default=DATA)
    parser.add_argument("--contexts", default="4")
    parser.add_argument("--entities", default="10")
    asked = parser.parse_args()
    clock = Clock()
    with clock.phase(OURS, "import the command line"):
        from polyculture.cli.app import app
        from polyculture.generate.engines import ModelSpec
        from polyculture.generate.engines.transformers.loading import check_installed

    check_installed(ModelSpec(f"transformers:{asked.model}"))
    with clock.phase(MODEL, "import torch and transformers"):
        import_module("torch")
        for _, _, kind in LOADERS:
            getattr(import_module("transformers"), kind)
        import_module("transformers.modeling_utils")
    with clock.phase(OURS, "import the instrument and the engine"):
        import_module("polyculture.instruments.cbs.selection")
        watch_phases(clock)
    with TemporaryDirectory() as folder, suppress(FirstScoreError):
        os.chdir(folder)
        chosen = ["--contexts", asked.contexts, "--entities", asked.entities]
        where = ["--data", asked.data, "--folder", str(asked.folder.resolve()), "--runs", folder]
        app(["cbs", str(experiment(Path(folder), asked.model)), *where, *chosen], standalone_mode=False)
    with clock.phase(OURS, "the rest"):
        write(clock)


def write(clock: Clock) -> None:
    """Prints a line per phase: its name, seconds of wall clock, seconds of CPU, and who can change it."""
    for (who, name), seconds in clock.seconds.items():
        write_line(name, [seconds], who)
    for who in (OURS, MODEL):
        write_line("sum", [seconds for (other, _), seconds in clock.seconds.items() if other == who], who)


def write_line(name: str, seconds: Sequence[tuple[float, float]], who: str) -> None:
    wall, cpu = map(sum, zip(*seconds, strict=True))
    sys.stdout.write(f"{name:44} {wall:7.1f} {cpu:7.1f}  {who}\n")


if __name__ == "__main__":
    main()
