package dev.hapax.codec;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.hapax.store.Payload;
import java.io.IOException;

/** Results as JSON. Needs {@code jackson-databind} on the class path. */
public final class JacksonCodecs implements Codecs {
    private final ObjectMapper mapper;

    /** With every Jackson module found on the class path, such as the one for {@code java.time}. */
    public JacksonCodecs() {
        this(JsonMapper.builder().findAndAddModules().build());
    }

    public JacksonCodecs(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public <T> Codec<T> codecFor(Class<T> type) {
        return codecFor(mapper.constructType(type));
    }

    @Override
    public <T> Codec<T> codecFor(ResultType<T> type) {
        return codecFor(mapper.constructType(type.type()));
    }

    private <T> Codec<T> codecFor(JavaType type) {
        return new Codec<>() {
            @Override
            public Payload encode(T value) throws IOException {
                return Payload.of(mapper.writerFor(type).writeValueAsBytes(value));
            }

            @Override
            public T decode(Payload payload) throws IOException {
                return mapper.readerFor(type).readValue(payload.body());
            }
        };
    }
}
