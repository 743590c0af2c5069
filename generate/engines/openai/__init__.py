"""OpenAI-compatible servers: chat completions, batches, and log-probabilities of prompts."""
