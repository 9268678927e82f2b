package loadstone.ssj.company;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/** A wholesale company in memory: warehouses that have nothing in common but the catalogue. */
public final class Company {
    private static final long CATALOGUE_SEED = 271_828_182_845L;
    private static final int BRANDED_PERCENT = 10;

    private final List<Warehouse> warehouses;
    private final List<Clerk> clerks = new ArrayList<>();

    /** Builds a company; warehouses are built side by side. */
    public Company(Size size) {
        List<Item> catalogue = catalogue(size);
        warehouses = IntStream.rangeClosed(1, size.warehouses())
                .parallel()
                .mapToObj(number -> new Warehouse(number, catalogue, size))
                .toList();
        for (Warehouse warehouse : warehouses) {
            clerks.add(new Clerk(warehouse));
        }
    }

    private static List<Item> catalogue(Size size) {
        Draws draws = new Draws(size.seed() + CATALOGUE_SEED);
        List<Item> items = new ArrayList<>();
        for (int number = 1; number <= size.items(); number++) {
            String data = draws.letters(26, 50);
            items.add(new Item(
                    number,
                    draws.letters(14, 24),
                    draws.between(100, 10_000),
                    draws.happens(BRANDED_PERCENT) ? data + Item.ORIGINAL : data));
        }
        return List.copyOf(items);
    }

    /** Who makes the transactions, one for each warehouse. */
    public List<Clerk> clerks() {
        return clerks;
    }

    /** Plants a fault: the next payment at the first warehouse books a cent too many. */
    public void plantWrongCent() {
        warehouses.get(0).plantWrongCent();
    }

    /** Live orders, as any thread may ask at any time. */
    public long ordersLive() {
        return sum(Warehouse::ordersLive);
    }

    /** Orders that were made since it was built. All workers must rest, as for the next ones. */
    public long ordersMade() {
        return sum(warehouse -> warehouse.ledger().ordersMade());
    }

    /** Payments that were made since it was built. */
    public long paymentsMade() {
        return sum(warehouse -> warehouse.ledger().paymentsMade());
    }

    /** The figures by which the books and the data can be compared, by name; java/FACTS.md has their meaning. */
    public Map<String, Long> audit() {
        List<Totals> all = warehouses.stream().map(Totals::of).toList();
        Map<String, Long> found = new LinkedHashMap<>();
        found.put("warehouses", (long) warehouses.size());
        begin(found);
        booked(found);
        found.put("orders_live", sum(all, Totals::orders));
        found.put("orders_waiting", sum(all, Totals::ordersWaiting));
        found.put("order_numbers", sum(all, Totals::orderNumbers));
        found.put("orders_live_cents", sum(all, Totals::ordersCents));
        found.put("warehouse_paid_cents", sum(all, Totals::warehousePaidCents));
        found.put("district_paid_cents", sum(all, Totals::districtPaidCents));
        found.put("customer_paid_cents", sum(all, Totals::customerPaidCents));
        found.put("customer_payments", sum(all, Totals::customerPayments));
        found.put("balance_cents", sum(all, Totals::balanceCents));
        found.put("stock_units", sum(all, Totals::stockUnits));
        found.put("stock_sold_units", sum(all, Totals::soldUnits));
        found.put("records_live", sum(all, Totals::records));
        return found;
    }

    private void begin(Map<String, Long> found) {
        List<Totals> begin = warehouses.stream().map(Warehouse::begin).toList();
        found.put("orders_begin", sum(begin, Totals::orders));
        found.put("orders_begin_cents", sum(begin, Totals::ordersCents));
        found.put("balance_begin_cents", sum(begin, Totals::balanceCents));
        found.put("stock_begin_units", sum(begin, Totals::stockUnits));
        found.put("records_begin", sum(begin, Totals::records));
    }

    private void booked(Map<String, Long> found) {
        List<Ledger> ledgers = warehouses.stream().map(Warehouse::ledger).toList();
        found.put("orders_made", sum(ledgers, Ledger::ordersMade));
        found.put("orders_delivered", sum(ledgers, Ledger::ordersDelivered));
        found.put("ordered_cents", sum(ledgers, Ledger::orderedCents));
        found.put("delivered_cents", sum(ledgers, Ledger::deliveredCents));
        found.put("payments_made", sum(ledgers, Ledger::paymentsMade));
        found.put("paid_cents", sum(ledgers, Ledger::paidCents));
        found.put("ordered_units", sum(ledgers, Ledger::orderedUnits));
        found.put("restocked_units", sum(ledgers, Ledger::restockedUnits));
    }

    private long sum(ToLongFunction<Warehouse> figure) {
        return sum(warehouses, figure);
    }

    private static <T> long sum(List<T> all, ToLongFunction<T> figure) {
        return all.stream().mapToLong(figure).sum();
    }
}
