package loadstone.ssj.company;

/** What a warehouse's clerk books while it works, beside the data: both must agree at the end. */
final class Ledger {
    private long ordersMade;
    private long ordersDelivered;
    private long orderedCents;
    private long deliveredCents;
    private long paymentsMade;
    private long paidCents;
    private long orderedUnits;
    private long restockedUnits;

    void ordered(long cents) {
        ordersMade++;
        orderedCents += cents;
    }

    void sold(int units, int restocked) {
        orderedUnits += units;
        restockedUnits += restocked;
    }

    void delivered(long cents) {
        ordersDelivered++;
        deliveredCents += cents;
    }

    void paid(long cents) {
        paymentsMade++;
        paidCents += cents;
    }

    long ordersMade() {
        return ordersMade;
    }

    long ordersDelivered() {
        return ordersDelivered;
    }

    long orderedCents() {
        return orderedCents;
    }

    long deliveredCents() {
        return deliveredCents;
    }

    long paymentsMade() {
        return paymentsMade;
    }

    long paidCents() {
        return paidCents;
    }

    long orderedUnits() {
        return orderedUnits;
    }

    long restockedUnits() {
        return restockedUnits;
    }
}
