"""The engine `vllm`: the model runs in a process of its own, and may have an environment of its own."""
