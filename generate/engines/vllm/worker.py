"""vLLM in a separate process: this file runs in the interpreter that has vLLM, and imports nothing of this project.

It reads lines of JSON and writes lines of JSON. The settings come first; it writes `ready` when the model is loaded.
Each further line requests samples or a score. Each answer is written when it is finished, independently of the others.
The process ends when its input closes, or when its parent process is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TextIO

GRACE = 60.0  # seconds that vLLM may take to stop its own processes; a busy machine may need tens of them
_SEGMENTS = "/dev/shm/psm_"  # noqa: S108 - as Python's multiprocessing names shared memory
_SAY_AGAIN = 1.0  # seconds between two looks for the process that started this one

Line = dict[str, Any]


class Worker:
    """One loaded model and its requests in flight."""

    def __init__(self, settings: Line, out: TextIO) -> None:
        from vllm.engine.arg_utils import EngineArgs
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.llm_engine import LLMEngine

        arguments = {"disable_log_stats": True, **settings["arguments"]}
        self._engine = LLMEngine.from_engine_args(EngineArgs(**arguments), usage_context=UsageContext.LLM_CLASS)
        self._tokenizer = self._engine.get_tokenizer()
        self._bos = settings["bos"]
        self._systems: set[str] = set()  # system prompts that the template has a place for
        self._template = {"chat_template": settings["chat_template"], **settings["chat_template_kwargs"]}
        self._out, self._writing = out, Lock()
        # A separate tokenizer for the reading thread, which need not wait for a step of the model.
        self._own_tokenizer = deepcopy(self._tokenizer)
        self._asked: dict[str, Line] = {}

    def ready(self) -> Line:
        """The facts about the model that the client needs."""
        import vllm

        config = self._engine.vllm_config
        model = config.model_config
        return {
            "vllm": vllm.__version__,
            "revision": getattr(model.hf_config, "_commit_hash", None) or model.revision,
            "dtype": str(model.dtype).removeprefix("torch."),
            "quantization": model.quantization,
            "max_num_seqs": config.scheduler_config.max_num_seqs,
            "max_model_len": model.max_model_len,
            "chat_template": bool(self._template["chat_template"] or getattr(self._tokenizer, "chat_template", True)),
            "block_size": config.cache_config.block_size,
            "bos_token_id": self._tokenizer.bos_token_id if self._bos else None,
            "unk_token_id": getattr(self._tokenizer, "unk_token_id", None),
        }

    def serve(self, inbox: SimpleQueue[Line]) -> None:
        """Run the requests, and accept new ones between two steps of the model."""
        while True:
            while not self._asked or not inbox.empty():
                self._take(inbox.get())
            answers = [answer for output in self._engine.step() for answer in self._answers(output)]
            self._write(answers)

    def _take(self, line: Line) -> None:
        if "abort" in line:
            names = [str(number) for number in line["abort"] if str(number) in self._asked]
            self._engine.abort_request(names)
            for name in names:
                del self._asked[name]
            return
        from vllm.v1.engine.exceptions import EngineDeadError

        name = str(line["id"])
        try:
            prompt, params = self._sampling(line) if "messages" in line else self._scoring(line)
            number = self._engine.add_request(name, prompt, params)
        except EngineDeadError:
            raise
        except Exception as fault:  # noqa: BLE001 - a request that vLLM does not take: too long, no schema, ...
            self._write([{"id": line["id"], "error": str(fault)}])
            return
        self._asked[name] = line
        self._hand_over_each(number)

    def _sampling(self, line: Line) -> tuple[Any, Any]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        params = SamplingParams(
            n=line["n"],
            seed=line["seed"],
            temperature=line["temperature"],
            top_p=line["top_p"],
            top_k=line["top_k"] or 0,
            max_tokens=line["max_tokens"],
            structured_outputs=StructuredOutputsParams(json=line["schema"]) if line["schema"] else None,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        self._check_system(line["messages"])
        tokens = self._tokenizer.apply_chat_template(
            line["messages"], tokenize=True, add_generation_prompt=True, return_dict=False, **self._template
        )
        # Chat templates may open the reasoning themselves: each answer therefore carries the end of the prompt.
        line["prompt_tail"] = self._tokenizer.decode(list(tokens)[-line["tail"] :])
        return {"prompt_token_ids": list(tokens)}, params

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

    def _scoring(self, line: Line) -> tuple[Any, Any]:
        """One pass over `tokens`. With `cached`, tokens in the prefix cache are not recomputed."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        params = SamplingParams(
            max_tokens=1,
            prompt_logprobs=0,
            flat_logprobs=True,
            detokenize=False,
            skip_reading_prefix_cache=not line["cached"],
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        return {"prompt_token_ids": line["tokens"]}, params

    def _hand_over_each(self, number: str) -> None:
        """For a request for n texts, make vLLM return each when it is finished, not all with the last."""
        from vllm.sampling_params import RequestOutputKind

        parent = self._engine.output_processor.parent_requests.get(number)
        if parent is not None:
            parent.sampling_params = parent.sampling_params.clone()
            parent.sampling_params.output_kind = RequestOutputKind.DELTA

    def _answers(self, output: Any) -> Iterator[Line]:
        line = self._asked.get(output.request_id)
        if line is None:
            return
        if output.finished:
            del self._asked[output.request_id]
        if "messages" not in line:
            tokens = self._tokenizer.convert_ids_to_tokens(line["tokens"][line["start"] :])
            yield {**_score(line, output), "tokens": tokens}
            return
        for completion in output.outputs:
            yield {
                "id": line["id"],
                "seed": line["seed"] + completion.index,
                "text": completion.text,
                "finish_reason": completion.finish_reason,
                "prompt_tail": line["prompt_tail"],
                "prompt_tokens": len(output.prompt_token_ids),
                "completion_tokens": len(completion.token_ids),
            }

    def tokenize(self, line: Line) -> None:
        """Return the tokens of texts immediately. Called from the reading thread."""
        try:
            encoded = self._own_tokenizer(line["tokenize"], **line["options"])
        except Exception as fault:  # noqa: BLE001 - told on the other side
            self._write([{"id": line["id"], "error": str(fault)}])
            return
        self._write([{"id": line["id"], "encoded": {name: encoded[name] for name in encoded}}])

    def _write(self, answers: list[Line]) -> None:
        if answers:
            text = "".join(json.dumps(answer) + "\n" for answer in answers)
            with self._writing:
                self._out.write(text)
                self._out.flush()

    def close(self) -> None:
        """Stop vLLM's processes. vLLM alone would kill them after 5 seconds, and leave their shared memory."""
        held = shared_memory(os.getpgrp())
        self._engine.engine_core.shutdown(timeout=GRACE - 10)
        unlink(held)


def _score(line: Line, output: Any) -> Line:
    """The log-probabilities of the tokens from `start` on, and the first position at which they are valid.

    Positions from the prefix cache were not computed; vLLM's values for them have no meaning.
    """
    logprobs, tokens = output.prompt_logprobs, line["tokens"]
    # The pass over the last cached token would score the next one, but did not take place.
    first = output.num_cached_tokens + 1
    scored = range(line["start"], len(tokens))
    values = [logprobs[position][tokens[position]].logprob if position >= first else 0.0 for position in scored]
    return {"id": line["id"], "log_probabilities": values, "from": first}


def _read(inbox: SimpleQueue[Line], worker: SimpleQueue[Worker]) -> None:
    """Read lines as they arrive, so that the client never blocks."""
    loaded = None
    for text in sys.stdin:
        line = json.loads(text)
        if "tokenize" in line:
            loaded = loaded or worker.get()
            loaded.tokenize(line)
        else:
            inbox.put(line)
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


def main() -> None:
    """Serve until the client is gone."""
    # Only answers go to the client; vLLM's prints go to its log.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    settings = json.loads(sys.stdin.readline())
    inbox: SimpleQueue[Line] = SimpleQueue()
    Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    loaded: SimpleQueue[Worker] = SimpleQueue()
    Thread(target=_read, args=(inbox, loaded), daemon=True).start()
    try:
        worker = Worker(settings, out)
    except Exception as fault:  # whatever keeps the model from loading is told on the other side
        out.write(json.dumps({"fatal": f"{type(fault).__name__}: {fault}", "trace": traceback.format_exc()}) + "\n")
        out.flush()
        raise
    loaded.put(worker)
    try:
        out.write(json.dumps({"ready": worker.ready()}) + "\n")
        out.flush()
        worker.serve(inbox)
    finally:
        worker.close()


if __name__ == "__main__":
    main()
