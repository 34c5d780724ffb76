package dev.hapax.simulation;

import java.util.List;

/**
 * One breakage of a single place, which the simulation has to find.
 *
 * @param what what it breaks, human-readable
 * @param type the class, below {@code dev.hapax}
 * @param before the code as it is, which occurs once
 * @param after the code that it becomes
 */
record Mutant(String what, String type, String before, String after) {

    /** Those of the list come first. */
    static List<Mutant> all() {
        return List.of(
                new Mutant(
                        "store: finish does not compare the token",
                        "memory/MemoryStore",
                        "boolean ours = row.token().equals(token);",
                        "boolean ours = true;"),
                new Mutant(
                        "store: renewal does not compare the token",
                        "memory/MemoryStore",
                        "if (!row.token().equals(renewal.token())) {",
                        "if (row.state().isTerminal()) {"),
                new Mutant(
                        "engine: the lease is not looked at before the handler begins",
                        "SingleFlight",
                        "return owned.lease().isLost();",
                        "return false;"),
                new Mutant(
                        "ruling: the window comes from today's policy",
                        "store/Ruling",
                        "if (found.answersNoMore()) {",
                        "if (found.answersNoMore() || (request.terms().window() != null && found.times().finishedAt() != null"
                                + " && Duration.between(found.times().finishedAt(), found.times().deadline())"
                                + ".minus(found.remaining()).compareTo(request.terms().window()) >= 0)) {"),
                new Mutant(
                        "ruling: today's retention decides whether a result is still kept",
                        "store/Ruling",
                        "if (found.answersNoMore()) {",
                        "if (found.answersNoMore() || (found.times().finishedAt() != null"
                                + " && Duration.between(found.times().finishedAt(), found.times().deadline())"
                                + ".minus(found.remaining()).compareTo(request.terms().retention()) >= 0)) {"),
                new Mutant(
                        "keeper: a renewal counts although it was not answered",
                        "LeaseKeeper",
                        "kept.lease().renewalSent(sentAt);",
                        "kept.lease().renewed(sentAt);"),
                new Mutant(
                        "keeper: a renewal that met a lock counts as renewed",
                        "LeaseKeeper",
                        "kept.lease().renewalFailed();",
                        "kept.lease().renewed(sentAt);"),
                new Mutant(
                        "lease: isLost() does not look at the clock",
                        "HeldLease",
                        "return revoked || hasRunOut(clock.nanoTime());",
                        "return revoked;"),
                new Mutant(
                        "ruling: the fingerprint is not compared",
                        "store/Ruling",
                        "if (!found.fingerprint().equals(request.fingerprint())) {",
                        "if (found.fingerprint() == null) {"),
                new Mutant(
                        "single flight: a follower is told the result of another request",
                        "SingleFlight",
                        "boolean same = flight.fingerprint().equals(call.request().fingerprint());",
                        "boolean same = true;"),
                new Mutant(
                        "store: a sweep removes what is in flight",
                        "memory/MemoryStore",
                        "} else if (row.state().isTerminal()) {\n                swept[0]",
                        "} else if (row.state() != State.PENDING) {\n                swept[0]"),
                new Mutant(
                        "engine: an executor that throws an Error leaves the claim behind",
                        "Engine",
                        "} catch (Throwable refused) {",
                        "} catch (RuntimeException refused) {"),
                new Mutant(
                        "single flight: what is thrown while a call leads leaves its flight behind",
                        "SingleFlight",
                        "flights.abort(call.id(), flight, thrown);",
                        ""),
                new Mutant(
                        "single flight: without the store, every follower runs at once",
                        "SingleFlight",
                        "Claim.Won won = new Claim.Won(1);",
                        "Claim.Won won = new Claim.Won(1);\n"
                                + "        flights.land(call.id(), flight, Optional.empty());"),
                new Mutant(
                        "ruling: a live lease is taken over",
                        "store/Ruling",
                        "return found.pastDeadline() ? onAbandoned(request, found)",
                        "return found.state() == State.PROCESSING ? onAbandoned(request, found)"),
                new Mutant(
                        "ruling: PARK is ignored",
                        "store/Ruling",
                        "case PARK -> new Park();",
                        "case PARK -> nextAttempt(request, found);"),
                new Mutant(
                        "ruling: attempts have no limit",
                        "store/Ruling",
                        "if (counted < request.terms().maxAttempts()) {",
                        "if (counted < Integer.MAX_VALUE) {"),
                new Mutant(
                        "ruling: a new operation keeps the old generation",
                        "store/Ruling",
                        "return new Claim.Won(1, generation + 1, null);",
                        "return new Claim.Won(1, generation, null);"),
                new Mutant(
                        "store: what did not begin counts as an attempt",
                        "store/Release",
                        "return this == NOT_BEGUN ? 1 : 0;",
                        "return 0;"),
                new Mutant(
                        "store: a result is kept for the length of a lease",
                        "memory/MemoryStore",
                        "row -> row.ended(finish.result(), finish.token(), clock.instant(), finish.retention()),",
                        "row -> row.ended(finish.result(), finish.token(), clock.instant(),"
                                + " row.request().terms().lease()),"),
                new Mutant(
                        "store: a finished operation can be finished again",
                        "memory/MemoryStore",
                        "if (ours && row.state() == State.PROCESSING) {",
                        "if (ours || row.state().isTerminal()) {"),
                new Mutant(
                        "settlement: a lost claim counts as recorded",
                        "Settlement",
                        "if (written == Written.CLAIM_LOST) {\n                return",
                        "if (written == null && error == null) {\n                return"),
                new Mutant(
                        "settlement: followers get a result that was not recorded",
                        "Settlement",
                        "land(owned, written == Written.RECORDED ? Optional.of(replay(result, kept)) : Optional.empty());",
                        "land(owned, Optional.of(replay(result, kept)));"),
                new Mutant(
                        "keeper: a hung handler is renewed for ever",
                        "LeaseKeeper",
                        "return lease.heldFor(now).compareTo(maxDuration) < 0;",
                        "return true;"),
                new Mutant(
                        "engine: a lease taken away before the handler's turn is renewed again and again",
                        "SingleFlight",
                        "if (owned.lease().isRevoked() || owned.lease().resumed() > MAX_RESUMES) {",
                        "if (owned == null) {"),
                new Mutant(
                        "verdict: a handler that cannot tell is run again under PARK",
                        "FailureVerdict",
                        "case PARK -> IN_DOUBT;",
                        "case PARK -> RETRYABLE;"),
                new Mutant(
                        "keeper: a lease that only ran out frees its operation for a run without the store",
                        "LeaseKeeper",
                        "kept.lease().tellLost(users);",
                        "lose(number, kept, \"it ran out\");"),
                new Mutant(
                        "engine: a handler's turn may come twice",
                        "HandlerTurn",
                        "if (decided.compareAndSet(false, true)) {\n            handler.run();",
                        "if (!decided.getAndSet(true) || true) {\n            handler.run();"),
                new Mutant(
                        "settlement: a claim that ran is given back as one that did not begin",
                        "FailureVerdict",
                        "case RETRYABLE -> Release.Kind.TRY_AGAIN;",
                        "case RETRYABLE -> Release.Kind.NOT_BEGUN;"));
    }
}
