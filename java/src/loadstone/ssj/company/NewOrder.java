package loadstone.ssj.company;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A customer orders five to fifteen items: they are taken from the stock, priced and confirmed. */
final class NewOrder implements Transaction {
    static final int FEWEST_LINES = 5;
    static final int MOST_LINES = 15;
    static final int MOST_UNITS = 10;

    @Override
    public void execute(Warehouse warehouse, Screen screen) {
        Draws draws = warehouse.draws();
        District district = warehouse.district();
        Customer customer = district.customer(draws);
        screen.title("new order", warehouse, district).text(customer.first()).text(customer.last()).newLine();
        int count = draws.between(FEWEST_LINES, MOST_LINES);
        List<OrderLine> lines = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            lines.add(line(warehouse, screen));
        }
        long now = System.currentTimeMillis();
        Order order = district.enter(customer, Collections.unmodifiableList(lines), now);
        warehouse.await(order);
        long cents = order.cents();
        warehouse.ledger().ordered(cents);
        screen.number(order.number()).number(now).number(customer.discount()).money(cents).show();
    }

    private static OrderLine line(Warehouse warehouse, Screen screen) {
        Item item = warehouse.item();
        Stock stock = warehouse.stock(item);
        int units = warehouse.draws().between(1, MOST_UNITS);
        warehouse.ledger().sold(units, stock.take(units));
        long cents = units * item.priceCents();
        screen.number(item.number()).text(item.name()).number(units).number(stock.units());
        screen.text(item.isBranded() ? "brand" : "own").money(item.priceCents()).money(cents).newLine();
        return new OrderLine(item, units, cents, stock.label());
    }
}
