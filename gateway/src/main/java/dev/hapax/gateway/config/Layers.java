package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Puts together what file, environment and flags say, each above the one before. */
final class Layers {
    private Layers() {}

    /** The lower tree with all that the upper one says in its place. */
    static Tree over(Shape<?> shape, Tree lower, Tree upper) {
        Tree below = shape.normal(lower);
        Tree above = shape.normal(upper);
        Shape<?> inner = shape instanceof Either<?> either ? either.section() : shape;
        if (!(inner instanceof Section<?> section
                && below instanceof Tree.Members base
                && above instanceof Tree.Members added)) {
            return above;
        }
        Map<String, Tree.Member> members = new LinkedHashMap<>(base.members());
        added.members()
                .forEach((name, member) -> members.merge(
                        name,
                        member,
                        (old, fresh) -> new Tree.Member(
                                fresh.origin(),
                                section.setting(name)
                                        .map(setting -> over(setting.shape(), old.value(), fresh.value()))
                                        .orElse(fresh.value()))));
        return new Tree.Members(base.origin(), members);
    }

    /** The tree with one value in it changed. */
    static Tree set(Shape<?> shape, Tree tree, List<String> path, Tree value, Mistakes mistakes) {
        if (path.isEmpty()) {
            return over(shape, tree, value);
        }
        Tree normal = shape.normal(tree);
        Shape<?> inner = shape instanceof Either<?> either ? either.section() : shape;
        if (inner instanceof ListOf<?> list && (normal instanceof Tree.Items || isEmpty(normal))) {
            return setItem(list, normal, path, value, mistakes);
        }
        if (inner instanceof Section<?> section && (normal instanceof Tree.Members || isEmpty(normal))) {
            return setMember(section, normal, path, value, mistakes);
        }
        if (normal instanceof Tree.Text) {
            mistakes.add(
                    value.origin(),
                    "%s cannot be set in what is written as text at %s"
                            .formatted(String.join(".", path), normal.origin()));
        } else {
            mistakes.add(value.origin(), "there is nothing that could hold " + String.join(".", path));
        }
        return tree;
    }

    private static boolean isEmpty(Tree tree) {
        return tree instanceof Tree.Nothing;
    }

    private static Tree setItem(ListOf<?> list, Tree tree, List<String> path, Tree value, Mistakes mistakes) {
        List<Tree> items = new ArrayList<>(tree instanceof Tree.Items old ? old.items() : List.of());
        String place = path.get(0);
        int index = place.matches("\\d{1,4}") ? Integer.parseInt(place) : -1;
        if (index < 0 || index > items.size()) {
            mistakes.add(
                    value.origin(),
                    "\"%s\" is not a place in a list of %d; the first is 0".formatted(place, items.size()));
            return tree;
        }
        Tree old = index < items.size() ? items.remove(index) : new Tree.Nothing(value.origin());
        items.add(index, set(list.element(), old, path.subList(1, path.size()), value, mistakes));
        return new Tree.Items(tree.origin(), items);
    }

    private static Tree setMember(Section<?> section, Tree tree, List<String> path, Tree value, Mistakes mistakes) {
        Tree.Members group = tree instanceof Tree.Members old ? old : new Tree.Members(value.origin(), Map.of());
        String name = path.get(0);
        Optional<Setting<?>> setting = section.setting(name);
        if (setting.isEmpty()) {
            return group.with(name, new Tree.Member(value));
        }
        Tree.@Nullable Member old = group.members().get(name);
        Tree before = old == null ? new Tree.Nothing(value.origin()) : old.value();
        Tree after = set(setting.get().shape(), before, path.subList(1, path.size()), value, mistakes);
        return group.with(name, new Tree.Member(old == null ? value.origin() : old.origin(), after));
    }
}
