package dev.hapax;

/** Runs a call in one of the two modes: with a lease, or within the caller's transaction. */
interface Runner {
    <T, X extends Exception> Outcome<T> run(Request<T> request, Handler<T, X> handler) throws X;
}
