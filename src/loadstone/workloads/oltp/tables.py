"""The nine tables of order entry, derived from TPC-C clause 1.3."""

from __future__ import annotations

from loadstone.targets.schema import Column, ColumnType, ForeignKey, Index, Table

SMALLINT, INTEGER, TIMESTAMP = (
    ColumnType("smallint"),
    ColumnType("integer"),
    ColumnType("timestamp"),
)


def _char(size: int) -> ColumnType:
    return ColumnType("char", size)


def _varchar(size: int) -> ColumnType:
    return ColumnType("varchar", size)


def _decimal(digits: int, scale: int) -> ColumnType:
    return ColumnType("decimal", digits, scale)


WAREHOUSE = Table(
    "warehouse",
    columns=(
        Column("w_id", INTEGER),
        Column("w_name", _varchar(10)),
        Column("w_street_1", _varchar(20)),
        Column("w_street_2", _varchar(20)),
        Column("w_city", _varchar(20)),
        Column("w_state", _char(2)),
        Column("w_zip", _char(9)),
        Column("w_tax", _decimal(4, 4)),
        Column("w_ytd", _decimal(12, 2)),
    ),
    primary_key=("w_id",),
)
DISTRICT = Table(
    "district",
    columns=(
        Column("d_id", SMALLINT),
        Column("d_w_id", INTEGER),
        Column("d_name", _varchar(10)),
        Column("d_street_1", _varchar(20)),
        Column("d_street_2", _varchar(20)),
        Column("d_city", _varchar(20)),
        Column("d_state", _char(2)),
        Column("d_zip", _char(9)),
        Column("d_tax", _decimal(4, 4)),
        Column("d_ytd", _decimal(12, 2)),
        Column("d_next_o_id", INTEGER),
    ),
    primary_key=("d_w_id", "d_id"),
    foreign_keys=(ForeignKey("district_warehouse_fk", ("d_w_id",), "warehouse", ("w_id",)),),
)
CUSTOMER = Table(
    "customer",
    columns=(
        Column("c_id", INTEGER),
        Column("c_d_id", SMALLINT),
        Column("c_w_id", INTEGER),
        Column("c_first", _varchar(16)),
        Column("c_middle", _char(2)),
        Column("c_last", _varchar(16)),
        Column("c_street_1", _varchar(20)),
        Column("c_street_2", _varchar(20)),
        Column("c_city", _varchar(20)),
        Column("c_state", _char(2)),
        Column("c_zip", _char(9)),
        Column("c_phone", _char(16)),
        Column("c_since", TIMESTAMP),
        Column("c_credit", _char(2)),
        Column("c_credit_lim", _decimal(12, 2)),
        Column("c_discount", _decimal(4, 4)),
        Column("c_balance", _decimal(12, 2)),
        Column("c_ytd_payment", _decimal(12, 2)),
        Column("c_payment_cnt", INTEGER),
        Column("c_delivery_cnt", INTEGER),
        Column("c_data", _varchar(500)),
    ),
    primary_key=("c_w_id", "c_d_id", "c_id"),
    foreign_keys=(
        ForeignKey("customer_district_fk", ("c_w_id", "c_d_id"), "district", ("d_w_id", "d_id")),
    ),
    indexes=(Index("customer_name", ("c_w_id", "c_d_id", "c_last", "c_first")),),
)
HISTORY = Table(
    "history",
    columns=(
        Column("h_c_id", INTEGER),
        Column("h_c_d_id", SMALLINT),
        Column("h_c_w_id", INTEGER),
        Column("h_d_id", SMALLINT),
        Column("h_w_id", INTEGER),
        Column("h_date", TIMESTAMP),
        Column("h_amount", _decimal(6, 2)),
        Column("h_data", _varchar(24)),
    ),
    foreign_keys=(
        ForeignKey(
            "history_customer_fk",
            ("h_c_w_id", "h_c_d_id", "h_c_id"),
            "customer",
            ("c_w_id", "c_d_id", "c_id"),
        ),
        ForeignKey("history_district_fk", ("h_w_id", "h_d_id"), "district", ("d_w_id", "d_id")),
    ),
)
ITEM = Table(
    "item",
    columns=(
        Column("i_id", INTEGER),
        Column("i_im_id", INTEGER),
        Column("i_name", _varchar(24)),
        Column("i_price", _decimal(5, 2)),
        Column("i_data", _varchar(50)),
    ),
    primary_key=("i_id",),
)
STOCK = Table(
    "stock",
    columns=(
        Column("s_i_id", INTEGER),
        Column("s_w_id", INTEGER),
        Column("s_quantity", SMALLINT),
        Column("s_dist_01", _char(24)),
        Column("s_dist_02", _char(24)),
        Column("s_dist_03", _char(24)),
        Column("s_dist_04", _char(24)),
        Column("s_dist_05", _char(24)),
        Column("s_dist_06", _char(24)),
        Column("s_dist_07", _char(24)),
        Column("s_dist_08", _char(24)),
        Column("s_dist_09", _char(24)),
        Column("s_dist_10", _char(24)),
        Column("s_ytd", _decimal(8, 0)),
        Column("s_order_cnt", INTEGER),
        Column("s_remote_cnt", INTEGER),
        Column("s_data", _varchar(50)),
    ),
    primary_key=("s_w_id", "s_i_id"),
    foreign_keys=(
        ForeignKey("stock_warehouse_fk", ("s_w_id",), "warehouse", ("w_id",)),
        ForeignKey("stock_item_fk", ("s_i_id",), "item", ("i_id",)),
    ),
)
ORDERS = Table(
    "orders",
    columns=(
        Column("o_id", INTEGER),
        Column("o_d_id", SMALLINT),
        Column("o_w_id", INTEGER),
        Column("o_c_id", INTEGER),
        Column("o_entry_d", TIMESTAMP),
        Column("o_carrier_id", SMALLINT, nullable=True),
        Column("o_ol_cnt", SMALLINT),
        Column("o_all_local", SMALLINT),
    ),
    primary_key=("o_w_id", "o_d_id", "o_id"),
    foreign_keys=(
        ForeignKey(
            "orders_customer_fk",
            ("o_w_id", "o_d_id", "o_c_id"),
            "customer",
            ("c_w_id", "c_d_id", "c_id"),
        ),
    ),
    indexes=(Index("orders_customer", ("o_w_id", "o_d_id", "o_c_id", "o_id"), unique=True),),
)
NEW_ORDER = Table(
    "new_order",
    columns=(
        Column("no_o_id", INTEGER),
        Column("no_d_id", SMALLINT),
        Column("no_w_id", INTEGER),
    ),
    primary_key=("no_w_id", "no_d_id", "no_o_id"),
    foreign_keys=(
        ForeignKey(
            "new_order_orders_fk",
            ("no_w_id", "no_d_id", "no_o_id"),
            "orders",
            ("o_w_id", "o_d_id", "o_id"),
        ),
    ),
)
ORDER_LINE = Table(
    "order_line",
    columns=(
        Column("ol_o_id", INTEGER),
        Column("ol_d_id", SMALLINT),
        Column("ol_w_id", INTEGER),
        Column("ol_number", SMALLINT),
        Column("ol_i_id", INTEGER),
        Column("ol_supply_w_id", INTEGER),
        Column("ol_delivery_d", TIMESTAMP, nullable=True),
        Column("ol_quantity", SMALLINT),
        Column("ol_amount", _decimal(6, 2)),
        Column("ol_dist_info", _char(24)),
    ),
    primary_key=("ol_w_id", "ol_d_id", "ol_o_id", "ol_number"),
    foreign_keys=(
        ForeignKey(
            "order_line_orders_fk",
            ("ol_w_id", "ol_d_id", "ol_o_id"),
            "orders",
            ("o_w_id", "o_d_id", "o_id"),
        ),
        ForeignKey(
            "order_line_stock_fk", ("ol_supply_w_id", "ol_i_id"), "stock", ("s_w_id", "s_i_id")
        ),
    ),
)

TABLES = (WAREHOUSE, DISTRICT, CUSTOMER, HISTORY, ITEM, STOCK, ORDERS, NEW_ORDER, ORDER_LINE)
