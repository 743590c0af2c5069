"""The step that stores answers from files. It asks no model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from polyculture.cache.parquet import objects_to_table
from polyculture.cache.run_folder import Job
from polyculture.cache.worker import Done, Kept, Step, Work
from polyculture.generate.engines.models import Models
from polyculture.instruments.questions.reading_step import AT_ONCE
from polyculture.instruments.questions.rows import ANSWERS, AnswerRow


class ImportStep(Step[AnswerRow, Models]):
    """Stores answers, each as a row that is ready."""

    name = "import"
    tables = (ANSWERS,)

    def __init__(self, answers: Sequence[AnswerRow]) -> None:
        self._jobs: defaultdict[Job, list[AnswerRow]] = defaultdict(list)
        for answer in answers:
            self._jobs[Job(answer.model, answer.language, answer.topic)].append(answer)

    def works(self) -> Iterator[Work[AnswerRow]]:
        """A work per model, language and topic."""
        for job, some in sorted(self._jobs.items()):
            yield Work(job, {}, partial(iter, some), len(some), f"{job.model} {job.language} {job.topic}")

    def keys(self, item: AnswerRow) -> tuple[str, ...]:
        return (item.answer_id,)

    def ask(self, work: Work[AnswerRow], items: Iterator[AnswerRow], models: Models, kept: Kept) -> Iterator[Done]:
        """Many rows at a time: what a kill loses is in the file."""
        while some := list(islice(items, AT_ONCE)):
            yield Done({ANSWERS.name: objects_to_table(ANSWERS, some)})
