package dev.hapax.testkit.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Makes requests that are up to no good, from a seed: keys that are none, framing that two readers read differently,
 * paths that are spelled around a route, bodies that break parsers. All of them mean a route that wants a key.
 *
 * <p>Every request asks to close the connection, so that the end of the answer is plain. It is whole for any reader
 * that follows the rules; one that waits for more is waiting for something that the rules let it refuse.
 */
final class HostileRequests {
    /** @param whole whether the message has an end for any careful reader; otherwise the client stops in the middle */
    @SuppressWarnings("ArrayRecordComponent")
    record Hostile(String kind, byte[] bytes, boolean whole) {
        @Override
        public String toString() {
            String text = new String(bytes, ISO_8859_1);
            return kind + ": " + (text.length() > 600 ? text.substring(0, 600) + "…" : text);
        }
    }

    private static final String JSON = "Content-Type: application/json\r\n";
    private static final String CLOSE = "Connection: close\r\n";

    private final Random random;
    private final String host;
    private final List<Supplier<Hostile>> kinds = List.of(
            this::malformedKey,
            this::crookedPath,
            this::crookedPathWithoutKey,
            this::overriddenMethod,
            this::twoLengths,
            this::lengthAndChunks,
            this::badChunks,
            this::badHeader,
            this::badTransferEncoding,
            this::smuggledRequest,
            this::badJson,
            this::deepJson,
            this::hugeNumber,
            this::brokenMultipart,
            this::invalidUtf8,
            this::forgedProtection,
            this::truncated);

    HostileRequests(long seed, String host) {
        this.random = new Random(seed);
        this.host = host;
    }

    Hostile next() {
        return pick(kinds).get();
    }

    private Hostile malformedKey() {
        String key = pick(List.of(
                "",
                " ",
                "\"\"",
                "\"",
                "\"\\\"",
                "\"a\\b\"",
                "\"a\" \"b\"",
                "\"a\", \"b\"",
                "\"a\";",
                "\"a\";b",
                "a b",
                "a\tb",
                "a\u0001b",
                "a\u007fb",
                "a\u0000b",
                "\u00e9\u00ff",
                "'a'",
                ":YWJj:",
                "?1",
                "k".repeat(random.nextInt(256, 5000)),
                '"' + "k".repeat(random.nextInt(256, 5000)) + '"',
                noise(random.nextInt(1, 40))));
        String twice = random.nextInt(4) == 0 ? "idempotency-key: \"other\"\r\n" : "";
        return whole(
                "malformed key", "POST /contract/charges", "Idempotency-Key: " + key + "\r\n" + twice + JSON, "{}");
    }

    private Hostile crookedPath() {
        return whole("crooked path", methodOf() + crooked(), goodKey() + JSON, "{}");
    }

    private Hostile crookedPathWithoutKey() {
        return whole("crooked path, no key", methodOf() + crooked(), JSON, "{}");
    }

    private String methodOf() {
        return random.nextInt(8) == 0 ? pick(List.of("post ", "Post ", "PATCH ", "PUT ")) : "POST ";
    }

    private String crooked() {
        String last =
                pick(List.of("charges", "strict", "payload", "small", "orders/7/invoice", "signups", "charges/7"));
        String path = pick(List.of(
                "/contract/" + last,
                "/contract/x/../" + last,
                "/contract/./" + last,
                "/contract//" + last,
                "//contract/" + last,
                "/contract/..;/contract/" + last,
                "/contract/;x=y/" + last,
                "/contract;x=y/" + last,
                "/contract/" + last + ";x=y",
                "/contract/" + last + "/",
                "/contract/" + last + "//",
                "/contract/" + last + "/.",
                "/contract/" + last + "/x/..",
                "/contract/" + last + "%2f",
                "/contract/" + last + "%20",
                "/contract/" + last + "%00",
                "/contract/" + last + "%00.html",
                "/contract/" + last + "%3f",
                "/contract/" + last + "%23",
                "/contract/" + last + "%",
                "/contract/" + last + "%zz",
                "/contract/" + last + "#x",
                "/contract/" + last + "?",
                "/contract/" + last + "?_method=GET",
                "/contract%2F" + last,
                "/contract%252F" + last,
                "/contract%5C" + last,
                "/contract\\" + last,
                "/contract/%2e%2e/contract/" + last,
                "/contract/%2E/" + last,
                "/%252e%252e/contract/" + last,
                "/contract/%c0%af" + last,
                "/contract/%ef%bc%8f" + last,
                "/%63ontract/" + last,
                "/%2563ontract/" + last,
                "/CONTRACT/" + last.toUpperCase(java.util.Locale.ROOT),
                "/.hapax/../contract/" + last,
                "/.hapax/..;/contract/" + last,
                "/.hapax/%2e%2e/contract/" + last,
                "http://" + host + "/contract/" + last,
                "http://elsewhere/contract/" + last,
                "HTTP://" + host + "//contract/" + last,
                "http://" + host + "/x/../contract/" + last,
                "contract/" + last,
                "/\tcontract/" + last));
        return random.nextInt(5) == 0 ? path.replaceFirst("r", pick(List.of("%72", "%2572", "R", "%52"))) : path;
    }

    private Hostile overriddenMethod() {
        String method = pick(List.of("GET", "HEAD", "OPTIONS", "DELETE", "PUT", "POST", "TRACE", "PROPFIND"));
        String name = pick(List.of(
                "X-HTTP-Method-Override",
                "x-http-method-override",
                "X-HTTP-Method",
                "X-Method-Override",
                "X_HTTP_METHOD_OVERRIDE"));
        String value = pick(List.of("POST", "post", " POST ", "PATCH", "\"POST\"", "POST, GET", "PUT"));
        String path = pick(List.of("/contract/charges", "/contract/charges/7", "/contract/payload"));
        return whole("overridden method", method + " " + path, name + ": " + value + "\r\n" + JSON, "");
    }

    private Hostile twoLengths() {
        String other = pick(List.of("0", "1", "3", "2, 3", "-2", "+2", "0x2", "2 2", "2;", "99999999999999999999", ""));
        String lengths = random.nextBoolean()
                ? "Content-Length: 2\r\nContent-Length: " + other + "\r\n"
                : "Content-Length: " + other + "\r\nContent-Length: 2\r\n";
        return raw("two lengths", start() + lengths + "\r\n{}", false);
    }

    private Hostile lengthAndChunks() {
        String both = random.nextBoolean()
                ? "Content-Length: " + random.nextInt(40) + "\r\nTransfer-Encoding: chunked\r\n"
                : "Transfer-Encoding: chunked\r\nContent-Length: " + random.nextInt(40) + "\r\n";
        return raw("length and chunks", start() + both + "\r\n2\r\n{}\r\n0\r\n\r\n", true);
    }

    private Hostile badChunks() {
        String chunks = pick(List.of(
                "-2\r\n{}\r\n0\r\n\r\n",
                "2g\r\n{}\r\n0\r\n\r\n",
                "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
                "80000002\r\n{}\r\n0\r\n\r\n",
                "0x2\r\n{}\r\n0\r\n\r\n",
                "2\r\n{}x0\r\n\r\n",
                "2\n{}\n0\n\n",
                "2 \r\n{}\r\n0\r\n\r\n",
                "2;" + "x".repeat(random.nextInt(20_000)) + "\r\n{}\r\n0\r\n\r\n",
                "2\r\n{}\r\n0\r\nContent-Length: 7\r\nIdempotency-Key: late\r\n\r\n",
                "\r\n2\r\n{}\r\n0\r\n\r\n",
                noise(30)));
        return raw("bad chunks", start() + "Transfer-Encoding: chunked\r\n\r\n" + chunks, false);
    }

    private Hostile badHeader() {
        String header = pick(List.of(
                "X-Folded: a\r\n b\r\n",
                " Idempotency-Key: \"folded\"\r\n",
                "Idempotency-Key : \"k\"\r\n",
                "Idempotency-Key\t: \"k\"\r\n",
                "Idempotency-Key\u0000: \"k\"\r\n",
                "X-Nul: a\u0000b\r\n",
                "X-Cr: a\rb\r\n",
                "X-Lf: a\nb\r\n",
                ": nameless\r\n",
                "no colon at all\r\n",
                "Host: another\r\n",
                "X-Large: " + "x".repeat(random.nextInt(1000, 100_000)) + "\r\n",
                "X-Many: x\r\n".repeat(random.nextInt(10, 2000)),
                "Expect: something-else\r\n",
                "Content-Encoding: gzip\r\n",
                "Upgrade: websocket\r\nConnection: upgrade\r\n"));
        String key = random.nextBoolean() ? goodKey() : "";
        return whole("bad header", "POST /contract/charges", key + header + JSON, "{}");
    }

    private Hostile badTransferEncoding() {
        String coding = pick(List.of(
                "identity",
                "chunked, chunked",
                "xchunked",
                "chunked, identity",
                "gzip, chunked",
                "\"chunked\"",
                "",
                "cow"));
        String length = random.nextBoolean() ? "Content-Length: 2\r\n" : "";
        return raw(
                "bad transfer encoding",
                start() + length + "Transfer-Encoding: " + coding + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                false);
    }

    private Hostile smuggledRequest() {
        String inner = "POST /contract/charges HTTP/1.1\r\nHost: " + host + "\r\n" + JSON + CLOSE
                + "Content-Length: 2\r\n\r\n{}";
        String outer = "POST /contract/notes HTTP/1.1\r\nHost: " + host + "\r\n";
        int wholeLength = 5 + inner.length();
        return pick(List.of(
                raw(
                        "smuggled behind a length",
                        outer + "Content-Length: " + wholeLength + "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                                + inner,
                        false),
                raw(
                        "smuggled behind a chunk",
                        outer + "Transfer-Encoding : chunked\r\nContent-Length: " + wholeLength + "\r\n\r\n0\r\n\r\n"
                                + inner,
                        false),
                raw(
                        "smuggled in a body",
                        outer + "Content-Length: 0\r\nContent-Length: " + inner.length() + "\r\n\r\n" + inner,
                        false),
                raw("pipelined", outer + "Content-Length: 0\r\n\r\n" + inner, true),
                raw(
                        "smuggled in a GET",
                        "GET /contract/notes HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: " + inner.length()
                                + "\r\n" + CLOSE + "\r\n" + inner,
                        true),
                raw("smuggled in a header", outer + "X-Split: a\r\n\r\n" + inner, true)));
    }

    private Hostile badJson() {
        String json = pick(List.of(
                "{",
                "}",
                "{]",
                "[1,]",
                "{\"a\":}",
                "{\"a\":1,}",
                "{a:1}",
                "nul",
                "\"\\u12",
                "\"\\ud800\"",
                "01",
                "1 2",
                "{\"a\":1,\"a\":2}",
                "{\"a\":{\"b\":1,\"b\":1}}",
                "{\"a\":1,\"\\u0061\":2}",
                "\u0000",
                "/**/{}",
                "NaN",
                "{\"delivery_id\":[]}",
                "{\"delivery_id\":{}}",
                "{\"delivery_id\":\"\"}",
                "{\"delivery_id\":\"\\u0000\"}",
                "{\"delivery_id\":\"a\",\"delivery_id\":\"b\"}",
                "{\"delivery_id\":\"" + "x".repeat(300) + "\"}",
                "",
                noise(random.nextInt(60))));
        return json("bad JSON", json);
    }

    private Hostile deepJson() {
        int depth = random.nextInt(100, 100_000);
        String open = pick(List.of("[", "{\"a\":"));
        String close = random.nextBoolean() ? open.equals("[") ? "]" : "}" : "";
        return json("deep JSON", open.repeat(depth) + (close.isEmpty() ? "" : "1") + close.repeat(depth));
    }

    private Hostile hugeNumber() {
        String digits = "9".repeat(random.nextInt(100, 50_000));
        String number = pick(
                List.of(digits, "1e" + digits, "-1e-" + digits, "0." + digits, "1e999999999", "-0", "1E+2147483648"));
        return json("huge number", "{\"delivery_id\":" + number + ",\"a\":" + number + "}");
    }

    private Hostile json(String kind, String body) {
        String path = pick(List.of("/contract/charges", "/contract/payload", "/contract/signups"));
        return whole(kind, "POST " + path, goodKey() + JSON, body);
    }

    private Hostile brokenMultipart() {
        String type = pick(List.of(
                "multipart/form-data",
                "multipart/form-data; boundary=",
                "multipart/form-data; boundary=\"",
                "multipart/form-data; boundary=b",
                "multipart/form-data; boundary=b; boundary=c",
                "multipart/form-data; boundary=" + "b".repeat(5000),
                "multipart/mixed; boundary=b"));
        String body = pick(List.of(
                "",
                "--b",
                "--b--",
                "--b\r\n\r\n",
                "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b",
                "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--b--",
                "--b\nContent-Disposition: form-data; name=a\n\nx\n--b--\n",
                "--b\r\n" + "X: y\r\n".repeat(random.nextInt(5000)) + "\r\nx\r\n--b--\r\n",
                "--b\r\n\r\nx\r\n".repeat(random.nextInt(2000)) + "--b--\r\n",
                noise(100)));
        return whole("broken multipart", "POST /contract/charges", goodKey() + "Content-Type: " + type + "\r\n", body);
    }

    private Hostile invalidUtf8() {
        String bad = pick(List.of(
                "\u00c0\u00af", "\u00ff\u00fe", "\u00ed\u00a0\u0080", "\u00f8\u0088\u0080\u0080\u0080", "\u00c3"));
        return json("invalid UTF-8", "{\"delivery_id\":\"" + bad + "\",\"" + bad + "\":1}");
    }

    private Hostile forgedProtection() {
        String forged = "Hapax-Operation-Id: " + ContractUpstream.FORGED_ID + "\r\nHapax-Attempt: 1\r\n";
        String path = pick(List.of("/contract/charges", "/contract/charges;x", "/contract/%2e/charges"));
        return whole("forged protection", "POST " + path, forged + JSON, "{}");
    }

    private Hostile truncated() {
        byte[] good = whole("", "POST /contract/charges", goodKey() + JSON, "{\"amount\": 7998}")
                .bytes();
        String cut = new String(good, ISO_8859_1).substring(0, random.nextInt(1, good.length - 1));
        return raw("truncated", cut, false);
    }

    private String start() {
        return "POST /contract/charges HTTP/1.1\r\nHost: " + host + "\r\n" + CLOSE + goodKey() + JSON;
    }

    private String goodKey() {
        return "Idempotency-Key: \"" + Long.toHexString(random.nextLong()) + "\"\r\n";
    }

    private Hostile whole(String kind, String methodAndTarget, String headers, String body) {
        return raw(
                kind,
                methodAndTarget + " HTTP/1.1\r\nHost: " + host + "\r\n" + CLOSE + headers + "Content-Length: "
                        + body.length() + "\r\n\r\n" + body,
                true);
    }

    private static Hostile raw(String kind, String text, boolean whole) {
        return new Hostile(kind, text.getBytes(ISO_8859_1), whole);
    }

    private String noise(int length) {
        StringBuilder noise = new StringBuilder();
        for (int i = 0; i < length; i++) {
            noise.append((char) random.nextInt(256));
        }
        return noise.toString();
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }
}
