package dev.hapax.bench.micro;

import dev.hapax.Hapax;
import dev.hapax.Policy;
import dev.hapax.bench.process.ChildJvm;
import dev.hapax.memory.MemoryStore;
import dev.hapax.store.Store;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What operations in flight take of the heap: handlers have begun and not ended, as in a service whose upstream hangs.
 */
public final class InFlightMemory {
    private static final int OPERATIONS = 100_000;
    private static final int PATIENCE_SECONDS = 60;
    private static final int COLLECTIONS = 3;

    private InFlightMemory() {}

    /** The bytes of all that the engine and the memory store keep of 100,000 operations. */
    public static long withMemoryStore() throws IOException {
        return bytesWith(MemoryStore.class);
    }

    /** Measures in a JVM of its own, where nothing else comes and goes. */
    private static long bytesWith(Class<? extends Store> store) throws IOException {
        List<String> arguments = List.of(store.getSimpleName());
        try (ChildJvm child = ChildJvm.start(InFlightMemory.class, List.of("-Xmx1g"), arguments)) {
            return Long.parseLong(child.line());
        }
    }

    /** Prints the result; with the name of a store as its argument, it is the JVM that is measured. */
    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            System.out.printf("%,d operations in flight%n", OPERATIONS);
            System.out.println(line("engine alone", bytesWith(Forgetful.class)));
            System.out.println(line("with the rows of the memory store", withMemoryStore()));
            return;
        }
        ChildJvm.endWithParent();
        boolean keeps = args[0].equals(MemoryStore.class.getSimpleName());
        System.out.println(heapWith(keeps ? new MemoryStore() : new Forgetful()));
    }

    private static String line(String what, long bytes) {
        return "%-34s %6.1f MB, %,6d B each".formatted(what, bytes / 1e6, bytes / OPERATIONS);
    }

    private static long heapWith(Store store) throws InterruptedException {
        byte[] request = "{\"amount\": 42}".getBytes(StandardCharsets.UTF_8);
        CompletionStage<?>[] waiting = new CompletionStage<?>[OPERATIONS];
        CountDownLatch begun = new CountDownLatch(OPERATIONS);
        try (Hapax hapax = Hapax.on(store)
                .scope("payments", Policy.payment())
                .withoutSweeper()
                .build()) {
            long before = used();
            for (int i = 0; i < OPERATIONS; i++) {
                waiting[i] = hapax.scope("payments")
                        .tenant("acct_42")
                        .key(UUID.randomUUID().toString())
                        .fingerprint(request)
                        .returning(byte[].class)
                        .runAsync(lease -> {
                            begun.countDown();
                            return new CompletableFuture<>();
                        });
            }
            if (!begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(begun.getCount() + " operations did not begin");
            }
            long bytes = used() - before;
            if (waiting[OPERATIONS - 1].toCompletableFuture().isDone()) {
                throw new IllegalStateException("an operation has ended");
            }
            return bytes;
        }
    }

    /** After several collections, because what is waited for by finalizers goes with the next one. */
    @SuppressWarnings("SystemGc")
    private static long used() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        for (int i = 0; i < COLLECTIONS; i++) {
            memory.gc();
        }
        return memory.getHeapMemoryUsage().getUsed();
    }
}
