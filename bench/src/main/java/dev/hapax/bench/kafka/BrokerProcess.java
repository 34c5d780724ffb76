package dev.hapax.bench.kafka;

import dev.hapax.bench.process.ChildJvm;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;

/** A Kafka of one node, with the file of its settings as the only argument. Prints a line when it is up. */
final class BrokerProcess {
    static final String UP = "broker started";

    private static final String CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ";

    private BrokerProcess() {}

    public static void main(String[] args) throws Exception {
        ChildJvm.endWithParent();
        Properties settings = new Properties();
        try (InputStream in = Files.newInputStream(Path.of(args[0]))) {
            settings.load(in);
        }
        StorageTool.execute(
                new String[] {"format", "-t", CLUSTER, "-c", args[0]},
                new PrintStream(System.err, true, StandardCharsets.UTF_8));
        new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM).startup();
        System.out.println(UP);
    }
}
