package loadstone.ssj;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** The program {@code loadstone-ssj}: a company in memory, and the load on it. */
public final class Main {
    /** Version of the program. */
    static final String VERSION = "0.1.0";

    private static final int REFUSED = 2;
    private static final int FAILED = 1;

    private Main() {}

    /** Serves, or answers what the first word asks for. */
    public static void main(String[] words) {
        String first = words.length == 0 ? "" : words[0];
        try {
            if (first.equals("--version")) {
                System.out.println("loadstone-ssj " + VERSION + " (protocol " + PlanReader.PROTOCOL_VERSION + ")");
            } else if (first.equals("check")) {
                check();
            } else {
                Options options = Options.read(words);
                new Server(options).serve();
            }
        } catch (RefusedException problem) {
            end(problem.getMessage(), REFUSED);
        } catch (IOException problem) {
            end("it failed: " + problem.getMessage(), FAILED);
        }
    }

    /** Looks at the plan on standard input, and begins nothing. */
    private static void check() throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            String line = input.readLine();
            PlanReader.read(Json.read(line == null ? "" : line));
        } catch (Json.SyntaxException problem) {
            end("plan refused: .: is no JSON: " + problem.getMessage(), REFUSED);
        } catch (RefusedException problem) {
            end("plan refused: " + problem.getMessage(), REFUSED);
        }
    }

    private static void end(String problem, int code) {
        System.err.println("loadstone-ssj: " + problem);
        System.exit(code);
    }
}
