-- What several figures read, computed once: a temporary table stands before the view of the same name.
CREATE TEMP TABLE health_by_language AS SELECT * FROM main.health_by_language;
