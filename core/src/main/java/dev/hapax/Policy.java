package dev.hapax;

import dev.hapax.codec.Codec;
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
    private final Predicate<Throwable> unknown;
    private final FailureCodecs failureCodecs;

    private Policy(Draft draft) {
        terms = new ClaimTerms(draft.lease, draft.retention, draft.whenAbandoned, draft.maxAttempts, draft.window);
        maxDuration = Durations.requirePositive(draft.maxDuration, "maxDuration");
        whenInFlight = draft.whenInFlight;
        onStoreFailure = draft.onStoreFailure;
        maxBody = draft.maxBody;
        terminal = draft.terminal;
        unknown = draft.unknown;
        failureCodecs = draft.failureCodecs;
        if (maxDuration.compareTo(terms.lease()) < 0) {
            throw new IllegalArgumentException(
                    "maxDuration is %s, shorter than one lease of %s".formatted(maxDuration, terms.lease()));
        }
        if (maxBody < 0) {
            throw new IllegalArgumentException("maxBody is " + maxBody + "; it cannot be negative");
        }
    }

    /**
     * For operations that may be tried again: kept for a day, lease of 30 seconds.
     *
     * <p>A crash: the next call runs the handler again once the lease is over. An exception: the next call runs it
     * again, unless it is a {@link TerminalFailure}.
     */
    public static Policy defaults() {
        return new Policy(new Draft());
    }

    /**
     * For charges and payouts, which must not be made twice and cannot be looked up from here: kept for a day, as long
     * as payment providers keep their own keys.
     *
     * <p>A crash: the operation is parked ({@link Outcome.InDoubt}) until an operator has found out whether it was
     * done. An exception: the same, since a socket timeout does not tell whether the charge was made; unless it is a
     * {@link TerminalFailure} (a declined card), a {@link NotBegunException} (nothing was sent) or a
     * {@link RetryableException} (nothing was left behind). Classify what your client throws with {@link #terminalOn},
     * and throw one of the latter two for what is safe to try again.
     */
    public static Policy payment() {
        return defaults()
                .retention(Duration.ofDays(1))
                .whenAbandoned(WhenAbandoned.PARK)
                .unknownOn(thrown -> true);
    }

    /**
     * For forms that are sent twice: kept for an hour.
     *
     * <p>A crash or an exception: the next call runs the handler again, as with {@link #defaults}.
     */
    public static Policy signup() {
        return defaults().retention(Duration.ofHours(1));
    }

    /**
     * For incoming webhooks, whose senders retry for days: kept for a week.
     *
     * <p>A crash or an exception: the next delivery runs the handler again, as with {@link #defaults}.
     */
    public static Policy webhook() {
        return defaults().retention(Duration.ofDays(7));
    }

    /**
     * For jobs: kept for thirty days, and a handler may run for a day before its lease is no longer renewed. Set
     * {@link #maxDuration} for longer ones: a job that outlives it is taken for abandoned and runs twice.
     *
     * <p>A crash or an exception: the next call runs the handler again, as with {@link #defaults}.
     */
    public static Policy job() {
        return defaults().retention(Duration.ofDays(30)).maxDuration(Duration.ofDays(1));
    }

    /** How long a result is kept, from when it was stored. Default: 24 hours. */
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

    /** How long a claim lasts unless renewed; it is renewed at a third of this. Default: 30 seconds. */
    public Policy lease(Duration lease) {
        return with(draft -> {
            draft.lease = lease;
            draft.maxDuration = draft.maxDuration.compareTo(lease) < 0 ? lease : draft.maxDuration;
        });
    }

    /** How long a handler may run before its lease is no longer renewed: the cap on a hung one. Default: an hour. */
    public Policy maxDuration(Duration maxDuration) {
        return with(draft -> draft.maxDuration = maxDuration);
    }

    /** What a call gets while another one runs the operation. Default: {@link WhenInFlight#REJECT}. */
    public Policy whenInFlight(WhenInFlight whenInFlight) {
        return with(draft -> draft.whenInFlight = whenInFlight);
    }

    /** What becomes of an operation whose owner went away. Default: {@link WhenAbandoned#RERUN}. */
    public Policy whenAbandoned(WhenAbandoned whenAbandoned) {
        return with(draft -> draft.whenAbandoned = whenAbandoned);
    }

    /** How often an operation may be claimed before it ends as failed, or parked. Default: 10. */
    public Policy maxAttempts(int maxAttempts) {
        return with(draft -> draft.maxAttempts = maxAttempts);
    }

    /** What happens when the store cannot be reached. Default: {@link OnStoreFailure#CLOSED}. */
    public Policy onStoreFailure(OnStoreFailure onStoreFailure) {
        return with(draft -> draft.onStoreFailure = onStoreFailure);
    }

    /** The largest result to keep, in bytes; a larger one is recorded as done, without its bytes. Default: 1 MiB. */
    public Policy maxBody(int bytes) {
        return with(draft -> draft.maxBody = bytes);
    }

    /**
     * Exceptions, besides {@link TerminalFailure}, that end an operation for good, for example
     * {@code CardDeclined.class::isInstance}. Default: none.
     */
    public Policy terminalOn(Predicate<Throwable> terminal) {
        return with(draft -> draft.terminal = terminal);
    }

    /**
     * Exceptions, besides {@link OutcomeUnknownException}, that leave open whether the work was done, for example
     * {@code SocketTimeoutException.class::isInstance}: the operation gets what {@link #whenAbandoned} says. Asked
     * after {@link #terminalOn}. Default: none; with {@link #payment} every exception that is not terminal.
     */
    public Policy unknownOn(Predicate<Throwable> unknown) {
        return with(draft -> draft.unknown = unknown);
    }

    /**
     * Declares a type of terminal failure that every retry gets as what it is. Any other type is replayed as a plain
     * {@link TerminalFailure} with its code and message.
     *
     * <pre>{@code
     * policy.failure(CardDeclined.class, Codec.text().map(CardDeclined::reason, CardDeclined::new))
     * }</pre>
     */
    public <F extends TerminalFailure> Policy failure(Class<F> type, Codec<F> codec) {
        return with(draft -> draft.failureCodecs = draft.failureCodecs.with(type, codec));
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

    /** Whether an exception of a handler leaves open whether its work was done. */
    public boolean isUnknown(Throwable thrown) {
        return thrown instanceof OutcomeUnknownException || unknown.test(thrown);
    }

    FailureCodecs failureCodecs() {
        return failureCodecs;
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
        draft.unknown = unknown;
        draft.failureCodecs = failureCodecs;
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
        Predicate<Throwable> unknown = thrown -> false;
        FailureCodecs failureCodecs = FailureCodecs.NONE;
    }
}
