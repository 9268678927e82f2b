"""Lost commits are found, all of them and no others, by the queries themselves on a real engine."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from loadstone.targets.dialect import Dialect
from loadstone.workloads.durability import Acknowledgement
from loadstone.workloads.oltp.durability import lost_commits

DIALECT = Dialect("sqlite", scaled_decimals=True)
DISTRICTS = 3
CUSTOMERS = 5


@dataclass
class Shop:
    """The tables that matter, with a load of a few customers."""

    connection: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect(":memory:"))

    def __post_init__(self) -> None:
        self.connection.executescript(
            """
            CREATE TABLE orders (o_w_id, o_d_id, o_id, o_ol_cnt, o_carrier_id);
            CREATE TABLE order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d);
            CREATE TABLE history (h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount);
            """
        )
        self.next_id = dict.fromkeys(range(1, DISTRICTS + 1), 3001)
        for district in range(1, DISTRICTS + 1):
            for customer in range(1, CUSTOMERS + 1):
                self._pay(1, district, 1, district, customer, 1000)
            for order in (2101, 2102, 2103):
                self._order(1, district, order)

    def query(self, sql: str) -> list[tuple[object, ...]]:
        return self.connection.execute(sql).fetchall()

    def _order(self, w: int, d: int, o: int) -> None:
        self.connection.execute("INSERT INTO orders VALUES (?, ?, ?, 2, NULL)", (w, d, o))
        lines = [(w, d, o, number) for number in (1, 2)]
        self.connection.executemany("INSERT INTO order_line VALUES (?, ?, ?, ?, NULL)", lines)

    def _pay(self, *row: int) -> None:
        self.connection.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)", row)

    def do(self, draw: random.Random, at_s: float) -> Acknowledgement:
        district = draw.randint(1, DISTRICTS)
        operation = draw.choice(["new-order", "payment", "delivery"])
        if operation == "new-order":
            keys: tuple[object, ...] = (1, district, self.next_id[district])
            self.next_id[district] += 1
            self._order(*keys)  # type: ignore[arg-type]
        elif operation == "payment":
            cents = draw.choice([1000, 1000, 250_000])
            keys = (1, district, draw.choice([1, 2]), district, draw.randint(1, CUSTOMERS), cents)
            self._pay(*keys)  # type: ignore[arg-type]
        else:
            found = self.query(
                "SELECT o_d_id, min(o_id) FROM orders WHERE o_carrier_id IS NULL GROUP BY 1"
            )
            keys = (1, tuple(found))
            for d, o in found:
                self._deliver(d, o, 7, "2026-01-01")
        return Acknowledgement(at_s, 0, operation, keys)

    def _deliver(self, d: object, o: object, carrier: int | None, date: str | None) -> None:
        self.connection.execute(
            "UPDATE orders SET o_carrier_id = ? WHERE o_d_id = ? AND o_id = ?", (carrier, d, o)
        )
        self.connection.execute(
            "UPDATE order_line SET ol_delivery_d = ? WHERE ol_d_id = ? AND ol_o_id = ?",
            (date, d, o),
        )

    def lose(self, lost: Acknowledgement, draw: random.Random) -> None:
        if lost.operation == "new-order":
            table, keys = draw.choice([("orders", "o"), ("order_line", "ol")])
            o = "o_id" if table == "orders" else "ol_o_id"
            self.connection.execute(
                f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table} "
                f"WHERE {keys}_d_id = ? AND {o} = ?)",
                lost.keys[1:],
            )
        elif lost.operation == "payment":
            self.connection.execute(
                "DELETE FROM history WHERE rowid = (SELECT max(rowid) FROM history WHERE "
                "(h_w_id, h_d_id, h_c_w_id, h_c_d_id, h_c_id, h_amount) = (?, ?, ?, ?, ?, ?))",
                lost.keys,
            )
        else:
            d, o = draw.choice(lost.keys[1])
            carrier, date = draw.choice([(None, "2026-01-01"), (7, None)])
            self._deliver(d, o, carrier, date)

    def lost(self, acknowledged: list[Acknowledgement]) -> list[Acknowledgement]:
        return lost_commits(self.query, DIALECT, acknowledged)  # type: ignore[arg-type]


def alike(lost: list[Acknowledgement]) -> list[str]:
    """Payments that wrote the same cannot be told from each other."""
    return sorted(f"{each.operation} {each.keys}" for each in lost)


@given(seed=st.integers(0, 2**32), operations=st.integers(0, 60))
def test_exactly_what_was_lost_is_found(seed: int, operations: int):
    draw, shop = random.Random(seed), Shop()
    done = [shop.do(draw, float(number)) for number in range(operations)]
    done = [each for each in done if each.operation != "delivery" or each.keys[1]]
    assert shop.lost(done) == []
    # An order that a later delivery needs would take that along: lose from the end.
    gone = draw.sample(done[-8:], min(len(done), 3))
    delivered = {order for each in gone if each.operation == "delivery" for order in each.keys[1]}
    gone = [each for each in gone if each.keys[1:] not in delivered]
    touched = {each.keys[1:] for each in gone if each.operation == "new-order"}
    expected = list(gone)
    for each in gone:
        shop.lose(each, draw)
    for each in done:
        if each.operation == "delivery" and each not in gone and touched & set(each.keys[1]):
            expected += [each] if each in shop.lost([each]) else []
    found = shop.lost(done)
    assert alike(found) == alike(expected)
    assert found == sorted(found, key=lambda each: each.t_s)


def test_a_payment_of_ten_is_not_taken_for_the_one_of_the_load():
    shop = Shop()
    paid = Acknowledgement(1.0, 0, "payment", (1, 1, 1, 1, 2, 1000))
    assert shop.lost([paid]) == [paid]
    shop._pay(1, 1, 1, 1, 2, 1000)
    assert shop.lost([paid]) == []
    twice = [paid, Acknowledgement(2.0, 1, "payment", paid.keys)]
    assert shop.lost(twice) == twice[1:]


def test_what_was_in_doubt_and_is_there_is_no_loss_and_hides_none():
    shop = Shop()
    in_doubt = shop.do(random.Random(3), 1.0)
    missing = Acknowledgement(2.0, 0, "new-order", (1, 2, 3999))
    assert in_doubt.keys != missing.keys
    assert shop.lost([missing]) == [missing]


def test_a_line_that_is_lost_is_not_made_up_for_by_one_that_is_there_twice():
    shop = Shop()
    draw = random.Random(1)
    done = [shop.do(draw, float(number)) for number in range(40)]
    orders = [each for each in done if each.operation == "new-order"]
    _, d, o = orders[0].keys
    assert shop.lost(orders) == []
    shop.query(f"UPDATE order_line SET ol_number = 1 WHERE ol_d_id = {d} AND ol_o_id = {o}")
    assert shop.lost(orders) == orders[:1]


def test_a_payment_that_is_lost_is_not_made_up_for_by_one_that_is_there_twice():
    shop = Shop()
    paid = [Acknowledgement(float(c), 0, "payment", (1, 1, 1, 1, c, 700)) for c in (1, 2, 3)]
    for each in paid:
        shop._pay(*each.keys)
    assert shop.lost(paid) == []
    shop.query("UPDATE history SET h_c_id = 3 WHERE h_c_id = 2 AND h_amount = 700")
    assert shop.lost(paid) == paid[1:2]


class Compared(tuple[object, ...]):
    """Keys that count how often they are compared with others."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return super().__eq__(other)

    __hash__ = tuple.__hash__


def work_of(number: int) -> tuple[int, int]:
    """Comparisons of keys, and steps of the engine, when twice so many commits are looked up."""
    shop = Shop()
    rows = [(1, 1 + n % 3, 3001 + n, 1, None) for n in range(number)]
    shop.connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", rows)
    lines = [(w, d, o, 1, None) for w, d, o, _, _ in rows]
    shop.connection.executemany("INSERT INTO order_line VALUES (?, ?, ?, ?, ?)", lines)
    payments = [(1, 1, 1, 1, 1 + n % 5, 2000 + n) for n in range(number)]
    shop.connection.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)", payments)
    done = [Acknowledgement(1.0, 0, "new-order", Compared(row[:3])) for row in rows]
    done += [Acknowledgement(1.0, 0, "payment", Compared(row)) for row in payments]
    steps: list[int] = []
    shop.connection.set_progress_handler(lambda: steps.append(10), 10)
    Compared.times = 0
    assert shop.lost(done) == []
    return Compared.times, sum(steps)


def test_twice_the_commits_are_twice_the_work():
    """A square law would be four times as much, and need hours for a million."""
    once, twice = work_of(2000), work_of(4000)
    assert all(0 < more < 3 * less for less, more in zip(once, twice, strict=True)), (once, twice)
