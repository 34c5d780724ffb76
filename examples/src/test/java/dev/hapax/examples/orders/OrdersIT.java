package dev.hapax.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.gateway.HapaxCommand;
import dev.hapax.gateway.Screen;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** {@code ./hapax orders}, in small: what the databases hold in the end, not what the table says. */
class OrdersIT {
    private static final int ORDERS = 30;

    private final StringWriter printed = new StringWriter();
    private final Screen screen = new Screen(new PrintWriter(printed), Map.of());

    @Test
    void everyOrderIsPlacedOnceAndMailedOnceHoweverOftenItIsSent() throws Exception {
        try (Servers servers = Servers.start()) {
            Chain chain = new Chain(servers, ORDERS, new Timeline(screen));
            Found found = chain.run();

            DataSource orders = servers.orders();
            assertThat(count(orders, "SELECT count(*) FROM orders")).isEqualTo(ORDERS);
            assertThat(count(orders, "SELECT count(DISTINCT reference) FROM orders"))
                    .isEqualTo(ORDERS);
            assertThat(count(orders, "SELECT count(*) FROM hapax_operation WHERE state = 2"))
                    .isEqualTo(ORDERS);
            assertThat(count(orders, "SELECT count(*) FROM hapax_outbox")).isZero();
            DataSource mail = servers.mail();
            assertThat(count(mail, "SELECT count(*) FROM mail")).isEqualTo(ORDERS);
            assertThat(count(mail, "SELECT count(DISTINCT order_id) FROM mail")).isEqualTo(ORDERS);
            assertThat(count(mail, "SELECT count(*) FROM hapax_operation WHERE state = 2"))
                    .isEqualTo(ORDERS);
            assertThat(servers.broker().depth(Servers.QUEUE)).isZero();
            assertThat(servers.broker().depth(Servers.DEAD_LETTERS)).isZero();
            assertThat(new Summary(screen, chain.tally(), found).verdict(ORDERS))
                    .isTrue();
            thereWasSomethingToSuppress(chain.tally());
        }
    }

    /** A run in which nothing was repeated would show nothing. */
    private static void thereWasSomethingToSuppress(Tally tally) {
        assertThat(tally.requests.sum()).isGreaterThanOrEqualTo(2 * ORDERS);
        assertThat(tally.replayed.sum()).isGreaterThanOrEqualTo(ORDERS);
        assertThat(tally.answersLost.sum()).isPositive();
        assertThat(tally.confirmationsLost.sum()).isPositive();
        assertThat(tally.published.sum() - ORDERS).isGreaterThan(tally.confirmationsLost.sum());
        assertThat(tally.redelivered.sum()).isPositive();
        assertThat(tally.suppressed.sum()).isGreaterThanOrEqualTo(tally.published.sum() - ORDERS);
    }

    @Test
    void theSmallestRunEndsWellAndSaysSo() {
        int exit = run("--orders", "1");

        assertThat(exit).as("%s", printed).isZero();
        assertThat(printed.toString())
                .contains("✗ relay 1 is cut off from its database: the broker has 1 message that is not marked")
                .endsWith("✓ 1 order, 1 mail: each exactly once" + System.lineSeparator())
                .doesNotContain("\u001B", "\tat ");
    }

    @Test
    void aMailTooManyIsNotOverlooked() {
        assertThat(verdict(List.of("a", "b"), List.of(1L, 2L), List.of(1L, 2L), 0))
                .isTrue();
        assertThat(verdict(List.of("a", "b"), List.of(1L, 2L), List.of(1L, 1L, 2L), 0))
                .isFalse();
        assertThat(verdict(List.of("a", "b"), List.of(1L, 2L), List.of(1L, 1L), 0))
                .isFalse();
        assertThat(verdict(List.of("a", "a"), List.of(1L, 2L), List.of(1L, 2L), 0))
                .isFalse();
        assertThat(verdict(List.of("a", "b"), List.of(1L, 2L), List.of(1L, 2L), 1))
                .isFalse();
        assertThat(verdict(List.of("a"), List.of(1L), List.of(1L), 0)).isFalse();
        assertThat(printed.toString())
                .contains("✗ 2 orders, 3 mails: 2 orders were asked for, 2 different ones are there");
    }

    private boolean verdict(List<String> references, List<Long> orders, List<Long> mailed, long left) {
        return new Summary(screen, new Tally(), new Found(references, orders, mailed, left)).verdict(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-3", "5001", "many"})
    void aNumberOfOrdersThatMakesNoSenseIsRefused(String number) {
        assertThat(run("--orders", number)).isEqualTo(2);
        assertThat(printed.toString()).contains("--orders").doesNotContain("\tat ");
    }

    private int run(String... arguments) {
        CommandLine line = HapaxCommand.commandLine(new Orders(Map.of()), Map.of());
        line.setOut(new PrintWriter(printed)).setErr(new PrintWriter(printed));
        return line.execute(arguments);
    }

    private static long count(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
