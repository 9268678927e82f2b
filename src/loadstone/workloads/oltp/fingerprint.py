"""Checksums of order entry that are the same on every engine that holds the same data.

All arithmetic is on integers of 64 bits: amounts in cents, rates in ten-thousandths. Texts take
part by their length, which changes when a payment writes into a customer's data.
"""

from __future__ import annotations

from loadstone.targets.dialect import Dialect

_KEY_MODULUS = 999_983
"""A prime: where a key is multiplied with more than a counter it is taken by this modulus."""


def fingerprint_tables(dialect: Dialect) -> dict[str, str]:
    """Table: expression over a row, a 64-bit integer, for up to 100,000 warehouses."""
    cents, octets = dialect.cents, dialect.octets

    def rate(column: str) -> str:
        return dialect.unscaled(column, 4)

    return {
        "warehouse": f"w_id * ({cents('w_ytd')} + {rate('w_tax')})",
        "district": f"(100 * d_w_id + d_id) * ({cents('d_ytd')} + d_next_o_id + {rate('d_tax')})",
        "customer": f"{_key('c_w_id', 'c_d_id', 'c_id')} "
        f"* (1 + c_payment_cnt + 3 * c_delivery_cnt) + {cents('c_balance')} "
        f"+ 7 * {cents('c_ytd_payment')} + c_id * ({octets('c_data')} + {rate('c_discount')})",
        "history": f"{_key('h_w_id', 'h_d_id', 'h_c_id')} + h_c_w_id * h_c_d_id "
        f"+ {cents('h_amount')} + h_c_id * {octets('h_data')}",
        "new_order": _key("no_w_id", "no_d_id", "no_o_id"),
        "orders": f"{_key('o_w_id', 'o_d_id', 'o_id')} % {_KEY_MODULUS} * o_c_id "
        "+ o_ol_cnt * coalesce(o_carrier_id, 11)",
        "order_line": f"{_key('ol_w_id', 'ol_d_id', 'ol_o_id')} * ol_number + ol_i_id "
        f"* ol_quantity + {cents('ol_amount')} "
        "+ CASE WHEN ol_delivery_d IS NULL THEN ol_o_id ELSE 0 END",
        "item": f"10000000000 + i_id * ({cents('i_price')} + {octets('i_data')})",
        "stock": f"{_key('s_w_id', '0', 's_i_id')} % {_KEY_MODULUS} "
        f"* (1 + s_quantity + s_order_cnt) + {dialect.unscaled('s_ytd', 0)} "
        f"+ s_i_id * {octets('s_data')}",
    }


def _key(warehouse: str, district: str, row: str) -> str:
    return f"(10000000000 * {warehouse} + 100000000 * {district} + {row})"
