package dev.hapax.bench.peers;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.context.WorkflowOptions;
import dev.dbos.transact.workflow.Workflow;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * DBOS Transact with the workflow's id as the key: a workflow without steps, whose status and whose output are one
 * commit each. It creates its own schema, and keeps one connection of the pool to listen on.
 */
final class DbosPeer implements Peer {
    interface Operations {
        String run(boolean again);
    }

    static final class Workflows implements Operations {
        @Override
        @Workflow
        public String run(boolean again) {
            return again ? Work.handleAgain() : Work.handle();
        }
    }

    private final DBOS dbos;
    private final Operations operations;

    DbosPeer(DataSource dataSource) throws SQLException {
        this.dbos = new DBOS(DBOSConfig.defaults("bench").withDataSource(dataSource));
        this.operations = dbos.registerProxy(Operations.class, new Workflows());
        dbos.launch();
        new Tables(dataSource)
                .fill(
                        "dbos.workflow_status",
                        "workflow_uuid, status, name, executor_id, output",
                        "'filled-' || n, 'SUCCESS', 'run', 'filled', '\"%s\"'".formatted(Work.handle()));
    }

    @Override
    public String name() {
        return "DBOS Transact (workflow id as key)";
    }

    @Override
    public String doesNot() {
        return "no fingerprint: another request under the same id gets the first one's result; no lease: a crashed"
                + " workflow waits for its executor to come back";
    }

    @Override
    public void fresh() {
        prepare(Work.newKey());
    }

    @Override
    public void prepare(String key) {
        Work.require(Work.isFirst(run(key, false)), "the workflow did not return its result");
    }

    @Override
    public void replay(String key) {
        Work.require(Work.isFirst(run(key, true)), "a duplicate did not get the first result");
    }

    private String run(String key, boolean again) {
        try (WorkflowOptions.Guard context = new WorkflowOptions(key).setContext()) {
            return operations.run(again);
        }
    }

    @Override
    public void close() {
        dbos.shutdown();
    }
}
