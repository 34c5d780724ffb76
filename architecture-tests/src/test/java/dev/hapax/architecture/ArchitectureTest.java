package dev.hapax.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which way dependencies point, across all modules. */
class ArchitectureTest {
    private static final JavaClasses PUBLISHED = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.hapax");

    private static final DescribedPredicate<JavaClass> CORE = resideInAnyPackage(
            "dev.hapax", "dev.hapax.store..", "dev.hapax.codec..", "dev.hapax.memory..", "dev.hapax.outbox..");

    @Test
    void coreNeedsNothingButSlf4jAndJSpecifyAndJacksonWhereItIsWanted() {
        DescribedPredicate<JavaClass> jackson = resideInAPackage("com.fasterxml.jackson..");
        classes()
                .that(CORE)
                .should()
                .onlyDependOnClassesThat(CORE.or(jackson)
                        .or(resideInAnyPackage("java..", "javax.crypto..", "org.slf4j..", "org.jspecify..")))
                .check(PUBLISHED);
        noClasses()
                .that(CORE)
                .and(DescribedPredicate.describe(
                        "are not in JacksonCodecs", type -> !type.getName().contains("JacksonCodecs")))
                .should()
                .dependOnClassesThat(jackson)
                .check(PUBLISHED);
    }

    @Test
    void onlyPostgresKnowsSql() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.hapax.postgres..", "dev.hapax.examples..", "dev.hapax.bench..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.sql..", "javax.sql..")
                .check(PUBLISHED);
    }

    @Test
    void httpNeedsNoServerAndTheServletApiOnlyInItsFilter() {
        DescribedPredicate<JavaClass> allowed = CORE.or(resideInAnyPackage(
                "dev.hapax.http..",
                "com.fasterxml.jackson.core..",
                "java..",
                "javax.crypto..",
                "javax.security..",
                "org.slf4j..",
                "org.jspecify.."));
        classes()
                .that()
                .resideInAPackage("dev.hapax.http")
                .should()
                .onlyDependOnClassesThat(allowed)
                .check(PUBLISHED);
        classes()
                .that()
                .resideInAPackage("dev.hapax.http.servlet..")
                .should()
                .onlyDependOnClassesThat(allowed.or(resideInAPackage("jakarta.servlet..")))
                .check(PUBLISHED);
        noClasses()
                .that()
                .resideInAPackage("dev.hapax.http")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.hapax.http.servlet..")
                .check(PUBLISHED);
    }

    @Test
    void onlyTheProxyKnowsItsServer() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.hapax.gateway.proxy..", "dev.hapax.examples..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.vertx..", "io.netty..")
                .check(PUBLISHED);
    }

    @Test
    void postgresKnowsNoDriverAndNoPool() {
        noClasses()
                .that()
                .resideInAPackage("dev.hapax.postgres..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.postgresql..", "com.zaxxer..", "dev.hapax.embedded..")
                .check(PUBLISHED);
    }

    @Test
    void onlyTheEngineAndItsHelpersAndWhatStandsInFrontCallAStore() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "dev.hapax",
                        "dev.hapax.store..",
                        "dev.hapax.memory..",
                        "dev.hapax.cache..",
                        "dev.hapax.testkit..")
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "a method of Store", call -> call.getTargetOwner().isEquivalentTo(dev.hapax.store.Store.class)))
                .check(PUBLISHED);
    }

    @Test
    void theCacheKnowsCoreAndItsOwnLibraryOnly() {
        classes()
                .that()
                .resideInAPackage("dev.hapax.cache..")
                .should()
                .onlyDependOnClassesThat(CORE.or(resideInAnyPackage(
                        "dev.hapax.cache..", "com.github.benmanes.caffeine..", "java..", "org.jspecify..")))
                .check(PUBLISHED);
    }

    @Test
    void everyBrokerIsKnownByItsOwnPackageOnly() {
        Map<String, String> clients = Map.of(
                "dev.hapax.messaging.kafka..", "org.apache.kafka..",
                "dev.hapax.messaging.rabbit..", "com.rabbitmq..",
                "dev.hapax.messaging.sqs..", "software.amazon..");
        clients.forEach((adapter, client) -> {
            noClasses()
                    .that()
                    .resideInAPackage("dev.hapax.messaging..")
                    .and()
                    .resideOutsideOfPackage(adapter)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(adapter, client)
                    .check(PUBLISHED);
        });
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("dev.hapax.(*)..").should().beFreeOfCycles().check(PUBLISHED);
        noClasses()
                .that()
                .resideInAnyPackage("dev.hapax.store..", "dev.hapax.codec..", "dev.hapax.memory..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.hapax")
                .check(PUBLISHED);
    }
}
