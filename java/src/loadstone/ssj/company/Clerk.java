package loadstone.ssj.company;

import java.util.List;

/** Makes the transactions of one warehouse, one after the other, as a deck has them. For one thread. */
public final class Clerk {
    private final Warehouse warehouse;
    private final Screen screen = new Screen();
    private final Transaction[] transactions = new Transaction[Operation.values().length];
    private Deck deck;

    Clerk(Warehouse warehouse) {
        this.warehouse = warehouse;
        transactions[Operation.NEW_ORDER.ordinal()] = new NewOrder();
        transactions[Operation.PAYMENT.ordinal()] = new MakePayment();
        transactions[Operation.CUSTOMER_REPORT.ordinal()] = new CustomerReport();
        transactions[Operation.ORDER_STATUS.ordinal()] = new OrderStatus();
        transactions[Operation.DELIVERY.ordinal()] = new Delivery();
        transactions[Operation.STOCK_LEVEL.ordinal()] = new StockLevel();
    }

    /**
     * Takes a deck with so many cards of each operation. A deck like the one it has goes on where that is, so
     * that as many orders are delivered as are made. To be called while its thread rests.
     */
    public void shuffle(List<Integer> mix) {
        if (deck == null || !deck.mix().equals(mix)) {
            deck = new Deck(mix, warehouse.draws());
        }
    }

    /** The operation that comes next, by its ordinal. */
    public int choose() {
        return deck.deal();
    }

    /** Makes an operation, by its ordinal. */
    public void make(int operation) {
        transactions[operation].execute(warehouse, screen);
    }
}
