package loadstone.ssj.company;

/** The page that a transaction shows: text, built anew each time, of which only a digest is kept. */
final class Screen {
    private static final int WIDTH = 16;

    private final StringBuilder text = new StringBuilder(2048);
    private int digest;

    /** Begins a page. */
    Screen title(String title, Warehouse warehouse, District district) {
        text.setLength(0);
        return text(title).number(warehouse.number()).text(warehouse.address()).number(district.number()).newLine();
    }

    Screen text(String value) {
        text.append(value);
        for (int i = value.length(); i < WIDTH; i++) {
            text.append(' ');
        }
        return this;
    }

    Screen number(long value) {
        text.append(value).append(' ');
        return this;
    }

    /** Cents as units and hundredths. */
    Screen money(long cents) {
        long absolute = Math.abs(cents);
        text.append(cents < 0 ? "-" : "").append(absolute / 100).append('.');
        text.append((char) ('0' + absolute / 10 % 10)).append((char) ('0' + absolute % 10)).append(' ');
        return this;
    }

    Screen newLine() {
        text.append('\n');
        return this;
    }

    /** Ends a page: it is made a text, as for somebody who reads it. No compiler may leave that out. */
    void show() {
        digest = 31 * digest + text.toString().hashCode();
    }
}
