package dev.hapax.testkit.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/**
 * The application behind the routes of the contract: a function from request to response that remembers what it did. An
 * adapter to any server is a few lines; {@link ContractUpstream} is one. Thread-safe.
 *
 * <p>A request says what it wants:
 *
 * <ul>
 *   <li>{@code App-Tag}: the name under which its executions are counted, and held.
 *   <li>{@code App-Status}: the status, 201 otherwise.
 *   <li>{@code App-Body}: {@code json} (as without it), {@code empty}, {@code one-byte}, {@code gzip}, {@code binary},
 *       {@code mebibyte}, {@code larger} (than a mebibyte), {@code chunked}. No two executions answer the same bytes,
 *       where there are enough of them to differ.
 *   <li>{@code App-Header: name=value}: a header of the response; may be repeated.
 *   <li>{@code App-Hangup}: do the work and never answer.
 * </ul>
 *
 * <p>A path is read as loosely as any server might, and headers that override the method are believed: what slips past
 * the layer under test is executed here, and known as {@link Execution#slippedThrough}.
 */
public final class ContractApplication {
    static final int MEBIBYTE = 1 << 20;
    private static final List<String> OVERRIDES = List.of(
            "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-Method", "X-Rewrite-Method");

    private final AtomicInteger numbers = new AtomicInteger();
    private final Queue<Execution> executions = new ConcurrentLinkedQueue<>();
    private final Map<String, Hold> holds = new ConcurrentHashMap<>();

    /**
     * Executes a request.
     *
     * @throws HangUpException when the request asked for that; the work is done
     */
    public ContractResponse answer(ContractRequest request) {
        String path = LoosePath.of(request.target());
        if (!path.startsWith("/contract/")) {
            return new ContractResponse(404, List.of(), new byte[0], false);
        }
        Execution execution = record(request, path);
        Hold hold = holds.get(execution.tag());
        if (hold != null) {
            hold.pass();
        }
        if (request.first("App-Hangup").isPresent()) {
            throw new HangUpException();
        }
        return response(request, execution);
    }

    private Execution record(ContractRequest request, String path) {
        String tag = request.first("App-Tag").orElse("");
        ContractRoute route = methods(request)
                .flatMap(method -> ContractRoute.of(method, path).stream())
                .findFirst()
                .orElse(null);
        Execution execution = new Execution(
                numbers.incrementAndGet(), tag, request.method(), request.target(), route, request.guarded());
        executions.add(execution);
        return execution;
    }

    private static Stream<String> methods(ContractRequest request) {
        return Stream.concat(
                Stream.of(request.method()), OVERRIDES.stream().flatMap(name -> request.all(name).stream()));
    }

    private static ContractResponse response(ContractRequest request, Execution execution) {
        int status = request.first("App-Status").map(Integer::valueOf).orElse(201);
        String kind = status == 204 || status == 304
                ? "empty"
                : request.first("App-Body").orElse("json");
        List<Map.Entry<String, String>> headers = new ArrayList<>();
        headers.add(Map.entry("App-Execution", Integer.toString(execution.number())));
        String type = contentType(kind);
        if (!type.isEmpty()) {
            headers.add(Map.entry("Content-Type", type));
        }
        if (kind.equals("gzip")) {
            headers.add(Map.entry("Content-Encoding", "gzip"));
        }
        for (String header : request.all("App-Header")) {
            String[] nameAndValue = header.split("=", 2);
            headers.add(Map.entry(nameAndValue[0], nameAndValue[1]));
        }
        return new ContractResponse(status, headers, body(kind, execution.number()), kind.equals("chunked"));
    }

    private static String contentType(String kind) {
        return switch (kind) {
            case "empty" -> "";
            case "json", "gzip", "chunked" -> "application/json";
            default -> "application/octet-stream";
        };
    }

    private static byte[] body(String kind, int number) {
        return switch (kind) {
            case "json" -> json(number, 1);
            case "chunked" -> json(number, 10_000);
            case "empty" -> new byte[0];
            case "one-byte" -> new byte[] {(byte) number};
            case "gzip" -> gzip(json(number, 100));
            case "binary" -> random(number, 4096);
            case "mebibyte" -> random(number, MEBIBYTE);
            case "larger" -> random(number, MEBIBYTE + 1);
            default -> throw new IllegalArgumentException("no such body: " + kind);
        };
    }

    private static byte[] json(int number, int copies) {
        return ("{\"execution\": " + number + ", \"text\": \"" + "größer ".repeat(copies) + "\"}")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] random(int number, int length) {
        byte[] bytes = new byte[length];
        new Random(number).nextBytes(bytes);
        return bytes;
    }

    private static byte[] gzip(byte[] plain) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(plain);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return packed.toByteArray();
    }

    /** Executions of this tag stop in the middle of their work, from now on until the hold is released. */
    public Hold hold(String tag) {
        Hold hold = new Hold();
        holds.put(tag, hold);
        return hold;
    }

    /** Everything that was executed, in the order it began. */
    public List<Execution> executions() {
        return List.copyOf(executions);
    }

    public List<Execution> executions(String tag) {
        return executions.stream()
                .filter(execution -> execution.tag().equals(tag))
                .toList();
    }
}
