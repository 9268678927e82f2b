package loadstone.ssj.company;

import java.util.List;

/**
 * A live order: one that is not delivered yet.
 *
 * @param number in its district
 * @param enteredAt milliseconds since 1970
 */
record Order(long number, District district, Customer customer, long enteredAt, List<OrderLine> lines) {
    /** What it is worth, computed from its lines: after discount and tax. */
    long cents() {
        long sum = 0;
        for (OrderLine line : lines) {
            sum += line.cents();
        }
        return Money.priced(sum, customer.discount(), district.tax());
    }
}
