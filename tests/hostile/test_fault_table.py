"""The table of faults: each kind is known, and the reasons of the view `failures` name their failures."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from polyculture.cache.store import sql_file
from polyculture.cache.work.faults import FaultKind, RetryFailed, fault_table, kind_of, kind_of_error
from polyculture.generate.engines.error_body import NO_REASON

TABLE = fault_table()


PASSING = {401, 402, 403, 404, 405, 407, 408, 409, 410, 421, 423, 425, 429}


def test_only_a_request_s_own_faults_are_final() -> None:
    for status in range(300, 600):
        own = 400 <= status < 500 and status not in PASSING
        with_reason, without = (
            kind_of(status, message=f"HTTP {status}: {words}") for words in ("no such option", NO_REASON)
        )
        assert with_reason.final == own, status
        assert not without.final, f"{status}: a server that gives no reason may be a proxy"
        assert "other" not in (with_reason.name, without.name), status


CODES = [
    (400, "content_filter", "content policy", True),
    (400, "context_length_exceeded", "context length", True),
    (429, "insufficient_quota", "payment", False),
    (403, "insufficient_balance", "payment", False),
    (400, "invalid_api_key", "key", False),
    (400, "model_not_found", "not found", False),
    (400, None, "bad request", True),
    (503, None, "server error", False),
]


@pytest.mark.parametrize(("status", "code", "name", "final"), CODES)
def test_the_servers_code_decides_before_its_status(status: int, code: str | None, name: str, final: bool) -> None:
    kind = kind_of(status, [code], f"HTTP {status}: no words help")
    assert (kind.name, kind.final) == (name, final)


# What servers, proxies and the files that the table names write.
WORDS = [
    ("HTTP 503: Loading model", "loading"),
    ("HTTP 503: Model bigscience/bloom is currently loading", "loading"),
    ("a web page (HTML)", "web page"),
    ("lines of JSON, as Ollama's own API streams them", "another api"),
    ("no answer in time", "connection"),
    ("the answer is larger than 64 MiB", "too large"),
    ("batch_expired: This request could not be executed before the completion window expired.", "batch ended"),
    ("batch batch_1 is gone", "lost batch"),
    ("the model in this process stopped: out of memory", "in this process"),
    ("the answer is not a complete chat completion: no answer in a known form: it has utterance", "no completion"),
    ("the answer has no list of mentions", "unusable answer"),
]


@pytest.mark.parametrize(("error", "name"), WORDS)
def test_the_reason_in_a_row_says_its_kind(error: str, name: str) -> None:
    assert kind_of_error(error).name == name


def shown_reasons(errors: Sequence[str | None]) -> list[str]:
    """Reasons as the view `failures` has them."""
    macros = Path(sql_file.__file__).with_name("failures.sql").read_text(encoding="utf-8").split("-- failed:")[0]
    with duckdb.connect() as store:
        store.execute(macros)
        store.execute("CREATE TABLE told (place BIGINT, error VARCHAR)")
        store.executemany("INSERT INTO told VALUES (?, ?)", list(enumerate(errors)))
        return [row for (row,) in store.sql("SELECT plain_reason(error) FROM told ORDER BY place").fetchall()]


def test_ids_times_and_quotations_do_not_make_another_reason() -> None:
    told = [
        "HTTP 400: request req_81af at 2026-11-23T07:03:29Z: 'Was isst man?' is no \"seed\" of 7",
        "HTTP 400: request req_9c-2 at Mon, 23 Nov 2026 07:03: 'هندی' is no \"top_k\" of 12345",
        "HTTP 400: no seed",
        "HTTP 400: no top_k",
    ]
    one, other, *named = shown_reasons(told)
    assert one == other
    assert named == told[2:]
    assert kind_of_error("HTTP 429: insufficient_quota: You exceeded your quota").name == "payment"


def test_a_reason_in_any_language_is_whole() -> None:
    told = [
        "HTTP 402: Crédit insuffisant", "HTTP 402: Überprüfen Sie Ihr Guthaben", "HTTP 402: 余额不足",
        "HTTP 402: DeepSeek 余额不足", "insufficient_balance: Недостаточно средств",
    ]  # fmt: skip
    assert shown_reasons([*told, "it cannot read हिन्दी भाषा here"]) == [*told, "it cannot read … here"]


def test_a_reason_of_the_view_names_its_failures() -> None:
    """Strings of everything that the expressions look for, in any order."""
    draw = random.Random(1)
    letters = "abc 19'\"`{[<:=,éの-_./T(Mon)Febr HTTP 400: req id —д語ß\\"
    told = ["", None, "HTTP 500: x", "x" * 400, *("".join(draw.choices(letters, k=k % 160)) for k in range(4000))]
    told += ["HTTP 4" + "".join(draw.choices(letters, k=k % 160)) for k in range(1000)]
    for error, shown in zip(told, shown_reasons(told), strict=True):
        assert not shown or RetryFailed(shown).names(error), (error, shown)
    assert not RetryFailed("HTTP 400: no # of #").names("HTTP 400: no seed")


@pytest.mark.parametrize("kind", TABLE.kinds, ids=lambda kind: kind.name)
def test_every_kind_says_what_to_do(kind: FaultKind) -> None:
    assert kind.remedy.format(url="http://x/v1", key="Set KEY.")[0].isupper()
    assert kind.remedy.endswith((".", "{key}"))
    assert kind.says
    assert not (kind.final and kind.waits)
    assert kind.codes or kind.statuses or kind.words or kind is TABLE.kinds[-1]
    assert kind_of_error(None) is TABLE.kinds[-1]
