-- The five transactions of order entry as stored functions (style "procedures"), PostgreSQL 13 and newer.
-- Each call is one statement and with it one transaction. The same statements and checks as in the style
-- "statements" of the driver; what a terminal would show is returned.

-- The middle one, rounded up, of the customers of a last name by first name (clause 2.5.2.2).
CREATE OR REPLACE FUNCTION oltp_customer_by_name(p_w_id integer, p_d_id smallint, p_last text)
RETURNS integer
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    namesakes integer[];
BEGIN
    SELECT array_agg(c_id ORDER BY c_first) INTO namesakes
    FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_last;
    IF namesakes IS NULL THEN
        RAISE no_data_found
            USING MESSAGE = format('no customer %s in district %s of warehouse %s', p_last, p_d_id, p_w_id);
    END IF;
    RETURN namesakes[(cardinality(namesakes) + 1) / 2];
END
$$;

-- Clause 2.4.2. Lines come sorted by supplying warehouse and item, each pair once; stock is locked in that order.
-- An item that does not exist raises LS001, which rolls the order back.
CREATE OR REPLACE FUNCTION oltp_new_order(
    p_w_id integer, p_d_id smallint, p_c_id integer, p_all_local smallint,
    p_items integer[], p_suppliers integer[], p_quantities smallint[],
    OUT r_o_id integer, OUT r_total numeric,
    OUT r_d_tax numeric, OUT r_w_tax numeric, OUT r_discount numeric,
    OUT r_last varchar, OUT r_credit char(2),
    OUT r_names varchar[], OUT r_prices numeric[], OUT r_stock smallint[], OUT r_generic boolean[]
)
LANGUAGE plpgsql
AS $$
DECLARE
    found_lines bigint;
BEGIN
    UPDATE district SET d_next_o_id = d_next_o_id + 1
    FROM warehouse, customer
    WHERE d_w_id = p_w_id AND d_id = p_d_id AND w_id = p_w_id
        AND c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id
    RETURNING d_next_o_id - 1, d_tax, w_tax, c_discount, c_last, c_credit
    INTO STRICT r_o_id, r_d_tax, r_w_tax, r_discount, r_last, r_credit;

    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (p_w_id, p_d_id, r_o_id, p_c_id, localtimestamp, cardinality(p_items), p_all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (p_w_id, p_d_id, r_o_id);

    WITH taken AS (
        UPDATE stock
        SET s_quantity = s_quantity - line.quantity
                + CASE WHEN s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + line.quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = p_w_id THEN 0 ELSE 1 END
        FROM unnest(p_items, p_suppliers, p_quantities)
                WITH ORDINALITY AS line (item, supplier, quantity, number)
            JOIN item ON i_id = line.item
        WHERE s_w_id = line.supplier AND s_i_id = line.item
        RETURNING line.number, s_i_id, s_w_id, line.quantity, line.quantity * i_price AS amount,
            CASE p_d_id
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                ELSE s_dist_10
            END AS dist_info,
            i_name, i_price, s_quantity,
            i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' AS is_brand
    ), written AS (
        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                                ol_quantity, ol_amount, ol_dist_info)
        SELECT p_w_id, p_d_id, r_o_id, number, s_i_id, s_w_id, quantity, amount, dist_info
        FROM taken
    )
    SELECT count(*), sum(amount),
        array_agg(i_name), array_agg(i_price), array_agg(s_quantity), array_agg(NOT is_brand)
    INTO found_lines, r_total, r_names, r_prices, r_stock, r_generic
    FROM taken;

    IF found_lines < cardinality(p_items) THEN
        RAISE EXCEPTION 'item number is not valid' USING ERRCODE = 'LS001';
    END IF;
    r_total := r_total * (1 - r_discount) * (1 + r_w_tax + r_d_tax);
END
$$;

-- Clause 2.5.2. The customer is p_c_id or, if that is NULL, found by p_last.
CREATE OR REPLACE FUNCTION oltp_payment(
    p_w_id integer, p_d_id smallint, p_c_w_id integer, p_c_d_id smallint,
    p_c_id integer, p_last text, p_amount numeric,
    OUT r_c_id integer,
    OUT r_w_name varchar, OUT r_w_street_1 varchar, OUT r_w_street_2 varchar,
    OUT r_w_city varchar, OUT r_w_state char(2), OUT r_w_zip char(9),
    OUT r_d_name varchar, OUT r_d_street_1 varchar, OUT r_d_street_2 varchar,
    OUT r_d_city varchar, OUT r_d_state char(2), OUT r_d_zip char(9),
    OUT r_first varchar, OUT r_middle char(2), OUT r_last varchar,
    OUT r_street_1 varchar, OUT r_street_2 varchar, OUT r_city varchar, OUT r_state char(2),
    OUT r_zip char(9), OUT r_phone char(16), OUT r_since timestamp, OUT r_credit char(2),
    OUT r_credit_lim numeric, OUT r_discount numeric, OUT r_balance numeric, OUT r_data varchar
)
LANGUAGE plpgsql
AS $$
BEGIN
    r_c_id := coalesce(p_c_id, oltp_customer_by_name(p_c_w_id, p_c_d_id, p_last));

    UPDATE customer
    SET c_balance = c_balance - p_amount,
        c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE c_credit WHEN 'BC'
            THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, p_d_id, p_w_id, p_amount)
                      || ' | ' || c_data, 500)
            ELSE c_data END
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = r_c_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
        c_since, c_credit, c_credit_lim, c_discount, c_balance,
        CASE c_credit WHEN 'BC' THEN left(c_data, 200) END
    INTO STRICT r_first, r_middle, r_last, r_street_1, r_street_2, r_city, r_state, r_zip, r_phone,
        r_since, r_credit, r_credit_lim, r_discount, r_balance, r_data;

    UPDATE district SET d_ytd = d_ytd + p_amount
    WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO STRICT r_d_name, r_d_street_1, r_d_street_2, r_d_city, r_d_state, r_d_zip;

    UPDATE warehouse SET w_ytd = w_ytd + p_amount
    WHERE w_id = p_w_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    INTO STRICT r_w_name, r_w_street_1, r_w_street_2, r_w_city, r_w_state, r_w_zip;

    INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
    VALUES (p_c_w_id, p_c_d_id, r_c_id, p_w_id, p_d_id, localtimestamp, p_amount,
            r_w_name || '    ' || r_d_name);
END
$$;

-- Clause 2.6.2. The customer is p_c_id or, if that is NULL, found by p_last. One row a line of the last order.
CREATE OR REPLACE FUNCTION oltp_order_status(p_w_id integer, p_d_id smallint, p_c_id integer, p_last text)
RETURNS TABLE (
    r_balance numeric, r_first varchar, r_middle char(2), r_last varchar,
    r_o_id integer, r_entry_d timestamp, r_carrier_id smallint,
    r_i_id integer, r_supply_w_id integer, r_quantity smallint, r_amount numeric, r_delivery_d timestamp
)
LANGUAGE plpgsql
AS $$
DECLARE
    customer_id integer := coalesce(p_c_id, oltp_customer_by_name(p_w_id, p_d_id, p_last));
BEGIN
    SELECT c_balance, c_first, c_middle, c_last
    INTO STRICT r_balance, r_first, r_middle, r_last
    FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = customer_id;

    RETURN QUERY
    SELECT r_balance, r_first, r_middle, r_last, o_id, o_entry_d, o_carrier_id,
        ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM (SELECT o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id FROM orders
          WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = customer_id
          ORDER BY o_id DESC LIMIT 1) AS latest
        JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id;
    IF NOT FOUND THEN
        RAISE no_data_found USING MESSAGE = format('customer %s has no order with lines', customer_id);
    END IF;
END
$$;

-- Clause 2.7.4: the oldest order of each of the ten districts. Returns how many were delivered.
-- FOR UPDATE under the LIMIT lets a second delivery, which waited for this one, go on to the next order.
CREATE OR REPLACE FUNCTION oltp_delivery(p_w_id integer, p_carrier_id smallint)
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    districts smallint[];
    numbers integer[];
BEGIN
    WITH taken AS (
        DELETE FROM new_order
        USING generate_series(1, 10) AS number
            CROSS JOIN LATERAL (
                SELECT no_d_id, no_o_id FROM new_order
                WHERE no_w_id = p_w_id AND no_d_id = number::smallint
                ORDER BY no_o_id LIMIT 1 FOR UPDATE) AS oldest
        WHERE new_order.no_w_id = p_w_id
            AND new_order.no_d_id = oldest.no_d_id AND new_order.no_o_id = oldest.no_o_id
        RETURNING new_order.no_d_id, new_order.no_o_id
    )
    SELECT array_agg(no_d_id), array_agg(no_o_id) INTO districts, numbers FROM taken;

    WITH sent AS (
        UPDATE orders SET o_carrier_id = p_carrier_id
        FROM unnest(districts, numbers) AS taken (district, number)
        WHERE o_w_id = p_w_id AND o_d_id = taken.district AND o_id = taken.number
        RETURNING o_d_id, o_c_id
    ), stamped AS (
        UPDATE order_line SET ol_delivery_d = localtimestamp
        FROM unnest(districts, numbers) AS taken (district, number)
        WHERE ol_w_id = p_w_id AND ol_d_id = taken.district AND ol_o_id = taken.number
        RETURNING ol_d_id, ol_amount
    ), due AS (
        SELECT o_d_id, o_c_id, sum(ol_amount) AS amount
        FROM sent JOIN stamped ON ol_d_id = o_d_id
        GROUP BY o_d_id, o_c_id
        ORDER BY o_d_id
    )
    UPDATE customer SET c_balance = c_balance + due.amount, c_delivery_cnt = c_delivery_cnt + 1
    FROM due
    WHERE c_w_id = p_w_id AND c_d_id = due.o_d_id AND c_id = due.o_c_id;

    RETURN coalesce(cardinality(districts), 0);
END
$$;

-- Clause 2.8.2: items of the last 20 orders of a district whose stock is below the threshold.
CREATE OR REPLACE FUNCTION oltp_stock_level(p_w_id integer, p_d_id smallint, p_threshold smallint)
RETURNS bigint
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN (
        SELECT count(DISTINCT s_i_id)
        FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND s_quantity < p_threshold
            AND ol_o_id >= (SELECT d_next_o_id - 20 FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id)
            AND ol_o_id < (SELECT d_next_o_id FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id)
    );
END
$$;
