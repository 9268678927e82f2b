package loadstone.ssj.company;

import java.util.Map;
import java.util.TreeMap;

/** How many of the items that a district ordered last are low in stock. */
final class StockLevel implements Transaction {
    private static final int ORDERS = 20;
    private static final int LEAST_THRESHOLD = 10;
    private static final int MOST_THRESHOLD = 20;

    @Override
    public void execute(Warehouse warehouse, Screen screen) {
        District district = warehouse.district();
        int threshold = warehouse.draws().between(LEAST_THRESHOLD, MOST_THRESHOLD);
        Map<Integer, Stock> ordered = new TreeMap<>();
        for (Order order : district.newest(ORDERS)) {
            for (OrderLine line : order.lines()) {
                ordered.computeIfAbsent(line.item().number(), number -> warehouse.stock(line.item()));
            }
        }
        screen.title("stock level", warehouse, district).number(threshold).newLine();
        int low = 0;
        for (Stock stock : ordered.values()) {
            if (stock.units() < threshold) {
                low++;
                screen.number(stock.item().number()).number(stock.units());
            }
        }
        screen.number(low).number(ordered.size()).show();
    }
}
