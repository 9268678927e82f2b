package loadstone.ssj.company;

/**
 * Sums over the data of a warehouse, all of which are looked at.
 *
 * @param orders in the districts
 * @param ordersWaiting in the line for delivery
 * @param orderNumbers given by districts since they were opened
 * @param ordersCents value of the live orders, from their lines
 * @param warehousePaidCents as the warehouse has it, since it was built; likewise the next two
 * @param customerPayments payments that customers made since then
 * @param balanceCents of all customers
 * @param stockUnits in stock
 * @param soldUnits since it was built
 * @param records objects: customers, stocks, orders, lines, kept payments
 */
record Totals(
        long orders,
        long ordersWaiting,
        long orderNumbers,
        long ordersCents,
        long warehousePaidCents,
        long districtPaidCents,
        long customerPaidCents,
        long customerPayments,
        long balanceCents,
        long stockUnits,
        long soldUnits,
        long records) {

    /** Walks the data; the worker of the warehouse must rest. */
    static Totals of(Warehouse warehouse) {
        Walk walk = new Walk();
        for (District district : warehouse.districts()) {
            walk.district(district);
        }
        for (Stock stock : warehouse.stocks()) {
            walk.stock(stock);
        }
        return new Totals(
                walk.orders,
                warehouse.waiting(),
                walk.orderNumbers,
                walk.ordersCents,
                warehouse.paidCents(),
                walk.districtPaidCents,
                walk.customerPaidCents,
                walk.customerPayments,
                walk.balanceCents,
                walk.stockUnits,
                walk.soldUnits,
                walk.records);
    }

    /** Sums on the way. */
    private static final class Walk {
        private long orders;
        private long orderNumbers;
        private long ordersCents;
        private long districtPaidCents;
        private long customerPaidCents;
        private long customerPayments;
        private long balanceCents;
        private long stockUnits;
        private long soldUnits;
        private long records;

        void district(District district) {
            orderNumbers += district.numbersGiven();
            districtPaidCents += district.paidCents();
            for (Customer customer : district.customers()) {
                customerPaidCents += customer.paidCents();
                customerPayments += customer.paymentsMade();
                balanceCents += customer.balanceCents();
                records += 1 + customer.keptPayments().size();
            }
            for (Order order : district.orders()) {
                orders++;
                ordersCents += order.cents();
                records += 1 + order.lines().size();
            }
        }

        void stock(Stock stock) {
            stockUnits += stock.units();
            soldUnits += stock.soldUnits();
            records++;
        }
    }
}
