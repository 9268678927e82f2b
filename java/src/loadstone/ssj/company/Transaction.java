package loadstone.ssj.company;

/** A transaction of the company. */
interface Transaction {
    /** Makes it once, for the worker of {@code warehouse}. */
    void execute(Warehouse warehouse, Screen screen);
}
