"""The `transformers` engine: causal and masked models in this process, on a CPU or a GPU."""
