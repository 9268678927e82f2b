package loadstone.ssj;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import loadstone.ssj.company.Company;
import loadstone.ssj.company.Operation;

/** The story of one run: a thread conducts it, and all that happens reaches that thread through one queue. */
final class Run implements Assignment.Signals {
    /** Longest time that a backlog is worked off at the end of a phase; the rest is thrown away. */
    private static final long DRAIN_NS = 30_000_000_000L;

    /** So long a worker may take to say that it has thrown its backlog away: it may be at a batch. */
    private static final long PATIENCE_NS = 10_000_000_000L;

    /** A wait without an end is looked at again after so long. */
    private static final long HOUR_NS = 3_600_000_000_000L;

    private final Plan plan;
    private final Clock clock;
    private final Company company;
    private final List<Worker> workers;
    private final Reporter reporter;
    private final Shares shares;
    private final Assignment.Context context;
    private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
    private final Map<String, Long> facts = new LinkedHashMap<>();
    private Stretch current;
    private Long beginNs;
    private boolean awaitsBegin;
    private String ending;
    private String error;

    /** A run of {@code plan} by {@code workers}, which rest, told by {@code frames}. */
    Run(Plan plan, Clock clock, Company company, List<Worker> workers, Frames frames) {
        this.plan = plan;
        this.clock = clock;
        this.company = company;
        this.workers = workers;
        reporter = new Reporter(plan, clock, workers, company, frames);
        shares = new Shares(plan, workers.size());
        Plan.Parameters parameters = plan.parameters();
        context = new Assignment.Context(
                clock, new Assignment.Manner(parameters.batch(), plan.delayNs(), parameters.bare()), this);
    }

    /** Runs the plan to its end. */
    void conduct() {
        reporter.hello();
        prepare();
        awaitBegin();
        for (int index = 0; index < plan.phases().size() && ending == null; index++) {
            long startNs = beginNs == null ? clock.nowNs() : beginNs;
            beginNs = null;
            begin(index, startNs);
            hold();
            drain();
        }
        finish();
        reporter.end(ending == null ? "completed" : ending, error, facts);
    }

    /** Before the first phase: what the company has done before, and how large it is in memory. */
    private void prepare() {
        facts.put("orders_made_before", company.ordersMade());
        facts.put("payments_made_before", company.paymentsMade());
        workers.forEach(worker -> worker.clerk().shuffle(plan.parameters().mix()));
        if (plan.parameters().wrongBalance() && plan.index() == 0) {
            company.plantWrongCent();
        }
        Jvm.liveBytes().ifPresent(bytes -> facts.put("live_begin_bytes", bytes));
        reporter.collect(0);
    }

    /** Waits for the moment at which the first phase begins, if that is told. */
    private void awaitBegin() {
        if (!plan.told()) {
            return;
        }
        long readyNs = clock.nowNs();
        awaitsBegin = true;
        reporter.event("ready", "the workers are ready");
        while (ending == null && beginNs == null) {
            attend(Arrivals.NEVER);
        }
        awaitsBegin = false;
        if (ending == null) {
            beginNs = Math.max(beginNs, readyNs);
            attendUntil(beginNs);
        }
    }

    /** Begins a phase; the one before ends at the same moment. */
    private void begin(int index, long startNs) {
        Reporter.Collected before = reporter.collect(index);
        Stretch ended = current;
        current = new Stretch(index, plan.phases().get(index), startNs);
        for (int i = 0; i < workers.size(); i++) {
            Assignment assignment = current.phase.load().open() ? open(i) : closed(i);
            current.assignments.add(assignment);
            workers.get(i).assign(assignment);
        }
        close(ended, before, startNs);
        reporter.phaseBegins(index, startNs);
    }

    private Assignment closed(int worker) {
        long most = Math.max((long) current.phase.load().from(), (long) current.phase.load().to());
        long allowance = shares.iterations(current.phase, most, worker);
        boolean takesPart = shares.number(worker) < current.ramp.at(clock.nowNs());
        return allowance == 0
                ? Assignment.rest(current.index, context)
                : Assignment.closed(current.index, context, allowance, takesPart);
    }

    private Assignment open(int worker) {
        Plan.Load load = current.phase.load();
        if (shares.number(worker) >= load.sessions()) {
            return Assignment.rest(current.index, context);
        }
        Arrivals.Stream stream = shares.stream(
                current.index, worker, current.startNs, current.phase.durationNs().orElse(Arrivals.NEVER), load);
        Assignment assignment =
                Assignment.open(current.index, context, new Arrivals(stream), shares.room(load, worker));
        // The worker sees the end by itself: what it does later is not in time, even if nobody has told it yet.
        assignment.endNs = current.endNs();
        return assignment;
    }

    /** Lets the phase run until its time is over, its work is done or the run is stopped. */
    private void hold() {
        long endNs = current.endNs();
        boolean inTime = true;
        while (inTime && ending == null && !current.isDone()) {
            inTime = attend(endNs);
        }
    }

    /** Works off or throws away what is due and not begun. */
    private void drain() {
        if (!current.phase.load().open()) {
            return;
        }
        Stretch stretch = current;
        reporter.arrivalsEnd();
        long nowNs = clock.nowNs();
        long untilNs = nowNs + DRAIN_NS;
        long endNs = Math.min(nowNs, stretch.endNs());
        stretch.assignments.forEach(assignment -> assignment.endNs = endNs);
        workers.forEach(Worker::wake);
        boolean inTime = !stretch.phase.discards();
        while (inTime && ending == null && !stretch.isDrained()) {
            inTime = attend(untilNs);
        }
        if (!stretch.isDrained()) {
            stretch.assignments.forEach(assignment -> assignment.discards = true);
            workers.forEach(Worker::wake);
        }
        long patienceNs = clock.nowNs() + PATIENCE_NS;
        inTime = true;
        while (inTime && !stretch.isDrained()) {
            inTime = attend(patienceNs);
        }
    }

    private void close(Stretch stretch, Reporter.Collected collected, long atNs) {
        if (stretch != null) {
            reporter.phaseEnds(collected, atNs, stretch.drained, stretch.discarded);
        }
    }

    /** Lets operations in flight finish, and looks at the company. */
    private void finish() {
        long nowNs = clock.nowNs();
        int last = current == null ? 0 : current.index;
        Stretch rest = new Stretch(last, null, nowNs);
        Stretch ended = current;
        current = rest;
        Reporter.Collected collected = reporter.collect(last);
        for (Worker worker : workers) {
            Assignment assignment = Assignment.rest(last, context);
            rest.assignments.add(assignment);
            worker.assign(assignment);
        }
        close(ended, collected, nowNs);
        boolean inTime = true;
        while (inTime && !rest.isDone()) {
            inTime = attend(nowNs + plan.finishNs());
        }
        reporter.tick();
        if (rest.isDone()) {
            audit();
        } else {
            reporter.event("stalled", reporter.inFlight() + " operations did not end within "
                    + Clock.seconds(plan.finishNs()) + " s and are not counted; the company is not looked at");
        }
    }

    private void audit() {
        facts.putAll(company.audit());
        OptionalLong liveBytes = facts.containsKey("live_begin_bytes") ? Jvm.liveBytes() : OptionalLong.empty();
        liveBytes.ifPresent(bytes -> facts.put("live_end_bytes", bytes));
        facts.putAll(Jvm.Totals.now().byName());
        facts.put("heap_max_bytes", Runtime.getRuntime().maxMemory());
        facts.put("processors", (long) Runtime.getRuntime().availableProcessors());
        reporter.workloadEvent("company", facts);
    }

    private void attendUntil(long untilNs) {
        boolean inTime = true;
        while (inTime && ending == null) {
            inTime = attend(untilNs);
        }
    }

    /** Waits for a message or the next tick and deals with it; false once {@code untilNs} is past. */
    private boolean attend(long untilNs) {
        long changeNs = changeUsers();
        long wakeNs = Math.min(Math.min(untilNs, changeNs), reporter.nextTickNs());
        long waitNs = Math.min(Math.max(0, wakeNs - clock.nowNs()), HOUR_NS);
        try {
            Runnable message = inbox.poll(waitNs, TimeUnit.NANOSECONDS);
            if (message != null) {
                message.run();
            }
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException("nobody interrupts the conductor", unexpected);
        }
        long nowNs = clock.nowNs();
        boolean inTime = nowNs < untilNs;
        // A tick that falls on the end of the phase is left to the end of the phase.
        if (inTime && nowNs >= reporter.nextTickNs()) {
            reporter.tick();
        }
        if (reporter.isBroken() && ending == null) {
            fail("nobody reads the frames");
        }
        return inTime;
    }

    /** Lets users come or go as the phase has it; says when that changes next. */
    private long changeUsers() {
        if (current == null || current.ramp == null || current.phase.isEndless()) {
            return Arrivals.NEVER;
        }
        long nowNs = clock.nowNs();
        int users = current.ramp.at(nowNs);
        for (int i = 0; i < workers.size(); i++) {
            Assignment assignment = current.assignments.get(i);
            boolean takesPart = shares.number(i) < users;
            if (assignment.takesPart != takesPart) {
                assignment.takesPart = takesPart;
                workers.get(i).wake();
            }
        }
        return current.ramp.nextChangeNs(nowNs);
    }

    private void fail(String problem) {
        ending = "failed";
        error = problem;
    }

    // -- what control lines ask for; on the conductor's thread ---------------------------------

    /** Leaves something to the conductor's thread; for any thread. */
    void post(Runnable message) {
        inbox.add(message);
    }

    void stop(String reason) {
        if (ending == null) {
            reporter.event("stopping", reason);
            ending = "stopped";
        }
    }

    void refuse(String problem) {
        reporter.event("refused", problem);
    }

    void tellBegin(double monotonicS) {
        if (!plan.told()) {
            refuse("begin: the plan's start is \"now\"");
        } else if (!awaitsBegin || beginNs != null) {
            refuse("begin: it was told before");
        } else {
            beginNs = Math.round(monotonicS * PlanReader.SECOND_NS) - clock.originNs();
        }
    }

    void setRate(double ratePerS) {
        if (current == null || current.phase == null) {
            refuse("rate: no phase runs");
        } else if (!current.phase.load().open()) {
            refuse("rate: this phase is closed");
        } else if (current.phase.iterations().isPresent()) {
            refuse("rate: this phase has a fixed number of iterations");
        } else {
            current.changes++;
            changeRate(ratePerS);
        }
    }

    private void changeRate(double ratePerS) {
        long startNs = clock.nowNs() + Shares.LEAD_NS;
        long restNs = Math.max(0, current.endNs() - startNs);
        for (int i = 0; i < workers.size(); i++) {
            Assignment assignment = current.assignments.get(i);
            if (assignment.duty == Assignment.Duty.OPEN) {
                Arrivals.Stream stream = shares.stream(
                        current.index + plan.phases().size() * current.changes,
                        i,
                        startNs,
                        restNs,
                        Shares.at(current.phase.load(), ratePerS));
                assignment.successor = new Arrivals(stream);
                workers.get(i).wake();
            }
        }
    }

    void setUsers(int users) {
        if (current == null || current.phase == null) {
            refuse("users: no phase runs");
        } else if (current.phase.load().open()) {
            refuse("users: this phase is open");
        } else if (current.phase.isEndless() || current.phase.iterations().isPresent()) {
            refuse("users: this phase has a fixed number of iterations");
        } else if (users > shares.workers()) {
            refuse("users: " + users + " are more than the " + shares.workers() + " warehouses of all JVMs");
        } else {
            current.ramp = UserRamp.constant(users);
            reporter.event("users", Integer.toString(users));
        }
    }

    // -- what workers tell; on their threads ---------------------------------------------------

    @Override
    public void done(Assignment assignment) {
        post(() -> current.done(assignment));
    }

    @Override
    public void drained(Assignment assignment, long drained, long discarded) {
        post(() -> current.drained(assignment, drained, discarded));
    }

    @Override
    public void failed(Assignment assignment, int operation, String errorClass, String detail) {
        post(() -> {
            reporter.error(errorClass, detail);
            Plan.Phase phase = plan.phases().get(assignment.phase);
            if (phase.kind().equals("prepare") && ending == null) {
                String name = Operation.values()[operation].label();
                fail(name + " failed in phase " + phase.name() + " (" + errorClass + "): " + detail);
            }
        });
    }
}
