ALTER TABLE outbox ADD COLUMN message TEXT;
CREATE INDEX outbox_said ON outbox (lane, first_try) WHERE message IS NOT NULL;
CREATE INDEX thread_of_repository ON thread (repository, opened_at);
