package dev.hapax.gateway.config;

import java.util.IdentityHashMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The values of a {@link Section}'s settings, each of its own type. */
final class Values {
    private final Reading reading;
    private final IdentityHashMap<Setting<?>, Object> values = new IdentityHashMap<>();
    private final IdentityHashMap<Setting<?>, Origin> origins = new IdentityHashMap<>();
    private boolean refused;

    Values(Reading reading) {
        this.reading = reading;
    }

    <T> void put(Setting<T> setting, T value, Origin origin) {
        values.put(setting, value);
        origins.put(setting, origin);
    }

    /** The value of a setting that is required or has a default. */
    <T> T get(Setting<T> setting) {
        return find(setting).orElseThrow(() -> new IllegalStateException(setting.name() + " has no default"));
    }

    @SuppressWarnings("unchecked") // put only takes what belongs together
    <T> Optional<T> find(Setting<T> setting) {
        return Optional.ofNullable((T) values.get(setting));
    }

    <T> @Nullable T orNull(Setting<T> setting) {
        return find(setting).orElse(null);
    }

    boolean has(Setting<?> setting) {
        return values.containsKey(setting);
    }

    /** Whether somebody wrote it. */
    boolean isSet(Setting<?> setting) {
        return has(setting) && !(origins.get(setting) instanceof Origin.BuiltIn);
    }

    /** Where to point at when the setting is wrong, though it is well written. */
    void refuse(Setting<?> setting, String what) {
        reading.mistakes().add(origins.getOrDefault(setting, reading.tree().origin()), what);
        refused = true;
    }

    /** Something is wrong about which the user is told already. */
    void refused() {
        refused = true;
    }

    boolean isRefused() {
        return refused;
    }

    /** What the user calls a setting of this section. */
    String path(Setting<?> setting) {
        return reading.member(setting.name(), reading.tree()).path();
    }
}
