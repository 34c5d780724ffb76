package dev.hapax.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The Java in the documentation compiles, and what it links to is there. */
class DocumentationTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(?:#[^)]*)?\\)");
    private static final Pattern TEST = Pattern.compile("`(\\w+(?:Tests?|[a-z]IT|Contract))(?:\\.(\\w+))?`");

    /** What the snippets take for granted. */
    private static final String SURROUNDINGS = """
            import dev.hapax.*;
            import dev.hapax.codec.*;
            import dev.hapax.http.*;
            import dev.hapax.http.servlet.HapaxFilter;
            import dev.hapax.outbox.*;
            import dev.hapax.postgres.*;
            import dev.hapax.postgres.outbox.*;
            import dev.hapax.store.*;
            import jakarta.servlet.Filter;
            import static java.nio.charset.StandardCharsets.UTF_8;
            import java.net.*;
            import java.sql.*;
            import java.time.*;
            import java.util.*;
            import javax.sql.DataSource;

            abstract class Snippet {
                record Order(String id) {}
                record Receipt(String id) {}
                static class CardDeclined extends RuntimeException {}
                interface Bank { Receipt charge(Order order, String key); }
                DataSource dataSource;
                DataSource unpooled;
                Publisher publisher;
                PostgresStore store;
                Connection connection;
                Bank bank;
                Order order;
                String idempotencyKey;
                byte[] requestBytes;
                abstract Object created(Receipt receipt);
                abstract Object conflict(Duration retryAfter);
                abstract Object conflict();
                abstract Object unprocessable();
                abstract Order insertOrder(Connection connection, Order order) throws SQLException;
            """;

    @TempDir
    Path classes;

    @TestFactory
    Stream<DynamicTest> everySnippetCompiles() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path page : pages()) {
            Matcher snippet = JAVA.matcher(Files.readString(page));
            while (snippet.find()) {
                String code = snippet.group(1);
                String name =
                        page.getFileName() + ": " + code.lines().findFirst().orElse("");
                tests.add(DynamicTest.dynamicTest(name, () -> compile(code)));
            }
        }
        assertThat(tests).hasSizeGreaterThanOrEqualTo(3);
        return tests.stream();
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        for (Path page : pages()) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                assertThat(page.resolveSibling(link.group(1)))
                        .as("linked from %s", page)
                        .exists();
            }
        }
    }

    @Test
    void everyTestThatIsNamedIsThere() throws IOException {
        List<Path> sources = find(".java");
        for (Path page : pages()) {
            Matcher named = TEST.matcher(Files.readString(page));
            while (named.find()) {
                Path file = sources.stream()
                        .filter(source -> source.getFileName().toString().equals(named.group(1) + ".java"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(page + " names " + named.group(1)));
                String method = named.group(2);
                if (method != null) {
                    assertThat(Files.readString(file)).as("named in %s", page).contains("void " + method + "(");
                }
            }
        }
    }

    private void compile(String code) {
        String hapax = code.contains("Hapax hapax =") ? "" : "Hapax hapax;\n";
        String body = hapax + "Object snippet() throws Exception {\n" + code
                + (code.contains("return ") ? "" : "return null;") + "}}\n";
        StringWriter messages = new StringWriter();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options =
                List.of("-proc:none", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
        boolean compiled = compiler.getTask(messages, null, null, options, null, List.of(source(SURROUNDINGS + body)))
                .call();
        assertThat(compiled).as("%s%n%s", code, messages).isTrue();
    }

    private static JavaFileObject source(String text) {
        return new SimpleJavaFileObject(URI.create("string:///Snippet.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    private static List<Path> pages() throws IOException {
        return find(".md");
    }

    private static List<Path> find(String ending) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .filter(file -> !file.toString().contains("target"))
                    .filter(file -> !file.toString().contains("/."))
                    .toList();
        }
    }
}
