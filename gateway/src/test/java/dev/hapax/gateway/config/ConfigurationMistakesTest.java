package dev.hapax.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every mistake is told where it is and with what to do. */
class ConfigurationMistakesTest {

    /** What is added to a valid configuration of two lines, and what is said about it. */
    static Stream<Arguments> settings() {
        return Stream.of(
                mistake("listn: 8080", "3:1", "there is no setting listn; did you mean listen?"),
                mistake("shutdownGrace: 3s", "3:1", "did you mean shutdown-grace?"),
                mistake("retention: 1h", "3:1", "it is a setting of defaults and routes"),
                mistake("quux: 1", "3:1", "there are listen, http2,"),
                mistake("listen:", "3:8", "listen has no value; a port"),
                mistake("listen: [8080]", "3:9", "listen is a list; a port"),
                mistake("listen: {port: 8080}", "3:9", "listen is a group of settings; a port"),
                mistake("listen: 65536", "3:9", "listen is \"65536\"; a port such as 8080"),
                mistake("listen: 127.0.0.1", "3:9", "listen is \"127.0.0.1\"; a port such as 8080"),
                mistake("admin: http://localhost:8081", "3:8", "a port such as 8080"),
                mistake("admin: 8080", "3:8", "listen and admin have the same port 8080"),
                mistake("listen: 8081", "3:9", "listen and admin have the same port 8081"),
                mistake("listen: 1\nlisten: 2", "4:1", "listen is set twice, first at hapax.yaml:3:1"),
                mistake("http2: yes", "3:8", "http2 is \"yes\"; true or false is needed"),
                mistake("shutdown-grace: 30", "3:17", "add the unit: 30ms, 30s, 30m, 30h or 30d"),
                mistake("shutdown-grace: 30 minutes", "3:17", "the units are ms, s, m, h and d"),
                mistake("shutdown-grace: 30m1h", "3:17", "write the longer units first"),
                mistake("shutdown-grace: 99999999d", "3:17", "at most a hundred years"),
                mistake("shutdown-grace: soon", "3:17", "a number and its unit are needed"),
                mistake("limits: {body: 1MX}", "3:16", "limits.body is \"1MX\"; a number of bytes"),
                mistake("limits: {body: 3GiB}", "3:16", "less than 2GiB is needed"),
                mistake("limits: {body: 0}", "3:16", "at least one byte"),
                mistake("limits: {connections: many}", "3:23", "a number from 1 to 1000000 is needed"),
                mistake("limits: {idle-timeout: 0s}", "3:24", "at least 1ms is needed"),
                mistake("limits: 7", "3:9", "limits is text; limits is needed"),
                mistake("tls: {certificate: nowhere.pem}", "3:20", "there is no readable file"),
                mistake("tls: {certificate: nowhere.pem}", "3:6", "tls.key is missing: the name of a file"),
                mistake("tenant: jwt", "3:9", "say how tokens are checked"),
                mistake("tenant: header", "3:9", "say which, as in header X-Account"),
                mistake("tenant: authorisation", "3:9", "did you mean authorization?"),
                mistake("tenant: certificate", "3:9", "set tls.client-ca"),
                mistake("tenant: {header: X, jwt: {trusted: true}}", "3:9", "one of header, authorization and jwt"),
                mistake("tenant: {jwt: {claim: sub}}", "3:15", "one of secret, public-key and trusted is needed"),
                mistake("tenant: {jwt: {secret: short}}", "3:24", "tenant.jwt.secret: "),
                mistake("tenant: {jwt: {trusted: false}}", "3:25", "say how tokens are checked instead"),
                mistake("upstreams: [{url: 'http://a'}]", "3:12", "upstream and upstreams are both set"),
                mistake("forwarding: {via: a b}", "3:19", "the name of a header is needed"),
                mistake("defaults: {match: POST /x}", "3:12", "there is no setting defaults.match"),
                mistake("routes: {match: POST /x}", "3:9", "routes is a group of settings; a list is needed"),
                mistake("routes: [POST /x]", "3:10", "routes.0 is text; a route is needed"),
                mistake("? [a]\n: b", "3:3", "a setting's name is needed here"),
                mistake("listen: !!int 8080", "3:9", "the tag tag:yaml.org,2002:int has no meaning here"),
                mistake("listen: *port", "3:9", "there is no &port above"),
                mistake("shutdown-grace: \"${NOWHERE}\"", "3:17", "the environment variable NOWHERE is not set"),
                mistake("shutdown-grace: \"${no where}\"", "3:17", "write $${ for the characters"));
    }

    static Stream<Arguments> routes() {
        return Stream.of(
                mistake("key: header", "4:5", "routes.0.match is missing: a method and a path"),
                mistake("match: GET /x", "4:12", "GET changes nothing and is never protected"),
                mistake("match: PSOT /x", "4:12", "did you mean POST?"),
                mistake("match: POST", "4:12", "a method and a path are needed"),
                mistake("match: POST /x /y", "4:12", "a method and a path are needed"),
                mistake("match: POST /.hapax/operations", "4:12", "are the gateway's own"),
                mistake("match: POST /a/{b", "4:12", "braces enclose a whole segment"),
                mistake("match: POST /x\n    scope: \"a b\"", "5:12", "scope holds U+0020"),
                mistake("match: POST /x\n    key: haeder", "5:10", "did you mean header?"),
                mistake("match: POST /x\n    key: body", "5:10", "after body comes one JSON pointer"),
                mistake("match: POST /x\n    key: body id", "5:10", "a JSON pointer begins with a slash"),
                mistake("match: POST /x\n    key: strict body /id", "5:10", "after body comes one"),
                mistake("match: POST /x\n    key: header a b", "5:10", "after header comes at most one name"),
                mistake("match: POST /x\n    key: natural", "5:10", "after natural comes what identifies it"),
                mistake("match: POST /{id}\n    key: natural {di}", "5:10", "names {di}, which is not in the path"),
                mistake("match: POST /x\n    key: {natural: {}}", "5:20", "say what identifies the operation"),
                mistake("match: POST /x\n    key: {header: A, body: /a}", "5:10", "one of header, body, natural"),
                mistake("match: POST /x\n    key: {body: /a, strict: true}", "5:29", "strict goes with header only"),
                mistake("match: POST /x\n    key: body-hash", "5:10", "routes.0.window is missing: with body-hash"),
                mistake("match: POST /x\n    window: 2d", "5:13", "longer than the retention of 1d"),
                mistake("match: POST /x\n    max-duration: 3s", "5:19", "shorter than one lease of 30s"),
                mistake("match: POST /x\n    when-in-flight: wait", "5:21", "say for how long, as in wait 2s"),
                mistake("match: POST /x\n    when-in-flight: wait long", "5:21", "a number and its unit"),
                mistake("match: POST /x\n    when-in-flight: queue", "5:21", "reject, accept, or wait"),
                mistake("match: POST /x\n    when-abandoned: prak", "5:21", "did you mean park?"),
                mistake("match: POST /x\n    max-attempts: 0", "5:19", "a number from 1 to 1000000"),
                mistake("match: POST /x\n    max-attempts: -1", "5:19", "a number from 1 to 1000000"),
                mistake("match: POST /x\n    stored-headers: [Set-Cookie]", "4:5", "Set-Cookie is never stored"),
                mistake("match: POST /x\n    stored-headers: [a:b]", "5:22", "the name of a header is needed"),
                mistake("match: POST /x\n    fingerprint: {member: [/a]}", "5:19", "did you mean members?"),
                mistake("match: POST /x\n    <<: {retention: 1h}", "5:5", "what defaults says holds for every route"),
                mistake(
                        "match: POST /x\n    scope: s\n  - match: POST /y\n    scope: s\n    lease: 9s",
                        "6:5",
                        "scope s has other terms at hapax.yaml:4:5"),
                mistake("match: /a/**\n  - match: POST /a/b", "5:5", "routes.1 is never reached: routes.0"),
                mistake("match: POST /a/{b}\n  - match: POST /A/c/", "5:5", "routes.1 is never reached"));
    }

    @ParameterizedTest
    @MethodSource("settings")
    void aSettingThatIsWrong(String yaml, String place, String what) {
        assertThat(Configs.mistakes(Configs.MINIMAL + yaml + "\n"))
                .anySatisfy(mistake -> assertThat(mistake)
                        .startsWith("hapax.yaml:" + place + ": ")
                        .contains(what));
    }

    @ParameterizedTest
    @MethodSource("routes")
    void aRouteThatIsWrong(String yaml, String place, String what) {
        assertThat(Configs.mistakes(Configs.MINIMAL + "routes:\n  - " + yaml + "\n"))
                .anySatisfy(mistake -> assertThat(mistake)
                        .startsWith("hapax.yaml:" + place + ": ")
                        .contains(what));
    }

    @Test
    void whatCannotBeLeftOut() {
        assertThat(Configs.mistakes("listen: 8080\n"))
                .containsExactly("hapax.yaml:1:1: store is missing: jdbc:postgresql://… or embedded");
        assertThat(Configs.mistakes("store: embedded\n"))
                .containsExactly("hapax.yaml:1:1: upstream is missing: say where requests go, as in upstream: "
                        + "http://localhost:9000");
    }

    @Test
    void addressesOfOthers() {
        assertThat(Configs.mistakes("upstream: localhost:9000\nstore: postgres://db/hapax\n"))
                .containsExactly(
                        "hapax.yaml:1:11: upstream.url is \"localhost:9000\"; a URL such as http://localhost:9000 is needed",
                        "hapax.yaml:2:8: store.url is \"postgres://db/hapax\"; jdbc:postgresql://host/database or embedded"
                                + " is needed; put jdbc: before it, and the user into store.user");
        assertThat(Configs.mistakes("upstream: http://me:pw@host/\nstore: embedded\n"))
                .singleElement()
                .asString()
                .contains("a user in the URL is not used");
        assertThat(Configs.mistakes("upstream: http://host/base\nstore: embedded\n"))
                .singleElement()
                .asString()
                .contains("paths pass unchanged");
        assertThat(Configs.mistakes("upstreams: [{url: 'http://a'}, {url: 'http://b'}]\nstore: embedded\n"))
                .containsExactly("hapax.yaml:1:32: the path / goes to another upstream already, at hapax.yaml:1:13;"
                        + " choose another path");
    }

    @Test
    void allMistakesAreToldAtOnceFromTopToBottom() {
        List<String> mistakes = Configs.mistakes("""
                listn: 8080
                upstream: {url: 'http://a', pool: {sice: 4}}
                store: {pool: many}
                defaults: {lease: 3}
                routes:
                  - match: POST /a
                  - match: POST /b
                    retention: x
                """);

        assertThat(mistakes)
                .extracting(mistake -> mistake.substring("hapax.yaml:".length(), mistake.indexOf(": ")))
                .containsExactly("1:1", "2:36", "3:8", "3:15", "4:19", "8:16");
    }

    @Test
    void yamlThatIsNoneIsToldWhereItBreaks() {
        assertThat(Configs.mistakes("listen: 8080\n\tupstream: x\n"))
                .singleElement()
                .asString()
                .startsWith("hapax.yaml:2:1: this is not YAML: ");
        assertThat(Configs.mistakes("- a\n- b\n"))
                .containsExactly("hapax.yaml:1:1: settings are needed, such as listen: 8080");
        assertThat(Configs.mistakes("a: 1\n---\nb: 2\n")).anyMatch(mistake -> mistake.contains("second document"));
        assertThat(Configs.mistakes("listen: \"\u0007\"")).anyMatch(mistake -> mistake.contains("this is not YAML"));
    }

    @Test
    void aliasesAreUsefulButNoBomb() {
        assertThat(Configs.read(Configs.MINIMAL + "shutdown-grace: &a 3s\nlimits: {idle-timeout: *a}\n")
                        .yaml())
                .contains("idle-timeout: 3s");
        StringBuilder bomb = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 30; i++) {
            bomb.append("a%d: &a%d [*a%d, *a%d, *a%d]\n".formatted(i, i, i - 1, i - 1, i - 1));
        }
        assertThat(Configs.mistakes(bomb.toString())).anyMatch(mistake -> mistake.contains("aliases written out"));
        assertThat(Configs.mistakes("a: &a [*a]\n")).anyMatch(mistake -> mistake.contains("there is no &a above"));
        assertThat(Configs.mistakes("a: " + "[".repeat(100_000)))
                .anyMatch(mistake -> mistake.contains("nested more than"));
        assertThat(Configs.mistakes("a: " + "x".repeat(2_000_000))).anyMatch(mistake -> mistake.contains("not YAML"));
    }

    @Test
    void mistakesInEnvironmentAndFlagsSayWhichOneItWas() {
        ConfigurationSources sources = new ConfigurationSources()
                .text("hapax.yaml", Configs.MINIMAL + "routes: [{match: POST /x, key: header}]\n")
                .environment(Map.of(
                        "HAPAX_LISTEN", "here",
                        "HAPAX_STORE_PASWORD", "geheim",
                        "HAPAX_ROUTES_0_RETENTON", "1h",
                        "HAPAX_ROUTES_5_RETENTION", "1h"))
                .flag("--set routes.0.leese", "routes.0.leese", "3s")
                .flag("--set routes.x.lease", "routes.x.lease", "3s")
                .flag("--set routes.0.key.header", "routes.0.key.header", "X-Key")
                .flag("--admin", "admin", "there");

        assertThat(Configs.mistakes(sources))
                .containsExactly(
                        "--admin: admin is \"there\"; a port such as 8080 or an address such as 127.0.0.1:8080 is needed",
                        "--set routes.0.key.header: header cannot be set in what is written as text at hapax.yaml:3:32",
                        "--set routes.0.leese: there is no setting routes.0.leese; did you mean lease?",
                        "--set routes.x.lease: \"x\" is not a place in a list of 1; the first is 0",
                        "HAPAX_LISTEN: listen is \"here\"; a port such as 8080 or an address such as 127.0.0.1:8080 is needed",
                        "HAPAX_ROUTES_0_RETENTON: there is no setting for this environment variable; did you mean"
                                + " HAPAX_ROUTES_*_RETENTION?",
                        "HAPAX_ROUTES_5_RETENTION: \"5\" is not a place in a list of 1; the first is 0",
                        "HAPAX_STORE_PASWORD: there is no setting for this environment variable; did you mean"
                                + " HAPAX_STORE_PASSWORD?");
    }

    @Test
    void secretsAreNotInMistakes() {
        String told = String.join("\n", Configs.mistakes("""
                upstream: http://localhost:9000
                store: {url: "jdbc:mysql://db/x?password=geheim1", password: {a: geheim2}, user: ""}
                tenant: {jwt: {secret: "", claim: ""}}
                """));

        assertThat(told).doesNotContain("geheim").contains("password=********");
    }

    private static Arguments mistake(String yaml, String place, String what) {
        return arguments(named(yaml.replace("\n", "⏎"), yaml), place, what);
    }
}
