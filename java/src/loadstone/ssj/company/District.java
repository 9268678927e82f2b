package loadstone.ssj.company;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A district of a warehouse, with its customers and live orders. */
final class District {
    private final int number;
    private final int tax;
    private final List<Customer> customers = new ArrayList<>();
    private final Map<String, List<Customer>> byName = new TreeMap<>();
    private final TreeMap<Long, Order> orders = new TreeMap<>();
    private long lastNumber;
    private long numberAtBegin;
    private long paidCents;

    /** A district whose tax, with that of its warehouse, is {@code tax} ten-thousandths. */
    District(int number, int tax) {
        this.number = number;
        this.tax = tax;
    }

    void settle(Customer customer) {
        customers.add(customer);
        byName.computeIfAbsent(customer.last(), name -> new ArrayList<>(1)).add(customer);
    }

    /** Ends the building: numbers that are given from now on are counted. */
    void open() {
        numberAtBegin = lastNumber;
    }

    /** Enters an order, which gets the next number. */
    Order enter(Customer customer, List<OrderLine> lines, long now) {
        Order order = new Order(++lastNumber, this, customer, now, lines);
        orders.put(order.number(), order);
        customer.ordered(order);
        return order;
    }

    /** Deletes an order. */
    void delete(Order order) {
        orders.remove(order.number());
    }

    /** The newest orders, the newest first. */
    List<Order> newest(int most) {
        List<Order> found = new ArrayList<>(most);
        for (Order order : orders.descendingMap().values()) {
            if (found.size() == most) {
                break;
            }
            found.add(order);
        }
        return found;
    }

    void paid(long cents) {
        paidCents += cents;
    }

    /** A customer that is looked up by number. */
    Customer customer(Draws draws) {
        return customers.get(draws.skewed(customers.size()));
    }

    /** A customer that is looked up by name: the middle one of those that have it. */
    Customer customerByName(Draws draws) {
        int names = Math.min(Draws.NAMES, customers.size());
        List<Customer> found = byName.get(Draws.lastName(draws.skewed(names)));
        return found.get(found.size() / 2);
    }

    int number() {
        return number;
    }

    int tax() {
        return tax;
    }

    Collection<Customer> customers() {
        return customers;
    }

    Collection<Order> orders() {
        return orders.values();
    }

    long paidCents() {
        return paidCents;
    }

    /** Numbers given since it was opened. */
    long numbersGiven() {
        return lastNumber - numberAtBegin;
    }
}
