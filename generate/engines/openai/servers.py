"""What OpenAI-compatible servers take: the presets of `[options.openai] server`, from `servers.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.validation import ClosedModel

FieldName = Literal["temperature", "top_p", "top_k", "seed", "max_tokens", "max_completion_tokens", "response_format"]
LengthField = Literal["max_tokens", "max_completion_tokens"]
SchemaForm = Literal["json_schema", "json_object", "none"]

# A field in quotation marks or backquotes beside the words by which servers reject it.
_REJECTS = re.compile(
    r"unsupported|not supported|unknown|unrecognized|unexpected|not permitted|not allowed|extra (inputs|fields)|"
    r"does not support|cannot find field|invalid (param|field|arg)|no such (param|field)",
    re.IGNORECASE,
)
# DashScope, of models that reason: "This model only support stream mode, please enable the stream parameter".
_STREAMS = re.compile(
    r"only supports? (the )?stream|(must|has to) be (set to )?stream|non-?stream\w* (calls?|mode)", re.IGNORECASE
)
_STATUS = re.compile(r"HTTP 4(00|22)\b")
_WORD = re.compile(r"[a-z][a-z0-9_]{2,40}")


class ServerFacts(ClosedModel):
    """One server: where it listens, and which fields it takes."""

    title: str
    base_url: str
    key: str | None = None
    length: LengthField
    rejects: tuple[FieldName, ...]
    ignores: tuple[FieldName, ...]
    schema_form: SchemaForm
    note: str | None = None
    source: tuple[str, ...]
    read: str

    @property
    def options(self) -> dict[str, Any]:
        """The options of the engine that it stands for, as a file would write them."""
        options: dict[str, Any] = {
            "base_url": self.base_url,
            "length_field": self.length,
            "schema_form": self.schema_form,
        }
        options["omit"] = [*self.rejects, *self.ignores]
        return options if self.key is None else {**options, "api_key_env": self.key}


@cache
def known_servers() -> Mapping[str, ServerFacts]:
    """The servers of `servers.toml`, by name, in its order."""
    data = tomllib.loads(Path(__file__).with_name("servers.toml").read_text(encoding="utf-8"))
    return {name: ServerFacts.model_validate({"schema_form": row.pop("schema"), **row}) for name, row in data.items()}


def with_server(data: dict[str, Any]) -> dict[str, Any]:
    """Options with those of the server that they name; their own take precedence, and `omit` is joined.

    Raises `ValueError` for an unknown server.
    """
    name = data.get("server")
    if name is None:
        return data
    servers = known_servers()
    if not isinstance(name, str) or name not in servers:
        near = did_you_mean(str(name), servers) or f"One of: {', '.join(servers)}."
        raise ValueError(f"server: no server is called {name!r}. {near}")
    preset = servers[name].options
    own = data.get("omit", [])
    joined = [*preset["omit"], *(one for one in own if one not in preset["omit"])] if isinstance(own, list) else own
    return {**preset, **data, "omit": joined}


def advice(error: str) -> str | None:
    """What to write where a server rejects fields of the requests; None where its words say no such thing."""
    if _STATUS.match(error) and _STREAMS.search(error):
        streams = "extra_body = { stream = true, stream_options = { include_usage = true } }"
        return f"It answers in event streams alone: write {streams} under its options. See docs/servers.md."
    fields = rejected_fields(error)
    return None if not fields else f"{'. '.join(map(remedy_of, fields))}. Presets of servers: docs/servers.md."


def rejected_fields(words: str) -> list[str]:
    """The fields that a server's message (of HTTP 400 or 422) rejects, in the order in which it names them."""
    if not (_STATUS.match(words) and _REJECTS.search(words)):
        return []
    named = re.split(r"\buse\b|\binstead\b", words, maxsplit=1, flags=re.IGNORECASE)[0]  # then comes the other name
    return list(dict.fromkeys(word for word in _WORD.findall(named) if word in get_args(FieldName)))


def remedy_of(field: str) -> str:
    """How a field that a server rejects is left out, or sent under its other name."""
    if field == "top_k":
        return 'It does not take top_k: write top_k = 0 under [sampling], or omit = ["top_k"] under its options'
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}.get(field)
    if other is not None:
        return f'It does not take {field}: write length_field = "{other}" under its options'
    if field == "response_format":
        return 'It does not take response_format: write schema_form = "json_object" or "none" under its options'
    return f'It does not take {field}: write omit = ["{field}"] under its options'
