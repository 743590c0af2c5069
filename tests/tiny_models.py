"""Tiny models with random weights and real tokenizers, made on the spot: their numbers are judged by brute force."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = "we ate soup rice bread with tea and cake in the old house ##s ##ed so ##on".split()  # noqa: SIM905


def wordpiece(words: Sequence[str] = WORDS) -> Any:
    """BERT's tokenizer over a handful of words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {token: number for number, token in enumerate([*special, *words])}
    built = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    built.normalizer = normalizers.BertNormalizer()
    built.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    built.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=built,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


_CORPUS = ("we ate the soup", "the soup was hot", "fish and chips", "寿司と天ぷら", "김치와 밥", "पनीर और चावल") * 4


def byte_level() -> Any:
    """GPT-2's kind of tokenizer, trained on a few lines: most letters outside English are several tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    built = Tokenizer(models.BPE())
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<bos>", "<eos>"]
    built.train_from_iterator(
        _CORPUS, trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=built, pad_token="<pad>", bos_token="<bos>", eos_token="<eos>")


def _sizes(vocabulary: int) -> dict[str, Any]:
    return {"vocab_size": vocabulary, "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4}


def _gemma3(vocabulary: int) -> Any:
    """Layers that see 6 tokens back, and layers that see all."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    kinds = ["sliding_attention", "full_attention"] * 2
    sizes = {**_sizes(vocabulary), "intermediate_size": 64, "num_key_value_heads": 2, "head_dim": 8}
    return Gemma3ForCausalLM(Gemma3TextConfig(**sizes, sliding_window=6, layer_types=kinds))


def _mistral(vocabulary: int) -> Any:
    """Layers that all see 6 tokens back."""
    from transformers import MistralConfig, MistralForCausalLM

    sizes = {**_sizes(vocabulary), "intermediate_size": 64, "num_key_value_heads": 2}
    return MistralForCausalLM(MistralConfig(**sizes, sliding_window=6))


def _gpt2(vocabulary: int) -> Any:
    """Learned positions."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, n_embd=32, n_layer=4, n_head=4, n_positions=128))


def _llama(vocabulary: int) -> Any:
    """Positions that turn queries and keys, and a window that holds longer prompts."""
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {**_sizes(vocabulary), "intermediate_size": 64, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(**sizes, max_position_embeddings=1024))


def _bloom(vocabulary: int) -> Any:
    """Positions that come with the mask (ALiBi), so that a tree mask does not fit."""
    from transformers import BloomConfig, BloomForCausalLM

    return BloomForCausalLM(BloomConfig(vocab_size=vocabulary, hidden_size=32, n_layer=2, n_head=4))


def _mamba(vocabulary: int) -> Any:
    """A state that is carried from token to token: no attention at all."""
    from transformers import MambaConfig, MambaForCausalLM

    return MambaForCausalLM(MambaConfig(vocab_size=vocabulary, hidden_size=32, num_hidden_layers=2))


CAUSAL: Mapping[str, Callable[[int], Any]] = {
    "gemma3": _gemma3,
    "mistral": _mistral,
    "gpt2": _gpt2,
    "llama": _llama,
    "bloom": _bloom,
    "mamba": _mamba,
}


def save_causal(kind: str, folder: Path) -> Path:
    """A causal model of this kind with the byte-level tokenizer, as a folder."""
    import torch

    tokenizer = byte_level()
    torch.manual_seed(7)
    CAUSAL[kind](len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_masked(folder: Path, words: Sequence[str] = WORDS) -> Path:
    """A small BERT with the WordPiece tokenizer, as a folder."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = wordpiece(words)
    torch.manual_seed(7)
    sizes = {**_sizes(len(tokenizer)), "intermediate_size": 64, "max_position_embeddings": 64}
    BertForMaskedLM(BertConfig(**sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_labeller(folder: Path, labels: Sequence[str], meanings: Mapping[str, str], *, tokens: bool) -> Path:
    """A BERT whose every word has a label: of the word itself (`tokens`), or of the text that it stands in.

    `meanings` gives words (in lower case) their labels; other words have the last of `labels`, and weigh nothing.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertForTokenClassification

    tokenizer = wordpiece([*meanings, *(word for word in WORDS if word not in meanings), "."])
    size = max(8, len(labels))
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=size, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        id2label=dict(enumerate(labels)), label2id={label: number for number, label in enumerate(labels)},
    )  # fmt: skip
    model: Any = (BertForTokenClassification if tokens else BertForSequenceClassification)(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        embedding = model.bert.embeddings.word_embeddings.weight
        for word, label in meanings.items():
            embedding[tokenizer.convert_tokens_to_ids(word), labels.index(label)] = 10.0
        if not tokens:  # every token looks at all alike, and the first carries their sum
            for part in (
                model.bert.encoder.layer[0].attention.self.value,
                model.bert.encoder.layer[0].attention.output.dense,
            ):
                part.weight.copy_(torch.eye(size))
            model.bert.pooler.dense.weight.copy_(torch.eye(size) * 0.1)
        model.classifier.weight.copy_(torch.eye(size)[: len(labels)])
        model.classifier.bias[len(labels) - 1] = 0.01
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
