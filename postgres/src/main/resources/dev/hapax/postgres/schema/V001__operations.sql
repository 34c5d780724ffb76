-- One row per operation. Its id stands for tenant, scope and key; those, the owner and the times are only shown. What a
-- claim is answered depends on the state, the deadline and the fingerprint, and for what was abandoned or begun anew on
-- when_abandoned, attempt, forgiven, window_ms and generation. Every write of an owner is compared with the token.
CREATE TABLE hapax_operation (
    id             uuid        NOT NULL PRIMARY KEY,
    tenant         text        NOT NULL,
    scope          text        NOT NULL,
    key            text        NOT NULL,
    state          smallint    NOT NULL CHECK (state BETWEEN 0 AND 4),          -- see the view hapax_operations
    fingerprint    bytea       NOT NULL,
    token          uuid        NOT NULL,
    attempt        integer     NOT NULL,
    forgiven       integer     NOT NULL DEFAULT 0,                              -- attempts that no longer count
    generation     integer     NOT NULL DEFAULT 1,                              -- how often the id began anew
    owner          text        NOT NULL,
    when_abandoned smallint    NOT NULL CHECK (when_abandoned BETWEEN 0 AND 2),
    retention_ms   bigint      NOT NULL,
    window_ms      bigint,                                                      -- null: answers until its deadline
    created_at     timestamptz NOT NULL,
    claimed_at     timestamptz NOT NULL,
    finished_at    timestamptz,
    deadline       timestamptz NOT NULL,
    code           integer,
    headers        bytea,
    body           bytea,                                                       -- null: the result was not kept
    error          text
) WITH (
    -- Every operation is inserted once and updated once, and removed in bulk: vacuum by number, not by share.
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.1,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX hapax_operation_deadline ON hapax_operation (deadline);

-- What happened to an operation besides being claimed once and finished: rare, so it costs the usual way nothing.
CREATE TABLE hapax_event (
    id      uuid        NOT NULL,
    at      timestamptz NOT NULL,
    kind    text        NOT NULL,
    attempt integer     NOT NULL,
    actor   text        NOT NULL,
    detail  text
);

CREATE INDEX hapax_event_id ON hapax_event (id);

-- A body as JSON where it is JSON, else null. For people: the store itself never looks into a body.
CREATE FUNCTION hapax_json(body bytea) RETURNS json
    LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN convert_from(body, 'UTF8')::json;
EXCEPTION WHEN others THEN
    RETURN NULL;
END
$$;

CREATE VIEW hapax_operations AS
SELECT id,
       tenant,
       scope,
       key,
       CASE
           WHEN state IN (2, 3) AND deadline <= clock_timestamp() THEN 'EXPIRED'
           ELSE (ARRAY ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'IN_DOUBT'])[state + 1]
       END AS state,
       attempt,
       generation,
       owner,
       (ARRAY ['RERUN', 'FAIL', 'PARK'])[when_abandoned + 1] AS when_abandoned,
       retention_ms * interval '1 millisecond' AS retention,
       created_at,
       claimed_at,
       finished_at,
       deadline,
       code,
       hapax_json(body) AS body,
       octet_length(body) AS body_bytes,
       error
FROM hapax_operation;
