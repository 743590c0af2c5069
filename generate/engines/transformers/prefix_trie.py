"""Which tokens a causal model is fed, each of them once, so that hundreds of continuations are scored in few passes.

The texts of a pass are packed into a forest: tokens with the same past are one node, over all continuations and all
contexts of the pass. A node sees itself and its ancestors, so the numbers are those of a plain pass over each text. The
last token of a text is never fed, since nothing is asked behind it. A context that needs several passes has its
beginning, the trunk, computed in the first; the others stand behind its cached keys and values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from polyculture.generate.engines.token_boundary import TokenisedPair


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be scored: the request it belongs to, and its tokens."""

    request_id: str
    pair: TokenisedPair

    @property
    def fed(self) -> tuple[int, ...]:
        """The tokens that must be read: all but the last that is asked for."""
        return self.pair.ids[: self.pair.end - 1]


@dataclass(slots=True)
class Forest:
    """The distinct tokens of one pass, parents before children; `parents` has -1 where a text begins.

    `behind` tokens of the trunk stand in the cache already and before all else. Of this pass' own tokens the first
    `kept` are a trunk that later passes stand behind.
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
        """The nodes of `tokens` from a beginning on; those that are missing are made."""
        nodes, node = [], -1
        for token in tokens:
            node = self._child(node, token)
            nodes.append(node)
        return nodes

    def add(self, text: Text) -> None:
        """Adds the tokens of a text, and asks for those of its continuation."""
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


def plan(groups: Iterable[Sequence[Text]], most: int) -> Iterator[Forest]:
    """Packs the texts of groups, each the continuations of one context, into forests of about `most` tokens.

    Groups that fit share a forest. One that does not has forests of its own, the first of which keeps the trunk.
    Texts are taken in the order of their tokens, so that those with a common beginning meet in one forest.
    """
    shared = Forest()
    for group in groups:
        texts = sorted(group, key=lambda text: text.pair.ids)
        size = _distinct(texts)
        if size > most:
            yield from _series(texts, size, most)
            continue
        if shared.tokens and len(shared) + size > most:
            yield shared
            shared = Forest()
        for text in texts:
            shared.add(text)
    if shared.tokens:
        yield shared


def _series(texts: Sequence[Text], size: int, most: int) -> Iterator[Forest]:
    """Forests of about the same size for one context; the first keeps the trunk for the others."""
    trunk = _trunk(texts)
    rest = max(1, size - len(trunk))
    room = -(-rest // max(1, -(-rest // most)))  # the rest in equal parts, none above `most`
    forest = Forest(kept=len(trunk))
    forest.path(trunk)
    first, taken = len(trunk), trunk
    for text in texts:
        new = len(text.fed) - _common(taken, text.fed)
        if forest.texts and len(forest) - first + new > room:
            yield forest
            forest, first = Forest(behind=len(trunk)), 0
        forest.add(text)
        taken = text.fed
    yield forest


def _trunk(texts: Sequence[Text]) -> tuple[int, ...]:
    """What all texts begin with, short of the token behind which the first is asked for. `texts` are sorted."""
    common = _common(texts[0].fed, texts[-1].fed)
    return texts[0].fed[: min(common, *(text.pair.start - 1 for text in texts))]


def _distinct(texts: Sequence[Text]) -> int:
    """How many distinct tokens must be fed for `texts`, which are sorted."""
    distinct, last = 0, tuple[int, ...]()
    for text in texts:
        distinct += len(text.fed) - _common(last, text.fed)
        last = text.fed
    return distinct


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
