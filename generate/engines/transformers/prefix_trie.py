"""Pack tokens into prefix tries, each token once, so that few passes score hundreds of continuations.

The texts of a pass form a forest of prefix tries. Tokens with the same past are one node, over all continuations and
contexts of the pass. A node attends to itself and its ancestors, so the scores equal those of a plain pass over each
text. The last token of a text is never fed, since nothing after it is scored.
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
    """The distinct tokens of one pass, parents before children; `parents` has -1 at the first token of a text."""

    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    texts: list[tuple[Text, tuple[int, ...]]] = field(default_factory=list)  # with the node before each asked token
    _children: dict[tuple[int, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.tokens)

    def lacks(self, text: Text) -> int:
        """How many tokens of a text are not in it."""
        node = -1
        for known, token in enumerate(text.fed):
            child = self._children.get((node, token))
            if child is None:
                return len(text.fed) - known
            node = child
        return 0

    def add(self, text: Text) -> None:
        """Add the tokens of a text, and request the scores of its continuation."""
        nodes, node = [], -1
        for token in text.fed:
            node = self._child(node, token)
            nodes.append(node)
        self.texts.append((text, tuple(nodes[text.pair.start - 1 :])))

    def _child(self, parent: int, token: int) -> int:
        known = self._children.get((parent, token))
        if known is not None:
            return known
        node = self._children[parent, token] = len(self.tokens)
        self.tokens.append(token)
        self.parents.append(parent)
        self.depths.append(0 if parent < 0 else self.depths[parent] + 1)
        return node


def plan(groups: Iterable[Sequence[Text]], most: int, first: int | None = None) -> Iterator[Forest]:
    """Pack the texts of groups, each the continuations of one context, into forests of at most `most` tokens, or of
    one text.

    Texts are sorted by their tokens, so that those with a common prefix are in one forest; a context that does not fit
    is fed in each forest anew. The first forest has at most `first` tokens, where that is told: whoever waits for the
    first score waits less.
    """
    forest, room = Forest(), most if first is None else min(first, most)
    for group in groups:
        for text in sorted(group, key=lambda text: text.pair.ids):
            if forest.texts and len(forest) + forest.lacks(text) > room:
                yield forest
                forest, room = Forest(), most
            forest.add(text)
    if forest.texts:
        yield forest
