package loadstone.ssj;

/**
 * Time of a run: nanoseconds since its start.
 *
 * @param originNs {@link System#nanoTime} at the start: on Linux CLOCK_MONOTONIC, as of all programs
 */
record Clock(long originNs) {
    private static final int TRIES = 1000;

    /** A clock that starts now. */
    static Clock start() {
        return new Clock(System.nanoTime());
    }

    long nowNs() {
        return System.nanoTime() - originNs;
    }

    static double seconds(long ns) {
        return ns / PlanReader.SECOND_NS;
    }

    /** The least step that the clock was seen to make. */
    static long resolutionNs() {
        long least = Long.MAX_VALUE;
        long before = System.nanoTime();
        for (int i = 0; i < TRIES; i++) {
            long now = System.nanoTime();
            if (now > before) {
                least = Math.min(least, now - before);
            }
            before = now;
        }
        return least;
    }
}
