package loadstone.ssj;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The fields of an object of a plan: each is looked at when it is taken, and none may be left. */
final class Fields {
    private static final double LARGEST_WHOLE = 1L << 53;

    private final String path;
    private final Map<?, ?> values;
    private final Set<String> taken = new HashSet<>();

    /** The object {@code value}, which the plan has at {@code path}. */
    Fields(String path, Object value) throws RefusedException {
        this.path = path;
        if (!(value instanceof Map<?, ?> map)) {
            throw new RefusedException(path.isEmpty() ? "." : path, "is no object");
        }
        values = map;
    }

    /** The path of a field in the plan. */
    String path(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** Whether a field was given, and not as null. */
    boolean has(String name) {
        taken.add(name);
        return values.get(name) != null;
    }

    /** A number from {@code least} to {@code most}. */
    double number(String name, double least, double most) throws RefusedException {
        if (!has(name)) {
            throw refused(name, "missing; give a number");
        }
        if (!(values.get(name) instanceof Double number)) {
            throw refused(name, "is no number");
        }
        if (!(number >= least && number <= most)) {
            throw refused(name, plain(number) + " is not between " + plain(least) + " and " + plain(most));
        }
        return number;
    }

    /** As {@link #number(String, double, double)}, or {@code missing} if it was not given. */
    double number(String name, double least, double most, double missing) throws RefusedException {
        return has(name) ? number(name, least, most) : missing;
    }

    /** A whole number from {@code least} to {@code most}. */
    long whole(String name, double least, double most) throws RefusedException {
        double number = number(name, least, most);
        if (number != Math.rint(number)) {
            throw refused(name, plain(number) + " is no whole number");
        }
        return (long) number;
    }

    /** As {@link #whole(String, double, double)}, or {@code missing} if it was not given. */
    long whole(String name, double least, double most, long missing) throws RefusedException {
        return has(name) ? whole(name, least, most) : missing;
    }

    /** A text, one of {@code choices} if there are any; the first of them if it was not given. */
    String text(String name, String... choices) throws RefusedException {
        if (!has(name) && choices.length > 0) {
            return choices[0];
        }
        if (!(values.get(name) instanceof String text)) {
            throw refused(name, has(name) ? "is no text" : "missing; give a text");
        }
        if (choices.length > 0 && !List.of(choices).contains(text)) {
            throw refused(name, "is none of " + String.join(", ", choices));
        }
        return text;
    }

    /** True or false; false if it was not given. */
    boolean flag(String name) throws RefusedException {
        if (!has(name)) {
            return false;
        }
        if (!(values.get(name) instanceof Boolean flag)) {
            throw refused(name, "is neither true nor false");
        }
        return flag;
    }

    /** An object below this one. */
    Fields object(String name) throws RefusedException {
        if (!has(name)) {
            throw refused(name, "missing; give an object");
        }
        return new Fields(path(name), values.get(name));
    }

    /** The objects of a list. */
    List<Fields> objects(String name) throws RefusedException {
        if (!has(name) || !(values.get(name) instanceof List<?> all)) {
            throw refused(name, has(name) ? "is no list" : "missing; give a list");
        }
        List<Fields> found = new ArrayList<>();
        for (Object each : all) {
            found.add(new Fields(path(name) + "[" + found.size() + "]", each));
        }
        return found;
    }

    /** The texts of a list; none if it was not given. */
    List<String> texts(String name) throws RefusedException {
        List<String> found = new ArrayList<>();
        if (!has(name)) {
            return found;
        }
        if (!(values.get(name) instanceof List<?> all)) {
            throw refused(name, "is no list");
        }
        for (Object each : all) {
            if (!(each instanceof String text)) {
                throw refused(name, "has something in it that is no text");
            }
            found.add(text);
        }
        return found;
    }

    /** Takes a field without a look. */
    void ignore(String name) {
        taken.add(name);
    }

    /** Refuses fields that were not taken. */
    void none() throws RefusedException {
        for (Object name : values.keySet()) {
            if (!taken.contains(name)) {
                throw refused(name.toString(), "is an unknown field");
            }
        }
    }

    /** What is to be thrown because of a field. */
    RefusedException refused(String name, String problem) {
        return new RefusedException(path(name), problem);
    }

    private static String plain(double number) {
        boolean whole = number == Math.rint(number) && Math.abs(number) < LARGEST_WHOLE;
        return whole ? Long.toString((long) number) : Double.toString(number);
    }
}
