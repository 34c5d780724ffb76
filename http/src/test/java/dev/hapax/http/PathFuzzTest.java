package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Paths made of everything that has ever been used to slip past a rule, read by servers that are lenient in every way
 * and in every order. If one of them reads a path as protected, the path is matched or refused.
 */
final class PathFuzzTest {
    private static final int PATHS = 20_000;

    private static final List<String> PATTERNS =
            List.of("/v1/charges", "/v1/orders/{order_id}/invoice", "/files/**", "/{tenant}/jobs");

    private static final List<Pattern> PROTECTED = List.of(
            Pattern.compile("/v1/charges/?", Pattern.CASE_INSENSITIVE),
            Pattern.compile("/v1/orders/[^/]*/invoice/?", Pattern.CASE_INSENSITIVE),
            Pattern.compile("/files(/.*)?", Pattern.CASE_INSENSITIVE | Pattern.DOTALL),
            Pattern.compile("/[^/]+/jobs/?", Pattern.CASE_INSENSITIVE));

    private static final Routes ROUTES = new Routes(PATTERNS.stream()
            .map(path ->
                    new Route("POST", PathPattern.of(path), "scope", KeySource.Header.DEFAULT, HttpPolicy.defaults()))
            .toList());

    /** What some server or other does with a path. Each is one step; servers take several, in their own order. */
    private static final List<UnaryOperator<String>> STEPS = List.of(
            path -> decode(path, StandardCharsets.UTF_8),
            path -> decode(path, StandardCharsets.ISO_8859_1),
            path -> decode(decode(path, StandardCharsets.UTF_8), StandardCharsets.UTF_8),
            replacing(";[^/]*", ""),
            replacing(";.*", ""),
            replacing("/+", "/"),
            path -> path.replace('\\', '/'),
            PathFuzzTest::resolveDots,
            replacing("/\\.(?=/|$)", ""),
            path -> path.toLowerCase(Locale.ROOT),
            replacing("\0.*", ""),
            replacing("[\0-\u001f\u007f]", ""),
            replacing("[?#].*", ""),
            replacing("[. ]+(?=/|$)", ""),
            replacing("(?<=/)\\s+|\\s+(?=/|$)", ""),
            replacing("/$", ""));

    @Test
    void noServerReadsAPathAsProtectedThatPassesUnprotected() {
        long seed = System.nanoTime();
        System.out.println("PathFuzzTest seed " + seed);
        Random random = new Random(seed);
        int matched = 0;
        int refused = 0;
        int passed = 0;
        for (int i = 0; i < PATHS; i++) {
            String path = path(random);
            Optional<String> reading = protectedReading(path, random);
            try {
                boolean match = ROUTES.match("POST", path, Headers.NONE).isPresent();
                assertThat(match || reading.isEmpty())
                        .as("%s passes, though a server may read it as %s (seed %d)", path, reading, seed)
                        .isTrue();
                matched += match ? 1 : 0;
                passed += match ? 0 : 1;
            } catch (ProblemException ambiguous) {
                assertThat(ambiguous.problem()).isEqualTo(Problem.PATH_AMBIGUOUS);
                refused++;
            }
        }
        assertThat(List.of(matched, refused, passed))
                .as("matched, refused, passed")
                .allMatch(count -> count > PATHS / 100);
    }

    /** Every path that steps lead to from this one, in every order, as far as there is time. */
    private static Optional<String> protectedReading(String path, Random random) {
        Set<String> seen = new LinkedHashSet<>(List.of(path));
        Deque<String> open = new ArrayDeque<>(seen);
        List<UnaryOperator<String>> steps = new ArrayList<>(STEPS);
        while (!open.isEmpty() && seen.size() < 150) {
            String next = open.poll();
            if (PROTECTED.stream().anyMatch(pattern -> pattern.matcher(next).matches())) {
                return Optional.of(next);
            }
            Collections.shuffle(steps, random);
            for (UnaryOperator<String> step : steps) {
                String read = step.apply(next);
                if (seen.add(read)) {
                    open.add(read);
                }
            }
        }
        return Optional.empty();
    }

    private static String path(Random random) {
        StringBuilder path = new StringBuilder();
        List<String> segments = switch (random.nextInt(5)) {
            case 0 -> List.of("v1", "charges");
            case 1 -> List.of("v1", "orders", "42", "invoice");
            case 2 -> List.of("files", "a");
            case 3 -> List.of("acme", "jobs");
            default -> List.of("other", "thing");
        };
        int tricks = random.nextInt(4);
        for (String segment : segments) {
            path.append(random.nextInt(8) < tricks ? pick(random, SLASHES) : "/");
            if (random.nextInt(8) < tricks) {
                path.append(pick(random, DETOURS));
            }
            path.append(random.nextInt(6) < tricks ? respell(segment, random) : segment);
            if (random.nextInt(8) < tricks) {
                path.append(pick(random, TAILS));
            }
        }
        if (random.nextInt(6) < tricks) {
            path.append(pick(random, ENDS));
        }
        return path.toString();
    }

    private static final List<String> SLASHES = List.of(
            "//", "/./", "%2f", "%2F", "\\", "%5c", "%252f", "/;/", "/;x=y/", "///", "%25252f", "/%2e/", "%2f/");
    private static final List<String> DETOURS = List.of(
            "x/../",
            "x/..;/",
            "x/%2e%2e/",
            "../",
            "x%2f..%2f",
            "x\\..\\",
            "x/.%2e/",
            "%2e%2e%2f",
            ";a/",
            "./",
            "x/y/../../",
            "..%00/",
            "x/..%5c",
            "%252e%252e/");
    private static final List<String> TAILS = List.of(
            ";",
            ";a=b",
            "%3b",
            "%3Ba",
            "%00",
            "%20",
            ".",
            "%2e",
            "..",
            "%0a",
            "%09",
            "%3f",
            "%23x",
            ";x=%2fy",
            "%253b",
            ".json",
            "%",
            "%zz",
            "%c0%af",
            "%00.html",
            "+",
            "%e2%80%8b",
            "é",
            "%7f");
    private static final List<String> ENDS = List.of(
            "/", "//", "/.", "/..", "/x/..", "%2f", ";", "/;", "?", "%3fa=b", "%00", "/%2e", "\\", "/x/../", "#",
            ";/x/y");

    private static String pick(Random random, List<String> from) {
        return from.get(random.nextInt(from.size()));
    }

    private static String respell(String segment, Random random) {
        StringBuilder spelled = new StringBuilder();
        for (int i = 0; i < segment.length(); i++) {
            char c = segment.charAt(i);
            switch (random.nextInt(8)) {
                case 0 -> spelled.append(Character.toUpperCase(c));
                case 1 -> spelled.append("%%%02x".formatted((int) c));
                case 2 -> spelled.append("%%%02X".formatted((int) c));
                case 3 -> spelled.append(random.nextInt(3) > 0 ? String.valueOf(c) : "%%25%02x".formatted((int) c));
                case 4 -> spelled.append(random.nextInt(6) > 0 ? "" : "%00").append(c);
                default -> spelled.append(c);
            }
        }
        return spelled.toString();
    }

    private static UnaryOperator<String> replacing(String regex, String replacement) {
        Pattern pattern = Pattern.compile(regex);
        return path -> pattern.matcher(path).replaceAll(replacement);
    }

    /** Decodes once; what is no escape stays. */
    private static String decode(String path, Charset charset) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < path.length(); i++) {
            boolean whole = path.charAt(i) == '%' && i + 2 < path.length();
            int first = whole ? Character.digit(path.charAt(i + 1), 16) : -1;
            int second = whole ? Character.digit(path.charAt(i + 2), 16) : -1;
            if (first >= 0 && second >= 0) {
                bytes.write(16 * first + second);
                i += 2;
            } else {
                bytes.writeBytes(path.substring(i, i + 1).getBytes(charset));
            }
        }
        return bytes.toString(charset);
    }

    private static String resolveDots(String path) {
        Deque<String> resolved = new ArrayDeque<>();
        for (String segment : path.split("/", -1)) {
            if (segment.equals("..")) {
                if (resolved.size() > 1) {
                    resolved.removeLast();
                }
            } else if (!segment.equals(".")) {
                resolved.addLast(segment);
            }
        }
        return String.join("/", resolved);
    }
}
