"""Where a context ends and a continuation begins, in tokens.

Both are tokenised together, as the model reads them, and split by character offsets: the continuation begins with the
first token that ends behind the context, so a token that spans the boundary is charged to the continuation. Spaces at
the end of a context go to the continuation first, because most vocabularies write a word with the space before it:
left where they stand in the published Korean, Hindi, Urdu and Vietnamese contexts, they break most pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from polyculture.generate.engines.base import ScoreRequest, TokenBoundary

# What vocabularies join with the word behind it: the space, the one that does not break, the ideographic one.
SPACES = " \u00a0\u3000"
_AT_ONCE = 256  # texts that are tokenised in one call
_SHOWN = 40  # characters of a continuation that an error quotes


class Tokenizer(Protocol):
    """A fast tokenizer of Hugging Face's `transformers`."""

    unk_token_id: int | None

    def __call__(self, text: list[str], **options: Any) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class TokenisedPair:
    """A text as token numbers, with `start` and `end` of the continuation in them; or the reason why it has none."""

    index: int  # of the continuation in its request
    ids: tuple[int, ...] = ()
    start: int = 0
    end: int = 0
    boundary: TokenBoundary | None = None
    error: str | None = None


def first_token(bos: int | None, eos: int | None) -> int | None:
    """The token behind which a whole text is scored: BOS, or without one EOS.

    So does lm-evaluation-harness (`prefix_token_id` in lm_eval/models/huggingface.py).
    """
    return eos if bos is None else bos


def split_pairs(
    tokenizer: Tokenizer,
    request: ScoreRequest,
    *,
    suffix: bool = False,
    bos: int | None = None,
    first: int | None = None,
) -> Iterator[TokenisedPair]:
    """Yields a pair per continuation of `request`, in order, with the special tokens that the tokenizer adds.

    With `suffix`, for masked models, the text goes on behind the continuation and ends as the tokenizer ends it;
    without, it ends with the continuation. `bos` is put in front where the tokenizer itself puts nothing. `first` is
    put in front of an empty context where nothing else is: the first token of a text is scored behind another one.
    """
    if bos is None and not suffix and not request.prefix.strip(SPACES):
        bos = first
    reader = _ContinuationReader(tokenizer, request, suffix, bos)
    continuations = enumerate(request.continuations)
    while some := list(islice(continuations, _AT_ONCE)):
        yield from reader.read(some)


class _ContinuationReader:
    """Reads the continuations behind one context."""

    def __init__(self, tokenizer: Tokenizer, request: ScoreRequest, suffix: bool, bos: int | None) -> None:
        self._tokenizer, self._request, self._bos = tokenizer, request, bos
        self._context = request.prefix.rstrip(SPACES)
        self._spaces = request.prefix[len(self._context) :]
        self._behind = request.suffix if suffix else ""
        self._end = request.suffix if request.to_end and not suffix else ""  # scored with the continuation
        self._open_end = not suffix
        (alone,) = self._encode([self._context])
        self._alone = alone.ids[: alone.last]

    def read(self, continuations: Sequence[tuple[int, str]]) -> Iterator[TokenisedPair]:
        heads = [self._context + self._spaces + continuation + self._end for _, continuation in continuations]
        encoded = self._encode([head + self._behind for head in heads])
        for (index, continuation), head, tokens in zip(continuations, heads, encoded, strict=True):
            yield self._pair(index, continuation, len(head), tokens)

    def _pair(self, index: int, continuation: str, head: int, tokens: _TokenizedText) -> TokenisedPair:
        boundary = len(self._context)
        start = next((i for i, (_, end) in enumerate(tokens.spans) if end > boundary), tokens.last)
        end = next((i for i in range(start, tokens.last) if tokens.spans[i][0] >= head), tokens.last)
        ids = tokens.ids[: tokens.last] if self._open_end else tokens.ids
        error = self._error(continuation, start, ids[start:end])
        if error is not None:
            return TokenisedPair(index, error=error)
        spans = tokens.spans[start][0] < boundary or tokens.spans[end - 1][1] > head
        return TokenisedPair(index, ids, start, end, self._boundary(ids[:start], spans))

    def _error(self, continuation: str, start: int, ids: Sequence[int]) -> str | None:
        shown = continuation if len(continuation) <= _SHOWN else continuation[: _SHOWN - 1] + "…"
        if not ids or not continuation.strip():
            return f"{shown!r} tokenises to nothing"
        if self._tokenizer.unk_token_id in ids:
            return f"{shown!r} tokenises to unknown tokens"
        if start == 0 and self._open_end:  # a masked model reads on behind the gap
            return f"nothing stands before {shown!r}: the context is empty, and the tokenizer has no BOS or EOS token"
        return None

    def _boundary(self, before: tuple[int, ...], spans: bool) -> TokenBoundary:
        if spans:
            return "merged"
        if before != self._alone:
            return "resplit"
        return "moved space" if self._spaces else "clean"

    def _encode(self, texts: list[str]) -> list[_TokenizedText]:
        encoded = self._tokenizer(
            texts,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        rows = zip(encoded["input_ids"], encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
        return [self._tokens(*row) for row in rows]

    def _tokens(self, ids: list[int], spans: list[tuple[int, int]], special: list[int]) -> _TokenizedText:
        if self._bos is not None and not (special and special[0]):
            ids, spans, special = [self._bos, *ids], [(0, 0), *spans], [1, *special]
        # Of an empty text nothing is left but special tokens: the one that begins it stays, the one that ends it goes.
        last = len(ids) - special[::-1].index(0) if 0 in special else min(len(ids), 1)
        return _TokenizedText(tuple(ids), spans, last)


@dataclass(frozen=True, slots=True)
class _TokenizedText:
    """A tokenised text; `last` is where the text ends and special tokens that close it begin."""

    ids: tuple[int, ...]
    spans: Sequence[tuple[int, int]]  # characters of the text, from and to
    last: int
