package dev.hapax.gateway.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Fills in what a route does not say: from {@code defaults}, and its scope from its match. */
final class RouteDefaults {
    private RouteDefaults() {}

    static Tree fillIn(Tree top) {
        if (!(top instanceof Tree.Members group)) {
            return top;
        }
        Tree.@Nullable Member routes = group.members().get(Schema.ROUTES.name());
        if (routes == null || !(routes.value() instanceof Tree.Items list)) {
            return top;
        }
        Tree.@Nullable Member defaults = group.members().get(Schema.DEFAULTS.name());
        Tree below = defaults == null ? Tree.Members.NONE : readable(defaults.value());
        List<Tree> filled = list.items().stream()
                .map(route -> route instanceof Tree.Members own ? withScope(over(below, own)) : route)
                .toList();
        Tree.Items changed = new Tree.Items(list.origin(), filled);
        return group.with(Schema.ROUTES.name(), new Tree.Member(routes.origin(), changed));
    }

    /** What is wrong in the defaults is told there, not once more in every route. */
    private static Tree readable(Tree defaults) {
        if (!(defaults instanceof Tree.Members group)) {
            return Tree.Members.NONE;
        }
        Map<String, Tree.Member> readable = new LinkedHashMap<>();
        for (Setting<?> setting : RouteSettings.DEFAULTS.settings()) {
            Tree.@Nullable Member member = group.members().get(setting.name());
            if (member != null && setting.shape().read(new Reading("", member.value(), new Mistakes())) != null) {
                readable.put(setting.name(), member);
            }
        }
        return new Tree.Members(group.origin(), readable);
    }

    private static Tree.Members over(Tree defaults, Tree.Members route) {
        Tree both = Layers.over(RouteSettings.SECTION, defaults, route);
        return both instanceof Tree.Members all ? new Tree.Members(route.origin(), all.members()) : route;
    }

    private static Tree withScope(Tree.Members route) {
        Tree.@Nullable Member match = route.members().get(RouteSettings.MATCH.name());
        if (match == null || route.members().containsKey(RouteSettings.SCOPE.name())) {
            return route;
        }
        Reading unheard = new Reading("", match.value(), new Mistakes());
        return Optional.ofNullable(RouteMatch.SCALAR.read(unheard))
                .map(read -> new Tree.Text(new Origin.BuiltIn(), read.scope()))
                .map(scope -> route.with(RouteSettings.SCOPE.name(), new Tree.Member(scope)))
                .orElse(route);
    }
}
