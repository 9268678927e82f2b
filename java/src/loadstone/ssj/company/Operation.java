package loadstone.ssj.company;

/** The transactions of the company, with their cards in a deck of 33 (the weights of SPECpower_ssj2008). */
public enum Operation {
    /** A customer orders five to fifteen items. */
    NEW_ORDER("new-order", 10),
    /** A customer pays. */
    PAYMENT("payment", 10),
    /** All that is known of a customer, as a page. */
    CUSTOMER_REPORT("customer-report", 10),
    /** What became of a customer's last order. */
    ORDER_STATUS("order-status", 1),
    /** The oldest orders of a warehouse are delivered, and deleted. */
    DELIVERY("delivery", 1),
    /** How many of the items ordered last are low in stock. */
    STOCK_LEVEL("stock-level", 1);

    /** Orders that one delivery takes. With the weights as they are, orders stay level. */
    public static final int ORDERS_OF_A_DELIVERY = 10;

    /** Operations of a batch, unless a plan says otherwise. */
    public static final int BATCH = 100;

    private final String label;
    private final int cards;

    Operation(String label, int cards) {
        this.label = label;
        this.cards = cards;
    }

    /** Its name in plans and frames. */
    public String label() {
        return label;
    }

    /** Its cards in a deck, unless a plan says otherwise. */
    public int cards() {
        return cards;
    }
}
