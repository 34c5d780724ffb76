package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A group of settings, and what is made of their values.
 *
 * @param expected what people are told to write
 * @param shorthand the setting that is meant when there is just a text
 * @param build makes the whole of its parts. It is called when each of them could be read, and may still
 *     {@linkplain Values#refuse refuse} some; what it returns does not count then
 */
record Section<T>(String expected, List<Setting<?>> settings, Optional<String> shorthand, Function<Values, T> build)
        implements Shape<T> {

    static <T> Section<T> of(String expected, Function<Values, T> build, Setting<?>... settings) {
        return new Section<>(expected, List.of(settings), Optional.empty(), build);
    }

    Section<T> shorthandFor(Setting<?> setting) {
        return new Section<>(expected, settings, Optional.of(setting.name()), build);
    }

    Optional<Setting<?>> setting(String name) {
        return settings.stream().filter(setting -> setting.name().equals(name)).findFirst();
    }

    List<String> names() {
        return settings.stream().<String>map(Setting::name).toList();
    }

    @Override
    public Tree normal(Tree tree) {
        if (tree instanceof Tree.Text && shorthand.isPresent()) {
            return new Tree.Members(tree.origin(), Map.of(shorthand.get(), new Tree.Member(tree)));
        }
        if (tree instanceof Tree.Members group) {
            Map<String, Tree.Member> normal = new LinkedHashMap<>(group.members());
            for (Setting<?> setting : settings) {
                normal.computeIfPresent(
                        setting.name(),
                        (name, member) ->
                                new Tree.Member(member.origin(), setting.shape().normal(member.value())));
            }
            return new Tree.Members(group.origin(), normal);
        }
        return tree;
    }

    @Override
    public @Nullable T read(Reading reading) {
        if (!(normal(reading.tree()) instanceof Tree.Members group)) {
            return refuseKind(reading);
        }
        Values values = new Values(reading);
        group.members().forEach((name, member) -> refuseIfUnknown(name, member, reading, values));
        for (Setting<?> setting : settings) {
            readInto(values, setting, group, reading);
        }
        @Nullable T built = values.isRefused() ? null : build(values, reading);
        return values.isRefused() ? null : built;
    }

    private @Nullable T build(Values values, Reading reading) {
        try {
            return build.apply(values);
        } catch (IllegalArgumentException e) {
            reading.refuse((reading.path().isEmpty() ? "" : reading.path() + ": ") + e.getMessage());
            return null;
        }
    }

    private <V> void readInto(Values values, Setting<V> setting, Tree.Members group, Reading reading) {
        Tree.@Nullable Member written = group.members().get(setting.name());
        Optional<Tree> tree = written == null ? setting.fallback() : Optional.of(written.value());
        if (tree.isPresent()) {
            @Nullable V value = setting.shape().read(reading.member(setting.name(), tree.get()));
            if (value == null) {
                values.refused();
            } else {
                values.put(setting, value, tree.get().origin());
            }
        } else if (setting.required()) {
            values.refused();
            reading.refuse("%s is missing: %s"
                    .formatted(values.path(setting), setting.shape().expected()));
        }
    }

    private void refuseIfUnknown(String name, Tree.Member member, Reading reading, Values values) {
        if (setting(name).isPresent()) {
            return;
        }
        String path = reading.member(name, member.value()).path();
        reading.mistakes().add(member.origin(), "there is no setting " + path + whatIsThere(name));
        values.refused();
    }

    private String whatIsThere(String name) {
        if (name.equals("<<")) {
            return "; groups are not merged here, but what defaults says holds for every route";
        }
        String hint = Suggestions.hint(name, names());
        List<String> elsewhere = Schema.placesOf(name);
        if (!hint.isEmpty()) {
            return hint;
        }
        return elsewhere.isEmpty()
                ? "; there are " + String.join(", ", names())
                : "; it is a setting of " + String.join(" and ", elsewhere);
    }

    /** A copy with fewer settings, for where some make no sense. */
    <U> Section<U> without(Function<Values, U> other, Setting<?>... left) {
        List<Setting<?>> fewer = new ArrayList<>(settings);
        fewer.removeAll(List.of(left));
        return new Section<>(expected, fewer, shorthand, other);
    }
}
