package dev.hapax.bench.peers;

import com.trendyol.jdempotent.core.annotation.JdempotentIgnore;
import com.trendyol.jdempotent.core.annotation.JdempotentRequestPayload;
import com.trendyol.jdempotent.core.annotation.JdempotentResource;
import com.trendyol.jdempotent.core.aspect.IdempotentAspect;
import com.trendyol.jdempotent.redis.RedisConfigProperties;
import com.trendyol.jdempotent.redis.RedisIdempotentRepository;
import java.io.IOException;
import org.springframework.aop.aspectj.annotation.AspectJProxyFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.StringRedisSerializer;

/**
 * Jdempotent on a Redis of its own, which keeps nothing on disk.
 *
 * <p>Its starter configures itself inside Spring Boot 2 only, and only for a Redis behind Sentinel. Here are the same
 * objects without either: its aspect around an annotated method, its repository, and a template set up like the
 * starter's, keys as text and values serialised by Java. A payload of its own and not a text, because the aspect opens
 * the fields of its argument's class by reflection, and Java lets nobody do that to {@link String} any more.
 */
final class JdempotentPeer implements Peer {
    private static final long HOURS = 2;

    /** What the key is made of; {@code again} is no part of it. */
    static final class Payload {
        private final String key;

        @JdempotentIgnore
        private final boolean again;

        Payload(String key, boolean again) {
            this.key = key;
            this.again = again;
        }

        @Override
        public String toString() {
            return key;
        }
    }

    /** The annotated method. Neither is final, for the proxy to override it. */
    static class Service {
        @JdempotentResource(cachePrefix = Work.PROCESSOR)
        public String run(@JdempotentRequestPayload Payload payload) {
            return payload.again ? Work.handleAgain() : Work.handle();
        }
    }

    private final EmbeddedRedis server;
    private final LettuceConnectionFactory connections;
    private final Service service;

    JdempotentPeer() throws IOException, InterruptedException {
        this.server = EmbeddedRedis.start();
        this.connections = new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", server.port()));
        connections.afterPropertiesSet();
        connections.start();
        RedisConfigProperties properties = new RedisConfigProperties();
        properties.setExpirationTimeHour(HOURS);
        properties.setPersistReqRes(true);
        AspectJProxyFactory proxies = new AspectJProxyFactory(new Service());
        proxies.setProxyTargetClass(true);
        proxies.addAspect(new IdempotentAspect(new RedisIdempotentRepository(template(connections), properties)));
        this.service = proxies.getProxy();
    }

    private static RedisTemplate<String, Object> template(LettuceConnectionFactory connections) {
        RedisTemplate<String, Object> template = new RedisTemplate<>();
        template.setConnectionFactory(connections);
        template.setKeySerializer(new StringRedisSerializer());
        template.afterPropertiesSet();
        return template;
    }

    @Override
    public String name() {
        return "Jdempotent on Redis";
    }

    @Override
    public String doesNot() {
        return "no claim: it looks and then writes, so two duplicates at once both run; no lease; nothing survives Redis";
    }

    @Override
    public void fresh() {
        prepare(Work.newKey());
    }

    @Override
    public void prepare(String key) {
        Work.require(Work.isFirst(service.run(new Payload(key, false))), "the method did not return its result");
    }

    @Override
    public void replay(String key) {
        Work.require(Work.isFirst(service.run(new Payload(key, true))), "a duplicate did not get the first result");
    }

    @Override
    public void close() throws IOException, InterruptedException {
        connections.destroy();
        server.close();
    }
}
