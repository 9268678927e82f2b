package loadstone.ssj;

/** The part of the load that each worker of this process has; all processes have equally many workers. */
final class Shares {
    /** How far ahead a new rate begins, so that all workers change over at the same moment. */
    static final long LEAD_NS = 5_000_000;

    private static final long PHASE_STEP = 0x5851_F42D_4C95_7F2DL;
    private static final long WORKER_STEP = 0x1405_7B7E_F767_814FL;

    private final Plan plan;
    private final long own;

    Shares(Plan plan, int workers) {
        this.plan = plan;
        own = workers;
    }

    /** Workers of all processes. */
    long workers() {
        return own * plan.of();
    }

    /** The number of a worker among those of all processes: neighbours are of different ones. */
    long number(int worker) {
        return (long) worker * plan.of() + plan.index();
    }

    /** Operations that a worker may begin in a closed phase with {@code users}. */
    long iterations(Plan.Phase phase, long users, int worker) {
        if (phase.iterations().isEmpty()) {
            return Long.MAX_VALUE;
        }
        if (number(worker) >= users) {
            return 0;
        }
        return Plan.share(phase.iterations().getAsLong(), users, number(worker));
    }

    /** Operations that may wait for a worker. */
    long room(Plan.Load load, int worker) {
        return Plan.share(load.queue(), load.sessions(), number(worker));
    }

    /** A load with another rate, which does not change. */
    static Plan.Load at(Plan.Load load, double ratePerS) {
        return new Plan.Load(true, ratePerS, ratePerS, load.poisson(), load.sessions(), load.queue());
    }

    /**
     * The batches of a worker.
     *
     * @param number of the stream: each has draws of its own
     */
    Arrivals.Stream stream(int number, int worker, long startNs, long durationNs, Plan.Load load) {
        int batch = plan.parameters().batch();
        double batches = (double) batch * load.sessions();
        Plan.Phase phase = plan.phases().get(number % plan.phases().size());
        long most = phase.iterations().isEmpty()
                ? Long.MAX_VALUE
                : Plan.share(phase.iterations().getAsLong(), load.sessions(), number(worker));
        return new Arrivals.Stream(
                startNs,
                durationNs,
                load.from() / batches,
                load.to() / batches,
                load.poisson(),
                (number(worker) + 0.5) / load.sessions(),
                plan.seed() + number * PHASE_STEP + number(worker) * WORKER_STEP,
                batch,
                most);
    }
}
