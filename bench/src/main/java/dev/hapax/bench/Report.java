package dev.hapax.bench;

import dev.hapax.bench.Measured.Spread;
import dev.hapax.bench.micro.Cost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The results, for a terminal, for a page and for programs. */
final class Report {
    private static final List<String> HEADER =
            List.of("figure", "ratio", "min-max", "bar", "", "ours *", "theirs *", "compared with");
    private static final int VERDICT = 4;
    private static final String NO_RATIO = "-";
    private static final String WITHOUT_RATIO =
            "- instead of a ratio: a side did not sustain the rate, so its latencies would only tell how long a turn was.";
    private static final String FOOTNOTE = "* of this run on this machine only: compare the ratios, not these.";

    private final List<String> setting;
    private final List<Measured> results;
    private final List<Cost> costs;

    /**
     * @param setting the machine and how it was measured, line by line
     * @param costs what single steps cost, if that was measured
     */
    Report(List<String> setting, List<Measured> results, List<Cost> costs) {
        this.setting = List.copyOf(setting);
        this.results = List.copyOf(results);
        this.costs = List.copyOf(costs);
    }

    String table(boolean colour) {
        List<List<String>> rows = rows();
        List<Integer> widths = IntStream.range(0, HEADER.size())
                .mapToObj(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toList();
        String lines = rows.stream().map(row -> line(row, widths, colour)).collect(Collectors.joining("\n"));
        return lines + "\n\n" + String.join("\n", footnotes()) + "\n" + String.join("\n", setting) + "\n";
    }

    private List<String> footnotes() {
        return results.stream().allMatch(Measured::hasRatio) ? List.of(FOOTNOTE) : List.of(FOOTNOTE, WITHOUT_RATIO);
    }

    private static String line(List<String> row, List<Integer> widths, boolean colour) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < row.size(); column++) {
            boolean number = column > 0 && column < row.size() - 1 && column != VERDICT;
            String format = "%" + (number ? "" : "-") + Math.max(1, widths.get(column)) + "s  ";
            String cell = format.formatted(row.get(column));
            line.append(colour && column == VERDICT ? coloured(cell) : cell);
        }
        return line.toString().stripTrailing();
    }

    private static String coloured(String cell) {
        String code = cell.startsWith("met") ? "32" : "31";
        return cell.isBlank() ? cell : "\u001b[" + code + "m" + cell + "\u001b[0m";
    }

    private List<List<String>> rows() {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEADER);
        for (Measured result : results) {
            rows.add(List.of(
                    result.figure().name(),
                    result.hasRatio() ? ratio(result.ratio().median()) : NO_RATIO,
                    result.hasRatio() ? range(result.ratio()) : "",
                    result.hasBar() ? ratio(result.figure().bar().getAsDouble()) : "",
                    verdict(result),
                    result.ours(),
                    result.theirs(),
                    result.against()));
        }
        return rows;
    }

    private static String verdict(Measured result) {
        if (!result.hasBar()) {
            return "";
        }
        return result.meetsBar() ? "met" : "not met";
    }

    private String markdown() {
        StringBuilder page = new StringBuilder("# Ratios of one run\n\n");
        List<List<String>> rows = rows();
        for (int i = 0; i < rows.size(); i++) {
            page.append("| ").append(String.join(" | ", rows.get(i))).append(" |\n");
            page.append(i == 0 ? "|" + "---|".repeat(HEADER.size()) + "\n" : "");
        }
        page.append("\n\\").append(String.join("\n\n\\", footnotes())).append("\n\nWhat each figure compares:\n\n");
        for (Measured result : results) {
            Figure figure = result.figure();
            page.append("- `%s`: %s, against %s%n".formatted(figure.name(), figure.ours(), figure.theirs()));
        }
        page.append(spending());
        if (!costs.isEmpty()) {
            page.append("\nWhat single steps cost one thread, by JMH:\n\n| step | ns | garbage, B |\n|---|---|---|\n");
            costs.forEach(it -> page.append(
                    String.format(Locale.ROOT, "| %s | %,.0f | %,.0f |%n", it.name(), it.nanos(), it.bytes())));
        }
        page.append("\nHow it was measured:\n\n");
        setting.forEach(line -> page.append("- ").append(line).append('\n'));
        return page.toString();
    }

    private String spending() {
        StringBuilder table = new StringBuilder("""

                Where the processors' time went, µs per operation, theirs after the stroke. Turns count as a whole: those of
                `cold-analysed-empty` also make a table. The gateways are processes of their own, beside the database. Stolen is what other virtual
                machines took:

                | figure | callers' process | database and others | idle | stolen |
                |---|---|---|---|---|
                """);
        for (Measured result : results) {
            Measured.Spending spent = result.spending();
            if (spent != null) {
                table.append("| %s | %s | %s | %s | %s |%n"
                        .formatted(
                                result.figure().name(),
                                micros(spent.ours().callers(), spent.theirs().callers()),
                                micros(spent.ours().others(), spent.theirs().others()),
                                micros(spent.ours().idle(), spent.theirs().idle()),
                                micros(spent.ours().stolen(), spent.theirs().stolen())));
            }
        }
        return table.toString();
    }

    private static String micros(double ours, double theirs) {
        return String.format(Locale.ROOT, "%,.1f / %,.1f", ours * 1e6, theirs * 1e6);
    }

    private String json() {
        return results.stream()
                .map(it -> String.format(
                        Locale.ROOT,
                        "  \"%s\": %s",
                        it.figure().name(),
                        it.hasRatio()
                                ? String.format(Locale.ROOT, "%.3f", it.ratio().median())
                                : "null"))
                .collect(Collectors.joining(",\n", "{\n", "\n}\n"));
    }

    void write(Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("latest.md"), markdown());
        Files.writeString(directory.resolve("latest.json"), json());
        Files.writeString(directory.resolve("latest.svg"), Chart.svg(bars(), setting.get(0)));
    }

    private List<Chart.Bar> bars() {
        return results.stream()
                .filter(Measured::hasRatio)
                .map(it -> new Chart.Bar(
                        it.figure().name(),
                        it.ratio().median(),
                        it.ratio().min(),
                        it.ratio().max(),
                        it.figure().bar()))
                .toList();
    }

    private static String range(Spread ratio) {
        return ratio(ratio.min()) + "-" + ratio(ratio.max());
    }

    private static String ratio(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    static String rate(double perSecond) {
        return String.format(Locale.ROOT, "%,.0f", perSecond);
    }
}
