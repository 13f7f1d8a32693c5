ALTER TABLE thread ADD COLUMN forked_from TEXT;
ALTER TABLE thread ADD COLUMN diff TEXT;
CREATE TABLE offered (what TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (what, name));
