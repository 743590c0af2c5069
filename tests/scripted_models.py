"""Models that write what a test says, token by token, with any of the tokens as special ones: what a position of the
text is decides alone what comes next. The same model as a folder (transformers, vLLM) and as a GGUF file (llama.cpp).

A test asks for a text by the length of its prompt: `prompt_of(number)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

EOS = "<|endoftext|>"
ROOM = 64  # tokens that may be asked for behind any prompt
_HEAD = 64  # a size of attention's heads that all engines know
_CERTAIN = 4.0  # how much larger than any other the logit of the next token is, at least
_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


@dataclass(frozen=True)
class Scripts:
    """Texts as a model writes them, each of pieces: a special token, or words, which are written byte by byte."""

    specials: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    template: str = _TEMPLATE

    @classmethod
    def of(cls, *texts: Sequence[str], specials: Sequence[str], template: str = _TEMPLATE) -> Scripts:
        """Texts, each of which ends with `EOS` behind its last piece."""
        return cls(tuple(dict.fromkeys([EOS, *specials])), tuple((*text, EOS) for text in texts), template)

    @property
    def vocabulary(self) -> list[str]:
        """All tokens: the bytes as GPT-2 writes them, then the special ones."""
        return [*_letters().values(), *self.specials]

    def prompt_of(self, number: int) -> str:
        """What one asks to get a text: its length is where the text begins."""
        return "." * self._starts()[number]

    def length_of(self, number: int) -> int:
        """The tokens of a text without the one that ends it."""
        return len(self._tokens(self.texts[number])) - 1

    def next_tokens(self) -> list[int]:
        """The token that follows each position of a prompt and its text."""
        follows = [self.vocabulary.index(EOS)]
        for text in self.texts:
            follows += self._tokens(text)
        return follows

    def _starts(self) -> list[int]:
        starts = [2]
        for text in self.texts:
            starts.append(starts[-1] + len(self._tokens(text)))
        return starts

    def _tokens(self, text: Sequence[str]) -> list[int]:
        numbers = {token: number for number, token in enumerate(self.vocabulary)}
        tokens: list[int] = []
        for piece in text:
            tokens += [numbers[piece]] if piece in self.specials else list(piece.encode())
        return tokens


def _letters() -> dict[int, str]:
    """GPT-2's letter for each byte, by the number of the byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    shifted = {byte: chr(256 + number) for number, byte in enumerate(others)}
    return {byte: shifted.get(byte, chr(byte)) for byte in range(256)}


def _width(scripts: Scripts) -> int:
    return -(-(len(scripts.next_tokens()) + ROOM) // _HEAD) * _HEAD


def _head(scripts: Scripts) -> np.ndarray[Any, np.dtype[np.float32]]:
    """[tokens, width]: a position is a state of its own, which points to one token."""
    head = np.zeros((len(scripts.vocabulary), _width(scripts)), dtype=np.float32)
    for position, token in enumerate(scripts.next_tokens()):
        head[token, position] = _CERTAIN
    return head


def save_folder(scripts: Scripts, folder: Path, *, eos: Sequence[str] = (EOS,)) -> Path:
    """A GPT-2 with its tokenizer, as a folder. `eos`: the tokens that its configuration ends a text with."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GenerationConfig, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    width, numbers = _width(scripts), {token: number for number, token in enumerate(scripts.vocabulary)}
    config = GPT2Config(
        vocab_size=len(numbers), n_positions=width, n_embd=width, n_layer=1, n_head=width // _HEAD, n_inner=8,
        eos_token_id=numbers[eos[0]], bos_token_id=None, tie_word_embeddings=False,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "ln_" in name and name.endswith("weight") else 0.0)
        model.transformer.wpe.weight.copy_(torch.eye(width))
        model.lm_head.weight.copy_(torch.from_numpy(_head(scripts)))
    generation: Any = GenerationConfig
    model.generation_config = generation(eos_token_id=[numbers[one] for one in eos])
    model.save_pretrained(folder)
    built = Tokenizer(models.BPE(vocab={one: numbers[one] for one in _letters().values()}, merges=[]))
    built.pre_tokenizer, built.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=built, eos_token=eos[0])
    tokenizer.add_special_tokens({"additional_special_tokens": list(scripts.specials)})
    assert tokenizer.convert_tokens_to_ids(list(scripts.specials)) == [numbers[one] for one in scripts.specials]
    tokenizer.chat_template = scripts.template
    tokenizer.save_pretrained(folder)
    return folder


def save_gguf(scripts: Scripts, file: Path, *, eos: str = EOS) -> Path:
    """The same model as a GGUF file, its special tokens marked as llama.cpp's converters mark them."""
    from gguf import GGUFWriter, TokenType

    width, tokens = _width(scripts), scripts.vocabulary
    writer = GGUFWriter(file, "gpt2")
    writer.add_context_length(width)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(8)
    writer.add_head_count(width // _HEAD)
    writer.add_layer_norm_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    ordinary = [TokenType.NORMAL] * (len(tokens) - len(scripts.specials))
    writer.add_token_types([*ordinary, *([TokenType.CONTROL] * len(scripts.specials))])
    writer.add_token_merges([f"{_letters()[0x20]} t"])
    writer.add_eos_token_id(tokens.index(eos))
    writer.add_add_bos_token(False)
    writer.add_chat_template(scripts.template)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(tokens), width),
        "blk.0.attn_qkv.weight": (3 * width, width),
        "blk.0.attn_qkv.bias": (3 * width,),
        "blk.0.attn_output.weight": (width, width),
        "blk.0.attn_output.bias": (width,),
        "blk.0.ffn_up.weight": (8, width),
        "blk.0.ffn_up.bias": (8,),
        "blk.0.ffn_down.weight": (width, 8),
        "blk.0.ffn_down.bias": (width,),
    }
    for name, shape in shapes.items():
        writer.add_tensor(name, np.zeros(shape, dtype=np.float32))
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(width, dtype=np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(width, dtype=np.float32))
    writer.add_tensor("position_embd.weight", np.eye(width, dtype=np.float32))
    writer.add_tensor("output.weight", _head(scripts))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
