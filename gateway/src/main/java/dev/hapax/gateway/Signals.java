package dev.hapax.gateway;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ctrl-C and SIGTERM: the first asks for an orderly stop, the second ends the process at once.
 *
 * <p>A shutdown hook cannot do that, since the JVM is deaf to a second signal while hooks run. What can is
 * {@code sun.misc.Signal}, which is supported but has no place in the API that we compile against: hence reflection.
 */
public final class Signals {
    private static final List<String> STOP = List.of("INT", "TERM");
    private static final int AT_ONCE = 130;

    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicInteger count = new AtomicInteger();

    private Signals() {}

    /** From now on, until the process ends, signals are for the one who waits for them. */
    public static Signals listen() {
        Signals signals = new Signals();
        try {
            STOP.forEach(signals::handle);
        } catch (IllegalStateException unsupported) {
            Runtime.getRuntime().addShutdownHook(new Thread(signals::received, "hapax-stop"));
        }
        return signals;
    }

    /** Returns at the first signal. */
    public void await() throws InterruptedException {
        stop.await();
    }

    private void received() {
        if (count.incrementAndGet() > 1) {
            Runtime.getRuntime().halt(AT_ONCE);
        }
        stop.countDown();
    }

    private void handle(String name) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object ours = Proxy.newProxyInstance(
                    Signals.class.getClassLoader(), new Class<?>[] {handler}, (self, method, values) -> {
                        received();
                        return null;
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance(name), ours);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(name + " cannot be handled", e);
        }
    }
}
