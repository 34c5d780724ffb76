package dev.hapax.examples.orders;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.hapax.gateway.HapaxCommand;
import dev.hapax.gateway.Progress;
import dev.hapax.gateway.Screen;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * From a charge over HTTP to a mail, through an outbox and a broker, with faults at every hop; then what came of it.
 */
@Command(
        name = "hapax orders",
        mixinStandardHelpOptions = true,
        versionProvider = HapaxCommand.Version.class,
        header = "Place orders over HTTP and mail each of them once, while things get lost on the way.",
        description = {
            "",
            "Runs an order service, an outbox relay and a mail service on a PostgreSQL and an AMQP broker of its own, "
                    + "prints what was sent, redelivered and suppressed at each hop, and leaves nothing behind.",
            ""
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every order was placed once and mailed once",
            "1:it was not, or it could not start",
            "2:wrong flags"
        },
        footer = {"", "Examples:", "  hapax orders", "  hapax orders --orders 1000"})
public final class Orders implements Callable<Integer> {
    private static final int MOST_ORDERS = 5_000;

    private final Map<String, String> environment;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--orders",
            paramLabel = "N",
            defaultValue = "200",
            description = "How many orders are placed, from 1 to 5000. ${DEFAULT-VALUE} unless given.")
    private int orders;

    Orders(Map<String, String> environment) {
        this.environment = environment;
    }

    public static void main(String[] args) {
        System.exit(HapaxCommand.commandLine(new Orders(System.getenv()), System.getenv())
                .execute(args));
    }

    @Override
    public Integer call() throws Exception {
        CommandSpec command = Objects.requireNonNull(spec);
        if (orders < 1 || orders > MOST_ORDERS) {
            throw new ParameterException(
                    command.commandLine(), "--orders is %d; 1 to %,d are possible".formatted(orders, MOST_ORDERS));
        }
        quieten();
        Screen screen = new Screen(command.commandLine().getOut(), environment);
        Progress progress = new Progress(command.commandLine().getErr());
        screen.title("%s, from HTTP to mail, with everything that gets lost on the way"
                .formatted(Timeline.count(orders, "order", "orders")));
        Timeline timeline = new Timeline(screen);
        try (Servers servers = progress.during("Starting PostgreSQL and an AMQP broker", Servers::start)) {
            timeline.say("PostgreSQL and an AMQP broker are up");
            Chain chain = new Chain(servers, orders, timeline);
            Summary summary = new Summary(screen, chain.tally(), chain.run());
            summary.print();
            return summary.verdict(orders) ? 0 : 1;
        }
    }

    /** The faults are made here and told on the screen; what the libraries say about them would only hide it. */
    private static void quieten() {
        for (String name : List.of("dev.hapax", org.slf4j.Logger.ROOT_LOGGER_NAME)) {
            ((Logger) LoggerFactory.getLogger(name)).setLevel(Level.ERROR);
        }
    }
}
