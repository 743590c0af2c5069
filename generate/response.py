"""The row of a response: a completion with the language and the refusal that its text shows."""

from __future__ import annotations

from polyculture.cache.catalog import Catalog
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.schema import Prompt, Response
from polyculture.generate.detection import Detection, detect
from polyculture.generate.engines.base import Completion
from polyculture.generate.refusals import is_refusal, own_phrases
from polyculture.generate.request import response_id


def response_row(
    completion: Completion, prompt: Prompt, job: Job, number: int, seed: int | None, catalog: Catalog
) -> Response:
    """A completion as the row of sample `number` of a prompt, whoever generated it."""
    text, language = completion.text, catalog.language(job.language)
    detected = Detection() if text is None else detect(text, language, catalog)
    return Response(
        response_id=response_id(completion.request_id, number),
        request_id=completion.request_id,
        prompt_id=prompt.prompt_id,
        model=job.model,
        language=job.language,
        topic=job.topic,
        condition=prompt.condition,
        country=prompt.country,
        sample=number,
        seed=seed,
        status="failed" if text is None else "ok",
        text=text,
        error=completion.error,
        retryable=completion.retryable if text is None else None,
        finish_reason=completion.finish_reason,
        ending=completion.ending,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        detected_language=detected.language,
        language_confidence=detected.confidence,
        script=detected.script,
        script_share=detected.script_share,
        model_version=completion.model_version,
        purchase=completion.purchase,
        reasoning=completion.reasoning,
        reasoning_tokens=completion.reasoning_tokens,
        refused=None if text is None else is_refusal(text, job.language, own_phrases(language)),
        note=completion.note,
        named_cost=completion.named_cost,
        body=completion.body,
    )
