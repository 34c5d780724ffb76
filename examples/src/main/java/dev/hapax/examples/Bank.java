package dev.hapax.examples;

import dev.hapax.TerminalFailure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A bank that charges whenever it is asked to: it does not know about retries, which is the point. */
final class Bank {
    /** What is charged. */
    record Charge(String customer, int cents) {}

    /** What the customer gets. */
    record Receipt(String id, String customer, int cents) {}

    private final DataSource dataSource;

    Bank(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    void open() throws SQLException {
        execute("CREATE TABLE IF NOT EXISTS charge (id serial PRIMARY KEY, customer text, cents int, reference text)");
    }

    Receipt charge(Charge charge, String reference) throws SQLException {
        if (charge.cents() > 100_000) {
            throw new TerminalFailure(402, "card declined");
        }
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO charge (customer, cents, reference) VALUES (?, ?, ?) RETURNING id")) {
            insert.setString(1, charge.customer());
            insert.setInt(2, charge.cents());
            insert.setString(3, reference);
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                return new Receipt("ch_" + row.getInt("id"), charge.customer(), charge.cents());
            }
        }
    }

    /** What was really charged, in order. */
    List<Receipt> statement() throws SQLException {
        List<Receipt> receipts = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                Statement select = connection.createStatement();
                ResultSet row = select.executeQuery("SELECT id, customer, cents FROM charge ORDER BY id")) {
            while (row.next()) {
                receipts.add(new Receipt("ch_" + row.getInt("id"), row.getString("customer"), row.getInt("cents")));
            }
        }
        return receipts;
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
