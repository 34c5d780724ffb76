package dev.hapax.messaging.rabbit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.LongString;
import com.rabbitmq.client.impl.LongStringHelper;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RabbitMessageTest {
    private static final byte[] NOT_UTF_8 = {(byte) 0xC3, (byte) 0x28};

    @Test
    void textNumbersAndBooleansAreRead() {
        LongString longString = LongStringHelper.asLongString("über");
        assertThat(header("order-7")).isEqualTo("order-7");
        assertThat(header(longString)).isEqualTo("über");
        assertThat(header("über".getBytes(StandardCharsets.UTF_8))).isEqualTo("über");
        assertThat(header(42)).isEqualTo("42");
        assertThat(header(Long.MIN_VALUE)).isEqualTo("-9223372036854775808");
        assertThat(header(new BigDecimal("1E+3"))).isEqualTo("1000");
        assertThat(header(0.0001)).isEqualTo("0.0001");
        assertThat(header(true)).isEqualTo("true");
    }

    @Test
    void absentHeaderIsNull() {
        assertThat(message(Map.of()).header("other")).isNull();
        assertThat(new RabbitMessage("", "q", false, new BasicProperties(), new byte[0]).header("order"))
                .isNull();
    }

    @Test
    void everythingElseIsRefused() {
        LongString notText = LongStringHelper.asLongString(NOT_UTF_8);
        for (Object value :
                List.of(List.of("a"), Map.of("a", 1), Date.from(Instant.EPOCH), NOT_UTF_8, notText, Double.NaN)) {
            assertThatThrownBy(() -> header(value))
                    .as("%s", value)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("\"order\"");
        }
    }

    private static @Nullable String header(Object value) {
        return message(Map.of("order", value)).header("order");
    }

    private static RabbitMessage message(Map<String, Object> headers) {
        BasicProperties properties =
                new BasicProperties.Builder().headers(headers).build();
        return new RabbitMessage("", "q", false, properties, new byte[0]);
    }
}
