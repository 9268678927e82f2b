package loadstone.ssj;

import java.util.Objects;

/** Runs named tests, and says which failed. */
public final class Checks {
    private int made;
    private int failed;

    /** A test; it fails by whatever it throws. */
    public interface Test {
        /** Runs it. */
        void run() throws Exception;
    }

    /** Runs a test. */
    public void test(String name, Test test) {
        made++;
        try {
            test.run();
        } catch (Exception | AssertionError problem) {
            failed++;
            System.out.println("failed: " + name + ": " + problem);
        }
    }

    /** Fails unless both are equal. */
    public static void equal(Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }

    /** Fails unless it holds. */
    public static void holds(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    /** Says how many passed; returns the exit code. */
    public int end() {
        System.out.println(made - failed + " of " + made + " tests passed");
        return failed == 0 ? 0 : 1;
    }
}
