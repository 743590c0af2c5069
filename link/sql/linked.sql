-- linked: a row is an item that some ask is linked to, or may be.
CREATE TABLE linked AS SELECT DISTINCT item FROM rivals;
