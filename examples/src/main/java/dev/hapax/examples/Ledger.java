package dev.hapax.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was really executed, in order: a file with one line of JSON for each, so that a restart does not forget it. Safe
 * for use by many threads.
 */
final class Ledger {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path file;
    private final Map<String, List<ObjectNode>> entries = new LinkedHashMap<>();

    private Ledger(Path file) {
        this.file = file;
    }

    /** Reads what an earlier run has written. */
    static Ledger open(Path file) throws IOException {
        Ledger ledger = new Ledger(file);
        Files.createDirectories(file.toAbsolutePath().getParent());
        String text = Files.exists(file) ? Files.readString(file) : "";
        int whole = text.lastIndexOf('\n') + 1;
        if (whole < text.length()) {
            Files.writeString(file, text.substring(0, whole)); // a process that was killed left half a line
        }
        for (String line : text.substring(0, whole).lines().toList()) {
            JsonNode read = JSON.readTree(line);
            ledger.of(read.path("kind").asText()).add((ObjectNode) read.path("entry"));
        }
        return ledger;
    }

    /** Puts an entry at the end of its kind, and gives it the next number. */
    synchronized ObjectNode add(String kind, String prefix, ObjectNode content) {
        List<ObjectNode> list = of(kind);
        ObjectNode entry = JSON.createObjectNode().put("id", prefix + (list.size() + 1));
        entry.setAll(content);
        try {
            ObjectNode line = JSON.createObjectNode().put("kind", kind);
            line.set("entry", entry);
            Files.write(
                    file,
                    (JSON.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        list.add(entry);
        return entry;
    }

    /** All of a kind, as JSON. */
    synchronized byte[] list(String kind) {
        try {
            return JSON.writeValueAsBytes(of(kind));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<ObjectNode> of(String kind) {
        return entries.computeIfAbsent(kind, name -> new ArrayList<>());
    }
}
