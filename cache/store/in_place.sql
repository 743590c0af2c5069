-- here.$PLACE: where this file was written; a row per path. The name of the table is that of the place, so a copy of the
-- file has the same one, also where both are attached at once.
CREATE SCHEMA here;
CREATE TABLE here.$PLACE (path VARCHAR);
-- in_place(): true where this file stands where it was written; else an error. The views name a run's files by absolute
-- paths: a copy would answer from the files of the run that it was copied from.
CREATE MACRO in_place() AS (
    SELECT CASE
        WHEN bool_and(path IN (FROM here.$PLACE)) THEN true
        ELSE error(
            'This run was copied or moved after ' || any_value(path) || ' was written: its views would read the files of '
            || (SELECT parse_dirpath(min(path)) FROM here.$PLACE)
            || '. Write it anew with: polyculture report EXPERIMENT'
        )
    END
    FROM duckdb_tables() AS tables JOIN duckdb_databases() AS databases USING (database_name)
    WHERE tables.schema_name = 'here' AND tables.table_name = '$PLACE'
);
