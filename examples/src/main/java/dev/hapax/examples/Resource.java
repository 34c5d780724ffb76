package dev.hapax.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.hapax.examples.PaymentsApi.BadRequestException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Something that the payments API makes and lists.
 *
 * @param kind its name in the path
 * @param prefix of its ids
 * @param member what a body must have, as a path with slashes; empty for anything
 * @param order of an invoice
 */
record Resource(
        String kind,
        String prefix,
        String member,
        Duration usualDelay,
        @Nullable String order) {
    private static final Pattern INVOICE = Pattern.compile("/v1/orders/([^/]+)/invoice/?");

    private static final Map<String, Resource> PATHS = Map.of(
            "/v1/charges", of("charges", "ch_", "/amount"),
            "/v1/transfers", of("transfers", "tr_", "/transfer"),
            "/v1/webhooks", of("webhooks", "wh_", "/delivery_id"),
            "/v1/signups", of("signups", "su_", "/email"),
            "/v1/notes", of("notes", "nt_", ""),
            "/v1/slow-charges", new Resource("slow-charges", "sc_", "/amount", Duration.ofSeconds(2), null),
            "/v1/invoices", of("invoices", "in_", ""));

    private static Resource of(String kind, String prefix, String member) {
        return new Resource(kind, prefix, member, Duration.ZERO, null);
    }

    /** What is at a path; letter case and a slash at the end do not matter, as with many servers. */
    static Optional<Resource> at(String path) {
        String plain = path.toLowerCase(Locale.ROOT).replaceFirst("(?<=.)/$", "");
        Matcher invoice = INVOICE.matcher(plain);
        if (invoice.matches()) {
            return Optional.of(new Resource("invoices", "in_", "", Duration.ZERO, invoice.group(1)));
        }
        return Optional.ofNullable(PATHS.get(plain));
    }

    /** The content, if it is what this resource is made of. */
    ObjectNode checked(ObjectNode content) {
        if (!member.isEmpty() && content.at(member).isMissingNode()) {
            throw new BadRequestException(400, member.substring(1) + " is missing");
        }
        JsonNode amount = content.path("amount");
        if (member.equals("/amount")
                && !(amount.isIntegralNumber() && amount.canConvertToLong() && amount.asLong() > 0)) {
            throw new BadRequestException(400, "amount is a whole number of cents, more than 0");
        }
        content.remove(List.of("id", "status"));
        if (order != null) {
            content.put("order_id", order);
        }
        return content;
    }
}
