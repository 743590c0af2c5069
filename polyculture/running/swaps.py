"""The stages of `polyculture sentiment`, `qa` and `ner` in order: ask, measure. They are called here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polyculture.instruments.swaps
from polyculture.running.steps import StepRunner
from polyculture.running.validity import Setups, make_present

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.swaps.selection import SwapJob
    from polyculture.instruments.swaps.step import Answerers

TABLE = Path(polyculture.instruments.swaps.__file__).with_name("table.sql")
TITLES = {
    "sentiment": "Sentiment of texts with swapped entities",
    "qa": "Extractive question answering with swapped entities: exact match",
    "ner": "Named-entity tagging with swapped entities: exact spans",
}


@dataclass(kw_only=True)
class Swaps(StepRunner):
    """An experiment whose models answer about texts with swapped entities, and what has become of it here."""

    task: str

    def prepare(self, prompt_ids: Mapping[str, str], instrument: str, setups: Setups, dataset: DataSet) -> None:
        """Makes the prompts, by language, those whose answers count, and the rest the run's present ones."""
        asked = {f"{self.task} {instrument} {language}": prompt_id for language, prompt_id in prompt_ids.items()}
        make_present(self.workspace, "answer", setups, dataset, swap_prompts=asked)

    def ask(self, jobs: Sequence[SwapJob], answerers: Answerers) -> None:
        """Asks what is missing; a model is opened once, and only if it has something to do."""
        from polyculture.instruments.swaps.step import SwapStep

        self.run_step(SwapStep(self.task, jobs, answerers), tell_settled=False)

    def measure(self) -> None:
        """Computes the rates with their intervals, and prints the task's table."""
        from polyculture.cli.tables import print_query
        from polyculture.instruments.swaps.measure import measure_swaps

        measure_swaps(self.workspace.run)
        print_query(self.workspace.run, TABLE, f"{TITLES[self.task]} (95 % interval)", task=self.task)
