package loadstone.ssj.company;

/**
 * One item of an order.
 *
 * @param cents its units times the price, before discount and tax
 */
record OrderLine(Item item, int units, long cents, String label) {}
