CREATE TABLE policy (
  guild TEXT PRIMARY KEY,
  roles TEXT NOT NULL,
  version INTEGER NOT NULL
) STRICT;

CREATE TABLE link (
  channel TEXT PRIMARY KEY,
  guild TEXT NOT NULL,
  repository TEXT NOT NULL,
  settings TEXT NOT NULL,
  linked_by TEXT NOT NULL,
  linked_at INTEGER NOT NULL
) STRICT;
CREATE INDEX link_of_guild ON link (guild, repository);

CREATE TABLE account (
  person TEXT PRIMARY KEY,
  login TEXT NOT NULL,
  github_id INTEGER NOT NULL,
  proven_at INTEGER NOT NULL
) STRICT;

CREATE TABLE thread (
  id TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  guild TEXT NOT NULL,
  repository TEXT NOT NULL,
  session TEXT,
  named TEXT,
  last_position INTEGER NOT NULL,
  opened_at INTEGER NOT NULL
) STRICT;
CREATE INDEX thread_of_session ON thread (session);

CREATE TABLE turn (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  thread TEXT NOT NULL REFERENCES thread (id),
  position INTEGER NOT NULL,
  repository TEXT NOT NULL,
  source TEXT NOT NULL UNIQUE,
  asker TEXT NOT NULL,
  words TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'withdrawn')),
  fence INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  worker TEXT,
  lease_until INTEGER NOT NULL,
  wish TEXT,
  arrived_at INTEGER NOT NULL,
  UNIQUE (thread, position)
) STRICT;
CREATE INDEX turn_unfinished ON turn (thread, position) WHERE state IN ('waiting', 'running');
CREATE INDEX turn_running ON turn (repository) WHERE state = 'running';

CREATE TABLE dispenser (one INTEGER PRIMARY KEY CHECK (one = 1), fence INTEGER NOT NULL) STRICT;
INSERT INTO dispenser (one, fence) VALUES (1, 0);
CREATE TABLE served (repository TEXT PRIMARY KEY, fence INTEGER NOT NULL) STRICT;

CREATE TABLE run (
  fence INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL REFERENCES turn (id),
  worker TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  spent TEXT
) STRICT;
CREATE INDEX run_of_turn ON run (turn);

CREATE TABLE part (
  turn INTEGER NOT NULL REFERENCES turn (id),
  position INTEGER NOT NULL,
  digest TEXT NOT NULL,
  message TEXT,
  PRIMARY KEY (turn, position)
) STRICT;

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lane TEXT NOT NULL,
  deed TEXT NOT NULL,
  turn INTEGER REFERENCES turn (id),
  part INTEGER,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
  attempts INTEGER NOT NULL,
  first_try INTEGER,
  next_at INTEGER NOT NULL,
  failure TEXT
) STRICT;
CREATE INDEX outbox_waiting ON outbox (lane, id) WHERE state = 'waiting';

CREATE TABLE approval (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  turn INTEGER NOT NULL REFERENCES turn (id),
  request TEXT NOT NULL,
  question TEXT NOT NULL,
  deadline INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'decided', 'expired')),
  answer TEXT,
  decided_by TEXT,
  UNIQUE (turn, request)
) STRICT;
CREATE INDEX approval_open ON approval (deadline) WHERE state = 'open';

CREATE TABLE seen (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX seen_by_time ON seen (at);

CREATE TABLE gateway (
  shard INTEGER PRIMARY KEY,
  session TEXT,
  holder TEXT,
  fence INTEGER NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT;

CREATE TABLE audit (
  number INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
INSERT INTO audit_head (one, number, hash) VALUES (1, 0, '');
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
