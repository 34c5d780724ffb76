package dev.hapax.messaging.queues;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Java of the queues in {@code docs/messaging.md} compiles. */
class QueuesDocumentationTest {
    private static final Path PAGE = Path.of("..", "docs", "messaging.md");
    private static final String SURROUNDINGS = """
            import com.rabbitmq.client.ConnectionFactory;
            import dev.hapax.*;
            import dev.hapax.messaging.*;
            import dev.hapax.messaging.%1$s.*;
            import java.time.Duration;
            import software.amazon.awssdk.services.sqs.SqsAsyncClient;

            class Snippet {
                interface Mails { void send(Object order, String key); }
                void run(Hapax hapax, Mails mails, ConnectionFactory connectionFactory, SqsAsyncClient client,
                        String ordersUrl, String deadLettersUrl) {
            """;

    @TempDir
    Path classes;

    /** The snippets of a section are one program. */
    @ParameterizedTest
    @ValueSource(strings = {"rabbit", "sqs"})
    void theSnippetsOfASectionCompile(String broker) throws IOException {
        Pattern snippet = Pattern.compile("```java messaging-" + broker + "\n(.*?)```", Pattern.DOTALL);
        List<String> snippets = snippet.matcher(Files.readString(PAGE))
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(snippets).isNotEmpty();
        assertCompiles(SURROUNDINGS.formatted(broker) + String.join("\n", snippets) + "}}");
    }

    private void assertCompiles(String source) {
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Snippet.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        StringWriter errors = new StringWriter();
        List<String> options =
                List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none");
        boolean compiled = ToolProvider.getSystemJavaCompiler()
                .getTask(errors, null, null, options, null, List.of(file))
                .call();
        assertThat(compiled).as("%s%n%s", errors, source).isTrue();
    }
}
