package dev.hapax.embedded.postgres;

import java.nio.file.Path;

/** A program that starts a server, tells where it is, and then never ends by itself. */
final class ServerInChildJvm {

    private ServerInChildJvm() {}

    public static void main(String[] args) throws Exception {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
        for (String argument : args) {
            Path path = Path.of(argument.substring(argument.indexOf('=') + 1));
            builder = argument.startsWith("cache=") ? builder.cacheDirectory(path) : builder.dataDirectory(path);
        }
        try (EmbeddedPostgres server = builder.start()) {
            System.out.println("pid=" + server.pid());
            System.out.println("data=" + server.dataDirectory());
            System.out.println("answer=" + Queries.query(server, "SELECT 42"));
            System.out.println("done");
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
