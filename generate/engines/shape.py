"""How large a model is: the sizes that memory and work follow from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A model's sizes, and how many texts its engine works on at the same time."""

    layers: int
    width: int  # of a state
    cached: int  # numbers that a layer keeps of a token: keys and values
    vocabulary: int
    parameters: int
    bytes_each: int  # of a parameter, as it is loaded
    texts_at_once: int  # that are written
    patches_at_once: int  # continuations of patched states

    @property
    def weights(self) -> int:
        """Bytes of all parameters."""
        return self.parameters * self.bytes_each

    @property
    def cache_of_token(self) -> int:
        """Bytes of the key-value cache of one token, over all layers."""
        return self.layers * self.cached * self.bytes_each
