"""Outputs of OpenAI's Batch API: JSON Lines with `custom_id` and `response.body`; the input file has the prompts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyculture.imports.readers.lines import first_object, read_lines
from polyculture.imports.record import BadRow, Reader, Record, Rows, shown


def read_openai_batch(path: Path, inputs: Path | None = None) -> Rows:
    """A record per choice of an answer. `inputs` is the file that was sent: its requests are joined by `custom_id`."""
    asked = {} if inputs is None else _requests(inputs)
    for row in read_lines(path):
        if isinstance(row, BadRow):
            yield row
            continue
        error, status = row.get("error"), row.get("response.status_code")
        if error or status not in (200, None):
            message = row.get("error.message") or row.get("response.body.error.message") or error
            yield BadRow(row.row, f"failed when it was generated: HTTP {status}", shown(message))
            continue
        choices = row.get("response.body.choices")
        if not isinstance(choices, list) or not choices:
            yield BadRow(row.row, "response.body has no choices: no answer of chat completions")
            continue
        request = asked.get(str(row.get("custom_id")), {})
        for number, choice in enumerate(choices):
            message = choice.get("message") if isinstance(choice, Mapping) else None
            text = message.get("content") if isinstance(message, Mapping) else None
            reason = choice.get("finish_reason") if isinstance(choice, Mapping) else None
            yield Record(
                row.row,
                {
                    "custom_id": row.get("custom_id"),
                    "body": row.get("response.body"),
                    "request": request,
                    "prompt": prompt_of(request.get("messages")),
                    "text": text,
                    "finish_reason": reason,
                    "key": f"{row.get('custom_id')}/{number}",
                },
            )


def prompt_of(messages: Any) -> str | None:
    """The messages of a chat as one text: the user's words alone, or each with its role."""
    if not isinstance(messages, list):
        return messages if isinstance(messages, str) else None
    turns = [(str(one.get("role")), text_of(one.get("content"))) for one in messages if isinstance(one, Mapping)]
    said = [(role, text) for role, text in turns if text]
    if len(said) == 1 and said[0][0] == "user":
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said) or None


def text_of(content: Any) -> str | None:
    """The text of a message, whose content is a text or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [one.get("text") for one in content if isinstance(one, Mapping) and one.get("type") == "text"]
    return "".join(part for part in parts if isinstance(part, str)) or None


def _requests(inputs: Path) -> dict[str, Mapping[str, Any]]:
    rows = [row for row in read_lines(inputs) if isinstance(row, Record)]
    bodies = {str(row.get("custom_id")): row.get("body") for row in rows}
    return {key: body for key, body in bodies.items() if isinstance(body, Mapping)}


def _recognises(path: Path) -> bool:
    return path.suffix.lower() == ".jsonl" and {"custom_id", "response"} <= set(first_object(path))


READER = Reader(
    "openai-batch",
    "the output file of OpenAI's Batch API; `--inputs` is the input file, with the prompts",
    _recognises,
    read_openai_batch,
    {"text": "text", "prompt": "prompt", "model": "body.model", "id": "key", "finish_reason": "finish_reason",
     "prompt_tokens": "body.usage.prompt_tokens", "completion_tokens": "body.usage.completion_tokens",
     "seed": "request.seed", "language": "request.metadata.language", "topic": "request.metadata.topic",
     "country": "request.metadata.country", "condition": "request.metadata.condition"},
)  # fmt: skip
