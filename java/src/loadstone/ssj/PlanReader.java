package loadstone.ssj;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

import loadstone.ssj.Plan.Load;
import loadstone.ssj.Plan.Parameters;
import loadstone.ssj.Plan.Phase;
import loadstone.ssj.company.Operation;

/** Reads a plan of the driver protocol; docs/driver-protocol.md and java/FACTS.md have its fields. */
final class PlanReader {
    /** The version of the protocol that is spoken. */
    static final int PROTOCOL_VERSION = 4;

    static final double SECOND_NS = 1e9;

    /** Counts of a tick are 32 bits wide: at a million operations a second they hold 2,147 s. */
    private static final double LONGEST_TICK_S = 600;

    private static final double LONGEST_FINISH_S = 10;
    private static final double LONGEST_S = 1e7;
    private static final double LONGEST_DELAY_S = 60;
    private static final double MOST = 1e9;
    private static final double MOST_PROCESSES = 1024;
    private static final double MOST_WORKERS = 1 << 20;
    private static final long QUEUE = 10_000;

    private PlanReader() {}

    /**
     * Reads a plan.
     *
     * @param value its JSON object
     * @throws RefusedException if a field is unknown or makes no sense
     */
    static Plan read(Object value) throws RefusedException {
        Fields plan = new Fields("", value);
        version(plan);
        for (String name : List.of("threads", "connection", "retry")) {
            plan.ignore(name);
        }
        if (plan.has("acknowledgements")) {
            throw plan.refused("acknowledgements", "ssj has none; leave it out");
        }
        if (plan.has("pacing")) {
            noWaits(plan.object("pacing"));
        }
        Parameters parameters = workload(plan.object("workload"));
        int of = 1;
        int index = 0;
        if (plan.has("process")) {
            Fields process = plan.object("process");
            of = (int) process.whole("of", 1, MOST_PROCESSES);
            index = (int) process.whole("index", 0, of - 1.0);
            process.none();
        }
        Plan read = new Plan(
                plan.whole("seed", 0, 1e18, 0),
                nanoseconds(plan.number("tick_s", 0.01, LONGEST_TICK_S, 1)),
                nanoseconds(plan.number("finish_s", 0, LONGEST_FINISH_S, LONGEST_FINISH_S)),
                nanoseconds(plan.number("delay_s", 0, LONGEST_DELAY_S, 0)),
                index,
                of,
                plan.text("start", "now", "told").equals("told"),
                parameters,
                phases(plan, parameters));
        plan.none();
        return read;
    }

    /** Refuses a plan that does not fit {@code workers} workers in each process. */
    static void fit(Plan plan, int workers) throws RefusedException {
        long all = (long) workers * plan.of();
        for (int i = 0; i < plan.phases().size(); i++) {
            Load load = plan.phases().get(i).load();
            double most = load.open() ? load.sessions() : Math.max(load.from(), load.to());
            if (most > all) {
                String field = load.open() ? "sessions" : "users";
                throw new RefusedException(
                        "phases[" + i + "].load." + field,
                        (long) most + " are more than the " + all + " warehouses of all JVMs; give at most so many");
            }
        }
    }

    private static void version(Fields plan) throws RefusedException {
        double version = plan.number("version", -MOST, MOST);
        if (version != PROTOCOL_VERSION) {
            throw plan.refused("version", "is not known; loadstone-ssj speaks version " + PROTOCOL_VERSION);
        }
    }

    private static void noWaits(Fields pacing) throws RefusedException {
        pacing.ignore("default");
        if (pacing.has("operations")) {
            pacing.object("operations").none();
        }
        pacing.none();
        if (!pacing.has("default")) {
            return;
        }
        Fields waits = pacing.object("default");
        boolean waiting = waits.number("keying_s", 0, LONGEST_S, 0) > 0 || waits.has("every_s");
        if (waits.has("think")) {
            Fields think = waits.object("think");
            String distribution = think.text("distribution", "none", "constant", "uniform", "negative-exponential");
            waiting |= !distribution.equals("none");
        }
        waits.ignore("begins_at_once");
        waits.none();
        if (waiting) {
            throw pacing.refused("default", "ssj has no waits; leave keying and think times out");
        }
    }

    private static Parameters workload(Fields workload) throws RefusedException {
        workload.text("name", "ssj");
        workload.text("role", "run");
        List<Integer> mix = defaultMix();
        int batch = Operation.BATCH;
        boolean wrongBalance = false;
        boolean bare = false;
        if (workload.has("parameters")) {
            Fields parameters = workload.object("parameters");
            batch = (int) parameters.whole("batch", 1, 100_000, batch);
            mix = parameters.has("mix") ? mix(parameters.object("mix")) : mix;
            wrongBalance = parameters.text("fault", "none", "wrong-balance").equals("wrong-balance");
            bare = parameters.flag("bare");
            parameters.none();
        }
        workload.none();
        return new Parameters(batch, mix, wrongBalance, bare);
    }

    private static List<Integer> defaultMix() {
        List<Integer> mix = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            mix.add(operation.cards());
        }
        return mix;
    }

    private static List<Integer> mix(Fields given) throws RefusedException {
        List<Integer> mix = new ArrayList<>();
        int sum = 0;
        for (Operation operation : Operation.values()) {
            int cards = (int) given.whole(operation.label(), 0, 1000, 0);
            mix.add(cards);
            sum += cards;
        }
        given.none();
        int made = mix.get(Operation.NEW_ORDER.ordinal());
        int deliveries = mix.get(Operation.DELIVERY.ordinal());
        if (sum == 0 || made != Operation.ORDERS_OF_A_DELIVERY * deliveries) {
            throw given.refused(
                    Operation.NEW_ORDER.label(),
                    made + " cards, and " + deliveries
                            + " of delivery: give ten times as many, so that the data stay level");
        }
        return mix;
    }

    private static List<Phase> phases(Fields plan, Parameters parameters) throws RefusedException {
        List<Phase> phases = new ArrayList<>();
        for (Fields fields : plan.objects("phases")) {
            phases.add(phase(fields, parameters));
        }
        if (phases.isEmpty()) {
            throw plan.refused("phases", "is empty; give at least one phase");
        }
        return phases;
    }

    private static Phase phase(Fields given, Parameters parameters) throws RefusedException {
        Phase phase = new Phase(
                given.text("name"),
                given.has("kind")
                        ? given.text("kind", "prepare", "warm-up", "ramp", "measure", "drain", "check")
                        : given.text("kind"),
                given.has("duration_s")
                        ? OptionalLong.of(nanoseconds(given.number("duration_s", 0.001, LONGEST_S)))
                        : OptionalLong.empty(),
                given.has("iterations")
                        ? OptionalLong.of(given.whole("iterations", 1, 1e15))
                        : OptionalLong.empty(),
                given.text("backlog", "drain", "discard").equals("discard"),
                load(given.object("load")));
        if (given.number("gather_s", 0, LONGEST_S, 0) > 0) {
            throw given.refused("gather_s", "ssj has no log-in; leave it out");
        }
        given.none();
        if (phase.isEndless() && phase.iterations().isEmpty()) {
            throw given.refused("duration_s", "missing; give it or iterations, as ssj never runs out of work");
        }
        if (phase.isEndless() && (phase.load().from() != phase.load().to() || phase.load().from() == 0)) {
            throw given.refused("load", "changes, or is 0, in a phase without duration_s; give one");
        }
        if (parameters.bare() && (phase.load().open() || phase.iterations().isPresent())) {
            throw given.refused("load", "is open or counted; with parameters.bare give closed phases with duration_s");
        }
        return phase;
    }

    private static Load load(Fields given) throws RefusedException {
        boolean open = given.has("model") && given.text("model", "closed", "open").equals("open");
        if (!given.has("model")) {
            throw given.refused("model", "missing; write closed or open");
        }
        Fields range = given.object(open ? "rate_per_s" : "users");
        double from = open ? range.number("from", 0, MOST) : range.whole("from", 0, MOST_WORKERS);
        double to = open ? range.number("to", 0, MOST) : range.whole("to", 0, MOST_WORKERS);
        range.none();
        Load load;
        if (open) {
            load = new Load(
                    true,
                    from,
                    to,
                    given.text("arrival", "uniform", "poisson").equals("poisson"),
                    (int) given.whole("sessions", 1, MOST_WORKERS),
                    given.whole("queue", 0, MOST, QUEUE));
        } else {
            load = new Load(false, from, to, false, 0, 0);
        }
        given.none();
        return load;
    }

    private static long nanoseconds(double seconds) {
        return Math.round(seconds * SECOND_NS);
    }
}
