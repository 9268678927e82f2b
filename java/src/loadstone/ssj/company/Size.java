package loadstone.ssj.company;

/**
 * How large a company is.
 *
 * @param warehouses there are
 * @param seed of its data and of what its transactions draw
 * @param districts of a warehouse
 * @param customers of a district
 * @param items of the catalogue
 * @param orders live at the begin, of a district
 */
public record Size(int warehouses, long seed, int districts, int customers, int items, int orders) {}
