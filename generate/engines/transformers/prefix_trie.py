"""Pack tokens into prefix tries, each token once, so that few passes score hundreds of continuations.

The texts of a pass form a forest of prefix tries. Tokens with the same past are one node, over all continuations and
contexts of the pass. A node attends to itself and its ancestors, so the scores equal those of a plain pass over each
text. The last token of a text is never fed, since nothing after it is scored. A context may need several passes. Then
the first pass computes its common prefix, the trunk; the others use the trunk's cached keys and values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from polyculture.generate.engines.token_boundary import TokenisedPair


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be scored: its request and its tokens."""

    request_id: str
    pair: TokenisedPair
    one_by_one: bool = False  # see `ScoreRequest`

    @property
    def fed(self) -> tuple[int, ...]:
        """The tokens to feed: all but the last token to be scored."""
        return self.pair.ids[: self.pair.end - 1]


@dataclass(slots=True)
class Forest:
    """The distinct tokens of one pass, parents before children; `parents` has -1 at the first token of a text.

    `behind` tokens of the trunk are in the cache and precede all others. The first `kept` tokens of this pass are a
    trunk that later passes use.
    """

    behind: int = 0
    kept: int = 0
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    texts: list[tuple[Text, tuple[int, ...]]] = field(default_factory=list)  # with the node before each asked token
    _children: dict[tuple[int, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.tokens)

    def path(self, tokens: Iterable[int]) -> list[int]:
        """The nodes of `tokens` from the root on; missing ones are created."""
        nodes, node = [], -1
        for token in tokens:
            node = self._child(node, token)
            nodes.append(node)
        return nodes

    def add(self, text: Text) -> None:
        """Add the tokens of a text, and request the scores of its continuation."""
        nodes = self.path(text.fed[self.behind :])
        self.texts.append((text, tuple(nodes[text.pair.start - 1 - self.behind :])))

    def _child(self, parent: int, token: int) -> int:
        known = self._children.get((parent, token))
        if known is not None:
            return known
        node = self._children[parent, token] = len(self.tokens)
        self.tokens.append(token)
        self.parents.append(parent)
        self.depths.append(self.behind if parent < 0 else self.depths[parent] + 1)
        return node


def plan(groups: Iterable[Sequence[Text]], most: int, first: int | None = None) -> Iterator[Forest]:
    """Pack the texts of groups, each the continuations of one context, into forests of about `most` tokens.

    Small groups share a forest. A group that does not fit has several forests of its own; the first keeps the trunk.
    Texts are sorted by their tokens, so that those with a common prefix are in one forest. The first forest of all has
    about `first` tokens, where that is told: whoever waits for the first score waits less.
    """
    shared = Forest()
    room = most if first is None else min(first, most)
    for group in groups:
        texts = sorted(group, key=lambda text: text.pair.ids)
        size = _distinct(texts)
        if size > room:
            yield from _series(texts, size, most, room)
            room = most
            continue
        if shared.tokens and len(shared) + size > room:
            yield shared
            shared, room = Forest(), most
        for text in texts:
            shared.add(text)
    if shared.tokens:
        yield shared


def _series(texts: Sequence[Text], size: int, most: int, first: int) -> Iterator[Forest]:
    """Forests of similar size for one context; the first keeps the trunk for all and has at most `first` more."""
    trunk = _trunk(texts)
    rest = max(1, size - len(trunk))
    equal = -(-rest // max(1, -(-rest // most)))  # the rest in equal parts, none above `most`
    room = min(first, equal)
    forest = Forest(kept=len(trunk))
    forest.path(trunk)
    own, taken = len(trunk), trunk
    for text in texts:
        new = len(text.fed) - _common(taken, text.fed)
        if forest.texts and len(forest) - own + new > room:
            yield forest
            forest, own, room = Forest(behind=len(trunk)), 0, equal
        forest.add(text)
        taken = text.fed
    yield forest


def _trunk(texts: Sequence[Text]) -> tuple[int, ...]:
    """The common prefix of the sorted `texts`, which ends before the first token whose next one is scored."""
    common = _common(texts[0].fed, texts[-1].fed)
    return texts[0].fed[: min(common, *(text.pair.start - 1 for text in texts))]


def _distinct(texts: Sequence[Text]) -> int:
    """The number of distinct tokens to feed for the sorted `texts`."""
    distinct, last = 0, tuple[int, ...]()
    for text in texts:
        distinct += len(text.fed) - _common(last, text.fed)
        last = text.fed
    return distinct


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the common prefix, in tokens."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
