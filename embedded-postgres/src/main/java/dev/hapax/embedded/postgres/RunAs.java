package dev.hapax.embedded.postgres;

import dev.hapax.embedded.postgres.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The way to start a process as a user that PostgreSQL accepts, which root is not.
 *
 * <p>A user namespace comes first, since there root's files stay the server's own files. Where the kernel forbids it,
 * as in most containers, the server becomes {@code nobody}, and {@link #own} hands it its files.
 */
record RunAs(List<String> prefix, OptionalInt owner) {

    private static final int ROOT = 0;
    private static final int NOBODY = 65534;

    static RunAs forDataDirectory(Path directory) throws IOException {
        if (Platform.isWindows() || uidUnder(List.of()).orElse(NOBODY) != ROOT) {
            return new RunAs(List.of(), OptionalInt.empty());
        }
        int owner = Trees.isMissingOrEmpty(directory) ? ROOT : (int) Files.getAttribute(directory, "unix:uid");
        Stream<RunAs> ways =
                owner == ROOT ? Stream.of(userNamespace(), setpriv(NOBODY), runuser()) : Stream.of(setpriv(owner));
        return ways.filter(RunAs::works)
                .findFirst()
                .orElseThrow(() -> new EmbeddedPostgresException(
                        Reason.NO_UNPRIVILEGED_USER,
                        "PostgreSQL does not run as root, and none of unshare, setpriv and runuser works here;"
                                + " run as an ordinary user"));
    }

    static RunAs userNamespace() {
        return new RunAs(List.of("unshare", "-U"), OptionalInt.empty());
    }

    static RunAs setpriv(int uid) {
        return new RunAs(List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups"), OptionalInt.of(uid));
    }

    static RunAs runuser() {
        return new RunAs(List.of("runuser", "-u", "nobody", "--"), OptionalInt.of(NOBODY));
    }

    List<String> command(List<String> command) {
        return Commands.join(prefix, command);
    }

    /** Makes the tree the server's own, where the server is another user than this process. */
    void own(Path root) throws IOException {
        if (owner.isEmpty()) {
            return;
        }
        try (Stream<Path> tree = Files.walk(root)) {
            for (Path path : (Iterable<Path>) tree::iterator) {
                Files.setAttribute(path, "unix:uid", owner.getAsInt(), LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private boolean works() {
        return uidUnder(prefix).orElse(ROOT) != ROOT;
    }

    private static OptionalInt uidUnder(List<String> prefix) {
        try {
            Commands.Result result = Commands.run(Commands.join(prefix, List.of("id", "-u")));
            return result.succeeded() ? OptionalInt.of(Integer.parseInt(result.output())) : OptionalInt.empty();
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }
}
