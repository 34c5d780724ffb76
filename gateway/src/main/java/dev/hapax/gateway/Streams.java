package dev.hapax.gateway;

import dev.hapax.gateway.config.InvalidConfigurationException;
import java.io.PrintWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** Where a command prints. */
final class Streams {
    private Streams() {}

    static PrintWriter out(@Nullable CommandSpec spec) {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }

    static PrintWriter err(@Nullable CommandSpec spec) {
        return Objects.requireNonNull(spec).commandLine().getErr();
    }

    /** Tells all mistakes, and returns the exit code for them. */
    static int refuse(@Nullable CommandSpec spec, InvalidConfigurationException e) {
        PrintWriter err = err(spec);
        e.mistakes().forEach(err::println);
        int count = e.mistakes().size();
        err.println("hapax: the configuration has " + (count == 1 ? "a mistake" : count + " mistakes"));
        err.flush();
        return HapaxCommand.USAGE;
    }
}
