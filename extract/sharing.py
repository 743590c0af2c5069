"""Extractions that are paid for already: an extractor's answer about a text belongs to the text.

What an extractor model is asked about a response is the text, the topic's kinds and the language, and nothing else. So
its answer holds for every response of a job with the same text, in this run and in those beside it; equal texts of two
models belong to two jobs, and each is asked about. It is found by the request, and read here, by the present reader:
mended rules never buy an answer again. That holds of the body of an answer, too, in which nobody could read a text when
it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from polyculture.cache.catalog import Topic
from polyculture.cache.database import memory_database
from polyculture.cache.store.answers import sibling_parts
from polyculture.cache.store.layout import Table
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.schema import EXTRACTIONS, Extraction
from polyculture.cache.store.shards import part_files
from polyculture.cache.text.inflection import NO_ENDINGS, Endings
from polyculture.extract.answer import UnusableAnswerError
from polyculture.extract.base import Extracted
from polyculture.extract.reading import read_raw
from polyculture.generate.engines.answer import NO_ANSWER
from polyculture.generate.engines.kept_answers import read_kept


def find_extractions(
    run: RunFolder,
    job: Job,
    texts: Mapping[str, str],
    asked_ids: Sequence[str],
    topic: Topic,
    endings: Endings = NO_ENDINGS,
    table: Table[Extraction] = EXTRACTIONS,
) -> Iterator[Extracted]:
    """The known outcome for each of the texts, by response: an answer that the present reader understands, or
    where it understands none, a failure of this run that asking again would repeat.

    `asked_ids` are the requests about the texts, in their order.
    """
    own = part_files(run.shards(table.name, job)) if texts else []
    files = [*own, *(file for _, file in sibling_parts(run, job, table))] if texts else []
    if not files:
        return
    asked = pa.table({"response_id": list(texts), "asked_id": list(asked_ids)})
    query = Path(__file__).with_name("sharing.sql").read_text(encoding="utf-8")
    with memory_database() as connection:
        connection.register("wanted", asked)
        found = connection.sql(query, params={"files": [*map(str, files)], "own": [*map(str, own)]})
        rows = [Extracted(**dict(zip(found.columns, row, strict=True))) for row in found.fetchall()]
    for response_id, answers in groupby(rows, key=lambda row: row.response_id):
        known = read_known(answers, texts[response_id], topic, job.language, endings)
        if known is not None:
            yield known


def read_known(
    answers: Iterable[Extracted], text: str, topic: Topic, language: str, endings: Endings = NO_ENDINGS
) -> Extracted | None:
    """What the present reader makes of the answers about a text; None where another answer is still to come.

    Of answers that the token limit cut, the one with most mentions is the outcome where no whole answer can be read and
    no other is to come.
    """
    failed: Extracted | None = None
    settled: Extracted | None = None
    partial: Extracted | None = None
    for answer in answers:
        if settled is None and answer.status == "failed" and answer.retryable is False:
            settled = answer
        if (came := read_kept(answer.body)) is not None:
            words = came.text if came.raw is None else came.raw
            answer = replace(answer, raw=words, ending=came.ending, finish_reason=came.ending_raw, body=None)
        if answer.raw is None or (answer.error or "").startswith(NO_ANSWER):
            continue
        try:
            read = read_raw(answer.raw, answer.finish_reason, text, topic, language, endings)
        except UnusableAnswerError as fault:
            failed = replace(answer, status="failed", error=str(fault), retryable=False)
            settled = settled or (failed if answer.status == "ok" else None)
            continue
        if not read.cut:
            return read.result(answer)
        if partial is None or len(read.mentions) > len(partial.mentions):
            partial = read.result(answer)
        settled = settled or (partial if answer.status == "ok" else None)
    return settled and (partial or failed or settled)
