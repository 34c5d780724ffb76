package dev.hapax.http;

/** A request that is answered with a problem instead of being run. */
public final class ProblemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public ProblemException(Problem problem, String detail) {
        super(detail);
        this.problem = problem;
    }

    public Problem problem() {
        return problem;
    }

    public HttpResponse response() {
        return problem.response(String.valueOf(getMessage()));
    }
}
