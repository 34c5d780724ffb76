package dev.hapax.examples.orders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.hapax.embedded.postgres.EmbeddedPostgres;
import dev.hapax.embedded.postgres.EmbeddedPostgresException;
import dev.hapax.gateway.StartException;
import dev.hapax.postgres.PostgresSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * What the services stand on: a broker, and a PostgreSQL with a database for each of them, so that no transaction spans
 * both. No table has a constraint that would refuse a second order or a second mail: it would be there to be seen.
 */
final class Servers implements AutoCloseable {
    static final String QUEUE = "orders";
    static final String DEAD_LETTERS = "orders.dead";

    private static final String ORDERS = """
            CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, reference text NOT NULL,
                customer text NOT NULL, amount bigint NOT NULL)""";
    private static final String MAIL = """
            CREATE TABLE mail (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id bigint NOT NULL,
                recipient text NOT NULL, text text NOT NULL)""";

    private final EmbeddedPostgres postgres;
    private final AmqpBroker broker;
    private final HikariDataSource orders;
    private final HikariDataSource mail;

    private Servers(EmbeddedPostgres postgres, AmqpBroker broker) throws SQLException {
        this.postgres = postgres;
        this.broker = broker;
        this.orders = database("orders", ORDERS);
        this.mail = database("mail", MAIL);
    }

    /** @throws StartException that says what did not start; then nothing runs */
    static Servers start() {
        try {
            EmbeddedPostgres postgres = EmbeddedPostgres.start();
            try {
                return on(postgres);
            } catch (SQLException | RuntimeException e) {
                postgres.close();
                throw e;
            }
        } catch (EmbeddedPostgresException | SQLException e) {
            throw new StartException("PostgreSQL did not start: " + e.getMessage(), e);
        }
    }

    private static Servers on(EmbeddedPostgres postgres) throws SQLException {
        AmqpBroker broker = AmqpBroker.start(QUEUE, DEAD_LETTERS);
        try {
            return new Servers(postgres, broker);
        } catch (SQLException | RuntimeException e) {
            broker.close();
            throw e;
        }
    }

    private HikariDataSource database(String name, String table) throws SQLException {
        try (HikariDataSource first = pool("postgres", 1)) {
            execute(first, "CREATE DATABASE " + name);
        }
        HikariDataSource pool = pool(name, 10);
        PostgresSchema.migrate(pool);
        execute(pool, table);
        return pool;
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private HikariDataSource pool(String database, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl(database));
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(5_000);
        return new HikariDataSource(config);
    }

    /** The order service's database. */
    DataSource orders() {
        return orders;
    }

    /** Connections to the order service's database that can be cut without hurting others; the caller closes it. */
    HikariDataSource ordersForRelay() {
        return pool("orders", 2);
    }

    /** The mail service's database. */
    DataSource mail() {
        return mail;
    }

    AmqpBroker broker() {
        return broker;
    }

    @Override
    public void close() {
        orders.close();
        mail.close();
        broker.close();
        postgres.close();
    }
}
