-- rewritten_names: a row is a name of `named` without its article, or as another rule rewrites it.
CREATE OR REPLACE TABLE rewritten_names (
    item UINTEGER, language VARCHAR, name VARCHAR, kind VARCHAR, normalised VARCHAR
);

-- name_forms: a row is a name of `named`, or a rewritten one, in its normal form and its loose form; `rule_count` is the number
-- of rules applied to the name.
CREATE OR REPLACE VIEW name_forms AS
SELECT *, loose(normalised) AS loose
FROM (
    SELECT item, language, name, kind, 0::UTINYINT AS rule_count, normalised FROM named
    UNION ALL
    SELECT item, language, name, kind, 1::UTINYINT AS rule_count, normalised FROM rewritten_names
);
