package loadstone.ssj;

/**
 * A number of users that changes linearly.
 *
 * @param durationNs its length; 0 when the number stays at {@code from}
 */
record UserRamp(int from, int to, long startNs, long durationNs) {
    /** A number that does not change. */
    static UserRamp constant(int users) {
        return new UserRamp(users, users, 0, 0);
    }

    /** Users at a moment: the straight line, rounded to the nearest whole user. */
    int at(long nowNs) {
        int step = (int) stepsAt(nowNs);
        return to >= from ? from + step : from - step;
    }

    /** When the number changes next; {@link Arrivals#NEVER} if it does not. */
    long nextChangeNs(long nowNs) {
        long done = stepsAt(nowNs);
        if (durationNs == 0 || done >= steps()) {
            return Arrivals.NEVER;
        }
        return startNs + (long) Math.ceil((2 * done + 1) * (double) durationNs / (2.0 * steps()));
    }

    private long steps() {
        return Math.abs(to - from);
    }

    private long stepsAt(long nowNs) {
        if (durationNs == 0) {
            return 0;
        }
        long elapsedNs = Math.min(Math.max(0, nowNs - startNs), durationNs);
        return (long) Math.floor(steps() * (double) elapsedNs / durationNs + 0.5);
    }
}
