"""The modes of the fault server: what each does, and what must come of it. One table, in the order of the groups."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from tests.hostile.fault_server import COMPLETION_TOKENS, HONEST, PROMPT_TOKENS, TEXT, Call, Mode, answer, dumps, head

DEADLINE = 0.4  # seconds that the tests allow for an answer
MOST = 1 << 18  # bytes that they allow
_GOOD = dumps(answer())
Does = Callable[[Call], Awaitable[None]]


def free(_call: Call) -> tuple[int, int]:
    """Nothing is billed: the server refused, or never read the request."""
    return (0, 0)


def honest(_call: Call) -> tuple[int, int]:
    """What an honest answer costs."""
    return (PROMPT_TOKENS, COMPLETION_TOKENS)


def body(content: bytes, **more: Any) -> Does:
    """Answers with these bytes."""
    return lambda call: call.reply(content, **more)


def raw(*pieces: bytes) -> Does:
    """Sends these bytes as they are, then hangs up."""

    async def send(call: Call) -> None:
        for piece in pieces:
            await call.send(piece)

    return send


def forever(start: bytes, piece: bytes, wait: float = 0.0) -> Does:
    """Sends a beginning, then a piece again and again."""

    async def send(call: Call) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield start
            while True:
                await asyncio.sleep(wait)
                yield piece

        await call.drip(pieces())

    return send


async def _byte_by_byte(call: Call) -> None:
    await call.send(head(length=len(_GOOD)))
    for position in range(len(_GOOD)):
        await call.send(_GOOD[position : position + 1])
        await asyncio.sleep(0.05)


async def _silent(_call: Call) -> None:
    await asyncio.sleep(30)


async def _then_silent(call: Call) -> None:
    await call.send(head(length=len(_GOOD)) + _GOOD[:20])
    await asyncio.sleep(30)


async def _reset(call: Call, sent: bytes = b"") -> None:
    await call.send(sent)
    call.writer.transport.abort()


async def _redirect_to_itself(call: Call) -> None:
    await call.reply(b"", 307, location=f"{call.url}/chat/completions")


def _bomb(size: int) -> bytes:
    return gzip.compress(b" " * size + _GOOD, 9)


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


_CHUNKED = head(transfer_encoding="chunked")


async def _late_chunk(call: Call) -> None:
    await call.send(_CHUNKED)
    await asyncio.sleep(0.05)
    await call.send(b"zz\r\n" + _GOOD)


# A server that takes its time. Every answer is cut off at the deadline, and asked again by a later run only.
SLOW: dict[str, Does] = {
    "a byte every 50 ms": _byte_by_byte,
    "no answer": _silent,
    "headers, then silence": _then_silent,
    "blanks to keep the connection": forever(head(length=10**9), b" ", 0.02),
    "blanks in chunks": forever(_CHUNKED, _chunk(b" "), 0.02),
    "a chunk that is none, after the headers": _late_chunk,
    "headers without end": forever(b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n", 0.02),
    "interim answers without end": forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.005),
    "an event stream that nobody asked for": forever(head(kind="text/event-stream"), b"data: {}\n\n", 0.02),
    "an error that drips": forever(head(500, length=10**6), b" ", 0.02),
    "too many requests, told byte by byte": forever(head(429, length=10**6), b" ", 0.02),
    "a redirection with a body that drips": forever(
        head(307, length=10**6, location="/v1/chat/completions"), b" ", 0.02
    ),
}

# A server that sends too much, before or after decompression: the same.
LARGE: dict[str, Does] = {
    "a body beyond the bound": body(b" " * (MOST + 1) + _GOOD),
    "a body without a length": forever(head(), b" " * 65536),
    "chunks without end": forever(_CHUNKED, _chunk(b" " * 65536)),
    "a gzip bomb": body(_bomb(300 * MOST), content_encoding="gzip"),
    "a deflate bomb": body(zlib.compress(b" " * 300 * MOST), content_encoding="deflate"),
    "an error beyond the bound": body(b" " * (MOST + 1), status=400),
    "gzip blocks that hold nothing": forever(
        head(content_encoding="gzip") + gzip.compress(b"")[:10], b"\x00\x00\x00\xff\xff" * 10_000
    ),
}

# Bytes that are no whole HTTP answer, or none that can be read. Asked again at once: connections do break.
BROKEN: dict[str, Does] = {
    "a reset before the answer": _reset,
    "a reset within the headers": partial(_reset, sent=b"HTTP/1.1 200 OK\r\nconte"),
    "a reset within the body": partial(_reset, sent=head(length=len(_GOOD)) + _GOOD[:40]),
    "a body that is cut": raw(head(length=len(_GOOD)) + _GOOD[:40]),
    "no status line": raw(b"hello, this is no HTTP\r\n\r\n"),
    "a status that is no number": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a header of a megabyte": raw(b"HTTP/1.1 200 OK\r\nx-long: " + b"x" * 10**6 + b"\r\n\r\n"),
    "ten thousand headers": raw(b"HTTP/1.1 200 OK\r\n" + b"x-many: 1\r\n" * 10_000 + b"\r\n"),
    "a length below zero": raw(b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n", _GOOD),
    "a length that is no number": raw(b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", _GOOD),
    "two lengths": raw(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\n", _GOOD),
    "a chunk that is none": raw(_CHUNKED + b"zz\r\n" + _GOOD),
    "a NUL in a header": raw(b"HTTP/1.1 200 OK\r\nx-nul: a\0b\r\ncontent-length: 2\r\n\r\n{}"),
}

# A body that cannot be decompressed, or not by anything that was asked for.
ENCODED: dict[str, Does] = {
    "gzip that is none": body(_GOOD, content_encoding="gzip"),
    "gzip that is cut": body(gzip.compress(_GOOD)[:-12], content_encoding="gzip"),
    "gzip in gzip": body(gzip.compress(_bomb(100)), content_encoding="gzip, gzip"),
    "brotli that nobody asked for": body(b"\x0b\x02\x80hello\x03", content_encoding="br"),
    "an encoding that does not exist": body(_GOOD, content_encoding="x" * 500),
}

# JSON that is no chat completion. Without a usage it is asked again at once.
USELESS: dict[str, bytes] = {
    "nothing": b"",
    "JSON that is cut": _GOOD[:60],
    "words": b"the model is on holiday",
    "null": b"null",
    "a number": b"5",
    "a text": b'"hello"',
    "a list": b"[]",
    "an empty table": b"{}",
    "two answers": _GOOD + _GOOD,
    "a hundred thousand brackets": b"[" * 100_000,
    "a number of 10,000 digits": b'{"choices": ' + b"9" * 10_000 + b"}",
    "UTF-16": json.dumps(answer()).encode("utf-16"),
    "choices that are null": dumps(answer(choices=None, usage={})),
    "choices that are a table": dumps(answer(choices={}, usage={})),
    "a choice that is null": dumps(answer(choices=[None], usage={})),
    "a message that is null": dumps(answer(choices=[{"message": None}], usage={})),
    "a message that is a text": dumps(answer(choices=[{"message": "hello"}], usage={})),
    "content that is a number": dumps(answer(5, usage={})),
    "content that is a table": dumps(answer({"said": "hello"}, usage={})),
}

# The same, billed: not bought again at once.
BILLED: dict[str, bytes] = {
    "no choices, but a usage": dumps(answer(choices=[])),
    "choices that are null, but a usage": dumps(answer(choices=None)),
    "content that is a number, but a usage": dumps(answer(5)),
    "an error as an answer, but a usage": dumps({"error": {"message": "overloaded"}, "usage": HONEST}),
}

# Whole answers with something broken in them: kept, with a note where something was changed.
WHOLE: dict[str, tuple[bytes, str | None, str | None]] = {  # bytes, what the note says, the text where it is another
    "an honest answer": (_GOOD, None, None),
    "a mark before it": (b"\xef\xbb\xbf" + _GOOD, None, None),
    "a lone surrogate": (_GOOD.replace(b"\\u5bff", b"\\ud800"), "text: broken", "\ufffd" + TEXT[1:]),
    "surrogates in the wrong order": (dumps(answer("a\udc00\ud800b")), "text: broken", "a\ufffd\ufffdb"),
    "a byte that is no UTF-8": (dumps(answer("aXb")).replace(b"X", b"\xff"), "text: broken", "a\ufffdb"),
    "a letter that is cut": (dumps(answer("aXb")).replace(b"X", "é".encode()[:1]), "text: broken", "a\ufffdb"),
    "an overlong NUL": (dumps(answer("aXb")).replace(b"X", b"\xc0\x80"), "text: broken", "a\ufffd\ufffdb"),
    "a surrogate as UTF-8": (
        dumps(answer("aXb")).replace(b"X", b"\xed\xa0\x80"), "text: broken", "a\ufffd\ufffd\ufffdb"
    ),
    "a broken finish reason": (
        dumps(answer(choices=[{"finish_reason": "\ud800", "message": {"content": TEXT}}])),
        "finish_reason: broken",
        None,
    ),
    "NUL": (dumps(answer("a\0b")), None, "a\0b"),
    "control characters": (dumps(answer("a\x1b[31mb\x07\x9b")), None, "a\x1b[31mb\x07\x9b"),
    "the last letter of Unicode": (dumps(answer("a\U0010ffff\uffff")), None, "a\U0010ffff\uffff"),
    "a text of 200,000 letters": (dumps(answer("ラ" * 40_000)), None, "ラ" * 40_000),
    "ten thousand brackets in a text": (dumps(answer("(" * 10_000)), None, "(" * 10_000),
    "an empty text": (dumps(answer("", usage={"prompt_tokens": 7, "completion_tokens": 0})), None, ""),
    "content in parts": (
        dumps(answer([{"type": "text", "text": "寿司と"}, {"type": "text", "text": "ラーメン"}])), None, None
    ),
    "gzip": (_GOOD, None, None),
    "a finish reason that is a number": (
        dumps(answer(choices=[{"finish_reason": 7, "message": {"content": TEXT}}])), "finish_reason: no text", None
    ),
    "a finish reason of 10,000 letters": (
        dumps(answer(choices=[{"finish_reason": "x" * 10_000, "message": {"content": TEXT}}])),
        "finish_reason: cut",
        None,
    ),
    "a model that is a number": (dumps(answer(model=5)), "model: no text", None),
    "a model that is a list": (dumps(answer(model=["a"])), "model: no text", None),
    "a model's name of 100,000 letters": (dumps(answer(model="m" * 100_000)), "model: cut", None),
    "a fingerprint that is a table": (dumps(answer(system_fingerprint={"a": 1})), "system_fingerprint: no text", None),
    "an id and a date that are none": (dumps(answer(id=[1], created="yesterday", object=None)), None, None),
    "a date beyond the calendar": (dumps(answer(created=10**30)), None, None),
    "log-probabilities that are none": (
        dumps(answer(choices=[{"message": {"content": TEXT}, "logprobs": "none", "index": "x"}])), None, None
    ),
    "a refusal that is a number": (
        dumps(answer(choices=[{"message": {"content": TEXT, "refusal": 5}}])), "refusal: no text", None
    ),
    "reasoning that is a table": (
        dumps(answer(choices=[{"message": {"content": TEXT, "reasoning": {"a": 1}}}])), None, None
    ),
    "NaN in a field": (_GOOD.replace(b'"created": 1', b'"created": NaN'), None, None),
    "a number beyond floats in a field": (_GOOD.replace(b'"created": 1', b'"created": 1e999'), None, None),
    "a key twice": (_GOOD.replace(b'"created": 1', b'"usage": 5'), None, None),
}  # fmt: skip

# A usage that cannot be true: NULL with a note, and the end of a run with max_cost.
NONSENSE: dict[str, Any] = {
    "completion tokens below zero": {"prompt_tokens": 7, "completion_tokens": -5},
    "prompt tokens below zero": {"prompt_tokens": -7, "completion_tokens": 5},
    "2^64-1 tokens": {"prompt_tokens": 7, "completion_tokens": 2**64 - 1},
    "10^30 tokens": {"prompt_tokens": 7, "completion_tokens": 10**30},
    "-10^30 tokens": {"prompt_tokens": 7, "completion_tokens": -(10**30)},
    "10^400 tokens": {"prompt_tokens": 7, "completion_tokens": 10**400},
    "half a token": {"prompt_tokens": 7, "completion_tokens": 5.5},
    "NaN tokens": {"prompt_tokens": 7, "completion_tokens": float("nan")},
    "infinitely many tokens": {"prompt_tokens": 7, "completion_tokens": float("inf")},
    "tokens in words": {"prompt_tokens": 7, "completion_tokens": "five"},
    "true tokens": {"prompt_tokens": 7, "completion_tokens": True},
    "a list of tokens": {"prompt_tokens": 7, "completion_tokens": [5]},
    "no tokens for a text": {"prompt_tokens": 7, "completion_tokens": 0},
}

# A usage that says too little: NULL, and the end of a run with max_cost.
UNCOUNTED: dict[str, tuple[Any, str | None]] = {
    "a usage that is empty": ({}, None),
    "a usage that is a list": ([5], "usage: no table"),
    "a usage that is a number": (5, "usage: no table"),
    "prompt tokens alone": ({"prompt_tokens": 7}, None),
    "a sum alone": ({"total_tokens": 12}, None),
}

# A usage in another form that can be read.
COUNTED: dict[str, tuple[Any, str | None]] = {
    "tokens with a point": ({"prompt_tokens": 7.0, "completion_tokens": 5.0}, None),
    "tokens in quotes": ({"prompt_tokens": "7", "completion_tokens": "5"}, None),
    "completion tokens alone": ({"completion_tokens": 5}, None),
    "prompt tokens and a sum": ({"prompt_tokens": 7, "total_tokens": 12}, "usage: of its total of 12"),
    "0 prompt tokens": ({"prompt_tokens": 0, "completion_tokens": 5}, "prompt_tokens: no number"),
    "reasoning outside of the completion": (
        {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 12}, "usage: 3 + 1 tokens are not its total"
    ),
    "reasoning tokens below zero": (
        {**HONEST, "completion_tokens_details": {"reasoning_tokens": -1}}, "reasoning_tokens: no number"
    ),
    "details that are a list": ({**HONEST, "completion_tokens_details": [1]}, None),
}  # fmt: skip

# Statuses: what becomes of them stands in the table of faults. Here: no traceback, nothing billed, no wall afterwards.
STATUSES: dict[str, Does] = {
    **{f"status {status}": body(dumps({"error": {"message": "no"}}), status=status) for status in
       (400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 425, 429, 451, 500, 502, 503, 504, 507, 524, 529, 599)},
    "status 204": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "status 999": body(b"{}", status=999),
    "a web page": body(b"<!doctype html><h1>Welcome</h1>", kind="text/html"),
    "a web page as an error": body(b"<html>Bad gateway</html>", status=502, kind="text/html"),
    "an error in an encoding that does not exist": body(b"no", status=400, kind="text/plain; charset=undefined"),
    "an error in hexadecimal": body(b"no", status=500, kind="text/plain; charset=hex"),
    "an error with a lone surrogate": body(b'{"error": {"message": "a\\ud800b"}}', status=400),
    "an error of 100,000 letters": body(dumps({"error": {"message": "x" * 100_000}}), status=400),
    "an error of a hundred thousand brackets": body(b"[" * 100_000, status=400),
    "an error that is a list": body(b'{"error": [1, 2]}', status=400),
    "an error with a code that is a table": body(b'{"error": {"message": "a", "code": {"b": 1}}}', status=400),
    "an error as an answer": body(dumps({"error": {"message": "overloaded"}})),
    "a wait beyond the calendar": body(b"{}", status=429, retry_after="Fri, 31 Dec 9999 23:59:59 GMT"),
    "a wait of 10^300 seconds": body(b"{}", status=429, retry_after="1" + "0" * 300),
    "a wait below zero": body(b"{}", status=429, retry_after="-5"),
    "a redirection to itself": _redirect_to_itself,
    "a redirection to a file": body(b"", status=307, location="file:///etc/passwd"),
    "a redirection to nowhere": body(b"", status=307, location="http://127.0.0.1:9/v1/chat/completions"),
    "a redirection without a place": body(b"", status=307),
}  # fmt: skip


def _spends(tokens: Callable[[Call], int], text: str = TEXT, **changed: Any) -> tuple[Does, Any]:
    """Says and bills so many completion tokens."""

    def usage(call: Call) -> dict[str, int]:
        return {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": tokens(call)}

    return (
        lambda call: call.reply(dumps(answer(text, usage(call), **changed))),
        lambda call: (PROMPT_TOKENS, tokens(call)),
    )


# Servers that write more than they were asked for. The rows are whole; only the money is at stake.
SPENDERS = {
    "ten times max_tokens": _spends(lambda _: 160),
    "a thousand times max_tokens": _spends(lambda _: 16_000),
    "more with every answer": _spends(lambda call: 5 * 2 ** min(call.number, 12)),
    "now and then ten times max_tokens": _spends(lambda call: 160 if call.number % 3 == 0 else COMPLETION_TOKENS),
    "exactly max_tokens": _spends(lambda _: 16),
}


def _modes() -> list[Mode]:
    found = [Mode(name=name, does=does) for name, does in {**SLOW, **LARGE}.items()]
    found += [Mode(name=name, does=does) for name, does in ENCODED.items()]
    found += [Mode(name=name, does=does, tries=2) for name, does in BROKEN.items()]
    found += [Mode(name=name, does=body(content), tries=2, hangs_up=False) for name, content in USELESS.items()]
    found += [Mode(name=name, does=body(content), hangs_up=False) for name, content in BILLED.items()]
    good = partial(Mode, rows="ok", code=(0,), hangs_up=False)
    for name, (content, note, text) in WHOLE.items():
        packed = body(gzip.compress(content), content_encoding="gzip") if name == "gzip" else body(content)
        bill = (lambda _call: (PROMPT_TOKENS, 0)) if text == "" else honest
        found.append(
            Mode(name=name, does=packed, rows="ok", code=(0,), note=note, text=text, bill=bill, hangs_up=False)
        )
    for name, usage in NONSENSE.items():
        said = body(dumps(answer(usage=usage)))
        found.append(good(name=name, does=said, note="_tokens: no number", stops="cannot be kept"))
    for name, (usage, note) in {**UNCOUNTED, **COUNTED}.items():
        stops = "cannot be kept" if name in UNCOUNTED else None
        found.append(good(name=name, does=body(dumps(answer(usage=usage))), note=note, stops=stops))
    found += [good(name=name, does=does, bill=bill) for name, (does, bill) in SPENDERS.items()]
    status = partial(Mode, rows=None, tries=None, code=(4, 6), bill=free, hangs_up=False)
    found += [status(name=name, does=does) for name, does in STATUSES.items()]
    return found


MODES = {mode.name: mode for mode in _modes()}
