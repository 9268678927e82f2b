-- The five transactions of order entry as stored procedures (style "procedures"), MariaDB 10.6 and newer.
-- Each call begins and ends its transaction. The same statements and checks as in the style "statements"
-- of the driver; what a terminal would show is returned. A line that holds nothing but // ends a statement.
--
-- LS001: an item does not exist, the order was rolled back. P0002: a row that must be there is not.
-- All take their locks in the order stock by key, customer, district, warehouse.

-- The middle one, rounded up, of the customers of a last name by first name (clause 2.5.2.2).
CREATE OR REPLACE PROCEDURE oltp_customer_by_name(
    IN p_w_id integer, IN p_d_id smallint, IN p_last varchar(16), OUT p_c_id integer)
READS SQL DATA
BEGIN
    DECLARE namesakes, skipped integer;
    SELECT count(*) INTO namesakes FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_last;
    IF namesakes = 0 THEN
        SIGNAL SQLSTATE 'P0002' SET MESSAGE_TEXT = 'no customer has this last name';
    END IF;
    SET skipped = (namesakes + 1) DIV 2 - 1;
    SELECT c_id INTO p_c_id FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_last
    ORDER BY c_first LIMIT skipped, 1;
END
//
-- Clause 2.4.2. p_lines holds "item,supplier,quantity;" of each line, sorted by supplying warehouse and
-- item, each pair once; stock is locked in that order. Returns one row a line.
CREATE OR REPLACE PROCEDURE oltp_new_order(
    IN p_w_id integer, IN p_d_id smallint, IN p_c_id integer, IN p_all_local smallint, IN p_lines varchar(1000))
MODIFIES SQL DATA
BEGIN
    DECLARE rest varchar(1000) DEFAULT p_lines;
    DECLARE line varchar(60);
    DECLARE line_item, line_supplier, order_id integer;
    DECLARE line_quantity, line_number smallint DEFAULT 0;
    DECLARE line_count smallint DEFAULT char_length(p_lines) - char_length(replace(p_lines, ';', ''));
    DECLARE tax_d, tax_w, discount decimal(4, 4);
    DECLARE last_name varchar(16);
    DECLARE credit char(2);
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    DECLARE EXIT HANDLER FOR NOT FOUND
    BEGIN
        ROLLBACK;
        SIGNAL SQLSTATE 'P0002' SET MESSAGE_TEXT = 'the warehouse, the district or the customer is not there';
    END;

    START TRANSACTION;
    WHILE rest <> '' DO
        SET line = substring_index(rest, ';', 1);
        SET rest = substring(rest, char_length(line) + 2);
        SET line_supplier = substring_index(substring_index(line, ',', 2), ',', -1);
        SET line_quantity = substring_index(line, ',', -1);
        UPDATE stock
        SET s_quantity = s_quantity - line_quantity + IF(s_quantity >= line_quantity + 10, 0, 91),
            s_ytd = s_ytd + line_quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (line_supplier <> p_w_id)
        WHERE s_w_id = line_supplier AND s_i_id = substring_index(line, ',', 1);
        IF row_count() = 0 THEN
            SIGNAL SQLSTATE 'LS001' SET MESSAGE_TEXT = 'item number is not valid';
        END IF;
    END WHILE;

    SELECT c_discount, c_last, c_credit INTO discount, last_name, credit FROM customer
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id LOCK IN SHARE MODE;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w_id AND d_id = p_d_id;
    SELECT d_next_o_id - 1, d_tax, w_tax INTO order_id, tax_d, tax_w
    FROM district JOIN warehouse ON w_id = d_w_id WHERE d_w_id = p_w_id AND d_id = p_d_id;
    INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (p_w_id, p_d_id, order_id, p_c_id, localtimestamp(6), line_count, p_all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (p_w_id, p_d_id, order_id);

    SET rest = p_lines;
    WHILE rest <> '' DO
        SET line = substring_index(rest, ';', 1);
        SET rest = substring(rest, char_length(line) + 2);
        SET line_number = line_number + 1;
        SET line_item = substring_index(line, ',', 1);
        SET line_supplier = substring_index(substring_index(line, ',', 2), ',', -1);
        SET line_quantity = substring_index(line, ',', -1);
        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id,
                                ol_quantity, ol_amount, ol_dist_info)
        SELECT p_w_id, p_d_id, order_id, line_number, s_i_id, s_w_id, line_quantity, line_quantity * i_price,
            elt(p_d_id, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
                        s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10)
        FROM stock JOIN item ON i_id = s_i_id
        WHERE s_w_id = line_supplier AND s_i_id = line_item;
    END WHILE;

    SELECT order_id, tax_d, tax_w, discount, last_name, credit, ol_amount, i_name, i_price, s_quantity,
        i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' AS is_brand
    FROM order_line
        JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        JOIN item ON i_id = ol_i_id
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = order_id;
    COMMIT;
END
//
-- Clause 2.5.2. The customer is p_c_id or, if that is NULL, found by p_last.
CREATE OR REPLACE PROCEDURE oltp_payment(
    IN p_w_id integer, IN p_d_id smallint, IN p_c_w_id integer, IN p_c_d_id smallint,
    IN p_c_id integer, IN p_last varchar(16), IN p_amount decimal(6, 2))
MODIFIES SQL DATA
BEGIN
    DECLARE customer_id integer DEFAULT p_c_id;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

    START TRANSACTION;
    IF customer_id IS NULL THEN
        CALL oltp_customer_by_name(p_c_w_id, p_c_d_id, p_last, customer_id);
    END IF;
    UPDATE customer
    SET c_data = IF(c_credit = 'BC',
            left(concat(convert(concat_ws(' ', c_id, c_d_id, c_w_id, p_d_id, p_w_id, p_amount) USING ascii),
                        ' | ', c_data), 500),
            c_data),
        c_balance = c_balance - p_amount,
        c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = customer_id;
    IF row_count() = 0 THEN
        SIGNAL SQLSTATE 'P0002' SET MESSAGE_TEXT = 'the customer is not there';
    END IF;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
    INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data)
    SELECT p_c_w_id, p_c_d_id, customer_id, d_w_id, d_id, localtimestamp(6), p_amount,
        concat(w_name, '    ', d_name)
    FROM district JOIN warehouse ON w_id = d_w_id WHERE d_w_id = p_w_id AND d_id = p_d_id;
    IF row_count() = 0 THEN
        SIGNAL SQLSTATE 'P0002' SET MESSAGE_TEXT = 'the district or the warehouse is not there';
    END IF;

    SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
        c_since, c_credit, c_credit_lim, c_discount, c_balance, IF(c_credit = 'BC', left(c_data, 200), NULL),
        d_name, d_street_1, d_street_2, d_city, d_state, d_zip,
        w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    FROM customer JOIN district JOIN warehouse
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = customer_id
        AND d_w_id = p_w_id AND d_id = p_d_id AND w_id = p_w_id;
    COMMIT;
END
//
-- Clause 2.6.2. The customer is p_c_id or, if that is NULL, found by p_last. One row a line of the last order.
CREATE OR REPLACE PROCEDURE oltp_order_status(
    IN p_w_id integer, IN p_d_id smallint, IN p_c_id integer, IN p_last varchar(16))
READS SQL DATA
BEGIN
    DECLARE customer_id integer DEFAULT p_c_id;
    DECLARE order_id integer;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

    START TRANSACTION READ ONLY;
    IF customer_id IS NULL THEN
        CALL oltp_customer_by_name(p_w_id, p_d_id, p_last, customer_id);
    END IF;
    SELECT max(o_id) INTO order_id FROM orders
    WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = customer_id;
    IF order_id IS NULL THEN
        SIGNAL SQLSTATE 'P0002' SET MESSAGE_TEXT = 'the customer has no order';
    END IF;
    SELECT c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id,
        ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM customer
        JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_id = order_id
        JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = customer_id;
    COMMIT;
END
//
-- Clause 2.7.4: the oldest order of each of the ten districts. Returns their numbers with a comma after each,
-- nothing before that of a district without one. A delivery that waited for the lock of another one finds
-- that order gone and takes the next.
CREATE OR REPLACE PROCEDURE oltp_delivery(IN p_w_id integer, IN p_carrier_id smallint)
MODIFIES SQL DATA
BEGIN
    DECLARE district_id smallint DEFAULT 1;
    DECLARE order_id, customer_id integer;
    DECLARE amount decimal(12, 2);
    DECLARE delivered varchar(200) DEFAULT '';
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET order_id = NULL;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;

    START TRANSACTION;
    WHILE district_id <= 10 DO
        SELECT no_o_id INTO order_id FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = district_id ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF order_id IS NOT NULL THEN
            DELETE FROM new_order WHERE no_w_id = p_w_id AND no_d_id = district_id AND no_o_id = order_id;
            SELECT o_c_id INTO customer_id FROM orders
            WHERE o_w_id = p_w_id AND o_d_id = district_id AND o_id = order_id FOR UPDATE;
            UPDATE orders SET o_carrier_id = p_carrier_id
            WHERE o_w_id = p_w_id AND o_d_id = district_id AND o_id = order_id;
            UPDATE order_line SET ol_delivery_d = localtimestamp(6)
            WHERE ol_w_id = p_w_id AND ol_d_id = district_id AND ol_o_id = order_id;
            SELECT sum(ol_amount) INTO amount FROM order_line
            WHERE ol_w_id = p_w_id AND ol_d_id = district_id AND ol_o_id = order_id;
            UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = p_w_id AND c_d_id = district_id AND c_id = customer_id;
        END IF;
        SET delivered = concat(delivered, coalesce(order_id, ''), ',');
        SET district_id = district_id + 1;
    END WHILE;
    COMMIT;
    SELECT delivered;
END
//
-- Clause 2.8.2: items of the last 20 orders of a district whose stock is below the threshold.
CREATE OR REPLACE PROCEDURE oltp_stock_level(
    IN p_w_id integer, IN p_d_id smallint, IN p_threshold smallint)
READS SQL DATA
BEGIN
    SELECT STRAIGHT_JOIN count(DISTINCT s_i_id)
    FROM district
        JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
            AND ol_o_id < d_next_o_id AND ol_o_id >= d_next_o_id - 20
        JOIN stock ON s_w_id = d_w_id AND s_i_id = ol_i_id
    WHERE d_w_id = p_w_id AND d_id = p_d_id AND s_quantity < p_threshold;
END
//
