"""Texts of models whose marks are special tokens, for every row of `reasoning.toml`, and what must be read of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from polyculture.generate.engines import Completion, Decoding, Message, Request, Sampling
from polyculture.generate.engines.reasoning import tables, words_of
from tests.scripted_models import EOS, ROOM, Scripts

# The tokens that a row of `pairs` stands for, where its pattern is not their text alone.
_OPENINGS = {
    "analysis|commentary": ("<|channel|>", "analysis", "<|message|>"),
    "<\\|channel>": ("<|channel>", "thought\n"),
    "<unused94>": ("<unused94>", "thought\n"),
    "<details": ('<details type="reasoning">',),
}
_CLOSINGS = {"<\\|channel\\|>final": ("<|end|>", "<|start|>", "assistant", "<|channel|>", "final", "<|message|>")}
_SHAPES = (
    ("<{}>", "</{}>"),
    ("<|{}|>", "<|/{}|>"),
    ("<|begin_of_{}|>", "<|end_of_{}|>"),
    ("<|START_{}|>", "<|END_{}|>"),
    ("<|{}:start|>", "<|{}:end|>"),
    ("◁{}▷", "◁/{}▷"),
)
HIDDEN, SHOWN, BEHIND = "Tea?", "Ramen.", "\nx y"


@dataclass(frozen=True)
class Written:
    """The pieces of a text, special tokens among them, with what is its answer (None: none) and its reasoning."""

    row: str
    pieces: tuple[str, ...]
    text: str | None = SHOWN
    reasoning: str | None = HIDDEN
    stops: bool = True  # it ends by itself; else the limit of its tokens ends it


def every_row() -> list[Written]:
    """The texts of all rows, and those whose marks are in disorder."""
    return [*_pairs(), *_tags(), *_turns(), *_disorder(), *_turns_of_models()]


def _pairs() -> Iterator[Written]:
    for row in tables()["pairs"]:
        if row.get("bare"):
            continue
        opening = next((one for key, one in _OPENINGS.items() if key in row["open"]), (_text(row["open"]),))
        closing = next((one for key, one in _CLOSINGS.items() if key in row["close"]), (_text(row["close"]),))
        yield Written(f"pair {row['open']}", (*opening, HIDDEN, *closing, SHOWN))
        yield Written(f"pair {row['open']}, cut", (*opening, HIDDEN), None, stops=False)


def _tags() -> Iterator[Written]:
    names = words_of("names")
    for name, shape in [*((name, _SHAPES[0]) for name in names), *((names[0], shape) for shape in _SHAPES[1:])]:
        opening, closing = (side.format(name.upper() if "T_" in side or "END_" in side else name) for side in shape)
        yield Written(f"name {opening}", (opening, HIDDEN, closing, SHOWN))
    for name in words_of("bracketed"):
        yield Written(f"bracketed {name}", (f"[{name.upper()}]", HIDDEN, f"[/{name.upper()}]", SHOWN))
    for name in words_of("answers"):
        opening, closing = f"<|START_{name.upper()}|>", f"<|END_{name.upper()}|>"
        marks = ("<|START_THINKING|>", HIDDEN, "<|END_THINKING|>")
        yield Written(f"answer {name}", (*marks, opening, SHOWN, closing))
        yield Written(f"answer {name}, without reasoning", (opening, SHOWN, closing), reasoning=None)


def _turns() -> Iterator[Written]:
    for mark in words_of("ends"):
        yield Written(f"end {mark}", (SHOWN, mark, BEHIND), reasoning=None)
    for mark in ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|assistant_end|>", "<|END_OF_TURN_TOKEN|>", "<eos>"):
        yield Written(f"end {mark}", (SHOWN, mark, BEHIND), reasoning=None)
    for header in words_of("headers"):
        pieces = re.findall(r"<[^<>]+>|\[[^\[\]]+\]|[^<>\[\]]+", header)
        yield Written(f"header {header}", (*pieces, "\n", SHOWN), reasoning=None)
    for mark in words_of("parts"):
        yield Written(f"part {mark}", ("Ra", mark, "men."), reasoning=None)
    yield Written("padding behind", (SHOWN, "[PAD]"), reasoning=None)  # with which llama.cpp ends a text
    for mark in ("<pad>", "<|pad|>", "[control_8]", "<unk>"):
        yield Written(f"no end {mark}", (mark, "Ra", mark, "men.", mark), reasoning=None)


def _disorder() -> Iterator[Written]:
    two, three = f"{HIDDEN}\n\nSushi.", "Tacos.\n\nSushi."
    yield Written("two ends", ("<think>", HIDDEN, "</think>", "Sushi.", "</think>", SHOWN), reasoning=two)
    yield Written("three ends", ("Tacos.", "</think>", "Sushi.", "</think>", "</think>", SHOWN), reasoning=three)
    yield Written("an end alone", ("</think>",), None, None)
    yield Written("a beginning behind", (SHOWN, "<think>"), SHOWN, None)
    yield Written("an empty pair", ("<think>", "\n\n", "</think>"), None, None)
    yield Written("harmony, cut in its header", ("<|channel|>", "ana"), None, None, stops=False)


def _turns_of_models() -> Iterator[Written]:
    """Whole turns as models write them, with what some write behind their end."""
    yield Written("Llama goes on", (SHOWN, "<|eot_id|>", "<|start_header_id|>", "user"), reasoning=None)
    yield Written("Qwen's own header", ("<|im_start|>", "assistant\n", SHOWN, "<|im_end|>"), reasoning=None)
    yield Written("an end before", ("</think>", f"\n\n{SHOWN}"), reasoning=None)
    yield Written("cut in the answer", ("<think>", HIDDEN, "</think>", "Ra"), "Ra", stops=False)
    yield Written("Hunyuan", ("<think>", HIDDEN, "</think>", "<answer>", SHOWN, "</answer>"))
    yield Written("Reka", ("<reasoning>", HIDDEN, "</reasoning>", SHOWN, "<sep>"))
    yield Written("Command A", ("<|START_THINKING|>", HIDDEN, "<|END_THINKING|>", "<|START_RESPONSE|>", SHOWN,
                                "<|END_RESPONSE|>", "<|END_OF_TURN_TOKEN|>"))  # fmt: skip
    yield Written("a tag that is named", ("The tag ", "<think>", " opens it."), "The tag <think> opens it.", None)


def _text(pattern: str) -> str:
    return pattern.replace("\\", "")


def scripts_of(written: Sequence[Written]) -> Scripts:
    """A model that writes these texts, each of their marks a special token."""
    marks = dict.fromkeys(piece for one in written for piece in one.pieces if re.fullmatch(r"[<\[◁].*[>\]▷]", piece))
    # gpt-oss has them both, by which llama.cpp knows that its <|end|> ends a message and no turn.
    return Scripts.of(*(one.pieces for one in written), specials=[*marks, "<|return|>", "<|call|>"])


def requests(written: Sequence[Written], scripts: Scripts) -> list[Request]:
    """A request for each text: `max_tokens` ends those that do not stop."""
    return [
        Request(
            str(number), (Message("user", scripts.prompt_of(number)),),
            Decoding(0.0, 1.0, None, max_tokens=ROOM if one.stops else scripts.length_of(number)), (1,),
        )
        for number, one in enumerate(written)
    ]  # fmt: skip


def differences(engine: Sampling, written: Sequence[Written], scripts: Scripts) -> list[str]:
    """The rows that are read otherwise than they should be, and how."""
    answers: Iterable[Completion] = engine.sample(requests(written, scripts))
    found = {int(answer.request_id): answer for answer in answers}
    assert len(found) == len(written)
    return [
        f"{one.row}: {found[number].text!r}, {found[number].reasoning!r} of {found[number].as_it_came!r} "
        f"({found[number].finish_reason}, {found[number].error})"
        for number, one in enumerate(written)
        if (found[number].text, found[number].reasoning) != (one.text, one.reasoning)
        or EOS in (found[number].as_it_came or "")
    ]
