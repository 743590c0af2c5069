-- no_board_failures: a row is of nothing, there is none: `board_failures` has its columns where no instrument feeds it.
CREATE VIEW no_board_failures AS
SELECT
    NULL::VARCHAR AS task, NULL::VARCHAR AS way, NULL::VARCHAR AS model, NULL::VARCHAR AS dataset,
    NULL::VARCHAR AS setting, NULL::VARCHAR AS language, NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type,
    NULL::BIGINT AS failed, NULL::VARCHAR AS reason
WHERE false;
