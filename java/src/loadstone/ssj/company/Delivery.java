package loadstone.ssj.company;

/** The oldest orders of a warehouse are delivered: their customers owe the price, and they are deleted. */
final class Delivery implements Transaction {
    @Override
    public void execute(Warehouse warehouse, Screen screen) {
        screen.title("delivery", warehouse, warehouse.district());
        for (int i = 0; i < Operation.ORDERS_OF_A_DELIVERY; i++) {
            Order order = warehouse.nextToDeliver();
            if (order == null) {
                break;
            }
            long cents = order.cents();
            order.customer().receive(order, cents);
            order.district().delete(order);
            warehouse.ledger().delivered(cents);
            screen.number(order.district().number()).number(order.number());
            screen.text(order.customer().last()).money(cents).newLine();
        }
        screen.show();
    }
}
