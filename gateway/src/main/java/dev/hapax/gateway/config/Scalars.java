package dev.hapax.gateway.config;

import dev.hapax.WhenInFlight;
import dev.hapax.gateway.proxy.GatewaySettings.Address;
import dev.hapax.http.JsonPointer;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The kinds of single values. */
final class Scalars {
    static final String EVERYWHERE = "0.0.0.0";
    static final String LOOPBACK = "127.0.0.1";

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern HOST_AND_PORT =
            Pattern.compile("(?:(\\[[0-9A-Fa-f:.%]+]|[^\\s:/\\[\\]]*):)?(\\d{1,5})");

    static final Scalar<Duration> DURATION =
            new Scalar<>("a duration such as 24h", (text, origin) -> Amounts.duration(text, Duration.ofMillis(1)));

    static final Scalar<Duration> DURATION_OR_NONE =
            new Scalar<>("a duration such as 30s", (text, origin) -> Amounts.duration(text, Duration.ZERO));

    static final Scalar<Integer> SIZE =
            new Scalar<>("a size such as 1MiB", (text, origin) -> positive(Amounts.bytes(text)));

    static final Scalar<Boolean> YES_OR_NO = words("true or false", ordered("true", true, "false", false));

    static final Scalar<Address> ADDRESS =
            new Scalar<>("a port or an address such as 127.0.0.1:8080", (text, origin) -> address(text, EVERYWHERE));

    static final Scalar<Optional<Address>> ADDRESS_OR_OFF = new Scalar<>(
            "a port, an address such as 127.0.0.1:8081, or off",
            (text, origin) -> text.equals("off") ? Optional.empty() : Optional.of(address(text, LOOPBACK)));

    static final Scalar<URI> ORIGIN_URL =
            new Scalar<>("a URL such as http://localhost:9000", (text, origin) -> originUrl(text));

    static final Scalar<String> PATH_PREFIX =
            new Scalar<>("the beginning of paths, such as /v1", (text, origin) -> pathPrefix(text));

    static final Scalar<Path> FILE = new Scalar<>("the name of a file", Scalars::file);

    static final Scalar<Path> DIRECTORY = new Scalar<>("the name of a directory", Scalars::path);

    static final Scalar<String> TEXT = new Scalar<>("text", (text, origin) -> notBlank(text));

    static final Scalar<byte[]> SECRET = new Scalar<>(
                    "a secret, best as ${VARIABLE}",
                    (text, origin) -> notBlank(text).getBytes(java.nio.charset.StandardCharsets.UTF_8))
            .secret();

    static final Scalar<String> HEADER_NAME = new Scalar<>("the name of a header", (text, origin) -> headerName(text));

    static final Scalar<JsonPointer> POINTER =
            new Scalar<>("a JSON pointer such as /order/id", (text, origin) -> pointer(text));

    static final Scalar<WhenInFlight> WHEN_IN_FLIGHT =
            new Scalar<>("reject, accept, or wait with a duration such as wait 2s", (text, origin) -> inFlight(text));

    private Scalars() {}

    /** One of some words. */
    static <T> Scalar<T> words(String expected, Map<String, T> meanings) {
        return new Scalar<>(expected, (text, origin) -> {
            @Nullable T meaning = meanings.get(text);
            if (meaning == null) {
                throw new IllegalArgumentException(expected + " is needed" + Suggestions.hint(text, meanings.keySet()));
            }
            return meaning;
        });
    }

    /** A whole number. */
    static Scalar<Integer> count(int least, int most) {
        String expected = "a number from %d to %d".formatted(least, most);
        return new Scalar<>(expected, (text, origin) -> {
            long number = text.matches("\\d{1,10}") ? Long.parseLong(text) : -1;
            if (number < least || number > most) {
                throw new IllegalArgumentException(expected + " is needed");
            }
            return (int) number;
        });
    }

    static List<String> split(String text) {
        return List.of(text.strip().split("\\s+", -1));
    }

    static String headerName(String text) {
        if (!TOKEN.matcher(text).matches()) {
            throw new IllegalArgumentException("the name of a header is needed, such as X-Request-Id");
        }
        return text;
    }

    static JsonPointer pointer(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException("a JSON pointer begins with a slash, as in /order/id");
        }
        return JsonPointer.of(text);
    }

    @SuppressWarnings("unchecked") // names and values in turns
    static <T> Map<String, T> ordered(Object... namesAndValues) {
        Map<String, T> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], (T) namesAndValues[i + 1]);
        }
        return map;
    }

    private static String notBlank(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("something is needed here");
        }
        return text;
    }

    static int positive(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("at least one byte is needed");
        }
        return bytes;
    }

    private static Address address(String text, String usualHost) {
        Matcher address = HOST_AND_PORT.matcher(text);
        int port = address.matches() ? Integer.parseInt(address.group(2)) : -1;
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("a port such as 8080 or an address such as 127.0.0.1:8080 is needed");
        }
        @Nullable String host = address.group(1);
        return new Address(host == null || host.isEmpty() ? usualHost : host.replaceAll("[\\[\\]]", ""), port);
    }

    private static URI originUrl(String text) {
        URI url = uri(text);
        @Nullable String scheme = url.getScheme();
        if (scheme == null || !scheme.matches("(?i)https?") || url.getHost() == null) {
            throw new IllegalArgumentException("a URL such as http://localhost:9000 is needed");
        }
        if (url.getRawUserInfo() != null) {
            throw new IllegalArgumentException("a user in the URL is not used; leave it out");
        }
        boolean more = url.getRawQuery() != null || url.getRawFragment() != null;
        if (more || !url.getRawPath().matches("/?")) {
            throw new IllegalArgumentException("paths pass unchanged, so leave out what follows the host and the port");
        }
        if (url.getPort() > 65_535 || url.getPort() == 0) {
            throw new IllegalArgumentException("a port is at least 1 and at most 65535");
        }
        return url;
    }

    private static URI uri(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("a URL such as http://localhost:9000 is needed", e);
        }
    }

    private static String pathPrefix(String text) {
        if (!text.matches("/|(/[^/\\s?#]+)+")) {
            throw new IllegalArgumentException("a path such as /v1 is needed, without a slash at the end");
        }
        return text;
    }

    private static Path path(String text, Origin origin) {
        try {
            return origin.directory().resolve(notBlank(text));
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("no file can have such a name", e);
        }
    }

    private static Path file(String text, Origin origin) {
        Path file = path(text, origin);
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new IllegalArgumentException("there is no readable file " + file.toAbsolutePath());
        }
        return file;
    }

    private static WhenInFlight inFlight(String text) {
        String[] words = text.strip().split("\\s+", 2);
        if (words.length == 2 && words[0].equals("wait")) {
            return WhenInFlight.waitAtMost(Amounts.duration(words[1], Duration.ofMillis(1)));
        }
        if (text.equals("reject")) {
            return WhenInFlight.REJECT;
        }
        if (text.equals("accept")) {
            return WhenInFlight.ACCEPT;
        }
        throw new IllegalArgumentException(
                text.equals("wait")
                        ? "say for how long, as in wait 2s"
                        : "reject, accept, or wait with a duration such as wait 2s is needed");
    }
}
