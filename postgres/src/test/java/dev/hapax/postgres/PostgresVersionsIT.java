package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.postgres.outbox.OutboxRoundTrip;
import dev.hapax.store.Store;
import dev.hapax.testkit.StoreContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The whole contract on every supported version before the newest, which all other tests run on. */
class PostgresVersionsIT {

    @Nested
    class Postgres14 extends Version {
        Postgres14() {
            super(14);
        }
    }

    @Nested
    class Postgres15 extends Version {
        Postgres15() {
            super(15);
        }
    }

    @Nested
    class Postgres16 extends Version {
        Postgres16() {
            super(16);
        }
    }

    @Nested
    class Postgres17 extends Version {
        Postgres17() {
            super(17);
        }
    }

    /** The build copies the binaries where it can: on Linux for amd64. Elsewhere these tests are skipped. */
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Version extends StoreContract {
        private static final Path BINARIES = Path.of("target", "postgres-binaries");

        private final int version;
        private EmbeddedPostgres server;
        private HikariDataSource pool;
        private PostgresStore store;

        Version(int version) {
            this.version = version;
        }

        @BeforeAll
        void start() throws IOException {
            Optional<Path> binaries = binaries();
            assumeTrue(binaries.isPresent(), "no binaries of PostgreSQL " + version + " for this platform");
            server = EmbeddedPostgres.builder()
                    .binaries(binaries.get())
                    .setting("fsync", "off")
                    .start();
            pool = TestDatabase.pool(server.jdbcUrl(), 8);
            PostgresSchema.migrate(pool);
            store = PostgresStore.over(pool);
        }

        private Optional<Path> binaries() throws IOException {
            if (!Files.isDirectory(BINARIES)) {
                return Optional.empty();
            }
            try (Stream<Path> files = Files.list(BINARIES)) {
                return files.filter(file -> file.getFileName().toString().contains("-" + version + "."))
                        .findFirst();
            }
        }

        @BeforeEach
        void empty() {
            TestDatabase.execute(pool, "TRUNCATE hapax_operation, hapax_event");
        }

        @AfterAll
        void stop() {
            if (server != null) {
                store.close();
                pool.close();
                server.close();
            }
        }

        @Override
        protected Store store() {
            return store;
        }

        @Override
        protected void letTimePass(Duration duration) {
            TestDatabase.letTimePass(pool, duration);
        }

        @Test
        void outboxStatementsWork() throws SQLException {
            OutboxRoundTrip.run(pool);
        }

        @Test
        void thisIsTheVersionThatIsMeant() throws SQLException {
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getMetaData().getDatabaseMajorVersion()).isEqualTo(version);
            }
        }
    }
}
