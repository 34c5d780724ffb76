package dev.hapax.simulation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** All classes of Hapax once more, with one of them compiled from a mutated source. */
final class MutantWorld extends ClassLoader {
    private static final String OURS = "dev.hapax.";

    private final Map<String, byte[]> mutated;

    private MutantWorld(Map<String, byte[]> mutated) {
        super(MutantWorld.class.getClassLoader());
        this.mutated = mutated;
    }

    /**
     * @param sources where the sources of core are
     * @throws IllegalStateException when the mutant does not fit the source, or does not compile
     */
    static MutantWorld of(Mutant mutant, Path sources) throws IOException {
        Path file = sources.resolve("dev/hapax/" + mutant.type() + ".java");
        String source = Files.readString(file);
        int first = source.indexOf(mutant.before());
        if (first < 0 || source.indexOf(mutant.before(), first + 1) >= 0) {
            throw new IllegalStateException(
                    "\"%s\" does not occur exactly once in %s".formatted(mutant.before(), file));
        }
        return new MutantWorld(compile(file, source.replace(mutant.before(), mutant.after())));
    }

    private static Map<String, byte[]> compile(Path file, String source) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Map<String, ByteArrayOutputStream> compiled = new HashMap<>();
        StringWriter messages = new StringWriter();
        JavaFileObject unit = new SimpleJavaFileObject(file.toUri(), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                    "--release", "17", "-proc:none", "-parameters", "-cp", System.getProperty("java.class.path"));
            boolean succeeded = compiler.getTask(
                            messages, inMemory(files, compiled), null, options, null, List.of(unit))
                    .call();
            if (!succeeded) {
                throw new IllegalStateException("the mutant of " + file + " does not compile: " + messages);
            }
        }
        Map<String, byte[]> classes = new HashMap<>();
        compiled.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
        return classes;
    }

    private static JavaFileManager inMemory(
            StandardJavaFileManager files, Map<String, ByteArrayOutputStream> compiled) {
        return new ForwardingJavaFileManager<JavaFileManager>(files) {
            @Override
            public JavaFileObject getJavaFileForOutput(
                    Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
                return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/') + ".class"), kind) {
                    @Override
                    public OutputStream openOutputStream() {
                        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                        compiled.put(name, bytes);
                        return bytes;
                    }
                };
            }
        };
    }

    /** Ours are loaded here, mutated or not, so that they meet each other; all others by the parent. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null) {
                byte[] bytes = bytesOf(name);
                loaded = defineClass(name, bytes, 0, bytes.length);
            }
            return loaded;
        }
    }

    private byte[] bytesOf(String name) throws ClassNotFoundException {
        byte[] bytes = mutated.get(name);
        if (bytes != null) {
            return bytes;
        }
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
