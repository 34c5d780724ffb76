package dev.hapax.examples.orders;

import dev.hapax.gateway.Screen;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/** What was sent, repeated and suppressed at each hop, as a table, and the verdict below it. */
final class Summary {
    private final Screen screen;
    private final Tally tally;
    private final Found found;

    Summary(Screen screen, Tally tally, Found found) {
        this.screen = screen;
        this.tally = tally;
        this.found = found;
    }

    /** @param note what the number means; empty where it is an effect, which speaks for itself */
    private record Row(String hop, String what, long count, String note) {}

    private List<Row> rows() {
        long again = tally.published.sum() - tally.messages();
        long mails = found.mailed().size();
        long notBegun = tally.delivered.sum() - mails - tally.suppressed.sum();
        return List.of(
                new Row("clients", "requests sent", tally.requests.sum(), "every order twice or more, some at once"),
                new Row("order service", "executed", tally.executed.sum(), "order, record and message in one commit"),
                new Row("", "replayed", tally.replayed.sum(), "answered from the record"),
                new Row("", "sent away", tally.sentAway.sum(), "409, the same order was being placed"),
                new Row("", "answers lost", tally.answersLost.sum(), "after the commit; the client asked again"),
                new Row("", "orders in the table", found.orders().size(), ""),
                new Row("outbox relay", "messages", tally.messages(), "one for each order"),
                new Row("", "published", tally.published.sum(), "confirmed by the broker"),
                new Row(
                        "",
                        "of these again",
                        again,
                        "%d confirmations lost, %d by the relay that was cut off"
                                .formatted(tally.confirmationsLost.sum(), again - tally.confirmationsLost.sum())),
                new Row(
                        "mail service",
                        "delivered",
                        tally.delivered.sum(),
                        "%d of them flagged as redelivered".formatted(tally.redelivered.sum())),
                new Row("", "suppressed", tally.suppressed.sum(), "handled before; acknowledged, nothing ran"),
                new Row("", "not begun", notBegun, "the connection was gone; delivered again"),
                new Row("", "mails in the table", mails, ""));
    }

    void print() {
        List<Row> rows = rows();
        int hop = rows.stream().mapToInt(row -> row.hop().length()).max().orElse(1);
        int what = rows.stream().mapToInt(row -> row.what().length()).max().orElse(1);
        int count = rows.stream()
                .mapToInt(row -> "%,d".formatted(row.count()).length())
                .max()
                .orElse(1);
        for (Row row : rows) {
            boolean first = !row.hop().isEmpty();
            if (first) {
                screen.line("");
            }
            String name = ("%-" + hop + "s").formatted(row.hop());
            String number = ("%," + count + "d").formatted(row.count());
            String line = "  %s  %s  %s"
                    .formatted(
                            first ? screen.bold(name) : name,
                            ("%-" + what + "s").formatted(row.what()),
                            row.note().isEmpty() ? screen.green(number) : number);
            screen.line(row.note().isEmpty() ? line : line + "  " + screen.dim(row.note()));
        }
    }

    /** The last line, and whether it is a good one. */
    boolean verdict(int asked) {
        String counts = Timeline.count(found.orders().size(), "order", "orders") + ", "
                + Timeline.count(found.mailed().size(), "mail", "mails");
        List<String> wrong = wrong(asked);
        screen.line("");
        screen.line(
                wrong.isEmpty()
                        ? screen.green("✓ " + counts) + ": each exactly once"
                        : screen.bold("✗ " + counts) + ": " + String.join("; ", wrong));
        return wrong.isEmpty();
    }

    private List<String> wrong(int asked) {
        List<String> wrong = new ArrayList<>();
        long differ = tally.answersThatDiffer.sum();
        if (!found.isExactlyOnce(asked)) {
            wrong.add(
                    "%,d orders were asked for, %,d different ones are there, %,d of them have a mail, %,d messages are left"
                            .formatted(
                                    asked,
                                    new HashSet<>(found.references()).size(),
                                    new HashSet<>(found.mailed()).size(),
                                    found.left()));
        }
        if (differ > 0) {
            wrong.add("%,d answers differ from another one to the same order".formatted(differ));
        }
        return wrong;
    }
}
