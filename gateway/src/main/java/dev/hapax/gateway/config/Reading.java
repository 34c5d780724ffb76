package dev.hapax.gateway.config;

/**
 * One step of reading.
 *
 * @param path of the setting, such as {@code routes.0.key}; empty at the top
 */
record Reading(String path, Tree tree, Mistakes mistakes) {

    void refuse(String what) {
        mistakes.add(tree.origin(), what);
    }

    Reading member(String name, Tree value) {
        return new Reading(path.isEmpty() ? name : path + "." + name, value, mistakes);
    }
}
