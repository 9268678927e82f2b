package loadstone.ssj;

import java.util.ArrayList;
import java.util.List;

import org.HdrHistogram.WriterReaderPhaser;

/**
 * Where one worker notes what it did, and the conductor takes it from while the worker goes on.
 *
 * <p>There are two pages: the worker writes on one, never waiting; the conductor swaps them and reads the
 * other when the worker has left it (the writer-reader phaser of HdrHistogram).
 */
final class Recorder {
    private static final long YIELD_NS = 20_000;

    /** Operations that are noted at once: to enter and to leave a page costs as much as to note several. */
    private static final int TOGETHER = 16;

    private final WriterReaderPhaser phaser = new WriterReaderPhaser();
    private volatile Page page = new Page();
    private Page spare = new Page();
    private final int[] operations = new int[TOGETHER];
    private final long[] responsesNs = new long[TOGETHER];
    private final long[] servicesNs = new long[TOGETHER];
    private int kept;

    /** An operation that is noted when its phase is over: few, at a border of phases. */
    record Stray(int phase, int operation, long responseNs, long serviceNs, String errorClass) {}

    /** What was noted of one phase, and strays. */
    static final class Page {
        final Tally tally = Tally.ofWorker();
        final List<Stray> strays = new ArrayList<>();
        private int phase;

        private void clear(int ofPhase) {
            tally.reset();
            strays.clear();
            phase = ofPhase;
        }
    }

    /** An operation ended well. It is noted soon, with others: at the latest by {@link #flush}. */
    void ended(int phase, int operation, long responseNs, long serviceNs) {
        operations[kept] = operation;
        responsesNs[kept] = responseNs;
        servicesNs[kept] = serviceNs;
        if (++kept == TOGETHER) {
            flush(phase);
        }
    }

    /** Notes what was kept; to be called at the end of each batch, all of whose operations are of {@code phase}. */
    void flush(int phase) {
        long ticket = phaser.writerCriticalSectionEnter();
        try {
            Page open = page;
            for (int i = 0; i < kept; i++) {
                if (open.phase == phase) {
                    open.tally.ended(operations[i], responsesNs[i], servicesNs[i]);
                } else {
                    open.strays.add(new Stray(phase, operations[i], responsesNs[i], servicesNs[i], null));
                }
            }
        } finally {
            kept = 0;
            phaser.writerCriticalSectionExit(ticket);
        }
    }

    /** An operation failed. */
    void failed(int phase, int operation, String errorClass) {
        long ticket = phaser.writerCriticalSectionEnter();
        try {
            Page open = page;
            if (open.phase == phase) {
                open.tally.failed(operation, errorClass);
            } else {
                open.strays.add(new Stray(phase, operation, 0, 0, errorClass));
            }
        } finally {
            phaser.writerCriticalSectionExit(ticket);
        }
    }

    /** Operations ended well that were not timed, by ordinal; those of a phase that is over are of the next. */
    void counted(long[] counts) {
        long ticket = phaser.writerCriticalSectionEnter();
        try {
            for (int i = 0; i < counts.length; i++) {
                page.tally.counts[i] += counts[i];
            }
        } finally {
            phaser.writerCriticalSectionExit(ticket);
        }
    }

    /** A batch became due. */
    void arrived(int operations, boolean fits) {
        long ticket = phaser.writerCriticalSectionEnter();
        try {
            Tally tally = page.tally;
            tally.due += operations;
            tally.dropped += fits ? 0 : operations;
        } finally {
            phaser.writerCriticalSectionExit(ticket);
        }
    }

    /** A batch was begun so long after it was due, although the worker was free. */
    void lagged(long lagNs, int operations) {
        long ticket = phaser.writerCriticalSectionEnter();
        try {
            page.tally.lagged(lagNs, operations);
        } finally {
            phaser.writerCriticalSectionExit(ticket);
        }
    }

    /** A batch was begun late, as the worker was at another one when it became due. */
    void lateStart(int operations) {
        long ticket = phaser.writerCriticalSectionEnter();
        try {
            page.tally.lateStarts += operations;
        } finally {
            phaser.writerCriticalSectionExit(ticket);
        }
    }

    /**
     * Takes what was noted since the last time. For one thread, which must be done with the page before it
     * takes another one.
     *
     * @param nextPhase the phase of what is noted from now on
     */
    Page take(int nextPhase) {
        Page filled = page;
        spare.clear(nextPhase);
        phaser.readerLock();
        try {
            page = spare;
            phaser.flipPhase(YIELD_NS);
        } finally {
            phaser.readerUnlock();
        }
        spare = filled;
        return filled;
    }
}
