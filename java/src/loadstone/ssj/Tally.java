package loadstone.ssj;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

import loadstone.ssj.company.Operation;

import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;

/**
 * What was counted and timed of one phase in one stretch of time. Histograms have a fixed size, so that memory
 * stays level.
 */
final class Tally {
    /** An hour. Longer times are told as that. */
    private static final long LONGEST_NS = 3_600_000_000_000L;

    private static final int DIGITS = 3;

    /** Operations that ended well, by ordinal. */
    final long[] counts = new long[Operation.values().length];

    /** Failures by ordinal and class. */
    final Map<Integer, Map<String, Long>> errors = new TreeMap<>();

    final AbstractHistogram[] response = new AbstractHistogram[counts.length];
    final AbstractHistogram[] service = new AbstractHistogram[counts.length];
    final AbstractHistogram lag;
    long due;
    long dropped;
    long lateStarts;

    private Tally(Supplier<AbstractHistogram> histograms) {
        for (int i = 0; i < counts.length; i++) {
            response[i] = histograms.get();
            service[i] = histograms.get();
        }
        lag = histograms.get();
    }

    /** For one worker: counts of 32 bits. */
    static Tally ofWorker() {
        return new Tally(() -> new IntCountsHistogram(LONGEST_NS, DIGITS));
    }

    /** The most bytes that a histogram can have as it is encoded, before it is compressed. */
    static int mostEncodedBytes() {
        return new Histogram(LONGEST_NS, DIGITS).getNeededByteBufferCapacity();
    }

    /** For the sum of several. */
    static Tally ofAll() {
        return new Tally(() -> new Histogram(LONGEST_NS, DIGITS));
    }

    void ended(int operation, long responseNs, long serviceNs) {
        counts[operation]++;
        response[operation].recordValue(Math.min(responseNs, LONGEST_NS));
        service[operation].recordValue(Math.min(serviceNs, LONGEST_NS));
    }

    void failed(int operation, String errorClass) {
        errors.computeIfAbsent(operation, key -> new TreeMap<>()).merge(errorClass, 1L, Long::sum);
    }

    void lagged(long lagNs, int operations) {
        lag.recordValueWithCount(Math.min(lagNs, LONGEST_NS), operations);
    }

    /** Operations that ended, well or not. */
    long ended() {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        for (Map<String, Long> classes : errors.values()) {
            sum += classes.values().stream().mapToLong(Long::longValue).sum();
        }
        return sum;
    }

    boolean isEmpty() {
        return due == 0 && dropped == 0 && ended() == 0;
    }

    void add(Tally other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
            add(response[i], other.response[i]);
            add(service[i], other.service[i]);
        }
        add(lag, other.lag);
        other.errors.forEach((operation, classes) -> classes.forEach((name, count) ->
                errors.computeIfAbsent(operation, key -> new TreeMap<>()).merge(name, count, Long::sum)));
        due += other.due;
        dropped += other.dropped;
        lateStarts += other.lateStarts;
    }

    private static void add(AbstractHistogram sum, AbstractHistogram part) {
        if (part.getTotalCount() > 0) {
            sum.add(part);
        }
    }

    void reset() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = 0;
            reset(response[i]);
            reset(service[i]);
        }
        reset(lag);
        errors.clear();
        due = 0;
        dropped = 0;
        lateStarts = 0;
    }

    private static void reset(AbstractHistogram histogram) {
        if (histogram.getTotalCount() > 0) {
            histogram.reset();
        }
    }
}
