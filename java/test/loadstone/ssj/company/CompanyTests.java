package loadstone.ssj.company;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import loadstone.ssj.Checks;

/** Tests of the company: its books and its data agree, and it stays as large as it was. */
public final class CompanyTests {
    private static final Size SMALL = new Size(2, 7, 3, 40, 200, 20);
    private static final int OPERATIONS = 33 * 200;

    private CompanyTests() {}

    /** Runs all. */
    public static void runAll(Checks checks) {
        checks.test("the deck keeps the shares to the card", CompanyTests::deckKeepsShares);
        checks.test("books and data agree", CompanyTests::booksAgree);
        checks.test("orders stay level from deck to deck", CompanyTests::ordersStayLevel);
        checks.test("the same seed makes the same company", CompanyTests::sameSeed);
        checks.test("a wrong cent is found in the balance, and nowhere else", CompanyTests::wrongCent);
        checks.test("prices are rounded once, to the even cent", CompanyTests::prices);
        checks.test("stocks are filled up and never fall below the least", CompanyTests::stocks);
        checks.test("a customer keeps its newest payments", CompanyTests::keptPayments);
    }

    private static List<Integer> mix() {
        List<Integer> mix = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            mix.add(operation.cards());
        }
        return mix;
    }

    private static Company worked(Company company) {
        for (Clerk clerk : company.clerks()) {
            clerk.shuffle(mix());
            for (int i = 0; i < OPERATIONS; i++) {
                clerk.make(clerk.choose());
            }
        }
        return company;
    }

    private static void deckKeepsShares() {
        Deck deck = new Deck(mix(), new Draws(1));
        int[] dealt = new int[Operation.values().length];
        for (int i = 0; i < 33 * 7; i++) {
            dealt[deck.deal()]++;
        }
        for (Operation operation : Operation.values()) {
            Checks.equal(7 * operation.cards(), dealt[operation.ordinal()]);
        }
    }

    private static void booksAgree() {
        Map<String, Long> found = worked(new Company(SMALL)).audit();
        long orders = 2L * OPERATIONS / 33 * 10;
        Checks.equal(orders, found.get("orders_made"));
        Checks.equal(orders, found.get("payments_made"));
        Checks.equal(2L * 3 * 20, found.get("orders_begin"));
        agree(found, "orders_live", found.get("orders_begin") + found.get("orders_made") - found.get("orders_delivered"));
        agree(found, "orders_waiting", found.get("orders_live"));
        agree(found, "order_numbers", found.get("orders_made"));
        agree(
                found,
                "orders_live_cents",
                found.get("orders_begin_cents") + found.get("ordered_cents") - found.get("delivered_cents"));
        for (String who : List.of("warehouse", "district", "customer")) {
            agree(found, who + "_paid_cents", found.get("paid_cents"));
        }
        agree(found, "customer_payments", found.get("payments_made"));
        agree(found, "balance_cents", balance(found));
        agree(
                found,
                "stock_units",
                found.get("stock_begin_units") + found.get("restocked_units") - found.get("ordered_units"));
        agree(found, "stock_sold_units", found.get("ordered_units"));
    }

    private static void agree(Map<String, Long> found, String name, long expected) {
        Checks.holds(found.get(name) == expected, name + " is " + found.get(name) + ", not " + expected);
    }

    private static long balance(Map<String, Long> found) {
        return found.get("balance_begin_cents") + found.get("delivered_cents") - found.get("paid_cents");
    }

    private static void ordersStayLevel() {
        Company company = worked(new Company(SMALL));
        Map<String, Long> found = company.audit();
        Checks.equal(found.get("orders_begin"), found.get("orders_live"));
        Checks.equal(found.get("orders_live"), company.ordersLive());
        double grown = (double) found.get("records_live") / found.get("records_begin");
        Checks.holds(Math.abs(grown - 1) < 0.05, "the company grew by " + (grown - 1));
    }

    private static void sameSeed() {
        Checks.equal(worked(new Company(SMALL)).audit(), worked(new Company(SMALL)).audit());
        Size other = new Size(2, 8, 3, 40, 200, 20);
        Checks.holds(!new Company(SMALL).audit().equals(new Company(other).audit()), "another seed makes the same");
    }

    private static void wrongCent() {
        Company company = new Company(SMALL);
        company.plantWrongCent();
        Map<String, Long> found = worked(company).audit();
        Checks.equal(balance(found) + 1, found.get("balance_cents"));
        Map<String, Long> right = worked(new Company(SMALL)).audit();
        found.remove("balance_cents");
        right.remove("balance_cents");
        Checks.equal(right, found);
    }

    private static void prices() {
        Checks.equal(10_000L, Money.priced(10_000, 0, 0));
        Checks.equal(9_900L, Money.priced(10_000, 1000, 1000));
        Checks.equal(2L, Money.priced(5, 5000, 0));
        Checks.equal(4L, Money.priced(7, 5000, 0));
        Checks.equal(2L, Money.mean(5, 2));
    }

    private static void stocks() {
        Stock stock = new Stock(new Item(1, "a", 1, "b"), "label", 10);
        int restocked = 0;
        for (int i = 1; i <= 100; i++) {
            restocked += stock.take(10);
            Checks.holds(stock.units() >= 10, "it fell to " + stock.units());
        }
        Checks.equal(1000L, stock.soldUnits());
        Checks.equal(10 + restocked - 1000, stock.units());
    }

    private static void keptPayments() {
        Customer customer = new Customer(1, "x", new Draws(1), 0);
        for (int i = 1; i <= Customer.KEPT_PAYMENTS + 3; i++) {
            customer.pay(new Payment(i, 100, 0, "p" + i));
        }
        List<Payment> kept = customer.keptPayments();
        Checks.equal(Customer.KEPT_PAYMENTS, kept.size());
        Checks.equal(13L, kept.get(0).number());
        Checks.equal(4L, kept.get(kept.size() - 1).number());
    }
}
