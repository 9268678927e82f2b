-- A small population of order entry, written by the engine itself, in SQL that every engine reads: keys and
-- amounts as clause 4.3.3.1 has them, with plain texts. Of the numbers of rows only one is that of the clause,
-- the 2100 delivered orders of a district: a condition counts them. `order_entry.py` fills in {warehouses};
-- {cent} and {rate}, which are what the engine keeps of 0.01 and 0.0001; {x24} and {x400}.
CREATE TABLE digits (d integer NOT NULL);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE numbers (n integer NOT NULL PRIMARY KEY);
INSERT INTO numbers
SELECT 1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d
FROM digits a CROSS JOIN digits b CROSS JOIN digits c CROSS JOIN digits e WHERE e.d < 3;

INSERT INTO item
SELECT n, n, 'an item', (100 + n % 9900) * {cent}, 'data' FROM numbers WHERE n <= 1000;

INSERT INTO warehouse
SELECT n, 'name', 'street', 'street', 'city', 'ST', '123411111', 1000 * {rate}, 1500000 * {cent}
FROM numbers WHERE n <= {warehouses};

INSERT INTO stock
SELECT i.n, w_id, 10 + i.n % 91, {dists}, 0, 0, 0, 'data'
FROM warehouse CROSS JOIN numbers i WHERE i.n <= 1000;

INSERT INTO district
SELECT n, w_id, 'name', 'street', 'street', 'city', 'ST', '123411111', 1000 * {rate},
       750000 * {cent}, 2201
FROM warehouse CROSS JOIN numbers WHERE n <= 2;

INSERT INTO customer
SELECT n, d_id, d_w_id, 'first', 'OE', 'BARBARBAR', 'street', 'street', 'city', 'ST', '123411111',
       '0123456789012345', CURRENT_TIMESTAMP, 'GC', 5000000 * {cent}, 1000 * {rate},
       -1000 * {cent}, 1000 * {cent}, 1, 0, '{x400}'
FROM district CROSS JOIN numbers WHERE n <= 750;

INSERT INTO history
SELECT c_id, c_d_id, c_w_id, c_d_id, c_w_id, CURRENT_TIMESTAMP, 1000 * {cent}, 'data' FROM customer;

INSERT INTO orders
SELECT n, d_id, d_w_id, (n * 7 + d_id) % 750 + 1, CURRENT_TIMESTAMP,
       CASE WHEN n < 2101 THEN n % 10 + 1 END, 2 + n % 3, 1
FROM district CROSS JOIN numbers WHERE n <= 2200;

INSERT INTO new_order
SELECT o_id, o_d_id, o_w_id FROM orders WHERE o_id > 2100;

INSERT INTO order_line
SELECT o_id, o_d_id, o_w_id, n, (o_id * 37 + n * 101) % 1000 + 1, o_w_id,
       CASE WHEN o_id < 2101 THEN o_entry_d END, 5,
       CASE WHEN o_id < 2101 THEN 0 ELSE (1 + o_id * n % 999999) * {cent} END, '{x24}'
FROM orders CROSS JOIN numbers WHERE n <= o_ol_cnt;

DROP TABLE numbers;
DROP TABLE digits;
