"""vLLM in a separate process: this file runs in the interpreter that has vLLM, and imports nothing of this project.

It reads lines of JSON and writes lines of JSON. The settings come first; it writes `ready` when the model is loaded.
Each further line requests samples or a score. Each answer is written when it is finished, independently of the others.
The process ends when its input closes, or when its parent process is gone. Of vLLM it uses names that `vllm` exports.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TextIO

GRACE = 60.0  # seconds that vLLM may take to stop its own processes; a busy machine may need tens of them
_SEGMENTS = "/dev/shm/psm_"  # noqa: S108 - as Python's multiprocessing names shared memory
_SAY_AGAIN = 1.0  # seconds between two looks for the process that started this one
# By itself vLLM's asynchronous engine runs half as many texts as its `LLM` does; here only the rate counts.
_DEFAULTS = {"max_num_seqs": 256, "max_num_batched_tokens": 8192, "disable_log_stats": True}

JsonLine = dict[str, Any]


class Worker:
    """One loaded model and its requests in flight, in asyncio's loop."""

    def __init__(self, settings: JsonLine, out: TextIO) -> None:
        from pydantic import TypeAdapter
        from vllm import AsyncEngineArgs, AsyncLLMEngine, SamplingParams

        self._out, self._writing = out, Lock()
        arguments = AsyncEngineArgs(**{**_DEFAULTS, **settings["arguments"], "model": settings["model"]})
        self._engine = AsyncLLMEngine.from_engine_args(arguments)
        self._model = settings["model"], arguments.revision
        self._tokenizer = self._engine.get_tokenizer()
        self._bos = settings["bos"]
        self._systems: set[str] = set()  # system prompts that the template has a place for
        self._specials = special_tokens(self._tokenizer)
        self._template = {"chat_template": settings["chat_template"], **settings["chat_template_kwargs"]}
        # A separate tokenizer for the reading thread, which need not wait for a step of the model.
        self._own_tokenizer = deepcopy(self._tokenizer)
        self._parameters = TypeAdapter(SamplingParams)
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()

    def ready(self) -> JsonLine:
        """The facts about the model that the client needs."""
        import vllm

        config = self._engine.vllm_config
        model = config.model_config
        return {
            "vllm": vllm.__version__,
            "revision": commit(*self._model),
            "dtype": str(model.dtype).removeprefix("torch."),
            "quantization": model.quantization,
            "max_num_seqs": config.scheduler_config.max_num_seqs,
            "max_model_len": model.max_model_len,
            "chat_template": bool(self._template["chat_template"] or getattr(self._tokenizer, "chat_template", True)),
            "bos_token_id": self._tokenizer.bos_token_id if self._bos else None,
            "first_token_id": (
                self._tokenizer.eos_token_id if self._tokenizer.bos_token_id is None else self._tokenizer.bos_token_id
            ),
            "unk_token_id": getattr(self._tokenizer, "unk_token_id", None),
        }

    async def serve(self) -> None:
        """Answer what `receive` takes, until SIGTERM or the end of vLLM's own processes."""
        self._loop.add_signal_handler(signal.SIGTERM, self._ended.set)
        self.write({"ready": self.ready()})
        await self._ended.wait()
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)

    def receive(self, line: JsonLine) -> None:
        """Take a line. Called from the reading thread, which asks the tokenizer itself, immediately."""
        if "tokenize" in line or "render" in line:
            try:
                self.write({"id": line["id"], **self._of_tokenizer(line)})
            except Exception as fault:  # noqa: BLE001 - told on the other side
                self.write({"id": line["id"], "error": str(fault)})
            return
        self._loop.call_soon_threadsafe(self._take, line)

    def _of_tokenizer(self, line: JsonLine) -> JsonLine:
        """The tokens of texts; or a chat as the template writes it, and the tokens that a template may write."""
        if "tokenize" in line:
            encoded = self._own_tokenizer(line["tokenize"], **line["options"])
            return {"encoded": {name: encoded[name] for name in encoded}}
        text = self._own_tokenizer.apply_chat_template(line["render"], tokenize=False, **self._template)
        return {"text": text, "added": added_tokens(self._own_tokenizer)}

    def _take(self, line: JsonLine) -> None:
        if "abort" in line:
            for number in line["abort"]:
                if number in self._asked:
                    self._asked[number].cancel()
            return
        self._asked[line["id"]] = task = self._loop.create_task(self._answer(line))
        task.add_done_callback(lambda _: self._asked.pop(line["id"]))

    async def _answer(self, line: JsonLine) -> None:
        try:
            await (self._sample(line) if "messages" in line else self._score(line))
        except Exception as fault:  # noqa: BLE001 - a request that vLLM does not take: too long, no schema, ...
            if self._engine.errored:
                self._ended.set()  # and the end of this process says so
            else:
                self.write({"id": line["id"], "error": str(fault) or str(fault.__cause__)})

    async def _sample(self, line: JsonLine) -> None:
        """Samples of one prompt, which vLLM reads once: the first fills its prefix cache."""
        self._check_system(line["messages"])
        tokens = list(
            self._tokenizer.apply_chat_template(
                line["messages"], tokenize=True, add_generation_prompt=True, return_dict=False, **self._template
            )
        )
        # Chat templates may open the reasoning themselves: each answer therefore carries the end of the prompt.
        tail = self._tokenizer.decode(tokens[-line["tail"] :])
        await asyncio.gather(*(self._sample_one(line, tokens, tail, seed) for seed in line["seeds"]))

    async def _sample_one(self, line: JsonLine, tokens: list[int], tail: str, seed: int) -> None:
        # The log-probability of each token tells whether the model computes numbers.
        # All that the model writes, as it writes it: its marks are read on the other side.
        whole = {"skip_special_tokens": False, "spaces_between_special_tokens": False}
        asked = {**line["decoding"], **whole, "seed": seed, "logprobs": 0, "flat_logprobs": True}
        output = await self._generate(f"{line['id']}-{seed}", tokens, asked, schema=line["schema"])
        (text,) = output.outputs
        answer = {
            "id": line["id"],
            "seed": seed,
            "text": text.text,
            "finish_reason": text.finish_reason,
            "finite": math.isfinite(text.cumulative_logprob),
            "prompt_tail": tail,
            "specials": sorted({self._specials[token] for token in text.token_ids if token in self._specials}),
            "prompt_tokens": len(tokens),
            "completion_tokens": len(text.token_ids),
        }
        self.write(answer)

    def _check_system(self, messages: list[dict[str, str]]) -> None:
        """Raise where the template leaves a system prompt out; one that refuses it raises itself."""
        system = messages[0]["content"] if messages[0]["role"] == "system" else None
        if system is None or system in self._systems:
            return
        asked = [messages[0], {"role": "user", "content": "?"}]
        text = self._tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True, **self._template)
        if system.strip() not in text:
            raise ValueError("the chat template leaves the system prompt out: it is not supported")
        self._systems.add(system)

    async def _score(self, line: JsonLine) -> None:
        """The log-probabilities of the tokens from `start` on."""
        tokens = line["tokens"]
        asked = {"max_tokens": 1, "prompt_logprobs": 0, "flat_logprobs": True, "detokenize": False}
        output = await self._generate(str(line["id"]), tokens, asked)
        values = [
            output.prompt_logprobs[position][tokens[position]].logprob for position in range(line["start"], len(tokens))
        ]
        if not all(map(math.isfinite, values)):
            raise ValueError("a log-probability is not a finite number")
        names = self._tokenizer.convert_ids_to_tokens(tokens[line["start"] :])
        self.write({"id": line["id"], "log_probabilities": values, "tokens": names})

    async def _generate(self, name: str, tokens: list[int], asked: JsonLine, schema: JsonLine | None = None) -> Any:
        """vLLM's output for one text, once it is finished."""
        from vllm import SamplingParams, TokensPrompt

        params = SamplingParams(**asked)
        # Of these two fields' types `vllm` exports no name.
        params.output_kind = type(params.output_kind).FINAL_ONLY
        if schema:
            typed = self._parameters.validate_python({"structured_outputs": {"json": schema}})
            params.structured_outputs = typed.structured_outputs
        prompt = TokensPrompt(prompt_token_ids=tokens)
        (output,) = [output async for output in self._engine.generate(prompt, params, name)]
        return output

    def write(self, answer: JsonLine) -> None:
        """Send an answer."""
        with self._writing:
            _write(self._out, answer)

    def close(self) -> None:
        """Stop vLLM's processes. vLLM alone would kill them after 5 seconds, and leave their shared memory."""
        held = shared_memory(os.getpgrp())
        self._engine.shutdown(timeout=GRACE - 10)
        unlink(held)


def commit(model: str, revision: str | None) -> str | None:
    """The commit of a model of the hub, as the hub's cache on this machine has it; else the revision that was asked."""
    from huggingface_hub import try_to_load_from_cache

    with suppress(ValueError):  # a folder, or an address that is no name of the hub
        file = try_to_load_from_cache(model, "config.json", revision=revision)
        if isinstance(file, str):
            return Path(file).parent.name
    return revision


def special_tokens(tokenizer: Any) -> dict[int, str]:
    """The tokens that a decoder may leave out, with their texts; Mistral's own tokenizer lists no added ones."""
    named = zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True)
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return {**dict(named), **{number: str(token) for number, token in added.items() if token.special}}


def added_tokens(tokenizer: Any) -> dict[str, int]:
    """The numbers of the tokens that are special, or were added to a tokenizer's own: those that a template writes."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return {str(token): number for number, token in {**special_tokens(tokenizer), **added}.items()}


def _read(loaded: SimpleQueue[Worker]) -> None:
    """Read lines as they arrive, so that the client never blocks."""
    worker = None
    for text in sys.stdin:
        worker = worker or loaded.get()
        worker.receive(json.loads(text))
    _end()


def _watch(parent: int) -> None:
    """End this process when its parent is gone, even where another process holds the parent's end of the pipe."""
    while os.getppid() == parent:
        time.sleep(_SAY_AGAIN)
    _end()


def _end() -> None:
    """Stop in order; if that does not finish, kill this process and all its children."""
    held = shared_memory(os.getpgrp())
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    unlink(held)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def shared_memory(group: int) -> set[Path]:
    """The shared-memory files by which the processes of a group communicate. Empty where there is no /proc.

    A killed process leaves its files behind until the machine restarts: another process must remove them.
    """
    return {segment for process in Path("/proc").glob("[0-9]*") for segment in _mapped(process, group)}


def unlink(segments: Iterable[Path]) -> None:
    """Unlink shared memory. The system frees it when the last process that uses it has ended."""
    for segment in segments:
        segment.unlink(missing_ok=True)


def _mapped(process: Path, group: int) -> set[Path]:
    with suppress(OSError):  # it has just ended, or is another user's
        if os.getpgid(int(process.name)) == group:
            words = (process / "maps").read_text(encoding="utf-8", errors="replace").split()
            return {Path(word) for word in words if word.startswith(_SEGMENTS)}
    return set()


async def _serve(settings: JsonLine, loaded: SimpleQueue[Worker], out: TextIO) -> None:
    """Load the model and answer; what keeps it from loading is told on the other side."""
    try:
        from vllm import AsyncEngineArgs

        known = {field.name for field in dataclasses.fields(AsyncEngineArgs)} - {"model"}  # which the experiment names
        unknown = sorted(settings["arguments"].keys() - known)
        if unknown:
            _write(out, {"unknown": unknown[0], "known": sorted(known)})
            return
        worker = Worker(settings, out)
    except Exception as fault:
        _write(out, {"fatal": f"{type(fault).__name__}: {fault}", "trace": traceback.format_exc()})
        raise
    try:
        loaded.put(worker)
        await worker.serve()
    finally:
        worker.close()


def _write(out: TextIO, answer: JsonLine) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


def main() -> None:
    """Serve until the client is gone."""
    # Only answers go to the client; vLLM's prints go to its log.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    settings = json.loads(sys.stdin.readline())
    Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    loaded: SimpleQueue[Worker] = SimpleQueue()
    Thread(target=_read, args=(loaded,), daemon=True).start()
    asyncio.run(_serve(settings, loaded, out))


if __name__ == "__main__":
    main()
