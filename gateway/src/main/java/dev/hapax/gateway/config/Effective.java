package dev.hapax.gateway.config;

/** A valid configuration, and what it came from. */
public final class Effective {
    private final Configuration configuration;
    private final Tree.Members tree;

    Effective(Configuration configuration, Tree.Members tree) {
        this.configuration = configuration;
        this.tree = tree;
    }

    public Configuration configuration() {
        return configuration;
    }

    /**
     * All settings as YAML that reads back as the same, with a comment where a value is not the default. Secrets are
     * not in it.
     */
    public String yaml() {
        return Printer.print(tree);
    }
}
