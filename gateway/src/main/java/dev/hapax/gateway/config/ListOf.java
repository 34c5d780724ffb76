package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A list.
 *
 * @param check looks at the elements together, those that could be read
 */
record ListOf<T>(Shape<T> element, BiConsumer<List<Element<T>>, Mistakes> check) implements Shape<List<T>> {
    private static final Pattern BETWEEN_WORDS = Pattern.compile("[,\\s]+");

    /** An element, and where it was written. */
    record Element<T>(T value, Reading reading) {}

    ListOf(Shape<T> element) {
        this(element, (elements, mistakes) -> {});
    }

    @Override
    public String expected() {
        return element instanceof Scalar ? "a list with " + element.expected() : "a list";
    }

    @Override
    public Tree normal(Tree tree) {
        if (tree instanceof Tree.Items list) {
            return new Tree.Items(
                    tree.origin(), list.items().stream().map(element::normal).toList());
        }
        return tree;
    }

    /** A list of words may be written as one text: in the environment there is nothing else. */
    Tree split(Tree tree) {
        if (!(tree instanceof Tree.Text text && element instanceof Scalar)) {
            return normal(tree);
        }
        return new Tree.Items(
                tree.origin(),
                BETWEEN_WORDS
                        .splitAsStream(text.text().strip())
                        .filter(word -> !word.isEmpty())
                        .<Tree>map(word -> new Tree.Text(tree.origin(), word))
                        .toList());
    }

    @Override
    public @Nullable List<T> read(Reading reading) {
        if (!(split(reading.tree()) instanceof Tree.Items list)) {
            return refuseKind(reading);
        }
        List<Element<T>> elements = new ArrayList<>();
        for (int i = 0; i < list.items().size(); i++) {
            Reading one = reading.member(Integer.toString(i), list.items().get(i));
            @Nullable T value = element.read(one);
            if (value != null) {
                elements.add(new Element<>(value, one));
            }
        }
        int before = reading.mistakes().count();
        check.accept(elements, reading.mistakes());
        boolean refused =
                elements.size() < list.items().size() || reading.mistakes().count() > before;
        return refused ? null : elements.stream().map(Element::value).toList();
    }
}
