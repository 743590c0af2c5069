"""Extractions that are paid for already: an extractor's answer about a text belongs to the text.

What an extractor model is asked about a response is the text, the topic's kinds and the language, and nothing else. So
its answer holds for every response of a job with the same text, whoever sampled it, in this run and in those beside it.
It is found by the request, and read here, by the present reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from polyculture.cache.answers import sibling_parts
from polyculture.cache.catalog import Topic
from polyculture.cache.database import memory_database
from polyculture.cache.inflection import NO_ENDINGS, Endings
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.schema import EXTRACTIONS
from polyculture.cache.shards import part_files
from polyculture.extract.answer import UnusableAnswerError
from polyculture.extract.base import Extracted
from polyculture.extract.reading import read_raw


def find_extractions(
    run: RunFolder,
    job: Job,
    texts: Mapping[str, str],
    asked_ids: Sequence[str],
    model: str,
    topic: Topic,
    endings: Endings = NO_ENDINGS,
) -> Iterator[Extracted]:
    """The outcome for each of the texts, by response, that `model` has answered about. Failures are not taken over.

    `asked_ids` are the requests about the texts, in their order.
    """
    own = part_files(run.shards(EXTRACTIONS.name, job))
    files = [*own, *(file for _, file in sibling_parts(run, job, EXTRACTIONS))] if texts else []
    if not files:
        return
    asked = pa.table({"response_id": list(texts), "asked_id": list(asked_ids)})
    query = Path(__file__).with_name("sharing.sql").read_text(encoding="utf-8")
    with memory_database() as connection:
        connection.register("wanted", asked)
        answers = connection.sql(query, params={"files": [str(file) for file in files]}).fetchall()
    for response_id, raw, finish_reason, attempts, read, written in answers:
        try:
            found = read_raw(raw, finish_reason, texts[response_id], topic, job.language, endings)
        except UnusableAnswerError:
            continue
        yield Extracted(
            response_id, "ok", found.mentions, attempts, raw=raw, prompt_tokens=read, completion_tokens=written,
            extractor_model=model, finish_reason=finish_reason, note=found.note,
        )  # fmt: skip
