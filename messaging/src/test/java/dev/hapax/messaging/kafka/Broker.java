package dev.hapax.messaging.kafka;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;

/** The process of a {@link TestKafka}. Ends when its standard input does, so that it never outlives a test. */
final class Broker {
    private Broker() {}

    public static void main(String[] args) throws Exception {
        Path settings = Path.of(args[0]);
        Properties properties = new Properties();
        try (var in = Files.newInputStream(settings)) {
            properties.load(in);
        }
        Thread watchdog = new Thread(Broker::waitForTheEnd, "watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
        if (!Files.exists(Path.of(properties.getProperty("log.dirs"), "meta.properties"))) {
            StorageTool.execute(
                    new String[] {"format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", settings.toString()},
                    new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8));
        }
        new KafkaRaftServer(KafkaConfig.fromProps(properties), Time.SYSTEM).startup();
        System.out.println("broker started");
    }

    private static void waitForTheEnd() {
        try {
            while (System.in.read() >= 0) {
                Thread.onSpinWait();
            }
        } catch (IOException gone) {
            // the same as the end
        }
        Runtime.getRuntime().halt(0);
    }
}
