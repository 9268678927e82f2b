package loadstone.ssj;

import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import com.sun.management.VMOption;

/** What this JVM is and what it has decided by itself. */
final class Jvm {
    /** After so many full collections nothing dead is left, whatever the collector. */
    private static final int COLLECTIONS = 4;

    /** Variables of the environment from which JVMs take options. */
    private static final List<String> INHERITED =
            List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    private Jvm() {}

    /**
     * Totals since the JVM began.
     *
     * @param gcCount collections, by the beans of all collectors
     * @param gcMs time in them
     * @param compileMs time of the compilers
     */
    record Totals(long gcCount, long gcMs, long compileMs) {
        static Totals now() {
            long count = 0;
            long ms = 0;
            for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
                count += Math.max(0, collector.getCollectionCount());
                ms += Math.max(0, collector.getCollectionTime());
            }
            return new Totals(count, ms, compilationMs());
        }

        private static long compilationMs() {
            CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
            boolean timed = compiler != null && compiler.isCompilationTimeMonitoringSupported();
            return timed ? compiler.getTotalCompilationTime() : 0;
        }

        /** What came since {@code before}. */
        Totals since(Totals before) {
            return new Totals(gcCount - before.gcCount, gcMs - before.gcMs, compileMs - before.compileMs);
        }

        Map<String, Long> byName() {
            Map<String, Long> found = new LinkedHashMap<>();
            found.put("gc_count", gcCount);
            found.put("gc_ms", gcMs);
            found.put("compile_ms", compileMs);
            return found;
        }
    }

    /** Texts and figures that say which JVM it is; java/FACTS.md has their meaning. */
    static Map<String, Object> description() {
        RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("name", runtime.getVmName());
        found.put("vendor", runtime.getVmVendor());
        found.put("version", System.getProperty("java.runtime.version"));
        found.put("collectors", ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .collect(Collectors.joining(", ")));
        found.put("arguments", runtime.getInputArguments().stream()
                .map(Jvm::harmless)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(" ")));
        found.put("inherited", INHERITED.stream()
                .filter(name -> System.getenv(name) != null)
                .collect(Collectors.joining(", ")));
        found.put("pid", ProcessHandle.current().pid());
        found.put("processors", Runtime.getRuntime().availableProcessors());
        found.put("heap_max_bytes", Runtime.getRuntime().maxMemory());
        found.put("heap_begin_bytes", Math.max(0, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getInit()));
        return found;
    }

    /** An argument without what may be a secret: flags of the JVM whole, of a property its name, else nothing. */
    private static String harmless(String argument) {
        if (argument.startsWith("-X")) {
            return argument;
        }
        return argument.startsWith("-D") ? argument.split("=", 2)[0] : "";
    }

    /** Name and version, in one text. */
    static String engine() {
        return ManagementFactory.getRuntimeMXBean().getVmName() + " " + System.getProperty("java.runtime.version");
    }

    /** Values of flags and where each comes from; flags that this JVM does not know are left out. */
    static Map<String, Map<String, String>> flags(List<String> names) {
        HotSpotDiagnosticMXBean diagnostics = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        Map<String, Map<String, String>> found = new LinkedHashMap<>();
        for (String name : names) {
            try {
                VMOption option = diagnostics.getVMOption(name);
                found.put(name, Map.of("value", option.getValue(), "origin", option.getOrigin().toString()));
            } catch (IllegalArgumentException unknown) {
                continue;
            }
        }
        return found;
    }

    /** How many files it may open. */
    static long mostFiles() {
        return ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class).getMaxFileDescriptorCount();
    }

    static long heapUsedBytes() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /**
     * Heap in use after a full collection; nothing if no collector ran, as it was told not to when asked.
     *
     * <p>The Serial collector leaves what is dead where it lies, up to a share of the heap, in all full collections
     * but every fourth (its flag MarkSweepAlwaysCompactCount): so there are four, and the lowest figure counts.
     */
    static OptionalLong liveBytes() {
        long before = Totals.now().gcCount();
        long least = Long.MAX_VALUE;
        for (int each = 0; each < COLLECTIONS; each++) {
            System.gc();
            least = Math.min(least, heapUsedBytes());
        }
        return Totals.now().gcCount() > before ? OptionalLong.of(least) : OptionalLong.empty();
    }
}
