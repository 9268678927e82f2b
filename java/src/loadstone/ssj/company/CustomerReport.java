package loadstone.ssj.company;

import java.util.Comparator;
import java.util.List;

/** All that is known of a customer: its kept payments by amount, their mean, its last order, its balance. */
final class CustomerReport implements Transaction {
    private static final int BY_NAME_PERCENT = 60;
    private static final Comparator<Payment> BY_AMOUNT =
            Comparator.comparingLong(Payment::cents).reversed().thenComparing(Payment::memo);

    @Override
    public void execute(Warehouse warehouse, Screen screen) {
        Draws draws = warehouse.draws();
        District district = warehouse.district();
        Customer customer =
                draws.happens(BY_NAME_PERCENT) ? district.customerByName(draws) : district.customer(draws);
        screen.title("customer", warehouse, district).text(customer.first()).text(customer.last());
        screen.number(customer.number()).number(customer.deliveries()).newLine();
        List<Payment> payments = customer.keptPayments();
        payments.sort(BY_AMOUNT);
        long sum = 0;
        for (Payment payment : payments) {
            sum += payment.cents();
            screen.number(payment.number()).number(payment.paidAt());
            screen.text(payment.memo()).money(payment.cents()).newLine();
        }
        screen.money(sum).money(Money.mean(sum, payments.size())).newLine();
        Order order = customer.lastOrder();
        if (order != null) {
            screen.number(order.number()).number(order.lines().size()).money(order.cents()).newLine();
        }
        screen.money(customer.paidCents()).money(customer.balanceCents()).show();
    }
}
