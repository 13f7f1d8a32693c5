CREATE TABLE standing (
  guild TEXT NOT NULL,
  person TEXT NOT NULL,
  roles TEXT NOT NULL,
  asked BIGINT NOT NULL,
  told BIGINT NOT NULL,
  PRIMARY KEY (guild, person)
);
