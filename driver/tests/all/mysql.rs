//! The MySQL connection against a real MariaDB.

use crate::host::block_on;
use crate::mariadb_server::{PASSWORD, Server};
use loadstone_driver::decimal::Decimal;
use loadstone_driver::mysql::{Config, Connection, DateTime, Error, LoadData, Param, Statement};
use loadstone_driver::oltp::load::RowWriter;
use loadstone_driver::session::Failure;

const fn statement(slot: usize, sql: &'static str) -> Statement {
    Statement {
        slot,
        name: "tested",
        sql,
    }
}

/// The class of a failure is told by its words too.
async fn refusal(config: &Config) -> Failure {
    Connection::connect(config)
        .await
        .expect_err("no connection")
        .into()
}

fn account(config: Config, user: &str, password: Option<&str>) -> Config {
    Config {
        user: user.into(),
        password: password.map(str::to_owned),
        ..config
    }
}

#[test]
fn logs_in_by_each_method_and_names_those_it_cannot() {
    let Some(server) = Server::shared() else {
        return;
    };
    block_on(async {
        let mut admin = server.connect().await;
        for sql in [
            format!("CREATE USER native IDENTIFIED BY '{PASSWORD}'"),
            "CREATE USER empty IDENTIFIED BY ''".into(),
            format!(
                "CREATE USER other@localhost IDENTIFIED VIA unix_socket
                 OR mysql_native_password USING PASSWORD('{PASSWORD}')"
            ),
            "CREATE USER process@localhost IDENTIFIED VIA unix_socket".into(),
            "INSTALL SONAME 'auth_ed25519'".into(),
            format!("CREATE USER modern IDENTIFIED VIA ed25519 USING PASSWORD('{PASSWORD}')"),
        ] {
            admin.run(&sql).await.expect(&sql);
        }
        for config in [server.config(), server.tcp_config()] {
            let right = account(config.clone(), "native", Some(PASSWORD));
            Connection::connect(&right).await.expect("the password");
            let empty = account(config.clone(), "empty", None);
            Connection::connect(&empty).await.expect("no password");
            for password in [None, Some("wrong")] {
                let failure = refusal(&account(config.clone(), "native", password)).await;
                assert_eq!(&*failure.class.0, "28000", "{failure:?}");
                assert_eq!(failure.message.contains("no password"), password.is_none());
            }
            let failure = refusal(&account(config, "modern", Some(PASSWORD))).await;
            assert!(failure.message.contains("client_ed25519"), "{failure:?}");
        }
        let other = account(server.config(), "other", Some(PASSWORD));
        Connection::connect(&other)
            .await
            .expect("by the second method");
        let foreign = refusal(&account(server.config(), "process", None)).await;
        assert_eq!(&*foreign.class.0, "28000", "not of this user: {foreign:?}");
        // Also creates the account whose name is that of the user of these tests.
        let mine = std::env::var("USER").unwrap_or_else(|_| "root".into());
        let sql = format!("GRANT ALL ON *.* TO `{mine}`@localhost IDENTIFIED VIA unix_socket");
        admin.run(&sql).await.expect(&sql);
        let process = account(server.config(), &mine, None);
        Connection::connect(&process).await.expect("by the socket");
    });
}

/// A connection to a new database.
async fn fresh(server: &Server, name: &str) -> Connection {
    let mut connection = server.connect().await;
    for sql in [format!("CREATE DATABASE {name}"), format!("USE {name}")] {
        connection.run(&sql).await.expect(&sql);
    }
    connection
}

#[test]
fn a_place_without_a_server_is_told() {
    let Some(server) = Server::shared() else {
        return;
    };
    block_on(async {
        let nowhere = Config {
            host: "/nowhere/socket".into(),
            ..server.config()
        };
        let failure = refusal(&nowhere).await;
        assert_eq!(&*failure.class.0, "connection");
        assert!(failure.message.contains("/nowhere/socket"));
        let unknown = refusal(&server.database("nowhere")).await;
        assert_eq!(&*unknown.class.0, "42000", "{unknown:?}");
    });
}

#[test]
fn values_of_all_types_go_there_and_back() {
    let Some(server) = Server::shared() else {
        return;
    };
    let all = statement(
        0,
        "SELECT ? + 0, ?, ?, CAST(? AS decimal(12, 2)), CAST(? AS char), CAST(? AS datetime(6)), ? IS NULL,
                CAST(? AS signed), NULL",
    );
    block_on(async {
        let mut connection = server.connect().await;
        connection.prepare(&[all]).await.expect("prepared");
        let noon = DateTime {
            year: 2026,
            month: 11,
            day: 22,
            time: [12, 34, 56],
            microsecond: 789,
        };
        // Twice: the second time without types, and with the columns as they were described.
        for _ in 0..2 {
            let params = [
                Param::Int2(-5),
                Param::Int4(1_000_000),
                Param::Text("Käse"),
                Param::Decimal(Decimal::cents(-123_456)),
                Param::DateTime(noon),
                Param::DateTime(noon),
                Param::Null,
                Param::Int8(1 << 40),
            ];
            connection.queue(&all, &params).expect("queued");
            connection.send().await.expect("sent");
            let seen = connection.one(|mut row| {
                assert_eq!((row.int()?, row.int()?), (-5, 1_000_000));
                assert_eq!((row.text()?, row.decimal(2)?), ("Käse", -123_456));
                assert_eq!(row.text()?, "2026-11-22 12:34:56.000789");
                assert!(row.skip()?, "a datetime");
                assert_eq!((row.int()?, row.int()?), (1, 1 << 40));
                assert!(!row.skip()?);
                Ok(())
            });
            assert_eq!(seen.await, Ok(()));
        }
        // NULL where there was a value, another type where there was one.
        connection
            .queue(
                &all,
                &[
                    Param::Int8(1 << 33),
                    Param::Null,
                    Param::Null,
                    Param::Null,
                    Param::Null,
                    Param::Null,
                    Param::Int2(0),
                    Param::Null,
                ],
            )
            .expect("queued");
        connection.send().await.expect("sent");
        let seen = connection.one(|mut row| {
            assert_eq!(row.int()?, 1 << 33);
            for _ in 0..5 {
                assert!(!row.skip()?);
            }
            row.int()
        });
        assert_eq!(seen.await, Ok(0));
    });
}

const SLEEP: Statement = statement(0, "SELECT SLEEP(?)");
const COUNT: Statement = statement(1, "UPDATE counter SET n = n + 1 WHERE n = ?");
const WRONG: Statement = statement(2, "INSERT INTO counter VALUES (?)");
const LATER: Statement = statement(3, "SELECT n FROM counter ORDER BY n");

/// Ten statements in one write, of which each needs what the one before did.
#[test]
fn a_pipeline_is_executed_in_order_and_answered_in_order() {
    let Some(server) = Server::shared() else {
        return;
    };
    block_on(async {
        for (name, config) in [("local", server.config()), ("tcp", server.tcp_config())] {
            fresh(&server, name).await;
            let config = Config {
                database: name.into(),
                ..config
            };
            let mut connection = Connection::connect(&config).await.expect("a connection");
            counter(&mut connection).await;
            for n in 0..10 {
                connection.queue(&COUNT, &[Param::Int4(n)]).expect("queued");
                connection.queue(&LATER, &[]).expect("queued");
            }
            connection.send().await.expect("sent at once");
            for n in 0..10 {
                assert_eq!(connection.done().await.expect("counted").affected, 1);
                assert_eq!(connection.one(|mut row| row.int()).await, Ok(n + 1));
            }
        }
    });
}

async fn counter(connection: &mut Connection) {
    for sql in [
        "CREATE TABLE counter (n integer PRIMARY KEY) ENGINE = InnoDB",
        "INSERT INTO counter VALUES (0)",
    ] {
        connection.run(sql).await.expect(sql);
    }
    connection
        .prepare(&[SLEEP, COUNT, WRONG, LATER])
        .await
        .expect("prepared");
}

/// The server goes on after an error: what it did must go with the rollback, and the answers be passed over.
#[test]
fn an_error_in_a_pipeline_leaves_the_connection_in_step_and_nothing_behind() {
    let Some(server) = Server::shared() else {
        return;
    };
    block_on(async {
        let mut connection = fresh(&server, "step").await;
        counter(&mut connection).await;
        connection.run("SET autocommit = 0").await.expect("set");
        connection.queue(&COUNT, &[Param::Int4(0)]).expect("queued");
        connection.queue(&WRONG, &[Param::Int4(1)]).expect("queued");
        connection.queue(&COUNT, &[Param::Int4(1)]).expect("queued");
        connection.queue(&LATER, &[]).expect("queued");
        connection.send().await.expect("sent");
        assert_eq!(connection.done().await.expect("counted").affected, 1);
        let error = connection.done().await.expect_err("the key is there");
        assert_eq!(
            (error.number(), error.sqlstate()),
            (Some(1062), Some("23000"))
        );
        let failure = connection.fail(error).await;
        assert_eq!(&*failure.class.0, "23000");
        connection.queue(&LATER, &[]).expect("queued");
        connection.send().await.expect("sent");
        assert_eq!(connection.one(|mut row| row.int()).await, Ok(0));

        connection.queue(&COUNT, &[Param::Int4(5)]).expect("queued");
        connection.queue(&LATER, &[]).expect("queued");
        connection.send().await.expect("sent");
        connection.done().await.expect("no row is no error");
        let none = connection.one(|mut row| row.text().map(drop)).await;
        assert!(
            matches!(none, Err(Error::Protocol(_))),
            "an integer is no text"
        );
    });
}

#[test]
fn a_statement_that_is_wrong_is_named_and_the_connection_lives_on() {
    let Some(server) = Server::shared() else {
        return;
    };
    block_on(async {
        let mut connection = server.connect().await;
        let wrong = statement(0, "SELEKT 1");
        let right = statement(1, "SELECT 1");
        let error = connection
            .prepare(&[wrong, right])
            .await
            .expect_err("wrong");
        assert!(error.to_string().contains("tested"), "{error}");
        assert_eq!(error.sqlstate(), Some("42000"));
        connection
            .run("SELECT 1 UNION SELECT 2")
            .await
            .expect("in step");
    });
}

#[test]
fn deadlocks_and_lock_waits_may_be_tried_again() {
    let Some(server) = Server::shared() else {
        return;
    };
    block_on(async {
        let (mut one, mut two) = (fresh(&server, "locks").await, server.connect().await);
        counter(&mut one).await;
        one.run("INSERT INTO counter VALUES (1)")
            .await
            .expect("a row");
        two.run("USE locks").await.expect("locks");
        for connection in [&mut one, &mut two] {
            connection.run("SET autocommit = 0").await.expect("set");
        }
        one.run("UPDATE counter SET n = 10 WHERE n = 0")
            .await
            .expect("locked");
        two.run("SET innodb_lock_wait_timeout = 0")
            .await
            .expect("set");
        let late = two
            .run("UPDATE counter SET n = 10 WHERE n = 0")
            .await
            .expect_err("locked");
        assert_eq!(late.number(), Some(1205));
        assert!(two.fail(late).await.class.is_retryable());

        two.run("SET innodb_lock_wait_timeout = 30")
            .await
            .expect("set");
        two.run("UPDATE counter SET n = 11 WHERE n = 1")
            .await
            .expect("locked");
        two.queue_text("UPDATE counter SET n = 12 WHERE n = 0")
            .expect("queued");
        two.send().await.expect("it waits for the first");
        let first = one.run("UPDATE counter SET n = 13 WHERE n = 1").await;
        if first.is_ok() {
            one.run("COMMIT").await.expect("committed");
        }
        let error = match (first, two.done().await) {
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => error,
            other => panic!("one of two must lose: {other:?}"),
        };
        assert_eq!(
            (error.number(), error.sqlstate()),
            (Some(1213), Some("40001"))
        );
        assert!(Failure::from(error).class.is_retryable());
    });
}

#[test]
fn one_command_writes_many_rows() {
    let Some(server) = Server::shared() else {
        return;
    };
    let insert = statement(0, "INSERT INTO pairs VALUES (?, ?)");
    let update = statement(1, "UPDATE pairs SET s = ? WHERE n = ?");
    let count = statement(
        2,
        "SELECT count(*), sum(s = 'new'), sum(s IS NULL) FROM pairs",
    );
    block_on(async {
        let mut connection = fresh(&server, "pairs").await;
        for sql in ["CREATE TABLE pairs (n integer PRIMARY KEY, s varchar(10)) ENGINE = InnoDB"] {
            connection.run(sql).await.expect(sql);
        }
        connection
            .prepare(&[insert, update, count])
            .await
            .expect("prepared");
        for tens in [0, 10] {
            let rows = (0..10).map(|n| {
                let text = if n == 5 {
                    Param::Null
                } else {
                    Param::Text("old")
                };
                [Param::Int4(tens + n), text]
            });
            connection.queue_bulk(&insert, rows).expect("queued");
            let rows = (0..5).map(|n| [Param::Text("new"), Param::Int4(tens + n)]);
            connection.queue_bulk(&update, rows).expect("queued");
        }
        connection.queue(&count, &[]).expect("queued");
        connection.send().await.expect("sent");
        for expected in [10, 5, 10, 5] {
            assert_eq!(
                connection.done().await.map(|answer| answer.affected),
                Ok(expected)
            );
        }
        let counts = connection.one(|mut row| Ok((row.int()?, row.decimal(0)?, row.decimal(0)?)));
        assert_eq!(counts.await, Ok((20, 10, 2)));
        let twice = (19..25).map(|n| [Param::Int4(n), Param::Null]);
        connection.queue_bulk(&insert, twice).expect("queued");
        connection.send().await.expect("sent");
        let error = connection.done().await.expect_err("19 is there");
        assert_eq!(error.number(), Some(1062));
    });
}

#[test]
fn a_call_gives_its_rows() {
    let Some(server) = Server::shared() else {
        return;
    };
    let call = statement(0, "CALL pair(?)");
    block_on(async {
        let mut connection = fresh(&server, "calls").await;
        for sql in ["CREATE PROCEDURE pair(IN n integer)
             BEGIN SELECT n, 'one'; SELECT n + 1, 'two'; END"]
        {
            connection.run(sql).await.expect(sql);
        }
        connection.prepare(&[call]).await.expect("prepared");
        for n in [4, 40] {
            connection.queue(&call, &[Param::Int4(n)]).expect("queued");
            connection.send().await.expect("sent");
            let mut seen = Vec::new();
            let answer = connection
                .rows(|mut row| {
                    seen.push((row.int4()?, row.text()?.to_owned()));
                    Ok(())
                })
                .await;
            assert_eq!(answer.map(|answer| answer.rows), Ok(2));
            assert_eq!(seen, [(n, "one".to_owned()), (n + 1, "two".to_owned())]);
        }
    });
}

#[test]
fn load_data_streams_rows_and_hides_nothing() {
    let Some(server) = Server::shared() else {
        return;
    };
    let count = statement(0, "SELECT count(*), max(length(s)) FROM t");
    block_on(async {
        let mut connection = fresh(&server, "loads").await;
        for sql in ["CREATE TABLE t (n integer PRIMARY KEY, s varchar(12)) ENGINE = InnoDB"] {
            connection.run(sql).await.expect(sql);
        }
        let bytes = fill(&mut connection, 1..=50_000, 12).await;
        assert_eq!(bytes.map(|bytes| bytes > 500_000), Ok(true));
        let twice = fill(&mut connection, 40_000..=90_000, 12).await;
        let twice = twice.expect_err("10,001 keys are there");
        assert!(twice.to_string().contains("40000 of 50001"), "{twice}");
        connection
            .run("DELETE FROM t WHERE n > 50000")
            .await
            .expect("deleted");
        let long = fill(&mut connection, 50_001..=50_002, 13).await;
        let long = long.expect_err("13 letters do not fit 12");
        assert!(long.to_string().contains("2 of 2 rows"), "{long}");
        let none = fill(&mut connection, 1..1, 12).await;
        assert_eq!(none, Ok(0));
        let unknown = LoadData::begin(&mut connection, "nowhere").await;
        let unknown = unknown.expect_err("no such table");
        assert_eq!(unknown.number(), Some(1146));
        connection.prepare(&[count]).await.expect("in step");
        connection.queue(&count, &[]).expect("queued");
        connection.send().await.expect("sent");
        let read = connection.one(|mut row| Ok((row.int()? >= 50_000, row.int()?)));
        assert_eq!(read.await, Ok((true, 12)));
    });
}

async fn fill(
    connection: &mut Connection,
    numbers: impl Iterator<Item = i32>,
    length: usize,
) -> Result<u64, Error> {
    let mut table = LoadData::begin(connection, "t").await?;
    for number in numbers {
        let mut row = table.row();
        row.begin(2).int4(number);
        match number % 2 {
            0 => row.null(),
            _ => row.text_with(length, |room| room.fill(b'x')),
        };
        table.row_ended().await?;
    }
    table.finish().await
}

#[test]
fn a_connection_that_is_cut_is_a_fatal_failure() {
    let Some(server) = Server::shared() else {
        return;
    };
    let number = statement(0, "SELECT CONNECTION_ID()");
    block_on(async {
        let mut victim = server.connect().await;
        victim.prepare(&[number]).await.expect("prepared");
        victim.queue(&number, &[]).expect("queued");
        victim.send().await.expect("sent");
        let id = victim.one(|mut row| row.int()).await.expect("a number");
        let mut killer = server.connect().await;
        killer.run(&format!("KILL {id}")).await.expect("killed");
        victim.queue(&number, &[]).expect("queued");
        let error = match victim.send().await {
            Ok(()) => victim.done().await.expect_err("it was cut"),
            Err(error) => error,
        };
        let failure = victim.fail(error).await;
        assert!(failure.class.is_fatal(), "{failure:?}");
    });
}
