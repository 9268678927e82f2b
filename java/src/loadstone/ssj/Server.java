package loadstone.ssj;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import loadstone.ssj.company.Company;

/** Takes connections at a Unix socket, one after the other: each brings a plan, or asks what this JVM is. */
final class Server {
    private static final long PATIENCE_MS = 2000;

    private final Options options;
    private final Assignment.Context idle =
            new Assignment.Context(Clock.start(), new Assignment.Manner(1, 0, false), new Deaf());

    Server(Options options) {
        this.options = options;
    }

    /**
     * Builds the company, then serves until the process is ended.
     *
     * @throws IOException if the socket cannot be made
     */
    void serve() throws IOException {
        Usage.countAsGenerator(Thread.currentThread());
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            Company company = new Company(options.size());
            List<Worker> workers = workers(company);
            Path socket = options.socket();
            listener.bind(UnixDomainSocketAddress.of(socket));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(socket)));
            System.out.println("loadstone-ssj: ready, " + workers.size() + " warehouses");
            while (true) {
                SocketChannel connection = listener.accept();
                try (Lines lines = new Lines(connection)) {
                    attend(lines, company, workers);
                } catch (IOException gone) {
                    // Whoever it was is not there any more; the next one may come.
                }
            }
        }
    }

    private static void remove(Path socket) {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException leftBehind) {
            System.err.println("loadstone-ssj: the socket is left behind");
        }
    }

    private List<Worker> workers(Company company) {
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < company.clerks().size(); i++) {
            Worker worker = new Worker(i, company.clerks().get(i), idle);
            worker.start();
            workers.add(worker);
        }
        return workers;
    }

    private void attend(Lines lines, Company company, List<Worker> workers) throws IOException {
        Clock clock = Clock.start();
        String first = lines.read();
        if (first == null) {
            return;
        }
        try {
            Object value = Json.read(first);
            if (value instanceof Map<?, ?> map && map.containsKey("ask")) {
                lines.write(Json.write(answer(new Fields("", value))));
                return;
            }
            Plan plan = PlanReader.read(value);
            PlanReader.fit(plan, workers.size());
            run(plan, clock, lines, company, workers);
        } catch (Json.SyntaxException problem) {
            lines.write(Json.write(Map.of("refused", ".: is no JSON: " + problem.getMessage())));
        } catch (RefusedException problem) {
            lines.write(Json.write(Map.of("refused", problem.getMessage())));
        }
    }

    private void run(Plan plan, Clock clock, Lines lines, Company company, List<Worker> workers) {
        Run run = new Run(plan, clock, company, workers, new Frames(lines));
        Thread control = new Thread(new Control(lines, run), "control");
        control.setDaemon(true);
        Usage.countAsGenerator(control);
        control.start();
        run.conduct();
        // Nothing of the run is held any longer, so that the heap is level from run to run.
        workers.forEach(worker -> worker.assign(Assignment.rest(0, idle)));
        await(control, lines);
    }

    /** Lets the other side read all and close first: who closes with lines unread breaks the connection off. */
    private static void await(Thread control, Lines lines) {
        try {
            lines.endOutput();
            control.join(PATIENCE_MS);
        } catch (IOException gone) {
            // It has closed.
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException("nobody interrupts the server", unexpected);
        }
    }

    private static Map<String, Object> answer(Fields question) throws RefusedException {
        question.text("ask", "jvm");
        List<String> flags = question.texts("flags");
        question.none();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("jvm", Jvm.description());
        answer.put("flags", Jvm.flags(flags));
        return answer;
    }

    /** Hears what workers tell when there is no run. */
    private static final class Deaf implements Assignment.Signals {
        @Override
        public void done(Assignment assignment) {}

        @Override
        public void drained(Assignment assignment, long drained, long discarded) {}

        @Override
        public void failed(Assignment assignment, int operation, String errorClass, String detail) {}
    }
}
