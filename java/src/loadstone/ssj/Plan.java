package loadstone.ssj;

import java.util.List;
import java.util.OptionalLong;

import loadstone.ssj.company.Operation;

/**
 * What a run is to do, as {@link PlanReader} has found it to make sense.
 *
 * @param seed of the gaps between batches
 * @param tickNs time between two ticks
 * @param finishNs how long operations in flight are waited for at the end
 * @param delayNs how much longer every operation takes: a planted slowdown
 * @param index which of the processes that make the load this one is, from 0
 * @param of how many there are
 * @param told whether the first phase begins at a moment that a control line gives
 * @param parameters of the workload
 * @param phases in order, at least one
 */
record Plan(
        long seed,
        long tickNs,
        long finishNs,
        long delayNs,
        int index,
        int of,
        boolean told,
        Parameters parameters,
        List<Phase> phases) {

    /**
     * Parameters of the workload.
     *
     * @param batch operations of a batch
     * @param mix cards of each operation in the deck, in the order of {@link Operation}
     * @param wrongBalance whether one payment is to book a cent too many: a planted fault
     * @param bare whether closed phases call operations in a plain loop
     */
    record Parameters(int batch, List<Integer> mix, boolean wrongBalance, boolean bare) {}

    /**
     * A stretch of the run.
     *
     * @param durationNs its length, if it has one
     * @param iterations operations of all processes together, at most
     * @param discards whether what is due and not begun at its end is thrown away
     */
    record Phase(
            String name,
            String kind,
            OptionalLong durationNs,
            OptionalLong iterations,
            boolean discards,
            Load load) {

        /** Whether it ends without its work being done. */
        boolean isEndless() {
            return durationNs.isEmpty();
        }
    }

    /**
     * The load of a phase.
     *
     * @param open whether operations become due by a clock
     * @param from operations a second (open) or users (closed) at its begin
     * @param to the same at its end
     * @param poisson whether gaps between batches are drawn (open)
     * @param sessions workers of all processes that take part (open)
     * @param queue operations that may wait, of all processes (open)
     */
    record Load(boolean open, double from, double to, boolean poisson, int sessions, long queue) {}

    /** The part of {@code total} that part {@code index} of {@code parts} has; parts differ by one at most. */
    static long share(long total, long parts, long index) {
        return total / parts + (index < total % parts ? 1 : 0);
    }
}
