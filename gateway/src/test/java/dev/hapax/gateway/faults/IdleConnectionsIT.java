package dev.hapax.gateway.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What thousands of clients that keep their connection open cost, in a gateway with a small heap. */
@Timeout(300)
class IdleConnectionsIT {
    private static final int CONNECTIONS = Integer.getInteger("hapax.connections", 2_000);
    private static final int CHARGES = 1_000;
    private static final int HEAP_MIB = 128;
    private static final int MOST_KIB_EACH = 16;
    private static final Pattern USED = Pattern.compile("used (\\d+)K");

    @TempDir
    Path directory;

    @Test
    void idleConnectionsAndALoadFitIntoASmallHeap() throws Exception {
        assumeTrue(mayOpen(CONNECTIONS + 1_000), "this process may not open that many files");
        List<Socket> idle = new ArrayList<>();
        try (Site site = Site.start(directory, 1, HEAP_MIB);
                Customers customers = new Customers(site::gateway)) {
            customers.charge(CHARGES / 10);
            customers.awaitAll();
            long before = heapKib(site.pid(0));
            for (int i = 0; i < CONNECTIONS; i++) {
                idle.add(connect(site.gateway(0)));
            }
            long open = heapKib(site.pid(0));
            customers.charge(CHARGES);
            customers.awaitAll();
            for (Socket socket : idle) {
                greet(socket);
            }
            long after = heapKib(site.pid(0));
            System.out.printf(
                    "%,d idle connections: heap %,d KiB before, %,d KiB with them (%.1f KiB each), %,d KiB after %,d charges"
                            + " beside them; resident %,d KiB; heap limit %d MiB%n",
                    CONNECTIONS,
                    before,
                    open,
                    (double) (open - before) / CONNECTIONS,
                    after,
                    CHARGES,
                    residentKib(site.pid(0)),
                    HEAP_MIB);
            assertThat(open - before).isLessThan((long) CONNECTIONS * MOST_KIB_EACH);
            assertThat(after - before).isLessThan((long) CONNECTIONS * MOST_KIB_EACH);
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    private static Socket connect(URI gateway) throws IOException {
        Socket socket = new Socket(gateway.getHost(), gateway.getPort());
        socket.setSoTimeout(30_000);
        greet(socket);
        return socket;
    }

    private static void greet(Socket socket) throws IOException {
        socket.getOutputStream()
                .write("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        StringBuilder head = new StringBuilder();
        InputStream in = socket.getInputStream();
        while (head.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            assertThat(c).as("the end of the connection, after: %s", head).isNotEqualTo(-1);
            head.append((char) c);
        }
        assertThat(head.toString()).startsWith("HTTP/1.1 204");
    }

    /** What is in use once everything that is not has been thrown away. */
    private static long heapKib(long pid) throws IOException, InterruptedException {
        jcmd(pid, "GC.run");
        Matcher used = USED.matcher(jcmd(pid, "GC.heap_info"));
        long sum = 0;
        while (used.find() && used.end() > 0) {
            sum += Long.parseLong(used.group(1));
        }
        return sum;
    }

    private static String jcmd(long pid, String command) throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), Long.toString(pid), command)
                .redirectErrorStream(true)
                .start();
        String output = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(jcmd.waitFor()).as(output).isZero();
        return output.replaceFirst("(?s)Metaspace.*", "");
    }

    private static long residentKib(long pid) throws IOException {
        Path status = Path.of("/proc/%d/status".formatted(pid));
        return !Files.exists(status)
                ? 0
                : Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("VmRSS:"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .sum();
    }

    private static boolean mayOpen(int files) {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                && unix.getMaxFileDescriptorCount() > files;
    }
}
