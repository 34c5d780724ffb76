package dev.hapax.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hapax.store.StoreException;
import dev.hapax.store.StoreUnavailableException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Trap 18: what an error means is in its SQLState; its text is translated, reworded and decorated at will. */
class SqlErrorsTest {

    @ParameterizedTest
    @ValueSource(strings = {"55P03", "40001", "40P01"})
    void lockTimeoutsDeadlocksAndSerializationFailuresAreContention(String state) {
        assertThat(SqlErrors.isContention(error(state))).isTrue();
        assertThat(SqlErrors.isUnavailable(error(state))).isFalse();
        assertThat(SqlErrors.translate(error(state))).isInstanceOf(StoreUnavailableException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "08000", "08001", "08003", "08004", "08006", "08007", "08P01", "53000", "53100", "53200", "53300",
                "57014", "57P01", "57P02", "57P03", "57P05", "58000", "58030", "25006"
            })
    void aServerThatIsGoneFullOrReadOnlyIsUnavailable(String state) {
        assertThat(SqlErrors.isUnavailable(error(state))).isTrue();
        assertThat(SqlErrors.isContention(error(state))).isFalse();
        assertThat(SqlErrors.translate(error(state)))
                .isInstanceOf(StoreUnavailableException.class)
                .matches(StoreException::retryable);
    }

    /** The server ends the session; in the caller's transaction nothing was committed, so the call may be repeated. */
    @ParameterizedTest
    @ValueSource(strings = {"25P03", "25P04"})
    void aSessionEndedByATransactionTimeoutIsUnavailable(String state) {
        assertThat(SqlErrors.isUnavailable(error(state))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"42P01", "42703"})
    void aMissingTableOrColumnSaysWhatToDo(String state) {
        assertThat(SqlErrors.translate(error(state)))
                .isExactlyInstanceOf(StoreException.class)
                .hasMessageContaining("PostgresSchema.migrate")
                .hasMessageContaining(state);
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "22021", "22001", "42501", "42601", "28P01", "3D000", "25P02", "XX000", "5", ""})
    void anythingElseIsARefusalThatSendingAgainWillNotMend(String state) {
        assertThat(SqlErrors.isUnavailable(error(state))).isFalse();
        assertThat(SqlErrors.isContention(error(state))).isFalse();
        assertThat(SqlErrors.translate(error(state)))
                .isExactlyInstanceOf(StoreException.class)
                .matches(e -> !e.retryable());
    }

    /** Pools report that they have no connection to give without a state of PostgreSQL's. */
    @Test
    void anErrorWithoutAStateComesFromTheWayToTheServer() {
        assertThat(SqlErrors.isUnavailable(new SQLException("no state"))).isTrue();
        assertThat(SqlErrors.isUnavailable(new SQLTransientConnectionException("pool is empty", "23505")))
                .isTrue();
        assertThat(SqlErrors.isUnavailable(new SQLRecoverableException("gone", "23505")))
                .isTrue();
        assertThat(SqlErrors.isContention(new SQLException("no state"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "duplicate key value violates unique constraint",
                "ERROR: could not serialize access due to concurrent update",
                "la connexion a été fermée",
                "connection refused",
                "relation \"hapax_operation\" does not exist",
                ""
            })
    void theTextDoesNotMatter(String text) {
        assertThat(SqlErrors.isContention(new SQLException(text, "55P03"))).isTrue();
        assertThat(SqlErrors.isUnavailable(new SQLException(text, "08006"))).isTrue();
        assertThat(SqlErrors.isContention(new SQLException(text, "23505"))).isFalse();
        assertThat(SqlErrors.isUnavailable(new SQLException(text, "23505"))).isFalse();
        assertThat(SqlErrors.translate(new SQLException(text, "23505")).getMessage())
                .doesNotContain("PostgresSchema.migrate");
    }

    @Test
    void thePostgresErrorIsKeptAsTheCause() {
        SQLException error = error("23514");

        assertThat(SqlErrors.translate(error)).hasCause(error).hasMessageContaining("23514");
    }

    private static SQLException error(String state) {
        return new SQLException("whatever the server said", state);
    }
}
