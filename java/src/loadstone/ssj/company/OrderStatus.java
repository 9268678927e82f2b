package loadstone.ssj.company;

/** What became of a customer's last order: its lines, or that nothing is open. */
final class OrderStatus implements Transaction {
    @Override
    public void execute(Warehouse warehouse, Screen screen) {
        Draws draws = warehouse.draws();
        District district = warehouse.district();
        Customer customer = district.customerByName(draws);
        screen.title("order status", warehouse, district).text(customer.first()).text(customer.last());
        Order order = customer.lastOrder();
        if (order == null) {
            screen.text("nothing is open").number(customer.deliveries()).show();
            return;
        }
        screen.number(order.number()).number(order.enteredAt()).newLine();
        for (OrderLine line : order.lines()) {
            screen.number(line.item().number()).text(line.item().name()).number(line.units());
            screen.text(line.label()).money(line.cents()).newLine();
        }
        screen.money(order.cents()).show();
    }
}
