package loadstone.ssj.company;

/**
 * What the company sells.
 *
 * @param data free text; an item with {@link #ORIGINAL} in it is a branded one
 */
record Item(int number, String name, long priceCents, String data) {
    static final String ORIGINAL = "original";

    boolean isBranded() {
        return data.contains(ORIGINAL);
    }
}
