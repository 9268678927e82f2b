package loadstone.ssj.company;

/** A customer pays: warehouse, district and customer book it, and a receipt is written. */
final class MakePayment implements Transaction {
    private static final int BY_NAME_PERCENT = 60;
    private static final int LEAST_CENTS = 100;
    private static final int MOST_CENTS = 500_000;

    @Override
    public void execute(Warehouse warehouse, Screen screen) {
        Draws draws = warehouse.draws();
        District district = warehouse.district();
        Customer customer =
                draws.happens(BY_NAME_PERCENT) ? district.customerByName(draws) : district.customer(draws);
        long cents = draws.between(LEAST_CENTS, MOST_CENTS);
        long now = System.currentTimeMillis();
        warehouse.paid(cents);
        district.paid(cents);
        warehouse.ledger().paid(cents);
        long number = warehouse.ledger().paymentsMade();
        String memo = "w" + warehouse.number() + " d" + district.number() + " n" + number;
        customer.pay(new Payment(number, cents, now, memo));
        customer.misbook(warehouse.takeMisbookedCents());
        screen.title("receipt", warehouse, district).text(customer.first()).text(customer.last()).text(memo);
        screen.number(now).money(cents).money(customer.balanceCents()).newLine();
        if (customer.hasBadCredit()) {
            screen.text(customer.data()).newLine();
        }
        screen.show();
    }
}
