package loadstone.ssj;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import loadstone.ssj.company.Company;
import loadstone.ssj.company.Operation;

/** Gathers what the workers noted and writes it as frames. For the conductor's thread. */
final class Reporter {
    /** An empty tick shorter than this is left out. */
    private static final long SHORTEST_NS = 1_000_000;

    /** Events of one kind between two ticks, at most; more are counted only. */
    private static final int MOST_EVENTS = 100;

    private final Plan plan;
    private final Clock clock;
    private final List<Worker> workers;
    private final Company company;
    private final Frames frames;
    private final Usage usageAtBegin = Usage.now();
    private final Tally tally = Tally.ofAll();
    private final Tally lateTally = Tally.ofAll();
    private final long[] counts = new long[Operation.values().length];
    private final Map<Integer, Map<String, Long>> errors = new TreeMap<>();
    private final Map<String, Integer> reported = new LinkedHashMap<>();
    private final Set<String> knownErrors = new HashSet<>();
    private Usage usage = usageAtBegin;
    private Jvm.Totals jvm = Jvm.Totals.now();
    private int phase = -1;
    private boolean over;
    private long arrivalsEndedNs = -1;
    private long seq;
    private long fromNs;
    private long nextTickNs = Arrivals.NEVER;

    Reporter(Plan plan, Clock clock, List<Worker> workers, Company company, Frames frames) {
        this.plan = plan;
        this.clock = clock;
        this.workers = workers;
        this.company = company;
        this.frames = frames;
    }

    boolean isBroken() {
        return frames.isBroken();
    }

    /** When the next tick is to be reported. */
    long nextTickNs() {
        return nextTickNs;
    }

    private double nowS() {
        return Clock.seconds(clock.nowNs());
    }

    /** Reports who speaks. */
    void hello() {
        Map<String, Object> hello = Frames.frame("hello", nowS());
        hello.put("version", PlanReader.PROTOCOL_VERSION);
        hello.put("driver", Main.VERSION);
        hello.put("pid", ProcessHandle.current().pid());
        hello.put("threads", workers.size());
        hello.put("workload", "ssj");
        hello.put("operations", Arrays.stream(Operation.values()).map(Operation::label).toList());
        hello.put("engine", Jvm.engine());
        hello.put("unix_time_s", System.currentTimeMillis() / 1e3);
        hello.put("monotonic_s", Clock.seconds(clock.originNs()));
        hello.put("nofile", Jvm.mostFiles());
        hello.put("clock_resolution_ns", Clock.resolutionNs());
        frames.write(hello);
        workloadEvent("jvm", Jvm.description());
    }

    /** Reports something that happened, unless there is too much of its kind. */
    void event(String kind, String detail) {
        if (reported.merge(kind, 1, Integer::sum) <= MOST_EVENTS) {
            write(kind, detail);
        }
    }

    private void write(String kind, String detail) {
        Map<String, Object> event = Frames.frame("event", nowS());
        event.put("kind", kind);
        event.put("detail", detail);
        frames.write(event);
    }

    private void reportRest() {
        reported.forEach((kind, count) -> {
            if (count > MOST_EVENTS) {
                write(kind, count - MOST_EVENTS + " more since the last tick");
            }
        });
        reported.clear();
    }

    /** Reports the first failure of a class. */
    void error(String errorClass, String detail) {
        if (knownErrors.add(errorClass)) {
            Map<String, Object> event = Frames.frame("event", nowS());
            event.put("kind", "error");
            event.put("class", errorClass);
            event.put("detail", detail);
            frames.write(event);
        }
    }

    /** Reports something of the workload's own. */
    void workloadEvent(String name, Map<String, ?> data) {
        Map<String, Object> event = Frames.frame("event", nowS());
        event.put("kind", "workload");
        event.put("name", name);
        event.put("detail", name);
        event.put("data", data);
        frames.write(event);
    }

    /** What workers noted, to be reported when there is time: {@link #tick}, {@link #phaseEnds}. */
    record Collected(List<Recorder.Page> pages) {}

    /** Takes what was noted; from now on workers note for {@code nextPhase}. */
    Collected collect(int nextPhase) {
        List<Recorder.Page> pages = new ArrayList<>();
        for (Worker worker : workers) {
            pages.add(worker.recorder().take(nextPhase));
        }
        return new Collected(pages);
    }

    /** Reports the begin of a phase, and begins to report ticks. */
    void phaseBegins(int index, long startNs) {
        phase = index;
        over = false;
        arrivalsEndedNs = -1;
        fromNs = startNs;
        nextTickNs = startNs + plan.tickNs();
        frames.write(border("phase-begin", startNs));
    }

    /** Reports what was noted since the last tick. */
    void tick() {
        report(collect(Math.max(0, phase)), clock.nowNs());
    }

    /** Reports the tick that ends with the arrivals of an open phase. */
    void arrivalsEnd() {
        tick();
        arrivalsEndedNs = fromNs;
    }

    /** Reports the last tick of a phase and its end. What ends later is in late ticks. */
    void phaseEnds(Collected collected, long atNs, long drained, long discarded) {
        report(collected, atNs);
        over = true;
        Map<String, Object> event = border("phase-end", atNs);
        event.put("drained", drained);
        event.put("discarded", discarded);
        event.put("drain_s", arrivalsEndedNs < 0 ? 0.0 : Clock.seconds(Math.max(0, atNs - arrivalsEndedNs)));
        frames.write(event);
    }

    private Map<String, Object> border(String kind, long atNs) {
        Map<String, Object> event = Frames.frame("event", Clock.seconds(atNs));
        event.put("kind", kind);
        event.put("phase", plan.phases().get(phase).name());
        event.put("phase_kind", plan.phases().get(phase).kind());
        event.put("detail", plan.phases().get(phase).name());
        return event;
    }

    private void report(Collected collected, long toNs) {
        Map<Integer, List<Recorder.Stray>> strays = new TreeMap<>();
        tally.reset();
        for (Recorder.Page page : collected.pages()) {
            tally.add(page.tally);
            for (Recorder.Stray stray : page.strays) {
                strays.computeIfAbsent(stray.phase(), key -> new ArrayList<>()).add(stray);
            }
        }
        if (phase < 0) {
            return;
        }
        boolean spare = tally.isEmpty() && (over || toNs < fromNs + SHORTEST_NS);
        if (!spare) {
            write(phase, tally, over, toNs);
        }
        strays.forEach((ofPhase, all) -> {
            lateTally.reset();
            all.forEach(this::addLate);
            write(ofPhase, lateTally, true, toNs);
        });
        fromNs = toNs;
        while (nextTickNs <= toNs) {
            nextTickNs += plan.tickNs();
        }
        reportRest();
    }

    private void addLate(Recorder.Stray stray) {
        if (stray.errorClass() == null) {
            lateTally.ended(stray.operation(), stray.responseNs(), stray.serviceNs());
        } else {
            lateTally.failed(stray.operation(), stray.errorClass());
        }
    }

    private void write(int ofPhase, Tally told, boolean late, long toNs) {
        addToTotals(told);
        Plan.Phase planned = plan.phases().get(ofPhase);
        Map<String, Object> tick = Frames.frame("tick", Clock.seconds(toNs));
        tick.put("seq", seq++);
        tick.put("phase", planned.name());
        tick.put("phase_kind", planned.kind());
        tick.put("late", late);
        tick.put("from_s", Clock.seconds(fromNs));
        tick.put("to_s", Clock.seconds(toNs));
        tick.put("operations", frames.operations(told));
        frames.addHistogram(tick, "lag", told.lag);
        tick.put("late_starts", told.lateStarts);
        tick.put("dropped", told.dropped);
        tick.put("due", planned.load().open() ? told.due : told.ended());
        tick.put("users", workers.stream().filter(Reporter::takesPart).count());
        tick.put("in_flight", inFlight());
        tick.put("queued", workers.stream().mapToLong(Worker::queued).sum());
        tick.put("reconnects", 0);
        addUsage(tick);
        frames.write(tick);
    }

    private void addToTotals(Tally told) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += told.counts[i];
        }
        told.errors.forEach((operation, classes) -> classes.forEach((name, count) ->
                errors.computeIfAbsent(operation, key -> new TreeMap<>()).merge(name, count, Long::sum)));
    }

    private void addUsage(Map<String, Object> tick) {
        Usage used = Usage.now();
        Usage since = used.since(usage);
        Jvm.Totals totals = Jvm.Totals.now();
        tick.put("cpu_user_s", since.userS());
        tick.put("cpu_system_s", since.systemS());
        tick.put("engine_cpu_s", since.engineS());
        tick.put("rss_bytes", Usage.rssBytes());
        tick.put("counters", totals.since(jvm).byName());
        tick.put("gauges", Map.of("orders_live", company.ordersLive(), "heap_used_bytes", Jvm.heapUsedBytes()));
        usage = used;
        jvm = totals;
    }

    private static boolean takesPart(Worker worker) {
        Assignment assignment = worker.assignment();
        switch (assignment.duty) {
            case CLOSED:
                return assignment.takesPart;
            case OPEN:
                return true;
            default:
                return false;
        }
    }

    /** Workers that are at a batch. */
    long inFlight() {
        return workers.stream().filter(Worker::isAtBatch).count();
    }

    /** Reports how it ended. */
    void end(String reason, String error, Map<String, Long> facts) {
        Usage used = Usage.now().since(usageAtBegin);
        Map<String, Object> totals = new LinkedHashMap<>();
        for (Operation operation : Operation.values()) {
            totals.put(operation.label(), Map.of(
                    "count", counts[operation.ordinal()],
                    "errors", errors.getOrDefault(operation.ordinal(), Map.of())));
        }
        Map<String, Object> end = Frames.frame("end", nowS());
        end.put("reason", reason);
        end.put("error", error);
        end.put("operations", totals);
        end.put("cpu_user_s", used.userS());
        end.put("cpu_system_s", used.systemS());
        end.put("engine_cpu_s", used.engineS());
        end.put("max_rss_bytes", Usage.maxRssBytes());
        end.put("facts", facts);
        frames.write(end);
    }
}
