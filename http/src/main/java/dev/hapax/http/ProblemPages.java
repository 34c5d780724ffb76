package dev.hapax.http;

/** What problems mean, for people who follow the link in one. */
final class ProblemPages {
    private ProblemPages() {}

    static String of(Problem problem) {
        return """
                %s

                Status     %d
                Type       %s
                Retryable  %s

                %s

                What to do: %s
                """.formatted(
                        problem.title(),
                        problem.status(),
                        problem.type(),
                        problem.retryable() ? "yes" : "no",
                        problem.meaning(),
                        problem.advice());
    }

    static String all() {
        StringBuilder lines = new StringBuilder();
        for (Problem problem : Problem.values()) {
            lines.append("%d  %-22s %s\n".formatted(problem.status(), problem.slug(), problem.title()));
        }
        return lines.toString();
    }
}
