package dev.hapax.http.servlet;

import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The parameters in the body of a form. */
final class Parameters {
    private final Map<String, List<String>> values = new LinkedHashMap<>();

    private Parameters() {}

    /** @throws IllegalArgumentException when something in it is encoded wrongly */
    static Map<String, String[]> ofForm(byte[] body, Charset charset) {
        Parameters parameters = new Parameters();
        for (String pair : new String(body, StandardCharsets.ISO_8859_1).split("&", -1)) {
            if (!pair.isEmpty()) {
                int equals = pair.indexOf('=');
                String name = equals < 0 ? pair : pair.substring(0, equals);
                String value = equals < 0 ? "" : pair.substring(equals + 1);
                parameters.add(decode(name, charset), decode(value, charset));
            }
        }
        return parameters.asArrays();
    }

    /** A byte that should have been encoded and is not is read in the form's charset too. */
    private static String decode(String raw, Charset charset) {
        return URLDecoder.decode(new String(raw.getBytes(StandardCharsets.ISO_8859_1), charset), charset);
    }

    /** Those parts that are no files. */
    static Map<String, String[]> ofParts(List<BufferedPart> parts, Charset charset) {
        Parameters parameters = new Parameters();
        for (BufferedPart part : parts) {
            if (part.getSubmittedFileName() == null) {
                parameters.add(part.getName(), part.text(charset));
            }
        }
        return parameters.asArrays();
    }

    private void add(String name, String value) {
        values.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
    }

    private Map<String, String[]> asArrays() {
        Map<String, String[]> arrays = new LinkedHashMap<>();
        values.forEach((name, list) -> arrays.put(name, list.toArray(new String[0])));
        return arrays;
    }
}
