CREATE TABLE policy (
  guild TEXT PRIMARY KEY,
  roles TEXT NOT NULL,
  version BIGINT NOT NULL
);

CREATE TABLE link (
  channel TEXT PRIMARY KEY,
  guild TEXT NOT NULL,
  repository TEXT NOT NULL,
  settings TEXT NOT NULL,
  linked_by TEXT NOT NULL,
  linked_at BIGINT NOT NULL
);
CREATE INDEX link_of_guild ON link (guild, repository);

CREATE TABLE account (
  person TEXT PRIMARY KEY,
  login TEXT NOT NULL,
  github_id BIGINT NOT NULL,
  proven_at BIGINT NOT NULL
);

CREATE TABLE thread (
  id TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  guild TEXT NOT NULL,
  repository TEXT NOT NULL,
  session TEXT,
  named TEXT,
  last_position BIGINT NOT NULL,
  opened_at BIGINT NOT NULL
);
CREATE INDEX thread_of_session ON thread (session);

CREATE TABLE turn (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thread TEXT NOT NULL REFERENCES thread (id),
  position BIGINT NOT NULL,
  repository TEXT NOT NULL,
  source TEXT NOT NULL UNIQUE,
  asker TEXT NOT NULL,
  words TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'withdrawn')),
  fence BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  worker TEXT,
  lease_until BIGINT NOT NULL,
  wish TEXT,
  arrived_at BIGINT NOT NULL,
  UNIQUE (thread, position)
);
CREATE INDEX turn_unfinished ON turn (thread, position) WHERE state IN ('waiting', 'running');
CREATE INDEX turn_running ON turn (repository) WHERE state = 'running';

CREATE TABLE dispenser (one BIGINT PRIMARY KEY CHECK (one = 1), fence BIGINT NOT NULL);
INSERT INTO dispenser (one, fence) VALUES (1, 0);
CREATE TABLE served (repository TEXT PRIMARY KEY, fence BIGINT NOT NULL);

CREATE TABLE run (
  fence BIGINT PRIMARY KEY,
  turn BIGINT NOT NULL REFERENCES turn (id),
  worker TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  spent TEXT
);
CREATE INDEX run_of_turn ON run (turn);

CREATE TABLE part (
  turn BIGINT NOT NULL REFERENCES turn (id),
  position BIGINT NOT NULL,
  digest TEXT NOT NULL,
  message TEXT,
  PRIMARY KEY (turn, position)
);

CREATE TABLE outbox (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  lane TEXT NOT NULL,
  deed TEXT NOT NULL,
  turn BIGINT REFERENCES turn (id),
  part BIGINT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'failed')),
  attempts BIGINT NOT NULL,
  first_try BIGINT,
  next_at BIGINT NOT NULL,
  failure TEXT
);
CREATE INDEX outbox_waiting ON outbox (lane, id) WHERE state = 'waiting';

CREATE TABLE approval (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  turn BIGINT NOT NULL REFERENCES turn (id),
  request TEXT NOT NULL,
  question TEXT NOT NULL,
  deadline BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'decided', 'expired')),
  answer TEXT,
  decided_by TEXT,
  UNIQUE (turn, request)
);
CREATE INDEX approval_open ON approval (deadline) WHERE state = 'open';

CREATE TABLE seen (id TEXT PRIMARY KEY, at BIGINT NOT NULL);
CREATE INDEX seen_by_time ON seen (at);

CREATE TABLE gateway (
  shard BIGINT PRIMARY KEY,
  session TEXT,
  holder TEXT,
  fence BIGINT NOT NULL,
  lease_until BIGINT NOT NULL
);

CREATE TABLE audit (
  number BIGINT PRIMARY KEY,
  body TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE TABLE audit_head (one BIGINT PRIMARY KEY CHECK (one = 1), number BIGINT NOT NULL, hash TEXT NOT NULL);
INSERT INTO audit_head (one, number, hash) VALUES (1, 0, '');
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''the audit is append-only''; END';
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
