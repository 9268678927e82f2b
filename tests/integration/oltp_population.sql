-- The initial population of order entry (clause 4.3.3.1), written by the server itself: the right
-- cardinalities, keys and amounts, with plain texts. $W stands for the number of warehouses.
INSERT INTO item
SELECT i, i, 'item ' || i, 1 + (i % 9900) / 100.0, 'data' FROM generate_series(1, 100000) i;

INSERT INTO warehouse
SELECT w, 'name', 'street', 'street', 'city', 'ST', '123411111', 0.1, 300000.00
FROM generate_series(1, $W) w;

INSERT INTO district
SELECT d, w, 'name', 'street', 'street', 'city', 'ST', '123411111', 0.1, 30000.00, 3001
FROM generate_series(1, $W) w, generate_series(1, 10) d;

INSERT INTO customer
SELECT c, d, w, 'first ' || c, 'OE', 'BARBARBAR', 'street', 'street', 'city', 'ST', '123411111',
       '0123456789012345', now(), 'GC', 50000, 0.1, -10, 10, 1, 0, repeat('x', 400)
FROM generate_series(1, $W) w, generate_series(1, 10) d, generate_series(1, 3000) c;

INSERT INTO history
SELECT c_id, c_d_id, c_w_id, c_d_id, c_w_id, now(), 10, 'data' FROM customer;

INSERT INTO orders
SELECT o, d, w, (o * 7 + d) % 3000 + 1, now(), CASE WHEN o < 2101 THEN o % 10 + 1 END, 5 + o % 11, 1
FROM generate_series(1, $W) w, generate_series(1, 10) d, generate_series(1, 3000) o;

INSERT INTO new_order
SELECT o_id, o_d_id, o_w_id FROM orders WHERE o_id > 2100;

INSERT INTO order_line
SELECT o_id, o_d_id, o_w_id, line, (o_id * 37 + line * 101) % 100000 + 1, o_w_id,
       CASE WHEN o_id < 2101 THEN o_entry_d END, 5,
       CASE WHEN o_id < 2101 THEN 0 ELSE 0.01 * (1 + o_id * line % 999999) END, repeat('x', 24)
FROM orders, generate_series(1, o_ol_cnt) line;

INSERT INTO stock
SELECT i, w, 10 + i % 91, 'd', 'd', 'd', 'd', 'd', 'd', 'd', 'd', 'd', 'd', 0, 0, 0, 'data'
FROM generate_series(1, $W) w, generate_series(1, 100000) i;
