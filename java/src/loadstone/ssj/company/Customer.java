package loadstone.ssj.company;

import java.util.ArrayList;
import java.util.List;

/** A customer of a district. Its last payments are kept, always as many. */
final class Customer {
    /** Payments that are kept of each. */
    static final int KEPT_PAYMENTS = 10;

    /** Letters of the data of a customer with bad credit. */
    static final int DATA_LETTERS = 250;

    private final int number;
    private final String first;
    private final String last;
    private final boolean badCredit;
    private final int discount;
    private final Payment[] payments = new Payment[KEPT_PAYMENTS];
    private int nextPayment;
    private long paymentsMade;
    private long paidCents;
    private long balanceCents;
    private int deliveries;
    private String data;
    private Order lastOrder;

    Customer(int number, String last, Draws draws, long builtAt) {
        this.number = number;
        this.last = last;
        first = draws.letters(6, 12);
        badCredit = draws.happens(10);
        discount = draws.between(0, 5000);
        balanceCents = draws.between(0, 100_000);
        data = badCredit ? draws.letters(DATA_LETTERS, DATA_LETTERS) : "";
        for (int i = 0; i < KEPT_PAYMENTS; i++) {
            payments[i] = new Payment(0, draws.between(100, 5000), builtAt, draws.letters(16, 24));
        }
    }

    /** Books a payment; it takes the place of the oldest that is kept. */
    void pay(Payment payment) {
        paidCents += payment.cents();
        balanceCents -= payment.cents();
        paymentsMade++;
        payments[nextPayment] = payment;
        nextPayment = (nextPayment + 1) % KEPT_PAYMENTS;
        if (badCredit) {
            data = payment.memo().concat(data).substring(0, DATA_LETTERS);
        }
    }

    /** Books what came with a delivery, which is to be paid. */
    void receive(Order order, long cents) {
        balanceCents += cents;
        deliveries++;
        if (lastOrder == order) {
            lastOrder = null;
        }
    }

    /** Adds to the balance what nobody paid or got: a planted fault. */
    void misbook(long cents) {
        balanceCents += cents;
    }

    void ordered(Order order) {
        lastOrder = order;
    }

    /** The payments that are kept, the newest first. */
    List<Payment> keptPayments() {
        List<Payment> kept = new ArrayList<>(KEPT_PAYMENTS);
        for (int i = 1; i <= KEPT_PAYMENTS; i++) {
            kept.add(payments[(nextPayment + KEPT_PAYMENTS - i) % KEPT_PAYMENTS]);
        }
        return kept;
    }

    int number() {
        return number;
    }

    String first() {
        return first;
    }

    String last() {
        return last;
    }

    boolean hasBadCredit() {
        return badCredit;
    }

    /** Ten-thousandths. */
    int discount() {
        return discount;
    }

    long paymentsMade() {
        return paymentsMade;
    }

    long paidCents() {
        return paidCents;
    }

    long balanceCents() {
        return balanceCents;
    }

    int deliveries() {
        return deliveries;
    }

    String data() {
        return data;
    }

    /** The last order, if it is live; null if not. */
    Order lastOrder() {
        return lastOrder;
    }
}
