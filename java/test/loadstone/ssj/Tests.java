package loadstone.ssj;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import loadstone.ssj.company.CompanyTests;

import org.HdrHistogram.Histogram;

/** All tests that need no other process. */
public final class Tests {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final String PHASE =
            "{\"name\":\"m\",\"kind\":\"measure\",\"duration_s\":1,\"load\":{\"model\":\"closed\",\"users\":{\"from\":2,\"to\":2}}}";

    private Tests() {}

    /** Runs all; the exit code says whether they passed. */
    public static void main(String[] words) {
        Checks checks = new Checks();
        checks.test("JSON is read as it was written", Tests::jsonRoundTrip);
        checks.test("what is no JSON is refused", Tests::noJson);
        checks.test("even gaps are those of one stream", Tests::evenGaps);
        checks.test("drawn gaps have the mean and the spread of exponential ones", Tests::drawnGaps);
        checks.test("a ramp has as many batches as its integral", Tests::ramp);
        checks.test("a counted stream ends with a smaller batch", Tests::counted);
        checks.test("a queue turns away what does not fit, and keeps the order", Tests::queue);
        checks.test("users change at the middle of each step", Tests::userRamp);
        checks.test("strays are told with their own phase", Tests::strays);
        checks.test("a histogram can be read by the library", Tests::histogram);
        checks.test("plans that make no sense are refused by their field", Tests::refusals);
        checks.test("a plan has its defaults", Tests::defaults);
        CompanyTests.runAll(checks);
        System.exit(checks.end());
    }

    private static void jsonRoundTrip() throws Exception {
        String text = "{\"a\":[1.0,-2.5E7,true,null,\"x\\\"\\\\\\u0007\u00e9\"],\"b\":{},\"c\":[]}";
        Checks.equal(text, Json.write(Json.read(text)));
        Checks.equal("\u20ac\n", Json.read(" \"\\u20AC\\n\" "));
    }

    private static void noJson() {
        for (String text : List.of("", "{", "{\"a\":1,}", "[1 2]", "01", "1.", "nul", "\"\\x\"", "{\"a\":1}{", "{\"a\":1,\"a\":2}", "[".repeat(200))) {
            try {
                Json.read(text);
            } catch (Json.SyntaxException expected) {
                continue;
            }
            throw new AssertionError("taken: " + text);
        }
    }

    private static List<Long> taken(Arrivals arrivals) {
        List<Long> found = new ArrayList<>();
        while (arrivals.peekNs() != Arrivals.NEVER) {
            found.add(arrivals.peekNs());
            arrivals.take();
        }
        return found;
    }

    private static Arrivals stream(double from, double to, boolean poisson, double offset, long seed, long most) {
        return new Arrivals(new Arrivals.Stream(5, 100 * SECOND_NS, from, to, poisson, offset, seed, 10, most));
    }

    private static void evenGaps() {
        List<Long> all = new ArrayList<>(taken(stream(1, 1, false, 0.25, 0, Long.MAX_VALUE)));
        all.addAll(taken(stream(1, 1, false, 0.75, 0, Long.MAX_VALUE)));
        long[] sorted = all.stream().mapToLong(Long::longValue).sorted().toArray();
        Checks.equal(200, sorted.length);
        Checks.equal(5 + SECOND_NS / 4, sorted[0]);
        for (int i = 1; i < sorted.length; i++) {
            Checks.equal(SECOND_NS / 2, sorted[i] - sorted[i - 1]);
        }
    }

    private static void drawnGaps() {
        List<Long> found = taken(stream(1000, 1000, true, 0, 11, Long.MAX_VALUE));
        Checks.holds(Math.abs(found.size() - 100_000) < 4 * Math.sqrt(100_000), "there are " + found.size());
        long longer = LongStream.range(1, found.size())
                .filter(i -> found.get((int) i) - found.get((int) i - 1) > SECOND_NS / 1000)
                .count();
        double share = (double) longer / found.size();
        Checks.holds(Math.abs(share - Math.exp(-1)) < 0.01, "longer than the mean: " + share);
        Checks.equal(found, taken(stream(1000, 1000, true, 0, 11, Long.MAX_VALUE)));
    }

    private static void ramp() {
        List<Long> found = taken(stream(0, 20, false, 0.5, 0, Long.MAX_VALUE));
        Checks.equal(1000, found.size());
        long firstHalf = found.stream().filter(ns -> ns < 50 * SECOND_NS).count();
        Checks.equal(250L, firstHalf);
        Checks.equal(List.of(), taken(stream(0, 0, true, 0, 1, Long.MAX_VALUE)));
    }

    private static void counted() {
        Arrivals arrivals = stream(1, 1, false, 0.5, 0, 25);
        Checks.equal(List.of(10, 10, 5), List.of(arrivals.take(), arrivals.take(), arrivals.take()));
        Checks.equal(Arrivals.NEVER, arrivals.peekNs());
    }

    private static void queue() {
        BatchQueue queue = new BatchQueue(2000);
        for (int i = 0; i < 50; i++) {
            Checks.holds(queue.add(i, 10), "it is full");
            queue.take();
        }
        for (int i = 0; i < 200; i++) {
            Checks.holds(queue.add(i, 10), "it is full");
        }
        Checks.holds(!queue.add(200, 1), "it takes more than its room");
        Checks.equal(2000L, queue.operations());
        for (long i = 0; i < 200; i++) {
            Checks.equal(i, queue.firstDueNs());
            Checks.equal(10, queue.take());
        }
        Checks.holds(queue.isEmpty() && new BatchQueue(0).add(1, 100), "an empty one takes no batch");
    }

    private static void userRamp() {
        UserRamp ramp = new UserRamp(0, 4, 100, 400);
        Checks.equal(List.of(0, 0, 1, 2, 4), List.of(ramp.at(0), ramp.at(149), ramp.at(150), ramp.at(300), ramp.at(900)));
        Checks.equal(150L, ramp.nextChangeNs(100));
        Checks.equal(250L, ramp.nextChangeNs(150));
        Checks.equal(Arrivals.NEVER, ramp.nextChangeNs(450));
        Checks.equal(3, new UserRamp(4, 0, 0, 400).at(100));
        Checks.equal(Arrivals.NEVER, UserRamp.constant(3).nextChangeNs(0));
    }

    private static void strays() {
        Recorder recorder = new Recorder();
        recorder.ended(0, 1, 1000, 500);
        recorder.flush(0);
        Recorder.Page first = recorder.take(1);
        Checks.equal(1L, first.tally.counts[1]);
        recorder.ended(0, 2, 1000, 500);
        recorder.flush(0);
        recorder.failed(0, 2, "X");
        for (int i = 0; i < 20; i++) {
            recorder.ended(1, 3, 1000, 500);
        }
        recorder.flush(1);
        recorder.arrived(10, false);
        recorder.lateStart(10);
        Recorder.Page second = recorder.take(1);
        Checks.equal(2, second.strays.size());
        Checks.equal(0, second.strays.get(0).phase());
        Checks.equal(20L, second.tally.counts[3]);
        Checks.equal(List.of(10L, 10L, 10L), List.of(second.tally.due, second.tally.dropped, second.tally.lateStarts));
        Checks.holds(recorder.take(1).tally.isEmpty(), "a page is told twice");
    }

    private static void histogram() throws Exception {
        Tally worker = Tally.ofWorker();
        worker.ended(0, 1_000_000, 2000);
        worker.ended(0, Long.MAX_VALUE, 2000);
        worker.lagged(70_000, 100);
        Tally all = Tally.ofAll();
        all.add(worker);
        all.add(worker);
        Map<String, Object> frame = new HashMap<>();
        Frames frames = new Frames(null);
        frames.addHistogram(frame, "response", all.response[0]);
        frames.addHistogram(frame, "lag", all.lag);
        frames.addHistogram(frame, "empty", all.response[1]);
        Checks.equal(2, frame.size());
        ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode((String) frame.get("response")));
        Histogram read = Histogram.decodeFromCompressedByteBuffer(bytes, 0);
        Checks.equal(4L, read.getTotalCount());
        Checks.equal(2L, read.getCountAtValue(1_000_000));
        Checks.holds(Math.abs(read.getMaxValue() / 1e9 - 3600) < 4, "the longest is " + read.getMaxValue());
        all.reset();
        Checks.holds(all.isEmpty() && all.lag.getTotalCount() == 0, "it is not empty");
    }

    private static void refused(String plan, String field) throws Exception {
        try {
            PlanReader.fit(PlanReader.read(Json.read(plan)), 2);
        } catch (RefusedException expected) {
            Checks.holds(expected.getMessage().startsWith(field + ": "), expected.getMessage());
            return;
        }
        throw new AssertionError("taken, although " + field + " is wrong");
    }

    private static String plan(String parameters, String more, String phase) {
        return "{\"version\":4,\"workload\":{\"name\":\"ssj\",\"parameters\":{" + parameters + "}}" + more
                + ",\"phases\":[" + phase + "]}";
    }

    private static void refusals() throws Exception {
        refused("[]", ".");
        refused("{\"version\":3}", "version");
        refused(plan("", "", ""), "phases");
        refused(plan("\"batch\":0", "", PHASE), "workload.parameters.batch");
        refused(plan("\"mix\":{\"new-order\":9,\"delivery\":1}", "", PHASE), "workload.parameters.mix.new-order");
        refused(plan("\"fault\":\"other\"", "", PHASE), "workload.parameters.fault");
        refused(plan("\"speed\":1", "", PHASE), "workload.parameters.speed");
        refused(plan("", ",\"nonsense\":1", PHASE), "nonsense");
        refused(plan("", ",\"pacing\":{\"default\":{\"keying_s\":1}}", PHASE), "pacing.default");
        refused(plan("", ",\"process\":{\"index\":2,\"of\":2}", PHASE), "process.index");
        refused(plan("", "", PHASE.replace(":2}", ":3}")), "phases[0].load.users");
        refused(plan("", "", PHASE.replace("\"duration_s\":1,", "")), "phases[0].duration_s");
        refused(plan("", "", PHASE.replace("measure", "other")), "phases[0].kind");
    }

    private static void defaults() throws Exception {
        Plan plan = PlanReader.read(Json.read(plan("", "", PHASE)));
        Checks.equal(100, plan.parameters().batch());
        Checks.equal(List.of(10, 10, 10, 1, 1, 1), plan.parameters().mix());
        Checks.equal(SECOND_NS, plan.tickNs());
        Checks.equal(10 * SECOND_NS, plan.finishNs());
        Checks.holds(!plan.told() && plan.of() == 1 && !plan.phases().get(0).discards(), "a default is wrong");
    }
}
