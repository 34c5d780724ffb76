package dev.hapax.http;

import java.util.List;
import java.util.Optional;

/** What of a body goes into a hash: JSON by what it says, forms of several parts by their parts, the rest as it is. */
final class Bodies {
    private static final int AS_BYTES = 0;
    private static final int AS_JSON = 1;
    private static final int AS_MEMBERS = 2;
    private static final int AS_PARTS = 3;

    private Bodies() {}

    /** @param members what of a JSON body counts; empty for all of it */
    static void add(Hashing hash, Content content, List<JsonPointer> members) {
        Optional<CanonicalJson> json = content.json();
        if (json.isPresent()) {
            hash.add(members.isEmpty() ? AS_JSON : AS_MEMBERS);
            if (members.isEmpty()) {
                json.get().addTo(hash);
            }
            members.forEach(member -> json.get().addTo(hash, member));
            return;
        }
        Optional<Multipart> parts =
                content.type().isMultipart() && content.coding().isEmpty()
                        ? Multipart.of(content.body(), content.type().boundary())
                        : Optional.empty();
        if (parts.isPresent()) {
            hash.add(AS_PARTS);
            parts.get().addTo(hash);
        } else {
            hash.add(AS_BYTES).add(content.body(), 0, content.body().length);
        }
    }
}
