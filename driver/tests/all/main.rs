//! The driver against real servers, and as a program. One crate, because each takes long to link.

mod archive;
mod conditions;
mod crew;
mod driver;
mod engines;
mod failures;
mod host;
mod mariadb_oltp;
mod mariadb_server;
mod mysql;
mod oltp;
mod oltp_mariadb;
mod pg_server;
mod postgres;
mod sqlite;
mod support;
