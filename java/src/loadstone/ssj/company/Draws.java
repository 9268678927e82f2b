package loadstone.ssj.company;

import java.util.SplittableRandom;

/** Random choices of one warehouse, reproducible by its seed. */
final class Draws {
    private static final String[] SYLLABLES = {
        "an", "bel", "cor", "dan", "el", "far", "gil", "hol", "ing", "jor"
    };
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz";

    /** Last names there are. */
    static final int NAMES = 1000;

    private final SplittableRandom random;

    Draws(long seed) {
        random = new SplittableRandom(seed);
    }

    /** A whole number from {@code least} to {@code most}, each as likely. */
    int between(int least, int most) {
        return random.nextInt(least, most + 1);
    }

    /** Whether something happens that does so in {@code percent} of all cases. */
    boolean happens(int percent) {
        return random.nextInt(100) < percent;
    }

    /**
     * A whole number from 0 to {@code below} - 1, some of them far more often than others: two draws
     * joined by a bitwise or, as the non-uniform draw of TPC-C has it (clause 2.1.6).
     */
    int skewed(int below) {
        int mask = Integer.highestOneBit(Math.max(1, below / 3)) * 2 - 1;
        return ((random.nextInt() & mask) | random.nextInt(below)) % below;
    }

    /** Small letters, from {@code least} to {@code most} of them. */
    String letters(int least, int most) {
        char[] found = new char[between(least, most)];
        for (int i = 0; i < found.length; i++) {
            found[i] = LETTERS.charAt(random.nextInt(LETTERS.length()));
        }
        return new String(found);
    }

    /** The last name of number 0 to {@link #NAMES} - 1. */
    static String lastName(int number) {
        return SYLLABLES[number / 100] + SYLLABLES[number / 10 % 10] + SYLLABLES[number % 10];
    }
}
