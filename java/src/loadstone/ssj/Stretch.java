package loadstone.ssj;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A phase that runs, or the rest after the last one, with what the workers have told of it. */
final class Stretch {
    final int index;

    /** Null of the rest after the last phase. */
    final Plan.Phase phase;

    final long startNs;

    /** By worker. */
    final List<Assignment> assignments = new ArrayList<>();

    private final Set<Assignment> done = new HashSet<>();
    private final Set<Assignment> drainedOf = new HashSet<>();

    /** Users of a closed phase, as they are to be; null of others. */
    UserRamp ramp;

    /** How often the rate was changed. */
    int changes;

    long drained;
    long discarded;

    Stretch(int index, Plan.Phase phase, long startNs) {
        this.index = index;
        this.phase = phase;
        this.startNs = startNs;
        if (phase != null && !phase.load().open()) {
            ramp = new UserRamp(
                    (int) phase.load().from(), (int) phase.load().to(), startNs, phase.durationNs().orElse(0));
        }
    }

    /** When it ends by its duration; {@link Arrivals#NEVER} if it has none. */
    long endNs() {
        return phase.durationNs().isPresent() ? startNs + phase.durationNs().getAsLong() : Arrivals.NEVER;
    }

    /** A worker has done its work, or had none. */
    void done(Assignment assignment) {
        done.add(assignment);
    }

    /** A worker has done or thrown away what was due. */
    void drained(Assignment assignment, long drainedOperations, long discardedOperations) {
        if (assignments.contains(assignment) && drainedOf.add(assignment)) {
            drained += drainedOperations;
            discarded += discardedOperations;
        }
    }

    /**
     * Whether no worker has work left. A phase with a duration lasts as long as that says, unless its operations
     * are counted and all made.
     */
    boolean isDone() {
        boolean counted = phase == null || phase.iterations().isPresent();
        return counted && done.containsAll(assignments);
    }

    /** Whether nothing that was due is left. */
    boolean isDrained() {
        for (Assignment assignment : assignments) {
            if (assignment.duty == Assignment.Duty.OPEN && !drainedOf.contains(assignment)) {
                return false;
            }
        }
        return true;
    }
}
