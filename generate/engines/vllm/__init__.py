"""The engine `vllm`: the model runs in a separate process, optionally in a separate environment."""
