-- A row is an answer about a text of one data set in some settings, of all its types: whether one came (`answered`), whether
-- it could be read (`ok`), and whether its context is the translation of one that was asked about, too (`again`). What
-- could not be read found nothing; what no present reader has read has no `strict`. The units are hashes: of a context that
-- of what its translations share, of an entity that of its English form. `text` is the same
-- of a text in all languages, `text_here` in one.
WITH own AS (
    SELECT
        s.*, coalesce(c.unit, s.context_id) AS context_unit, lower(coalesce(e.translation, s.entity)) AS entity_unit
    FROM swap_answers AS s
    LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
    LEFT JOIN dataset_entities AS e ON s.entity_id = e.entity_id
    WHERE s.task = $task AND s.answer_method = $answer_method AND s.model = $model AND s.dataset = $dataset
        AND list_contains($settings, s.setting)
)
SELECT
    coalesce(wording, '') AS wording, language, culture, entity_type, native, draw, gold,
    hash(context_unit) AS context, hash(entity_culture, entity_type, entity_unit) AS entity,
    hash(culture, entity_type, setting, context_unit, native, entity_unit, draw) AS text, hash(language, text) AS text_here,
    times, status = 'ok' AS ok, status = 'ok' OR raw IS NOT NULL AS answered,
    coalesce(source_context_id IN (SELECT context_id FROM own), false) AS again,
    CASE WHEN status = 'ok' THEN coalesce(answer, '') ELSE '' END AS answer,
    CASE WHEN status = 'ok' THEN coalesce(matched, 0) ELSE 0 END AS matched,
    CASE WHEN status = 'ok' THEN coalesce(predicted, 0) ELSE 0 END AS predicted,
    CASE WHEN status = 'ok' THEN coalesce(strict, 0) ELSE 0 END AS strict,
    CASE WHEN status = 'ok' THEN coalesce(strict_predicted, 0) ELSE 0 END AS strict_predicted,
    CASE WHEN status = 'ok' THEN strict IS NOT NULL ELSE raw IS NOT NULL END AS strict_answered
FROM own
ORDER BY language, culture, entity_type, context_id, entity_id, draw
