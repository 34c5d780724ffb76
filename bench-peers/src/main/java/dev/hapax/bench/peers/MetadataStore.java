package dev.hapax.bench.peers;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.jdbc.metadata.JdbcMetadataStore;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring Integration's store of keys and values, and the transactions that its documentation asks for. */
record MetadataStore(JdbcMetadataStore store, TransactionTemplate transactions) {
    static MetadataStore over(DataSource dataSource) throws SQLException {
        Tables tables = new Tables(dataSource);
        tables.create("int_metadata_store", springIntegrationTables());
        tables.fill(
                "INT_METADATA_STORE",
                "METADATA_KEY, METADATA_VALUE, REGION",
                "'filled-' || n, '%s', 'DEFAULT'".formatted(Work.handle()));
        JdbcMetadataStore store = new JdbcMetadataStore(dataSource);
        store.afterPropertiesSet();
        store.start();
        return new MetadataStore(store, new TransactionTemplate(new DataSourceTransactionManager(dataSource)));
    }

    static ClassPathResource springIntegrationTables() {
        return new ClassPathResource("org/springframework/integration/jdbc/schema-postgresql.sql");
    }
}
