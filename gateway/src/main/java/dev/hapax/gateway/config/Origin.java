package dev.hapax.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where a value was written, so that people can go there. */
public sealed interface Origin {

    /** What relative paths in the value are relative to; empty for the working directory. */
    default Path directory() {
        return Path.of("");
    }

    /** Of two values, which one people should look at first. */
    default int line() {
        return Integer.MAX_VALUE;
    }

    default int column() {
        return Integer.MAX_VALUE;
    }

    /**
     * A place in a file.
     *
     * @param file as the user wrote its name
     */
    record InFile(String file, int line, int column) implements Origin {
        @Override
        public Path directory() {
            @Nullable Path parent = Path.of(file).getParent();
            return parent == null ? Path.of("") : parent;
        }

        @Override
        public String toString() {
            return file + ":" + line + ":" + column;
        }
    }

    /** An environment variable. */
    record Environment(String variable) implements Origin {
        @Override
        public String toString() {
            return variable;
        }
    }

    /** A flag of the command line, such as {@code --listen}. */
    record Flag(String flag) implements Origin {
        @Override
        public String toString() {
            return flag;
        }
    }

    /** Nobody wrote it. */
    record BuiltIn() implements Origin {
        @Override
        public String toString() {
            return "configuration";
        }
    }
}
