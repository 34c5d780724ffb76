package dev.hapax.gateway.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Turns YAML into a {@link Tree} that remembers lines and columns. Not safe for use by many threads; reads one text.
 *
 * <p>It builds from the parser's events: so depth is bounded before anything recurses, an alias can only mean what
 * stands above it, and a text of a few lines whose aliases stand for millions is refused by counting, not by trying.
 */
final class YamlReader {
    private static final int MOST_NODES = 20_000;
    private static final int DEEPEST = 20;
    private static final int LONGEST = 1 << 20;
    private static final Set<String> NULLS = Set.of("", "~", "null", "Null", "NULL");

    /** A tree that was given a name, and how many nodes it has when written out. */
    private record Anchored(Tree tree, int nodes) {}

    /** Ends the reading: what is wrong was told. */
    private static final class Unreadable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unreadable() {
            super(null, null, false, false);
        }
    }

    private final Function<Mark, Origin> places;
    private final Variables variables;
    private final Mistakes mistakes;
    private final Map<String, Anchored> anchors = new HashMap<>();
    private Iterator<Event> events = List.<Event>of().iterator();
    private int nodes;

    private YamlReader(Function<Mark, Origin> places, Variables variables, Mistakes mistakes) {
        this.places = places;
        this.variables = variables;
        this.mistakes = mistakes;
    }

    /** A file's text; mistakes in it are found at their lines and columns. */
    static Optional<Tree> file(String name, String text, Variables variables, Mistakes mistakes) {
        Function<Mark, Origin> places = mark -> new Origin.InFile(name, mark.getLine() + 1, mark.getColumn() + 1);
        return new YamlReader(places, variables, mistakes).read(text, new Origin.InFile(name, 1, 1));
    }

    /** A text from elsewhere, all of which comes from one place and in which nothing is replaced. */
    static Optional<Tree> text(Origin origin, String text, Mistakes mistakes) {
        return new YamlReader(mark -> origin, Variables.NONE, mistakes).read(text, origin);
    }

    private Optional<Tree> read(String text, Origin start) {
        LoadSettings settings =
                LoadSettings.builder().setCodePointLimit(LONGEST).build();
        try {
            events = new Parse(settings).parseString(text).iterator();
            return Optional.of(document(start));
        } catch (Unreadable told) {
            return Optional.empty();
        } catch (MarkedYamlEngineException e) {
            mistakes.add(
                    e.getProblemMark().map(places).orElse(start), "this is not YAML: " + firstLine(e.getProblem()));
            return Optional.empty();
        } catch (YamlEngineException e) {
            mistakes.add(start, "this is not YAML: " + firstLine(e.getMessage()));
            return Optional.empty();
        }
    }

    private Tree document(Origin start) {
        Tree tree = new Tree.Nothing(start);
        int documents = 0;
        while (events.hasNext()) {
            Event event = events.next();
            if (event instanceof NodeEvent node) {
                if (documents++ > 0) {
                    throw unreadable(at(node), "there is a second document; one is read, so leave out the ---");
                }
                tree = node(node, 0);
            }
        }
        return tree;
    }

    private Tree node(NodeEvent event, int depth) {
        Origin origin = at(event);
        if (++nodes > MOST_NODES) {
            throw unreadable(origin, "there are more than " + MOST_NODES + " values here, aliases written out");
        }
        if (depth > DEEPEST) {
            throw unreadable(origin, "this is nested more than " + DEEPEST + " deep");
        }
        int before = nodes - 1;
        Tree tree = content(event, origin, depth);
        Optional<Anchor> anchor = event instanceof AliasEvent ? Optional.empty() : event.getAnchor();
        anchor.ifPresent(name -> anchors.put(name.getValue(), new Anchored(tree, nodes - before)));
        return tree;
    }

    private Tree content(NodeEvent event, Origin origin, int depth) {
        if (event instanceof AliasEvent alias) {
            return aliased(alias.getAlias().getValue(), origin);
        }
        if (event instanceof SequenceStartEvent list) {
            refuseTag(list.getTag(), origin);
            return items(origin, depth);
        }
        if (event instanceof MappingStartEvent group) {
            refuseTag(group.getTag(), origin);
            return members(origin, depth);
        }
        ScalarEvent scalar = (ScalarEvent) event;
        refuseTag(scalar.getTag(), origin);
        boolean nothing = scalar.isPlain() && NULLS.contains(scalar.getValue());
        return nothing ? new Tree.Nothing(origin) : variables.replaceIn(scalar.getValue(), origin, mistakes);
    }

    private Tree aliased(String name, Origin origin) {
        @Nullable Anchored anchored = anchors.get(name);
        if (anchored == null) {
            throw unreadable(origin, "*" + name + " means nothing here: there is no &" + name + " above");
        }
        nodes = Math.min(MOST_NODES, nodes + anchored.nodes() - 1);
        return anchored.tree();
    }

    private Tree items(Origin origin, int depth) {
        List<Tree> items = new ArrayList<>();
        for (Event next = events.next(); next instanceof NodeEvent node; next = events.next()) {
            items.add(node(node, depth + 1));
        }
        return new Tree.Items(origin, items);
    }

    private Tree members(Origin origin, int depth) {
        Map<String, Tree.Member> members = new LinkedHashMap<>();
        for (Event next = events.next(); next instanceof NodeEvent name; next = events.next()) {
            Tree value = node((NodeEvent) afterName(name, depth), depth + 1);
            if (name instanceof ScalarEvent scalar) {
                add(members, scalar, value);
            } else {
                mistakes.add(at(name), "a setting's name is needed here, as in listen: 8080");
            }
        }
        return new Tree.Members(origin, members);
    }

    /** Reads over a name that is a list or a group itself, which only happens by accident. */
    private Event afterName(NodeEvent name, int depth) {
        if (!(name instanceof ScalarEvent)) {
            Tree unused = node(name, depth + 1);
        }
        return events.next();
    }

    private void add(Map<String, Tree.Member> members, ScalarEvent name, Tree value) {
        Tree.@Nullable Member first = members.get(name.getValue());
        if (first == null) {
            members.put(name.getValue(), new Tree.Member(at(name), value));
        } else {
            mistakes.add(
                    at(name),
                    "%s is set twice, first at %s; leave one of them out".formatted(name.getValue(), first.origin()));
        }
    }

    private void refuseTag(Optional<String> tag, Origin origin) {
        tag.ifPresent(name -> mistakes.add(origin, "the tag " + name + " has no meaning here; leave it out"));
    }

    private Origin at(Event event) {
        return places.apply(event.getStartMark().orElseThrow());
    }

    private Unreadable unreadable(Origin origin, String why) {
        mistakes.add(origin, why);
        return new Unreadable();
    }

    private static String firstLine(@Nullable String message) {
        return message == null
                ? "the parser does not say why"
                : message.lines().findFirst().orElse("");
    }
}
