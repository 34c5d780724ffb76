package dev.hapax.bench.peers;

/** A program that starts a Redis, tells where it is, and then never ends by itself. */
final class RedisInChildJvm {
    private RedisInChildJvm() {}

    public static void main(String[] args) throws Exception {
        try (EmbeddedRedis redis = EmbeddedRedis.start()) {
            System.out.println(redis.port());
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
