package loadstone.ssj;

/** Batches of one worker that are due and not begun, in order. A batch that does not fit whole is turned away. */
final class BatchQueue {
    private static final int SMALLEST = 64;

    private final long room;
    private long[] dueNs = new long[SMALLEST];
    private int[] sizes = new int[SMALLEST];
    private int first;
    private int count;
    private long operations;

    /** A queue for {@code room} operations; one batch always fits into an empty one. */
    BatchQueue(long room) {
        this.room = room;
    }

    /** Adds a batch; false if it does not fit. */
    boolean add(long due, int size) {
        if (count > 0 && operations + size > room) {
            return false;
        }
        if (count == sizes.length) {
            grow();
        }
        int last = (first + count) % sizes.length;
        dueNs[last] = due;
        sizes[last] = size;
        count++;
        operations += size;
        return true;
    }

    private void grow() {
        long[] moreDueNs = new long[2 * count];
        int[] moreSizes = new int[2 * count];
        for (int i = 0; i < count; i++) {
            moreDueNs[i] = dueNs[(first + i) % count];
            moreSizes[i] = sizes[(first + i) % count];
        }
        dueNs = moreDueNs;
        sizes = moreSizes;
        first = 0;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** When the batch that waits longest was due. */
    long firstDueNs() {
        return dueNs[first];
    }

    /** Takes the batch that waits longest; returns its operations. */
    int take() {
        int size = sizes[first];
        first = (first + 1) % sizes.length;
        count--;
        operations -= size;
        return size;
    }

    /** Operations that wait. */
    long operations() {
        return operations;
    }

    /** Throws all away. */
    void clear() {
        first = 0;
        count = 0;
        operations = 0;
    }
}
