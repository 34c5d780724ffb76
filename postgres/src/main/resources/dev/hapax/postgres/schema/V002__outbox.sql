-- One row per message that has not been published yet. Rows of one ordering key are published in the order of seq, and only
-- the first row of a key is ever leased: its lease is the key's.
CREATE TABLE hapax_outbox (
    ordering_key bigint    NOT NULL,                                -- a hash of topic and aggregate, or of the id
    seq        bigint      GENERATED ALWAYS AS IDENTITY,
    id         uuid        NOT NULL,                                -- receivers recognize duplicates by it
    topic      text        NOT NULL,
    aggregate  text,
    headers    text        NOT NULL,                                -- a line "name: value" for each
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    state      smallint    NOT NULL CHECK (state BETWEEN 0 AND 3),  -- see the view hapax_outbox_messages
    due        timestamptz NOT NULL,                                -- when it can be claimed; a lease's end
    attempt    integer     NOT NULL DEFAULT 0,
    token      uuid,                                                -- of the claim that leased it
    error      text,                                                -- why the last attempt failed
    PRIMARY KEY (ordering_key, seq)
) WITH (
    -- Every row is removed soon: vacuum after a number of dead rows, not a share, so that index scans stay short.
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
