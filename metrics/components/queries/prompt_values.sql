-- prompt_values: its rows, read once.
CREATE TEMP TABLE IF NOT EXISTS prompt_values AS FROM prompt_values;
