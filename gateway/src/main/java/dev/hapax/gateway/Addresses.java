package dev.hapax.gateway;

import dev.hapax.gateway.proxy.GatewaySettings.Address;

/** Addresses as people read and write them. */
final class Addresses {
    private static final int HIGHEST = 65_535;

    private Addresses() {}

    static String text(Address address) {
        return text(address.host(), address.port());
    }

    static String text(String host, int port) {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** Something to try when an address is taken. */
    static String otherThan(Address address) {
        int port = address.port() + 10 > HIGHEST ? address.port() - 10 : address.port() + 10;
        return address.host().equals("0.0.0.0") ? Integer.toString(port) : text(address.host(), port);
    }
}
