"""How much faster a probe's continuations come in one batch behind a shared prefix than by single runs.

    python -m bench.probe_speed [--model smollm2] [--questions 4] [--singles 12] [--tokens 24]

The states of some answers are read at all layers, and the model continues the inspection prompt for each question and
layer. Ours is one batch over (question, layer) behind one cached prefix. The peer is what one writes first: for each
pair, the library's `generate` on the whole prompt with a hook that replaces the placeholder's state, greedy, with its
own cache, ended at a line break. It has the same model, threads and precision. Only every so manyth pair is run alone
(`--singles`), spread over questions and layers; time is per continuation. The last column counts equal texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from bench.results import keep
from bench.timing import Seconds
from polyculture.generate.engines import PATCHING, Message, ModelSpec, open_engine
from polyculture.generate.engines.patching import Inspection, Patch, StatesRequest
from polyculture.generate.engines.transformers.engine import TransformersEngine
from polyculture.instruments.probe.asking import HOUSE, read_inspection

SMALLEST = ("--model", "{model}", "--questions", "1", "--singles", "2", "--tokens", "3")
ANSWERS = (
    ("What do people in Korea eat on New Year's Day?", "They eat tteokguk, a soup of rice cakes."),
    ("What is the most popular sport in Spain?", "Football is played and watched by most people."),
    ("Which fruit do people in Iran eat in winter?", "Pomegranates and oranges are eaten in winter."),
    ("What do children in Mexico play after school?", "They play football, marbles and loteria."),
)


def main() -> None:
    """Prints a line: seconds per continuation of both, the ratio, and how many texts are equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2", help="a name, folder or GGUF file (default: smollm2)")
    parser.add_argument("--questions", type=int, default=4, help="whose layers are all read (default: 4)")
    parser.add_argument("--singles", type=int, default=12, help="continuations by single runs (default: 12)")
    parser.add_argument("--tokens", type=int, default=24, help="of a continuation, at most (default: 24)")
    options = parser.parse_args()
    spec = ModelSpec(f"transformers:{options.model}", {"device": "cpu", "bare_prompts": True})
    with open_engine(spec, PATCHING) as engine:
        assert isinstance(engine, TransformersEngine)
        inspection = read_inspection(HOUSE, options.tokens)
        patches = patches_of(engine, options.questions)
        chosen = patches[:: max(1, len(patches) // options.singles)][: options.singles]
        run_alone(engine, inspection, chosen[0])  # both find their memory warm
        begun = Seconds.now()
        together = {one.patch_id: one.text for one in engine.continue_patched(inspection, patches)}
        ours = Seconds.now() - begun
        begun = Seconds.now()
        alone = {patch.patch_id: run_alone(engine, inspection, patch) for patch in chosen}
        theirs = Seconds.now() - begun
    equal = sum(together[name] == text for name, text in alone.items())
    each, single = ours.cpu / len(patches), theirs.cpu / len(chosen)
    by_clock = theirs.wall / len(chosen) / (ours.wall / len(patches))
    keep("probe_speed", "How fast a probe continues", "one batch", {"seconds of CPU each": f"{each:.3f}"})
    keep("probe_speed", "How fast a probe continues", "single runs", {"seconds of CPU each": f"{single:.3f}"})
    print(f"batch: {each:.3f} s of CPU each, {len(patches)} in {ours.wall:.0f} s by the clock")
    print(f"single runs: {single:.3f} s of CPU each, {len(chosen)} in {theirs.wall:.0f} s by the clock")
    print(f"ratio: {single / each:.1f} of CPU, {by_clock:.1f} by the clock; {equal} of {len(alone)} texts are equal")


def patches_of(engine: TransformersEngine, questions: int) -> list[Patch]:
    """A patch per question and layer."""
    asked = [
        StatesRequest(str(number), (Message("user", question),), answer, ((0, len(answer)),))
        for number, (question, answer) in enumerate((ANSWERS * questions)[:questions])
    ]
    found = sorted(engine.answer_states(asked), key=lambda one: int(one.request_id))
    return [
        Patch(f"{one.request_id} {layer}", {layer: state})
        for one in found
        if one.states is not None
        for layer, state in enumerate(one.states, 1)
    ]


def run_alone(engine: TransformersEngine, inspection: Inspection, patch: Patch) -> str:
    """One full prompt with one hook: the text up to its line's end."""
    import torch

    loaded = engine._loaded
    tokenizer, model = loaded.tokenizer, loaded.model
    fed = tokenizer(inspection.prompt, return_tensors="pt")
    place = fed["input_ids"].shape[1] - 1
    breaks = [number for number in range(len(tokenizer)) if "\n" in tokenizer.decode([number])] if not _BREAKS else []
    _BREAKS.extend(breaks)
    ((layer, state),) = patch.states.items()

    def replace(_: Any, __: Any, output: Any) -> Any:
        hidden = output[0] if isinstance(output, tuple) else output
        if hidden.shape[1] <= place:  # later tokens, one at a time
            return None
        changed = hidden.clone()
        changed[0, place] = torch.from_numpy(state)
        return (changed, *output[1:]) if isinstance(output, tuple) else changed

    hook = engine._blocks()[layer - 1].register_forward_hook(replace)
    try:
        with torch.inference_mode():
            written = _generate(model, fed, inspection.max_tokens, [tokenizer.eos_token_id, *_BREAKS])
    finally:
        hook.remove()
    text: str = tokenizer.decode(written, skip_special_tokens=True)
    return text.partition("\n")[0]


_BREAKS: list[int] = []  # the vocabulary's tokens with a line break: looked for once


def _generate(model: Any, fed: Any, most: int, ends: Sequence[int | None]) -> Any:
    ended = [end for end in ends if end is not None]
    fed = {"input_ids": fed["input_ids"], "attention_mask": fed["attention_mask"]}
    found = model.generate(**fed, max_new_tokens=most, do_sample=False, eos_token_id=ended, pad_token_id=ended[0])
    return found[0, fed["input_ids"].shape[1] :]


if __name__ == "__main__":
    main()
