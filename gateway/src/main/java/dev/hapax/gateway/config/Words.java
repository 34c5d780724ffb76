package dev.hapax.gateway.config;

import dev.hapax.WhenInFlight;
import dev.hapax.http.JsonPointer;
import dev.hapax.http.KeySource;
import dev.hapax.http.TenantSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Values as they are written in a configuration, without secrets. */
public final class Words {
    private Words() {}

    public static String of(Duration duration) {
        return Amounts.print(duration);
    }

    /** @throws IllegalArgumentException that says what to write */
    public static Duration duration(String text) {
        return Amounts.duration(text, Duration.ZERO);
    }

    public static String of(WhenInFlight whenInFlight) {
        String mode = whenInFlight.mode().name().toLowerCase(Locale.ROOT);
        return whenInFlight.mode() == WhenInFlight.Mode.WAIT ? mode + " " + of(whenInFlight.atMost()) : mode;
    }

    public static String of(KeySource key) {
        if (key instanceof KeySource.Header header) {
            return (header.strict() ? "strict header " : "header ") + header.name();
        }
        if (key instanceof KeySource.PayloadField field) {
            return "body " + field.pointer().text();
        }
        if (key instanceof KeySource.Natural natural) {
            List<String> words = new ArrayList<>(List.of("natural"));
            natural.pathValues().forEach(name -> words.add("{" + name + "}"));
            natural.members().stream().map(JsonPointer::text).forEach(words::add);
            return String.join(" ", words);
        }
        return "body-hash";
    }

    public static String of(TenantSource tenant) {
        if (tenant instanceof TenantSource.Header header) {
            return "header " + header.name();
        }
        if (tenant instanceof TenantSource.JwtClaim jwt) {
            return "jwt claim " + jwt.claim();
        }
        return tenant.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }
}
