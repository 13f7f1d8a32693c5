-- The tables of OpenCode 1.18.33 that the memory knows something about, with their keys and rules.
CREATE TABLE account (id text PRIMARY KEY, email text NOT NULL, access_token text NOT NULL, refresh_token text NOT NULL);
CREATE TABLE account_state (id integer PRIMARY KEY, active_account_id text REFERENCES account(id) ON DELETE SET NULL);
CREATE TABLE control_account (email text, url text, access_token text NOT NULL, PRIMARY KEY (email, url));
CREATE TABLE credential (id text PRIMARY KEY, label text NOT NULL, value text NOT NULL);
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
CREATE TABLE event (id text PRIMARY KEY, aggregate_id text NOT NULL REFERENCES event_sequence(aggregate_id) ON DELETE CASCADE,
    seq integer NOT NULL, type text NOT NULL, data text NOT NULL);
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, time_created integer NOT NULL,
    time_updated integer NOT NULL, sandboxes text NOT NULL, commands text);
CREATE TABLE project_directory (project_id text NOT NULL REFERENCES project(id) ON DELETE CASCADE, directory text NOT NULL,
    type text, time_created integer NOT NULL, PRIMARY KEY (project_id, directory));
CREATE TABLE permission (id text PRIMARY KEY, project_id text NOT NULL REFERENCES project(id) ON DELETE CASCADE,
    action text NOT NULL, resource text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL REFERENCES project(id) ON DELETE CASCADE, workspace_id text,
    parent_id text, slug text NOT NULL, directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL,
    share_url text, metadata text, cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL,
    tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL,
    tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text,
    agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer,
    time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE,
    session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    type text NOT NULL, seq integer NOT NULL, data text NOT NULL);
CREATE TABLE todo (session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE, content text NOT NULL, status text NOT NULL,
    priority text NOT NULL, position integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    PRIMARY KEY (session_id, position));
CREATE TABLE session_share (session_id text PRIMARY KEY REFERENCES session(id) ON DELETE CASCADE, id text NOT NULL, secret text NOT NULL);
CREATE TABLE migration (id text PRIMARY KEY, time_completed integer NOT NULL);
CREATE UNIQUE INDEX event_aggregate_seq_idx ON event (aggregate_id, seq);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message (session_id, seq);
CREATE INDEX session_project_idx ON session (project_id);
CREATE INDEX session_parent_idx ON session (parent_id);
INSERT INTO project VALUES ('prj', '/repo/a', 'git', NULL, 1, 1, '[]', NULL);
INSERT INTO migration VALUES ('20260101_first', 1), ('20260601_second', 2);
