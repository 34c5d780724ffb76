package dev.hapax.messaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The Java of {@code docs/messaging.md} compiles. */
class MessagingDocumentationTest {
    private static final Path PAGE = Path.of("..", "docs", "messaging.md");
    private static final Pattern SNIPPET = Pattern.compile("```java messaging\n(.*?)```", Pattern.DOTALL);

    /** What the snippets take for granted. */
    private static final String SURROUNDINGS = """
            import dev.hapax.*;
            import dev.hapax.messaging.*;
            import dev.hapax.messaging.kafka.*;
            import dev.hapax.postgres.*;
            import java.sql.Connection;
            import java.util.*;
            import javax.sql.DataSource;
            import org.apache.kafka.clients.consumer.ConsumerRecord;
            import org.apache.kafka.clients.producer.Producer;

            abstract class Snippet {
                interface Mails { void send(byte[] order, String key); }
                Mails mails;
                DataSource dataSource;
                Map<String, Object> settings;
                Producer<byte[], byte[]> producer;
                abstract void book(Connection connection, byte[] order);
                void run(%s) {
            """;

    @TempDir
    Path classes;

    @TestFactory
    Stream<DynamicTest> everySnippetCompiles() throws IOException {
        List<String> snippets = SNIPPET.matcher(Files.readString(PAGE))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(snippets).hasSizeGreaterThanOrEqualTo(2);
        return snippets.stream()
                .map(code -> DynamicTest.dynamicTest(code.lines().findFirst().orElse(""), () -> assertCompiles(code)));
    }

    private void assertCompiles(String code) {
        Matcher makesHapax = Pattern.compile("Hapax hapax =").matcher(code);
        String source = SURROUNDINGS.formatted(makesHapax.find() ? "" : "Hapax hapax") + code + "}}";
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Snippet.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        StringWriter errors = new StringWriter();
        boolean compiled = ToolProvider.getSystemJavaCompiler()
                .getTask(
                        errors,
                        null,
                        null,
                        List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none"),
                        null,
                        List.of(file))
                .call();
        assertThat(compiled).as("%s%n%s", errors, source).isTrue();
    }
}
