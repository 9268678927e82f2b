package loadstone.ssj;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

import loadstone.ssj.company.Clerk;
import loadstone.ssj.company.Operation;

/**
 * The worker of one warehouse: a thread that makes operations as its assignment says.
 *
 * <p>It notices itself which batches have become due. So no other thread is in the way of an operation, and
 * a worker that has nothing to do sleeps until its next batch.
 */
final class Worker implements Runnable {
    private final Clerk clerk;
    private final Recorder recorder = new Recorder();
    private final Thread thread;
    private volatile Assignment assignment;
    private volatile boolean atBatch;
    private volatile long queued;

    /** A worker that rests until it is told what to do. */
    Worker(int number, Clerk clerk, Assignment.Context idle) {
        this.clerk = clerk;
        assignment = Assignment.rest(0, idle);
        thread = new Thread(this, "worker-" + number);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Gives another assignment; the worker leaves what it does as soon as its operation has ended. */
    void assign(Assignment next) {
        assignment = next;
        wake();
    }

    /** The assignment that it has. */
    Assignment assignment() {
        return assignment;
    }

    /** Lets it look at its assignment, which has changed. */
    void wake() {
        LockSupport.unpark(thread);
    }

    Clerk clerk() {
        return clerk;
    }

    Recorder recorder() {
        return recorder;
    }

    boolean isAtBatch() {
        return atBatch;
    }

    /** Operations that are due and not begun. */
    long queued() {
        return queued;
    }

    @Override
    public void run() {
        while (true) {
            Assignment mine = assignment;
            switch (mine.duty) {
                case REST:
                    rest(mine);
                    break;
                case CLOSED:
                    if (mine.manner.bare()) {
                        loop(mine);
                    } else {
                        workClosed(mine);
                    }
                    break;
                default:
                    new OpenWork(mine).work();
                    break;
            }
        }
    }

    /** Says that it is done, and sleeps until there is another assignment. */
    private void rest(Assignment mine) {
        mine.signals.done(mine);
        while (assignment == mine) {
            LockSupport.park(this);
        }
    }

    private void workClosed(Assignment mine) {
        long left = mine.allowance;
        while (assignment == mine) {
            if (left == 0) {
                rest(mine);
            } else if (mine.takesPart) {
                int most = (int) Math.min(mine.manner.batch(), left);
                int made = batch(mine, mine.clock.nowNs(), most);
                left -= left == Long.MAX_VALUE ? 0 : made;
            } else {
                LockSupport.park(this);
            }
        }
    }

    /** Makes the operations of a batch; returns how many. A closed one is broken off when its phase is over. */
    private int batch(Assignment mine, long dueNs, int size) {
        boolean closed = mine.duty == Assignment.Duty.CLOSED;
        atBatch = true;
        long begunNs = mine.clock.nowNs();
        int made = 0;
        while (made < size && (!closed || assignment == mine && mine.takesPart)) {
            begunNs = operation(mine, dueNs, begunNs);
            made++;
        }
        recorder.flush(mine.phase);
        atBatch = false;
        return made;
    }

    /** Makes an operation; returns when it ended. */
    private long operation(Assignment mine, long dueNs, long begunNs) {
        int operation = clerk.choose();
        String errorClass = attempt(mine, operation);
        if (mine.manner.delayNs() > 0 && errorClass == null) {
            recorder.flush(mine.phase);
            delay(mine);
        }
        long doneNs = mine.clock.nowNs();
        if (errorClass == null) {
            recorder.ended(mine.phase, operation, doneNs - dueNs, doneNs - begunNs);
        } else {
            recorder.failed(mine.phase, operation, errorClass);
        }
        return doneNs;
    }

    /** Calls an operation; returns the class of its failure, or null. */
    private String attempt(Assignment mine, int operation) {
        try {
            clerk.make(operation);
            return null;
        } catch (RuntimeException | Error problem) {
            String errorClass = problem.getClass().getSimpleName();
            mine.signals.failed(mine, operation, errorClass, String.valueOf(problem.getMessage()));
            return errorClass;
        }
    }

    /** The planted slowdown; cut short when the phase is over. */
    private void delay(Assignment mine) {
        long untilNs = mine.clock.nowNs() + mine.manner.delayNs();
        long leftNs = mine.manner.delayNs();
        while (leftNs > 0 && assignment == mine) {
            LockSupport.parkNanos(this, leftNs);
            leftNs = untilNs - mine.clock.nowNs();
        }
    }

    /** Calls operations in a plain loop, to compare with what times each of them. */
    private void loop(Assignment mine) {
        long[] counts = new long[Operation.values().length];
        while (assignment == mine) {
            if (!mine.takesPart) {
                LockSupport.park(this);
                continue;
            }
            for (int i = 0; i < mine.manner.batch(); i++) {
                int operation = clerk.choose();
                String errorClass = attempt(mine, operation);
                if (errorClass == null) {
                    counts[operation]++;
                } else {
                    recorder.failed(mine.phase, operation, errorClass);
                }
            }
            recorder.counted(counts);
            Arrays.fill(counts, 0);
        }
    }

    /** An open phase: batches are made in the order in which they become due. */
    private final class OpenWork {
        private final Assignment mine;
        private final BatchQueue queue;
        private Arrivals arrivals;
        private Arrivals succeeded;
        private long freeSinceNs;
        private boolean over;
        private long drained;
        private long discarded;
        private boolean told;

        OpenWork(Assignment mine) {
            this.mine = mine;
            queue = new BatchQueue(mine.room);
            arrivals = mine.arrivals;
            freeSinceNs = arrivals.startNs();
        }

        void work() {
            while (assignment == mine) {
                long nowNs = mine.clock.nowNs();
                notice(nowNs);
                if (mine.discards) {
                    discarded += queue.operations();
                    drained -= queue.operations();
                    queue.clear();
                }
                queued = queue.operations();
                if (!queue.isEmpty()) {
                    serve();
                } else {
                    await(nowNs);
                }
            }
            queued = 0;
        }

        /** Queues what has become due, or turns it away. */
        private void notice(long nowNs) {
            long untilNs = Math.min(nowNs, mine.endNs);
            Arrivals successor = mine.successor;
            if (successor != succeeded && successor.startNs() <= untilNs) {
                take(successor.startNs());
                arrivals = successor;
                succeeded = successor;
            }
            take(untilNs);
            if (mine.endNs <= nowNs && !over) {
                over = true;
                drained = queue.operations();
            }
        }

        private void take(long untilNs) {
            while (arrivals.peekNs() <= untilNs) {
                long dueNs = arrivals.peekNs();
                int size = arrivals.take();
                recorder.arrived(size, queue.add(dueNs, size));
            }
        }

        private void serve() {
            long dueNs = queue.firstDueNs();
            int size = queue.take();
            queued = queue.operations();
            if (dueNs < freeSinceNs) {
                recorder.lateStart(size);
            } else {
                recorder.lagged(mine.clock.nowNs() - dueNs, size);
            }
            batch(mine, dueNs, size);
            freeSinceNs = mine.clock.nowNs();
        }

        /** Sleeps until the next batch, or until something changes. */
        private void await(long nowNs) {
            if (over) {
                mine.signals.drained(mine, drained, discarded);
                rest(mine);
                return;
            }
            Arrivals successor = mine.successor;
            long changeNs = successor == succeeded ? Arrivals.NEVER : successor.startNs();
            long nextNs = Math.min(arrivals.peekNs(), changeNs);
            if (nextNs != Arrivals.NEVER) {
                LockSupport.parkNanos(Worker.this, nextNs - nowNs);
                return;
            }
            if (!told) {
                told = true;
                mine.signals.done(mine);
            }
            LockSupport.park(Worker.this);
        }
    }
}
