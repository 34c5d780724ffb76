package dev.hapax.http.servlet;

import dev.hapax.http.Headers;
import jakarta.servlet.ServletContext;
import jakarta.servlet.http.Part;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A part of a form that is in memory, as all of its request is. */
final class BufferedPart implements Part {
    private static final Pattern PARAMETER =
            Pattern.compile(";\\s*([^=;\\s]+)\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^;\\s]*))");

    private final String name;
    private final @Nullable String fileName;
    private final Headers headers;
    private final byte[] bytes;
    private final ServletContext context;

    private BufferedPart(
            String name, @Nullable String fileName, Headers headers, byte[] bytes, ServletContext context) {
        this.name = name;
        this.fileName = fileName;
        this.headers = headers;
        this.bytes = bytes;
        this.context = context;
    }

    /** Empty when the part does not say what it is called. */
    static Optional<BufferedPart> of(Headers headers, byte[] bytes, ServletContext context) {
        String disposition = headers.first("Content-Disposition").orElse("");
        return parameter(disposition, "name")
                .map(name -> new BufferedPart(
                        name, parameter(disposition, "filename").orElse(null), headers, bytes, context));
    }

    private static Optional<String> parameter(String disposition, String name) {
        Matcher parameter = PARAMETER.matcher(disposition);
        while (parameter.find()) {
            if (parameter.group(1).equalsIgnoreCase(name)) {
                String quoted = parameter.group(2);
                return Optional.of(quoted == null ? parameter.group(3) : quoted.replace("\\\"", "\""));
            }
        }
        return Optional.empty();
    }

    String text(Charset charset) {
        return new String(bytes, charset);
    }

    @Override
    public InputStream getInputStream() {
        return new ByteArrayInputStream(bytes);
    }

    @Override
    public @Nullable String getContentType() {
        return getHeader("Content-Type");
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public @Nullable String getSubmittedFileName() {
        return fileName;
    }

    @Override
    public long getSize() {
        return bytes.length;
    }

    /** A relative name is below the context's directory for temporary files. */
    @Override
    public void write(String file) throws IOException {
        Object directory = context.getAttribute(ServletContext.TEMPDIR);
        Path path = directory instanceof File base ? base.toPath().resolve(file) : Path.of(file);
        Files.write(path, bytes);
    }

    @Override
    public void delete() {}

    @Override
    public @Nullable String getHeader(String header) {
        return headers.first(header).orElse(null);
    }

    @Override
    public Collection<String> getHeaders(String header) {
        return headers.all(header);
    }

    @Override
    public Collection<String> getHeaderNames() {
        Set<String> names = new LinkedHashSet<>();
        headers.fields().forEach(field -> names.add(field.name()));
        return names;
    }
}
