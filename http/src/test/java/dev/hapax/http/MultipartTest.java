package dev.hapax.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MultipartTest {

    private static Optional<String> digest(byte[] body, String boundary) {
        return Multipart.of(body, boundary).map(parts -> {
            Hashing hash = Hashing.with(new byte[0]);
            parts.addTo(hash);
            return hash.hex();
        });
    }

    /** With {@code |} for the end of a line and {@code B} for the boundary. */
    private static Optional<String> digest(String sketch, String boundary) {
        return digest(Api.bytes(sketch.replace("|", "\r\n").replace("B", boundary)), boundary);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--B|a: b||x|--B--",
                "--B|a: b||x|--B--|",
                "--B|a: b||x|--B--| |",
                "--B  |a: b||x|--B\t|c: d||y|--B--|",
                "--B||x|--B--",
                "--B|a: b|||--B--",
                "--B|||--B--",
                "--B|a:||--|-x|--B--"
            })
    void boundaryDoesNotMatter(String sketch) {
        assertThat(digest(sketch, "one")).isPresent().isEqualTo(digest(sketch, "another-'()+_,./:=?"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "--B",
                "--B--",
                "--B--|",
                "--B|",
                "--B|a: b",
                "--B|a: b|",
                "--B|a: b||",
                "--B|a: b||x",
                "--B|a: b||x|",
                "--B|a: b||x|--B",
                "--B|a: b||x|--B|",
                "--B|a: b||x|--Bx|y|--B--",
                "--B|a: b||x|--B--more",
                "preamble|--B|a: b||x|--B--",
                "|--B|a: b||x|--B--",
                "--B|a: b||--B--",
                "--B|a: b||--B|c: d||x|--B--",
                "--B|--B--",
                "--B|a b||x|--B--",
                "--B| folded||x|--B--",
                "--B|a: b\nc: d||x|--B--",
                "--B\na: b\n\nx\n--B--",
                "--Bx|a: b||x|--Bx--"
            })
    void whatCanBeTakenApartInMoreThanOneWayIsNot(String sketch) {
        assertThat(digest(sketch, "one")).isEmpty();
    }

    @Test
    void namesAndBlanksOfHeadersDoNotMatterButTheirValuesAndOrderDo() {
        Optional<String> first = digest("--B|Content-Type: text/plain|a: b||x|--B--", "b");
        assertThat(digest("--B|content-type:text/plain |A:  b||x|--B--", "b")).isEqualTo(first);
        assertThat(digest("--B|a: b|Content-Type: text/plain||x|--B--", "b")).isNotEqualTo(first);
        assertThat(digest("--B|Content-Type: Text/plain|a: b||x|--B--", "b")).isNotEqualTo(first);
    }

    @Test
    void orderAndLimitsOfPartsMatter() {
        assertThat(digest("--B|n: 1||x|--B|n: 2||y|--B--", "b"))
                .isNotEqualTo(digest("--B|n: 2||y|--B|n: 1||x|--B--", "b"));
        assertThat(digest("--B||x|--B||y|--B--", "b")).isNotEqualTo(digest("--B||xy|--B--", "b"));
        assertThat(digest("--B||x||--B--", "b")).isNotEqualTo(digest("--B||x|--B--", "b"));
    }

    @Test
    void boundariesAndPartsAreBounded() {
        assertThat(digest("--B||x|--B--", "b".repeat(70))).isPresent();
        assertThat(digest("--B||x|--B--", "b".repeat(71))).isEmpty();
        assertThat(digest("--B||x|".repeat(1000) + "--B--", "b")).isPresent();
        assertThat(digest("--B||x|".repeat(1001) + "--B--", "b")).isEmpty();
    }

    @Test
    void generatedFormsAreOneWhateverTheirBoundaryAndTwoWhenAByteDiffers() {
        long seed = System.nanoTime();
        System.out.println("MultipartTest seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 5_000; i++) {
            List<byte[]> contents = new ArrayList<>();
            for (int part = random.nextInt(4); part >= 0; part--) {
                byte[] content = new byte[random.nextInt(40)];
                random.nextBytes(content);
                contents.add(content);
            }
            Optional<String> digest = digest(form(contents, "first-boundary"), "first-boundary");
            assertThat(digest).as("seed %d", seed).isPresent();
            assertThat(digest(form(contents, "other"), "other"))
                    .as("seed %d", seed)
                    .isEqualTo(digest);
            byte[] changed = contents.get(random.nextInt(contents.size()));
            if (changed.length > 0) {
                changed[random.nextInt(changed.length)] ^= 1;
                assertThat(digest(form(contents, "other"), "other"))
                        .as("seed %d", seed)
                        .isNotEqualTo(digest);
            }
        }
    }

    @Test
    void damagedFormsAreTakenApartOrNotButNeverFail() {
        long seed = System.nanoTime();
        System.out.println("MultipartTest seed " + seed);
        Random random = new Random(seed);
        int whole = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] body = form(List.of(new byte[random.nextInt(9)], new byte[random.nextInt(9)]), "b");
            for (int damage = random.nextInt(3); damage >= 0; damage--) {
                body[random.nextInt(body.length)] = (byte) "\r\n-b: x".charAt(random.nextInt(7));
            }
            byte[] cut =
                    java.util.Arrays.copyOf(body, random.nextInt(4) == 0 ? random.nextInt(body.length) : body.length);
            whole += digest(cut, "b").isPresent() ? 1 : 0;
        }
        assertThat(whole).isBetween(1, 19_999);
    }

    private static byte[] form(List<byte[]> contents, String boundary) {
        ByteArrayOutputStream form = new ByteArrayOutputStream();
        for (byte[] content : contents) {
            form.writeBytes(("--" + boundary + "\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1));
            form.writeBytes(content);
            form.writeBytes(new byte[] {'\r', '\n'});
        }
        form.writeBytes(("--" + boundary + "--\r\n").getBytes(StandardCharsets.ISO_8859_1));
        return form.toByteArray();
    }
}
