package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class Utf8Test {

    @ParameterizedTest
    @ValueSource(
            strings = {"", "00", "7f", "c280", "dfbf", "e0a080", "ed9fbf", "ee8080", "efbfbf", "f0908080", "f48fbfbf"})
    void everyCharacterIsValid(String hex) {
        assertThat(Utf8.isValid(HexFormat.of().parseHex(hex))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "80",
                "bf",
                "c0af",
                "c1bf",
                "c2",
                "c27f",
                "c2c0",
                "e08080",
                "e09fbf",
                "e0a0",
                "eda080",
                "edbfbf",
                "f08080af",
                "f08fbfbf",
                "f4908080",
                "f5808080",
                "f8888080",
                "fe",
                "ff",
                "e28228a1",
                "f0288cbc"
            })
    void anythingElseIsNot(String hex) {
        assertThat(Utf8.isValid(HexFormat.of().parseHex(hex))).isFalse();
    }

    @Test
    void generatedBytesAreJudgedAsThePlatformDoes() {
        long seed = System.nanoTime();
        System.out.println("Utf8Test seed " + seed);
        Random random = new Random(seed);
        int[] leads = {
            0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xA0, 0x90
        };
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = new byte[random.nextInt(7)];
            for (int at = 0; at < bytes.length; at++) {
                bytes[at] =
                        (byte) (random.nextBoolean() ? leads[random.nextInt(leads.length)] : 0x80 + random.nextInt(64));
            }
            if (Utf8.isValid(bytes) != isDecoded(bytes)) {
                throw new AssertionError(HexFormat.of().formatHex(bytes) + ", seed " + seed);
            }
        }
    }

    private static boolean isDecoded(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)) != null;
        } catch (CharacterCodingException notUtf8) {
            return false;
        }
    }
}
