package loadstone.ssj;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON (RFC 8259), read into maps, lists, strings, doubles, booleans and null, and written from them.
 *
 * <p>The JDK has none, and what a plan and its frames need is small.
 */
final class Json {
    private static final int DEEPEST = 100;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** A text that is not JSON. */
    static final class SyntaxException extends Exception {
        private static final long serialVersionUID = 1L;

        SyntaxException(String message) {
            super(message);
        }
    }

    /**
     * Reads one value and nothing behind it.
     *
     * @throws SyntaxException if the text is anything else; the message says where, and quotes nothing
     */
    static Object read(String text) throws SyntaxException {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.skipBlanks();
        if (reader.at < text.length()) {
            throw reader.wrong("something follows the value");
        }
        return value;
    }

    /** Writes a value: maps with texts as keys, iterables, texts, numbers, booleans and null. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(separator);
                quote(entry.getKey().toString(), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable<?> all) {
            out.append('[');
            String separator = "";
            for (Object each : all) {
                out.append(separator);
                write(each, out);
                separator = ",";
            }
            out.append(']');
        } else if (value instanceof String string) {
            quote(string, out);
        } else {
            out.append(value);
        }
    }

    private static void quote(String string, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private Object value() throws SyntaxException {
        skipBlanks();
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() throws SyntaxException {
        Map<String, Object> found = new LinkedHashMap<>();
        descend();
        skipBlanks();
        if (peek() == '}') {
            return ascend(found);
        }
        while (true) {
            skipBlanks();
            if (peek() != '"') {
                throw wrong("a name is missing");
            }
            String name = string();
            skipBlanks();
            expect(':');
            if (found.put(name, value()) != null) {
                throw wrong("a name comes twice");
            }
            skipBlanks();
            if (peek() == '}') {
                return ascend(found);
            }
            expect(',');
        }
    }

    private List<Object> array() throws SyntaxException {
        List<Object> found = new ArrayList<>();
        descend();
        skipBlanks();
        if (peek() == ']') {
            return ascend(found);
        }
        while (true) {
            found.add(value());
            skipBlanks();
            if (peek() == ']') {
                return ascend(found);
            }
            expect(',');
        }
    }

    private void descend() throws SyntaxException {
        at++;
        if (++depth > DEEPEST) {
            throw wrong("it is nested too deeply");
        }
    }

    private <T> T ascend(T found) {
        at++;
        depth--;
        return found;
    }

    private String string() throws SyntaxException {
        StringBuilder found = new StringBuilder();
        at++;
        while (true) {
            char c = peek();
            at++;
            if (c == '"') {
                return found.toString();
            }
            if (c < ' ') {
                throw wrong("a text is not closed");
            }
            found.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() throws SyntaxException {
        char c = peek();
        at++;
        switch (c) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return codeUnit();
            case '"', '\\', '/':
                return c;
            default:
                throw wrong("an escape is unknown");
        }
    }

    private char codeUnit() throws SyntaxException {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0) {
                throw wrong("an escape is unknown");
            }
            unit = unit * 16 + digit;
            at++;
        }
        return (char) unit;
    }

    private Object word(String word, Object value) throws SyntaxException {
        if (!text.startsWith(word, at)) {
            throw wrong("a value is missing");
        }
        at += word.length();
        return value;
    }

    private Double number() throws SyntaxException {
        int begin = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(begin, at);
        if (!digits.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
            throw wrong("a value is missing");
        }
        return Double.valueOf(digits);
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() throws SyntaxException {
        if (at >= text.length()) {
            throw wrong("it ends too early");
        }
        return text.charAt(at);
    }

    private void expect(char wanted) throws SyntaxException {
        if (peek() != wanted) {
            throw wrong("'" + wanted + "' is missing");
        }
        at++;
    }

    private SyntaxException wrong(String what) {
        return new SyntaxException(what + " (character " + (at + 1) + ")");
    }
}
