package loadstone.ssj;

import java.io.IOException;

/** Reads control lines on a thread of its own, and hands what they ask for to the run. */
final class Control implements Runnable {
    private static final double MOST = 1e9;
    private static final double MOST_USERS = 1e6;

    private final Lines lines;
    private final Run run;

    Control(Lines lines, Run run) {
        this.lines = lines;
        this.run = run;
    }

    @Override
    public void run() {
        try {
            String line = lines.read();
            while (line != null) {
                if (!line.isBlank()) {
                    obey(line);
                }
                line = lines.read();
            }
        } catch (IOException gone) {
            // Nobody is there to be told.
        } finally {
            run.post(() -> run.stop("the control lines ended"));
            Usage.generatorEnds();
        }
    }

    private void obey(String line) {
        try {
            Fields control = new Fields("", Json.read(line));
            Runnable wish = wish(control);
            control.none();
            run.post(wish);
        } catch (Json.SyntaxException | RefusedException problem) {
            run.post(() -> run.refuse(problem.getMessage()));
        }
    }

    private Runnable wish(Fields control) throws RefusedException {
        if (!control.has("control")) {
            throw control.refused("control", "missing; write stop, begin, rate or users");
        }
        switch (control.text("control", "stop", "begin", "rate", "users")) {
            case "begin":
                double monotonicS = control.number("monotonic_s", 0, MOST);
                return () -> run.tellBegin(monotonicS);
            case "rate":
                double ratePerS = control.number("rate_per_s", 0, MOST);
                return () -> run.setRate(ratePerS);
            case "users":
                int users = (int) control.whole("users", 0, MOST_USERS);
                return () -> run.setUsers(users);
            default:
                return () -> run.stop("asked to");
        }
    }
}
