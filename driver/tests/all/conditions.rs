//! What must hold after any run of order entry, in SQL that all engines understand.

/// Conditions of clause 3.3.2 as counts of rows that break them, and two of our own: the stock's order
/// count is that of the lines, and a new order leaves nothing behind when it is rolled back.
pub const CONDITIONS: [(&str, &str); 8] = [
    ("1 and 8: w_ytd", "SELECT count(*) FROM warehouse
        WHERE w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)
           OR w_ytd <> (SELECT sum(h_amount) FROM history WHERE h_w_id = w_id)"),
    ("2: d_next_o_id", "SELECT count(*) FROM district
        WHERE d_next_o_id - 1 <> (SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)
           OR d_next_o_id - 1 <> (SELECT max(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)"),
    ("3: new_order without gaps", "SELECT count(*) FROM
        (SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) AS gap FROM new_order GROUP BY no_w_id, no_d_id) AS d
        WHERE gap <> 0"),
    ("4 and 6: o_ol_cnt", "SELECT count(*) FROM orders
        LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS counted FROM order_line GROUP BY 1, 2, 3) AS l
            ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        WHERE coalesce(counted, 0) <> o_ol_cnt"),
    ("5: o_carrier_id", "SELECT count(*) FROM orders
        LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
        WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)"),
    ("7: ol_delivery_d", "SELECT count(*) FROM order_line
        JOIN orders ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)"),
    ("10 and 12: c_balance", "WITH delivered AS (
            SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders
                JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
            WHERE ol_delivery_d IS NOT NULL GROUP BY 1, 2, 3),
        paid AS (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount FROM history GROUP BY 1, 2, 3)
        SELECT count(*) FROM customer
            LEFT JOIN delivered d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
            LEFT JOIN paid p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
        WHERE c_balance <> coalesce(d.amount, 0) - p.amount
           OR c_balance + c_ytd_payment <> coalesce(d.amount, 0)"),
    ("own: stock and lines", "SELECT (SELECT sum(s_order_cnt) FROM stock)
        - (SELECT count(*) FROM order_line WHERE ol_o_id > 3000)
        + abs((SELECT sum(s_ytd) FROM stock) - coalesce((SELECT sum(ol_quantity) FROM order_line WHERE ol_o_id > 3000), 0))"),
];
