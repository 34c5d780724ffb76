package dev.hapax.gateway.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Settings as they were written, before anybody knows what they mean. Immutable. */
sealed interface Tree {

    Origin origin();

    /** What people would call it. */
    String kind();

    /**
     * A value.
     *
     * @param text with {@code ${…}} replaced
     * @param written as it was written, before that
     */
    record Text(Origin origin, String text, String written) implements Tree {
        Text(Origin origin, String text) {
            this(origin, text, text);
        }

        @Override
        public String kind() {
            return "text";
        }
    }

    /** A list. */
    record Items(Origin origin, List<Tree> items) implements Tree {
        public Items {
            items = List.copyOf(items);
        }

        @Override
        public String kind() {
            return "a list";
        }
    }

    /** Names with values, in the order they were written. */
    record Members(Origin origin, Map<String, Member> members) implements Tree {
        static final Members NONE = new Members(new Origin.BuiltIn(), Map.of());

        @Override
        public String kind() {
            return "a group of settings";
        }

        Members with(String name, Member member) {
            Map<String, Member> changed = new LinkedHashMap<>(members);
            changed.put(name, member);
            return new Members(origin, changed);
        }
    }

    /**
     * A name with its value.
     *
     * @param origin of the name
     */
    record Member(Origin origin, Tree value) {
        Member(Tree value) {
            this(value.origin(), value);
        }
    }

    /** A name without a value. */
    record Nothing(Origin origin) implements Tree {
        @Override
        public String kind() {
            return "empty";
        }
    }

    /** Something about which the user is told already. */
    record Refused(Origin origin) implements Tree {
        @Override
        public String kind() {
            return "not readable";
        }
    }
}
