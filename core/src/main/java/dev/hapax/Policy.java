package dev.hapax;

import dev.hapax.store.ClaimTerms;
import dev.hapax.store.Durations;
import dev.hapax.store.WhenAbandoned;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How the operations of a scope are treated. An immutable value: every setter returns another policy.
 *
 * <pre>{@code
 * Policy.payment().lease(Duration.ofSeconds(10)).whenInFlight(WhenInFlight.waitAtMost(Duration.ofSeconds(2)))
 * }</pre>
 */
public final class Policy {
    private final ClaimTerms terms;
    private final Duration maxDuration;
    private final WhenInFlight whenInFlight;
    private final OnStoreFailure onStoreFailure;
    private final int maxBody;
    private final Predicate<Throwable> terminal;

    private Policy(Draft draft) {
        terms = new ClaimTerms(draft.lease, draft.retention, draft.whenAbandoned, draft.maxAttempts, draft.window);
        maxDuration = Durations.requirePositive(draft.maxDuration, "maxDuration");
        whenInFlight = draft.whenInFlight;
        onStoreFailure = draft.onStoreFailure;
        maxBody = draft.maxBody;
        terminal = draft.terminal;
        if (maxDuration.compareTo(terms.lease()) < 0) {
            throw new IllegalArgumentException(
                    "maxDuration is %s, shorter than one lease of %s".formatted(maxDuration, terms.lease()));
        }
        if (maxBody < 0) {
            throw new IllegalArgumentException("maxBody is " + maxBody + "; it cannot be negative");
        }
    }

    /** Kept for a day. */
    public static Policy defaults() {
        return new Policy(new Draft());
    }

    /** Kept for a day: as long as payment providers keep their own keys. */
    public static Policy payment() {
        return defaults().retention(Duration.ofDays(1));
    }

    /** Kept for an hour: long enough for a form that is sent twice. */
    public static Policy signup() {
        return defaults().retention(Duration.ofHours(1));
    }

    /** Kept for a week: senders of webhooks retry for days. */
    public static Policy webhook() {
        return defaults().retention(Duration.ofDays(7));
    }

    /** Kept for thirty days: a monthly job that is started again. */
    public static Policy job() {
        return defaults().retention(Duration.ofDays(30));
    }

    /** How long a result is kept, from when it was stored. 24 hours unless set. */
    public Policy retention(Duration retention) {
        return with(draft -> draft.retention = retention);
    }

    /**
     * For how long, from its end, an operation answers a repeat; after that the same key begins a new operation. For
     * keys that do not tell a retry from a deliberate repeat, such as a hash of the request. Default: none, an ended
     * operation answers for as long as it is kept.
     */
    public Policy window(Duration window) {
        return with(draft -> draft.window = window);
    }

    /** How long a claim lasts unless renewed; it is renewed at a third of this. 30 seconds unless set. */
    public Policy lease(Duration lease) {
        return with(draft -> {
            draft.lease = lease;
            draft.maxDuration = draft.maxDuration.compareTo(lease) < 0 ? lease : draft.maxDuration;
        });
    }

    /** How long a handler may run before its lease is no longer renewed: the cap on a hung one. An hour unless set. */
    public Policy maxDuration(Duration maxDuration) {
        return with(draft -> draft.maxDuration = maxDuration);
    }

    /** What a call gets while another one runs the operation. {@link WhenInFlight#REJECT} unless set. */
    public Policy whenInFlight(WhenInFlight whenInFlight) {
        return with(draft -> draft.whenInFlight = whenInFlight);
    }

    /** What becomes of an operation whose owner went away. {@link WhenAbandoned#RERUN} unless set. */
    public Policy whenAbandoned(WhenAbandoned whenAbandoned) {
        return with(draft -> draft.whenAbandoned = whenAbandoned);
    }

    /** How often an operation may be claimed before it ends as failed, or parked. 10 unless set. */
    public Policy maxAttempts(int maxAttempts) {
        return with(draft -> draft.maxAttempts = maxAttempts);
    }

    /** What happens when the store cannot be reached. {@link OnStoreFailure#CLOSED} unless set. */
    public Policy onStoreFailure(OnStoreFailure onStoreFailure) {
        return with(draft -> draft.onStoreFailure = onStoreFailure);
    }

    /** The largest result to keep, in bytes; a larger one is recorded as done, without its bytes. 1 MiB unless set. */
    public Policy maxBody(int bytes) {
        return with(draft -> draft.maxBody = bytes);
    }

    /**
     * Exceptions, besides {@link TerminalFailure}, that end an operation for good, for example
     * {@code CardDeclined.class::isInstance}. None unless set.
     */
    public Policy terminalOn(Predicate<Throwable> terminal) {
        return with(draft -> draft.terminal = terminal);
    }

    public Duration retention() {
        return terms.retention();
    }

    /** Empty if there is none: an ended operation answers for as long as it is kept. */
    public @Nullable Duration window() {
        return terms.window();
    }

    public Duration lease() {
        return terms.lease();
    }

    public Duration maxDuration() {
        return maxDuration;
    }

    public WhenInFlight whenInFlight() {
        return whenInFlight;
    }

    public WhenAbandoned whenAbandoned() {
        return terms.whenAbandoned();
    }

    public int maxAttempts() {
        return terms.maxAttempts();
    }

    public OnStoreFailure onStoreFailure() {
        return onStoreFailure;
    }

    public int maxBody() {
        return maxBody;
    }

    /** Whether an exception of a handler ends the operation for good. */
    public boolean isTerminal(Throwable thrown) {
        return thrown instanceof TerminalFailure || terminal.test(thrown);
    }

    ClaimTerms terms() {
        return terms;
    }

    private Policy with(Consumer<Draft> change) {
        Draft draft = new Draft();
        draft.retention = retention();
        draft.window = window();
        draft.lease = lease();
        draft.maxDuration = maxDuration;
        draft.whenInFlight = whenInFlight;
        draft.whenAbandoned = whenAbandoned();
        draft.maxAttempts = maxAttempts();
        draft.onStoreFailure = onStoreFailure;
        draft.maxBody = maxBody;
        draft.terminal = terminal;
        change.accept(draft);
        return new Policy(draft);
    }

    private static final class Draft {
        Duration retention = Duration.ofDays(1);

        @Nullable
        Duration window;

        Duration lease = Duration.ofSeconds(30);
        Duration maxDuration = Duration.ofHours(1);
        WhenInFlight whenInFlight = WhenInFlight.REJECT;
        WhenAbandoned whenAbandoned = WhenAbandoned.RERUN;
        int maxAttempts = 10;
        OnStoreFailure onStoreFailure = OnStoreFailure.CLOSED;
        int maxBody = 1 << 20;
        Predicate<Throwable> terminal = thrown -> false;
    }
}
