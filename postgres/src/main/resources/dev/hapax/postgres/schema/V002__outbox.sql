-- One row per message that has not been published yet. Rows of one lane are published in the order of seq, and only the
-- first row of a lane is ever leased: its lease is the lane's.
CREATE TABLE hapax_outbox (
    lane       bigint      NOT NULL,                                -- a hash of topic and aggregate, or of the id
    seq        bigint      GENERATED ALWAYS AS IDENTITY,
    id         uuid        NOT NULL,                                -- the receiver's to drop duplicates by
    topic      text        NOT NULL,
    aggregate  text,
    headers    text        NOT NULL,                                -- a line "name: value" for each
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    state      smallint    NOT NULL CHECK (state BETWEEN 0 AND 3),  -- see the view hapax_outbox_messages
    due        timestamptz NOT NULL,                                -- when to look at it again; a lease's end
    attempt    integer     NOT NULL DEFAULT 0,
    token      uuid,                                                -- whose lease it is
    error      text,                                                -- why it was not published the last time
    PRIMARY KEY (lane, seq)
) WITH (
    -- Every row is soon removed: vacuum by number, not by share, so that the way to the next row stays short.
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_insert_scale_factor = 0.2,
    autovacuum_analyze_scale_factor = 0.5,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX hapax_outbox_due ON hapax_outbox (due);

CREATE VIEW hapax_outbox_messages AS
SELECT seq,
       id,
       topic,
       aggregate,
       CASE
           WHEN state = 0 AND attempt > 0 AND due > clock_timestamp() THEN 'BACKING_OFF'
           ELSE (ARRAY ['READY', 'LEASED', 'WAITING', 'PARKED'])[state + 1]
       END AS state,
       attempt,
       created_at,
       CASE WHEN state IN (0, 1) THEN due END AS due,
       error,
       headers,
       hapax_json(body) AS body,
       octet_length(body) AS body_bytes
FROM hapax_outbox;
