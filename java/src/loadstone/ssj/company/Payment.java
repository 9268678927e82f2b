package loadstone.ssj.company;

/**
 * A payment of a customer that is kept.
 *
 * @param number of all payments of the warehouse, from 1; 0 of those before the company was built
 * @param paidAt milliseconds since 1970
 */
record Payment(long number, long cents, long paidAt, String memo) {}
