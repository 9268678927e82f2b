package loadstone.ssj;

import java.util.SplittableRandom;

/**
 * When batches of one worker become due, in nanoseconds since the start of the run, in order.
 *
 * <p>Batch number i lies where the integral of the rate reaches i + offset (even gaps) or the sum of i + 1
 * exponential draws of mean 1 (negative-exponential gaps: the time-change theorem, Çinlar 1975). Independent
 * streams of the second kind are together one of that kind.
 */
final class Arrivals {
    /** No batch comes any more. */
    static final long NEVER = Long.MAX_VALUE;

    private final Stream stream;
    private final double slope;
    private final SplittableRandom random;
    private double position;
    private long left;
    private long nextNs;

    /**
     * What a stream is like.
     *
     * @param startNs its begin
     * @param durationNs its length; {@link #NEVER} if it goes on until it is ended
     * @param from batches a second at its begin
     * @param to batches a second at its end
     * @param poisson whether gaps are drawn
     * @param offset of even gaps: where the first batch lies, from 0 to 1
     * @param seed of drawn gaps
     * @param batch operations of each batch
     * @param most operations of the whole stream
     */
    record Stream(
            long startNs,
            long durationNs,
            double from,
            double to,
            boolean poisson,
            double offset,
            long seed,
            int batch,
            long most) {}

    Arrivals(Stream stream) {
        this.stream = stream;
        boolean changes = stream.from() != stream.to() && stream.durationNs() != NEVER;
        slope = changes ? (stream.to() - stream.from()) * PlanReader.SECOND_NS / stream.durationNs() : 0;
        random = new SplittableRandom(stream.seed());
        position = stream.poisson() ? random.nextExponential() : stream.offset();
        left = stream.most();
        nextNs = compute();
    }

    /** When the next batch is due, or {@link #NEVER}. */
    long peekNs() {
        return nextNs;
    }

    /** Takes the next batch; returns its operations. */
    int take() {
        int size = (int) Math.min(stream.batch(), left);
        if (left != Long.MAX_VALUE) {
            left -= size;
        }
        position += stream.poisson() ? random.nextExponential() : 1;
        nextNs = compute();
        return size;
    }

    /** When the stream begins. */
    long startNs() {
        return stream.startNs();
    }

    private long compute() {
        if (left == 0) {
            return NEVER;
        }
        double afterNs = secondsAt(position) * PlanReader.SECOND_NS;
        boolean within = afterNs < stream.durationNs();
        return within ? stream.startNs() + (long) afterNs : NEVER;
    }

    /** The seconds at which the integral of the rate reaches {@code wanted}; infinite if it never does. */
    private double secondsAt(double wanted) {
        double from = stream.from();
        if (slope == 0) {
            return from > 0 ? wanted / from : Double.POSITIVE_INFINITY;
        }
        // Solves from t + slope t^2 / 2 = wanted, in the form that does not cancel.
        double square = from * from + 2 * slope * wanted;
        return square >= 0 ? 2 * wanted / (from + Math.sqrt(square)) : Double.POSITIVE_INFINITY;
    }
}
