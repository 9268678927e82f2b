-- Forecasting revenue change
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '{date}'
    AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR
    AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01
    AND l_quantity < {quantity}
