-- no_board_entries: a row is of nothing, there is none: `board_entries` has its columns where no instrument feeds it.
CREATE VIEW no_board_entries AS
SELECT
    NULL::VARCHAR AS task, NULL::VARCHAR AS metric, NULL::VARCHAR AS goal, NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS language, NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type, NULL::VARCHAR AS setting,
    NULL::VARCHAR AS variant, NULL::VARCHAR AS way, NULL::VARCHAR AS model, NULL::DOUBLE AS estimate,
    NULL::DOUBLE AS low, NULL::DOUBLE AS high, NULL::BIGINT AS contexts, NULL::BIGINT AS native_entities,
    NULL::BIGINT AS western_entities, NULL::BIGINT AS native_fewest, NULL::BIGINT AS western_fewest
WHERE false;

-- no_board_orders: a row is of nothing, there is none: `board_orders` has its columns where no instrument feeds it.
CREATE VIEW no_board_orders AS
SELECT
    NULL::VARCHAR AS task, NULL::VARCHAR AS metric, NULL::VARCHAR AS dataset, NULL::VARCHAR AS language,
    NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type, NULL::VARCHAR AS setting, NULL::VARCHAR AS variant,
    NULL::VARCHAR AS better, NULL::VARCHAR AS worse
WHERE false;

-- no_board_failures: a row is of nothing, there is none: `board_failures` has its columns where no instrument feeds it.
CREATE VIEW no_board_failures AS
SELECT
    NULL::VARCHAR AS task, NULL::VARCHAR AS way, NULL::VARCHAR AS model, NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS setting, NULL::VARCHAR AS language, NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type,
    NULL::BIGINT AS failed, NULL::VARCHAR AS reason
WHERE false;
