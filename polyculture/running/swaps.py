"""The stages of `polyculture sentiment`, `qa` and `ner` in order: ask, measure. They are called here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import polyculture.instruments.swaps
from polyculture.experiment.workspace import Workspace
from polyculture.running.job_runner import Attempts
from polyculture.running.loading import load_model
from polyculture.running.validity import Setups, make_present

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.swaps.asking import Asker, Questions
    from polyculture.instruments.swaps.selection import SwapJob

TABLE = Path(polyculture.instruments.swaps.__file__).with_name("table.sql")
TITLES = {
    "sentiment": "Sentiment of texts with swapped entities",
    "qa": "Extractive question answering with swapped entities: exact match",
    "ner": "Named-entity tagging with swapped entities: exact spans",
}


@dataclass
class Swaps(Attempts):
    """An experiment whose models answer about texts with swapped entities, and what has become of it here."""

    workspace: Workspace
    task: str

    def prepare(self, prompt_ids: Mapping[str, str], instrument: str, setups: Setups, dataset: DataSet) -> None:
        """Makes the prompts, by language, those whose answers count, and the rest the run's present ones."""
        asked = {f"{self.task} {instrument} {language}": prompt_id for language, prompt_id in prompt_ids.items()}
        make_present(self.workspace, "answer", setups, dataset, swap_prompts=asked)

    def ask(self, jobs: Sequence[SwapJob], questions: Mapping[str, Questions]) -> None:
        """Asks what is missing; a model is opened once, and only if it has something to do."""
        from polyculture.instruments.swaps.asking import PromptAsker
        from polyculture.running.budget import open_budget

        for model, group in groupby(jobs, key=lambda swap: swap.job.model):
            left = [swap for swap in group if not self._is_done(swap, questions[swap.job.language].prompt_id)]
            if not left:
                continue
            with (
                open_budget(self.workspace) as budget,
                load_model(self.workspace.experiment.model_spec(model)) as engine,
            ):
                for swap in left:
                    paid = budget.engine(engine, model, "swap", swap.job)
                    self._answer(swap, PromptAsker(paid, questions[swap.job.language]))

    def label(self, jobs: Sequence[SwapJob], prompt_id: str, open_asker: Callable[[], Asker]) -> None:
        """Lets a model of the task answer what is missing; it is opened only if there is something to do."""
        left = [swap for swap in jobs if not self._is_done(swap, prompt_id)]
        if left:
            asker = open_asker()
            for swap in left:
                self._answer(swap, asker)

    def measure(self) -> None:
        """Computes the rates with their intervals, and prints the task's table."""
        from polyculture.cli.tables import print_query
        from polyculture.instruments.swaps.measure import measure_swaps

        measure_swaps(self.workspace.run)
        print_query(self.workspace.run, TABLE, f"{TITLES[self.task]} (95 % interval)", task=self.task)

    def _is_done(self, swap: SwapJob, prompt_id: str) -> bool:
        from polyculture.instruments.swaps.stage import settled

        return self.is_done(self._label(swap), swap.job, partial(settled, self.workspace.run, swap, prompt_id))

    def _answer(self, swap: SwapJob, asker: Asker) -> None:
        from polyculture.instruments.swaps.stage import swap_job

        self.do(self._label(swap), swap.job, swap.size, partial(swap_job, self.workspace.run, swap, asker))

    def _label(self, swap: SwapJob) -> str:
        return f"{self.task} {swap.job.model} {swap.job.language} {swap.job.topic.partition('-')[2]}"
