package loadstone.ssj.company;

/** What a warehouse has of an item. */
final class Stock {
    /** A stock that would fall below it is filled up first. */
    private static final int LEAST = 10;

    /** Units of a delivery from the maker. */
    static final int REFILL = 91;

    private final Item item;
    private final String label;
    private int units;
    private long soldUnits;

    Stock(Item item, String label, int units) {
        this.item = item;
        this.label = label;
        this.units = units;
    }

    /** Takes {@code wanted} units out; returns how many came in for that. */
    int take(int wanted) {
        int refill = units - wanted < LEAST ? REFILL : 0;
        units += refill - wanted;
        soldUnits += wanted;
        return refill;
    }

    Item item() {
        return item;
    }

    /** What is printed on the parcels. */
    String label() {
        return label;
    }

    int units() {
        return units;
    }

    long soldUnits() {
        return soldUnits;
    }
}
