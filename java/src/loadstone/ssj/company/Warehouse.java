package loadstone.ssj.company;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A warehouse with all that belongs to it. Its own worker alone touches it while the load runs, so nothing
 * is locked; others may look when the worker rests.
 */
final class Warehouse {
    private static final int ADDRESS_LETTERS = 20;

    private final int number;
    private final String address;
    private final List<Item> catalogue;
    private final Map<Integer, Stock> stocks = new HashMap<>();
    private final List<District> districts = new ArrayList<>();
    private final Deque<Order> waiting = new ArrayDeque<>();
    private final Ledger ledger = new Ledger();
    private final Draws draws;
    private final Totals begin;
    private volatile long ordersLive;
    private long paidCents;
    private long misbookedCents;

    /** Builds warehouse {@code number} of the size that {@code size} says. */
    Warehouse(int number, List<Item> catalogue, Size size) {
        this.number = number;
        this.catalogue = catalogue;
        draws = new Draws(size.seed() * 31_415_926_535L + number);
        address = draws.letters(ADDRESS_LETTERS, ADDRESS_LETTERS);
        for (Item item : catalogue) {
            String label = "w" + number + ' ' + draws.letters(18, 18);
            stocks.put(item.number(), new Stock(item, label, draws.between(10, 100)));
        }
        int tax = draws.between(0, 1000);
        long now = System.currentTimeMillis();
        for (int i = 1; i <= size.districts(); i++) {
            districts.add(build(new District(i, tax + draws.between(0, 1000)), size, now));
        }
        fillWithOrders(size, now);
        for (District district : districts) {
            district.open();
        }
        begin = Totals.of(this);
    }

    private District build(District district, Size size, long now) {
        for (int i = 0; i < size.customers(); i++) {
            district.settle(new Customer(i + 1, Draws.lastName(i % Draws.NAMES), draws, now));
        }
        return district;
    }

    /** The orders that are live at the begin: they took nothing from the stocks. */
    private void fillWithOrders(Size size, long now) {
        for (int i = 0; i < size.orders(); i++) {
            for (District district : districts) {
                List<OrderLine> lines = new ArrayList<>();
                int count = draws.between(NewOrder.FEWEST_LINES, NewOrder.MOST_LINES);
                for (int line = 0; line < count; line++) {
                    Item item = item();
                    int units = draws.between(1, NewOrder.MOST_UNITS);
                    lines.add(new OrderLine(item, units, units * item.priceCents(), stock(item).label()));
                }
                await(district.enter(district.customer(draws), List.copyOf(lines), now));
            }
        }
    }

    /** A district, each as likely. */
    District district() {
        return districts.get(draws.between(0, districts.size() - 1));
    }

    /** An item, some far more often than others. */
    Item item() {
        return catalogue.get(draws.skewed(catalogue.size()));
    }

    Stock stock(Item item) {
        return stocks.get(item.number());
    }

    /** Puts an order at the end of the line for delivery. */
    void await(Order order) {
        waiting.addLast(order);
        ordersLive = waiting.size();
    }

    /** The order that waits longest, which leaves the line; null if none does. */
    Order nextToDeliver() {
        Order order = waiting.pollFirst();
        ordersLive = waiting.size();
        return order;
    }

    void paid(long cents) {
        paidCents += cents;
    }

    /** Plants a fault: the next payment books a cent too many. To be called while the worker rests. */
    void plantWrongCent() {
        misbookedCents = 1;
    }

    /** What the next payment is to book too many; only once. */
    long takeMisbookedCents() {
        long cents = misbookedCents;
        misbookedCents = 0;
        return cents;
    }

    int number() {
        return number;
    }

    String address() {
        return address;
    }

    Iterable<Stock> stocks() {
        return stocks.values();
    }

    List<District> districts() {
        return districts;
    }

    int waiting() {
        return waiting.size();
    }

    /** Live orders, as any thread may ask at any time. */
    long ordersLive() {
        return ordersLive;
    }

    long paidCents() {
        return paidCents;
    }

    Ledger ledger() {
        return ledger;
    }

    Draws draws() {
        return draws;
    }

    /** Its data as they were when it was built. */
    Totals begin() {
        return begin;
    }
}
