package loadstone.ssj;

/** What one worker is to do, until it gets another assignment. Those of a phase belong to it alone. */
final class Assignment {
    /** What kind of work it is. */
    enum Duty {
        /** None: the worker is parked. */
        REST,
        /** Batch after batch. */
        CLOSED,
        /** Batches when they are due. */
        OPEN
    }

    /** How operations are made, the same in a whole run. */
    record Manner(int batch, long delayNs, boolean bare) {}

    final Duty duty;
    final int phase;
    final Clock clock;
    final Manner manner;
    final Signals signals;

    /** Operations that may begin (closed). */
    final long allowance;

    /** Batches, as they were planned at the begin (open). */
    final Arrivals arrivals;

    /** Operations that may wait (open). */
    final long room;

    /** Whether the worker takes part at present (closed). */
    volatile boolean takesPart;

    /** Batches that take over from those before, as the rate was changed (open). */
    volatile Arrivals successor;

    /** What becomes due after it does not count (open). */
    volatile long endNs = Arrivals.NEVER;

    /** Whether what is due and not begun is to be thrown away (open). */
    volatile boolean discards;

    private Assignment(Duty duty, int phase, Context context, long allowance, Arrivals arrivals, long room) {
        this.duty = duty;
        this.phase = phase;
        clock = context.clock();
        manner = context.manner();
        signals = context.signals();
        this.allowance = allowance;
        this.arrivals = arrivals;
        this.room = room;
    }

    /** What is the same in a whole run. */
    record Context(Clock clock, Manner manner, Signals signals) {}

    static Assignment rest(int phase, Context context) {
        return new Assignment(Duty.REST, phase, context, 0, null, 0);
    }

    static Assignment closed(int phase, Context context, long allowance, boolean takesPart) {
        Assignment assignment = new Assignment(Duty.CLOSED, phase, context, allowance, null, 0);
        assignment.takesPart = takesPart;
        return assignment;
    }

    static Assignment open(int phase, Context context, Arrivals arrivals, long room) {
        return new Assignment(Duty.OPEN, phase, context, Long.MAX_VALUE, arrivals, room);
    }

    /** What workers tell the conductor; called by their threads. */
    interface Signals {
        /** The work is done, or there is none. */
        void done(Assignment assignment);

        /** All that was due by the end is done or thrown away (open). */
        void drained(Assignment assignment, long drained, long discarded);

        /** An operation failed. */
        void failed(Assignment assignment, int operation, String errorClass, String detail);
    }
}
