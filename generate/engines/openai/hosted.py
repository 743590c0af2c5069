"""The hosted model that `init` writes where nothing else is found, and that pages and commented files name.

gpt-4o-mini ends on 14 January 2027. Its maker names gpt-6-luna in its place
(developers.openai.com/api/docs/deprecations, by copies of October and November 2026). It reasons unless it is
told not to, and takes `temperature` and `top_p` only then (github.com/anomalyco/models.dev, issue 6639, of
gpt-5.6-luna; docs.litellm.ai/blog/gpt_6_sol_luna: the default is medium). All were read on 2026-11-29. Without
reasoning it can be asked by any protocol here.
"""

from __future__ import annotations

HOSTED = "openai:gpt-6-luna"
HOSTED_OPTIONS = f'[options."{HOSTED}"]\nextra_body = {{ reasoning_effort = "none" }}  # else it takes no temperature\n'
HOSTED_PRICE = (0.10, 0.50)  # dollars per million tokens of prompts and answers
