"""Texts at the door: values from outside in their column's type, control characters visible, keys kept out."""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import orjson

MOST_TOKENS = 100_000_000  # in one answer; no model reads or writes as many
BROKEN = "broken characters replaced by U+FFFD"
CUT_WORDS = "words behind it were cut"  # in the note of a text that lost them
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = 30  # of an integer that is read as one
_NOTE_LENGTH = 40  # characters of a value in a note
# Bidirectional overrides reverse the rest of a line.
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
HIDDEN = "***"
_SHORTEST = 12  # characters of a key that is looked for everywhere; a shorter one may be a part of any word
_known: set[str] = set()  # keys, and what their base64 has of them
_quoted: dict[str, re.Pattern[str]] = {}  # by key: an expression of it with any of its letters URL-quoted

_USER = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#\"'<>]*@")
_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|xai|hf|ghp|gho|github_pat|glpat|nvapi|pplx|r8|tgp)[-_][A-Za-z0-9_-]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,})"
)
_RANDOM = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[A-Za-z0-9_-]{32,}")
_BEARER = re.compile(r"(?:bearer|basic)\s+\S{8,}", re.IGNORECASE)
# `eos_token`, `pad_token` and `seed_key` are no secrets: a token or key is one by the word before it. `hf_token`,
# `wandb_api_key`, `github_token`: as the clients of these services name them in the environment.
_NAMES = re.compile(
    r"(?:x[-_])?(?:key|token|bearer)"
    r"|(?:\w+[-_])?(?:api[-_]?(?:key|token)|secret|password|passwd|authorization|credentials?"
    r"|(?:access|auth|client|secret|private|refresh|session|bearer|bot|user|service|account)[-_]?(?:key|token|secret))"
    r"|(?:\w+[-_])?(?:hf|hugging[-_]?face(?:[-_]?hub)?|openai|anthropic|mistral|cohere|gemini|google|azure|aws|github|gh"
    r"|gitlab|replicate|together|groq|deepseek|openrouter|wandb|modal|ray)[-_]?(?:key|token)",
    re.IGNORECASE,
)


def mended(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which neither UTF-8 nor Parquet can hold."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text


def parse(content: bytes) -> Any:
    """A JSON text.

    A byte that is no UTF-8 becomes a lone surrogate, as an escaped one does: `ResponseSanitizer` repairs and notes it.

    Raises `ValueError` where it is no JSON.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        return json.loads(text, parse_int=_integer)
    except RecursionError as fault:
        raise ValueError("it is nested too deeply") from fault


def _integer(digits: str) -> int | float:
    """An integer; one that no column holds as a float, since Python refuses to read thousands of digits."""
    return int(digits) if len(digits) <= _DIGITS else float(digits)


class ResponseSanitizer:
    """Brings the values of one answer into their types, and notes what it had to change or drop."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @property
    def note(self) -> str | None:
        """What was changed, on one line; None where nothing was."""
        return "; ".join(dict.fromkeys(self.notes)) or None

    def text(self, name: str, value: object, longest: int | None = None) -> str | None:
        """A text, mended and at most `longest` characters long; None where it is none."""
        if value is None:
            return None
        if not isinstance(value, str):
            self.drop(name, "no text", value)
            return None
        whole = mended(value)
        if whole != value:
            self.notes.append(f"{name}: {BROKEN}")
        if longest is not None and len(whole) > longest:
            self.notes.append(f"{name}: cut from {len(whole)} characters")
            return whole[: longest - 1] + "…"
        return whole

    def count(self, name: str, value: object, least: int = 0) -> int | None:
        """A number of tokens; None where it is none that can be."""
        if value is None:
            return None
        found = _whole_number(value)
        if found is None or not least <= found <= MOST_TOKENS:
            self.drop(name, "no number of tokens", value)
            return None
        return found

    def drop(self, name: str, reason: str, value: object) -> None:
        """Notes that a value is not kept."""
        self.notes.append(f"{name}: {reason}: {_in_note(value)}")


def _whole_number(value: object) -> int | None:
    """An integer, however it is written; None where a value is none. True is no number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        return int(value)
    return None


def _in_note(value: object) -> str:
    """A value in a note: on one line, short, without a known key."""
    text = value if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else _number(value)
    line = " ".join(hide_keys(mended(text)).split())
    return line if len(line) <= _NOTE_LENGTH else f"{line[: _NOTE_LENGTH - 1]}…"


def _number(value: object) -> str:
    """An integer in digits, also one that is too long for `str`; any other value by its type."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() < 256 else f"an integer of {value.bit_length()} bits"
    return str(value) if isinstance(value, bool) else f"a {type(value).__name__}"


def replace_control_chars(text: str) -> str:
    """The text with U+FFFD in place of control characters and bidirectional overrides; line breaks stay."""
    return "".join("\ufffd" if _is_control(letter) else letter for letter in text)


def escape_control_chars(text: str) -> str:
    """The text with whatever would steer a terminal written out ("\\x1b"); line breaks and tabs stay."""
    return "".join(_escaped(letter) if _is_control(letter) and letter != "\t" else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def _is_control(letter: str) -> bool:
    return letter != "\n" and (unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in _OVERRIDES)


def learn(secret: str) -> None:
    """From here on this value is hidden. One that is too short to be told from other words is not looked for."""
    for form in (secret, unquote(secret)):
        if len(form) >= _SHORTEST:
            _known.update((form, *_in_base64(form)))
            _quoted[form] = re.compile("".join(map(_perhaps_quoted, form)))


def _in_base64(secret: str) -> Iterator[str]:
    """What stands in the base64 of any text with a secret, whatever is around it; with `+/` and with `-_`."""
    data = secret.encode("utf-8", "surrogatepass")
    yield base64.b64encode(data).decode()
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data).decode()
        inner = whole[-(-before * 4 // 3) : (before + len(data)) * 4 // 3]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))


def _perhaps_quoted(letter: str) -> str:
    """A regular expression of a letter as it is, and as addresses quote it."""
    data = letter.encode("utf-8", "surrogatepass")
    forms = [re.escape(letter), "(?i:" + "".join(f"%{byte:02x}" for byte in data) + ")"]
    return f"(?:{'|'.join([*forms, re.escape('+')] if letter == ' ' else forms)})"


def hide_keys(text: str) -> str:
    """The text with `***` for every key that is known, as it is, URL-quoted or in base64; all else stays, as it must in
    a model's answer."""
    if "%" in text or "+" in text:
        for secret in sorted(_quoted, key=len, reverse=True):  # one may hold another
            text = _quoted[secret].sub(HIDDEN, text)
    for form in sorted(_known, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return text


def conceal(text: str) -> str:
    """The text with `***` for every key that is known, and addresses without user and password."""
    return without_password(hide_keys(text))


def but_not(value: object) -> str:
    """', not <value>' for a message on a value that does not fit; nothing where it may be a key."""
    text = repr(value)
    return "" if _KEY.search(text) else f", not {text}"


def without_password(address: str) -> str:
    """An address without its user and password."""
    return _USER.sub(r"\1", address)


def user_of(address: str) -> str | None:
    """'user:password' of an address, decoded; None where it has none. Its password is learned."""
    parts = urlsplit(address)
    if parts.username is None and parts.password is None:
        return None
    learn(parts.password or parts.username or "")
    whole = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    learn(whole)  # both are sent as one, in base64
    return whole


def without_secrets(value: Any, name: str = "") -> Any:
    """Nested options with `***` for what is a key or is named like one, and addresses without user and password.

    The same in every process, whatever `learn` was told: for what is hashed.
    """
    if isinstance(value, Mapping):
        return {key: without_secrets(one, str(key)) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(one, name) for one in value]
    if not isinstance(value, str):
        return value
    return HIDDEN if _NAMES.fullmatch(name) else _KEY.sub(HIDDEN, without_password(value))


def looks_like_key(text: str) -> bool:
    """Does a text look like a key that somebody issued?"""
    return bool(_KEY.fullmatch(text) or _RANDOM.fullmatch(text) or _BEARER.fullmatch(text))


def _is_issued(text: str) -> bool:
    return bool(_KEY.fullmatch(text) or _BEARER.fullmatch(text))


def find_key(values: Mapping[str, Any], place: str = "", *, issued: bool = False) -> str | None:
    """Where in nested options a value looks like a key or is named like one, as 'headers.api_key'; None where none.

    With `issued` a value looks like one only by the beginnings that services give to theirs: `sk-`, `hf_`, ...
    """
    looks = _is_issued if issued else looks_like_key
    for name, value in values.items():
        here = f"{place}.{name}" if place else name
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Mapping):
                found = find_key(one, here, issued=issued)
                if found:
                    return found
            elif isinstance(one, str) and one and (_NAMES.fullmatch(name) or looks(one)):
                return here
    return None
