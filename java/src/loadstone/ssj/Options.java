package loadstone.ssj;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import loadstone.ssj.company.Size;

/**
 * The command line of the server.
 *
 * @param socket path of the Unix socket that it makes
 * @param size of the company
 */
record Options(Path socket, Size size) {
    private static final Set<String> NAMES =
            Set.of("--socket", "--warehouses", "--seed", "--districts", "--customers", "--items", "--orders");

    /** A Unix socket's path has no more bytes. */
    private static final int LONGEST_PATH = 107;

    /**
     * Reads options, each a name and a value.
     *
     * @throws RefusedException if one is unknown, missing or makes no sense
     */
    static Options read(String[] words) throws RefusedException {
        Map<String, String> given = new HashMap<>();
        for (int i = 0; i < words.length; i += 2) {
            if (!NAMES.contains(words[i])) {
                throw new RefusedException("word " + (i + 1), "is no option of loadstone-ssj; see java/FACTS.md");
            }
            if (i + 1 == words.length) {
                throw new RefusedException(words[i], "has no value; write one behind it");
            }
            given.put(words[i], words[i + 1]);
        }
        if (!given.containsKey("--socket") || given.get("--socket").length() > LONGEST_PATH) {
            throw new RefusedException("--socket", "missing or longer than " + LONGEST_PATH + " letters; give a path");
        }
        Size size = new Size(
                whole(given, "--warehouses", 1, 1024, 0),
                whole(given, "--seed", 0, Integer.MAX_VALUE, 1),
                whole(given, "--districts", 1, 100, 10),
                whole(given, "--customers", 1, 100_000, 1000),
                whole(given, "--items", 1, 1_000_000, 10_000),
                whole(given, "--orders", 1, 100_000, 300));
        return new Options(Path.of(given.get("--socket")), size);
    }

    private static int whole(Map<String, String> given, String name, int least, int most, int missing)
            throws RefusedException {
        String text = given.getOrDefault(name, Integer.toString(missing));
        if (missing == 0 && !given.containsKey(name)) {
            throw new RefusedException(name, "missing; give a whole number from " + least + " to " + most);
        }
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException noNumber) {
            throw new RefusedException(name, "is no whole number; give one from " + least + " to " + most);
        }
        throw new RefusedException(name, text + " is not between " + least + " and " + most);
    }
}
