package loadstone.ssj;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Processor time and memory of this process, as the kernel tells them.
 *
 * @param userS processor time in user code, seconds since the process began
 * @param systemS the same in the kernel
 * @param generatorS the part of both that the threads used which conduct the load
 */
record Usage(double userS, double systemS, double generatorS) {
    /** Of a second, in /proc; it is the same on every Linux (USER_HZ). */
    private static final double TICKS_PER_S = 100;

    private static final Path STAT = Path.of("/proc/self/stat");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final int USER_FIELD = 11;
    private static final int SYSTEM_FIELD = 12;

    /** Threads that conduct the load, and what those used that have ended. */
    private static final List<Thread> GENERATORS = new ArrayList<>();

    private static long endedNs;

    /** Counts a thread among those that conduct the load, not among those that are measured. */
    static synchronized void countAsGenerator(Thread thread) {
        GENERATORS.add(thread);
    }

    /** The current thread, which conducts the load, is about to end. */
    static synchronized void generatorEnds() {
        endedNs += cpuNs(Thread.currentThread());
        GENERATORS.remove(Thread.currentThread());
    }

    /** What is used by now. */
    static synchronized Usage now() {
        long ownNs = endedNs;
        for (Thread thread : GENERATORS) {
            ownNs += cpuNs(thread);
        }
        String stat = read(STAT);
        // The name of the program stands in brackets, and may hold anything.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
        return new Usage(
                Long.parseLong(fields[USER_FIELD]) / TICKS_PER_S,
                Long.parseLong(fields[SYSTEM_FIELD]) / TICKS_PER_S,
                Clock.seconds(ownNs));
    }

    /** What was used since {@code before}. */
    Usage since(Usage before) {
        return new Usage(userS - before.userS, systemS - before.systemS, generatorS - before.generatorS);
    }

    /** Processor time of all other threads: those of workers, collector and compiler. */
    double engineS() {
        return Math.max(0, userS + systemS - generatorS);
    }

    /** Resident memory. */
    static long rssBytes() {
        return status("VmRSS:");
    }

    /** The most memory that was resident at once. */
    static long maxRssBytes() {
        return status("VmHWM:");
    }

    private static long status(String field) {
        for (String line : read(STATUS).split("\n")) {
            if (line.startsWith(field)) {
                return Long.parseLong(line.substring(field.length()).replace("kB", "").trim()) * 1024;
            }
        }
        return 0;
    }

    private static long cpuNs(Thread thread) {
        // It is -1 of a thread that has ended.
        return Math.max(0, ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()));
    }

    private static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException problem) {
            throw new IllegalStateException(path + " cannot be read", problem);
        }
    }
}
