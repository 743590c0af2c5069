"""The token that ends a model's turn by its chat template, whatever its configuration names.

    end_of_turn(render, specials)       "<|im_end|>" for Qwen, "<end_of_turn>" for Gemma, "<|user|>" for GLM-4

Many a fine-tuned model keeps the configuration of its base, which ends documents and no turns: it would write on behind
its answer, up to the limit. It was trained to write what its template writes behind an assistant's content.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

from polyculture.generate.engines.reasoning import is_mark
from polyculture.generate.engines.system_prompt import Render

_QUESTION = {"role": "user", "content": "?"}
_CONTENT = "Pizza"
_ANSWER = {"role": "assistant", "content": _CONTENT}


def end_of_turn(render: Render, specials: Callable[[str], Collection[str]]) -> str | None:
    """The first special token behind an assistant's content that is no mark of reasoning or of an answer. None where
    the template writes no such token there, or has no place for an assistant's turn.

    `render` writes a chat as the template does, without the beginning of a next turn; `specials` gives the special and
    added tokens in a text. The last turn of a chat is read first: gpt-oss ends its last message alone by the token that
    ends a turn. Where the template closes no turn, the token that opens the next one ends it.
    """
    for turns in ([_QUESTION, _ANSWER], [_QUESTION, _ANSWER, _QUESTION]):
        behind = ""
        with suppress(Exception):  # whatever a stranger's template raises at a chat that it does not take
            behind = render(turns).rpartition(_CONTENT)[2].lstrip()
        known = sorted(specials(behind), key=len, reverse=True)
        while token := next((one for one in known if one.strip() and behind.startswith(one)), None):
            if not is_mark(token):
                return token
            behind = behind.removeprefix(token).lstrip()
    return None
