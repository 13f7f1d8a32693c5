CREATE TABLE standing (
  guild TEXT NOT NULL,
  person TEXT NOT NULL,
  roles TEXT NOT NULL,
  asked INTEGER NOT NULL,
  told INTEGER NOT NULL,
  PRIMARY KEY (guild, person)
) STRICT, WITHOUT ROWID;
