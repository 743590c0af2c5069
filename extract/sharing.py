"""Extractions that neighbouring runs have paid for: an extractor's answer about a text belongs to the text.

What an extractor model is asked about a response is the text, the topic's kinds and the language, and nothing else. So
its answer holds for every response of a job with the same text, whoever sampled it. The answer is taken over and read
here, by the present reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from polyculture.cache.answers import sibling_parts
from polyculture.cache.catalog import Topic
from polyculture.cache.database import connect
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import EXTRACTIONS, RESPONSES
from polyculture.extract.answer import UnusableAnswerError
from polyculture.extract.base import Extracted
from polyculture.extract.reading import read_raw


@dataclass(frozen=True, slots=True)
class WantedText:
    """A text to extract mentions from, and the response that it stands in."""

    response_id: str
    text: str


def find_extractions(
    run: RunFolder, job: Job, wanted: Sequence[WantedText], extractor_id: str, model: str, topic: Topic
) -> Iterator[Extracted]:
    """The outcome for each wanted text that `model` has read for a neighbouring run. Failures are not taken over."""
    texts = {one.response_id: one.text for one in wanted}
    for response_id, raw, finish_reason, attempts, read, written in _answers(run, job, wanted, extractor_id):
        try:
            found = read_raw(raw, finish_reason, texts[response_id], topic, job.language)
        except UnusableAnswerError:
            continue
        yield Extracted(
            response_id, "ok", found, attempts, raw=raw, prompt_tokens=read, completion_tokens=written,
            extractor_model=model, finish_reason=finish_reason,
        )  # fmt: skip


def _answers(
    run: RunFolder, job: Job, wanted: Sequence[WantedText], extractor_id: str
) -> list[tuple[str, str, str | None, int, int | None, int | None]]:
    extracted = sibling_parts(run, job, EXTRACTIONS) if wanted else []
    responses = sibling_parts(run, job, RESPONSES) if extracted else []
    if not responses:
        return []
    files = [(str(file), str(one.root)) for one, file in [*extracted, *responses]]
    told = {
        "extractions": [str(file) for _, file in extracted],
        "responses": [str(file) for _, file in responses],
        "extractor": extractor_id,
    }
    query = Path(__file__).with_name("sharing.sql").read_text(encoding="utf-8")
    with connect() as connection:
        connection.register("wanted", pa.table({name: [getattr(one, name) for one in wanted] for name in _WANTED}))
        connection.register("files", pa.table(dict(zip(("file", "run"), zip(*files, strict=True), strict=True))))
        return [tuple(row) for row in connection.sql(query, params=told).fetchall()]


_WANTED = ("response_id", "text")
