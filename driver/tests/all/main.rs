//! The driver against real servers, and as a program. One crate, because each takes long to link.

mod archive;
mod archive_store;
mod cells;
mod conditions;
mod daemon;
mod driver;
mod driver_processes;
mod engines;
mod failures;
mod host;
mod mariadb_oltp;
mod mariadb_server;
mod mysql;
mod noted;
mod oltp;
mod oltp_mariadb;
mod pg_server;
mod postgres;
mod scratch;
mod side_by_side;
mod sqlite;
mod support;
