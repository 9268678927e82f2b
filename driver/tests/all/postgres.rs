//! The PostgreSQL connection against a real database.

use crate::host::block_on;
use crate::pg_server::{Database, PASSWORD};
use loadstone_driver::decimal::Decimal;
use loadstone_driver::postgres::{
    Config, Connection, CopyIn, Error, Param, Statement, Status, TupleWriter,
};
use loadstone_driver::session::Failure;

const ONE: Statement = Statement {
    name: "one",
    sql: "SELECT 1",
};
const QUOTIENT: Statement = Statement {
    name: "quotient",
    sql: "SELECT 6 / $1::integer",
};
const BEGIN: Statement = Statement {
    name: "begin",
    sql: "BEGIN",
};

fn with_password(config: Config, user: &str, password: Option<&str>) -> Config {
    Config {
        user: user.into(),
        password: password.map(str::to_owned),
        ..config
    }
}

async fn refusal(config: &Config) -> Failure {
    Connection::connect(config)
        .await
        .expect_err("no connection")
        .into()
}

#[test]
fn logs_in_by_each_method() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(async {
        let mut admin = database.connect().await;
        let roles = format!(
            "CREATE ROLE scram LOGIN PASSWORD '{PASSWORD}'; CREATE ROLE clear LOGIN PASSWORD '{PASSWORD}';
             CREATE ROLE tls LOGIN;
             SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '{PASSWORD}'"
        );
        admin.run(&roles).await.expect("roles");
        for user in ["scram", "md5", "clear"] {
            let config = with_password(database.config(), user, Some(PASSWORD));
            let mut connection = Connection::connect(&config).await.expect(user);
            connection.run("SELECT 1").await.expect(user);
            let wrong = with_password(database.config(), user, Some("wrong"));
            assert_eq!(&*refusal(&wrong).await.class.0, "28P01", "{user}");
            let missing = with_password(database.config(), user, None);
            assert!(
                refusal(&missing).await.message.contains("none was given"),
                "{user}"
            );
        }
        Connection::connect(&database.socket_config())
            .await
            .expect("the Unix socket");
        let tls = refusal(&with_password(database.config(), "tls", None)).await;
        assert!(tls.message.contains("TLS"), "{}", tls.message);
        let nobody_there = Config {
            port: 1,
            ..database.config()
        };
        let lost = refusal(&nobody_there).await;
        assert_eq!(&*lost.class.0, "connection");
        assert!(lost.message.contains("127.0.0.1:1"), "{}", lost.message);
    });
}

#[test]
fn an_error_in_a_pipeline_leaves_the_connection_in_step() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(async {
        let mut connection = database.connect().await;
        connection
            .prepare(&[ONE, QUOTIENT, BEGIN])
            .await
            .expect("prepared");
        connection.queue(&BEGIN, &[]).expect("queued");
        connection
            .queue(&QUOTIENT, &[Param::Int4(0)])
            .expect("queued");
        connection.queue(&ONE, &[]).expect("queued");
        connection.sync().await.expect("sent");
        connection.done().await.expect("begun");
        let error = connection
            .one(|mut row| row.int4())
            .await
            .expect_err("a division by zero");
        assert_eq!(
            (error.sqlstate(), connection.status()),
            (Some("22012"), Status::Failed)
        );
        let failure = connection.fail(error).await;
        assert_eq!(
            (&*failure.class.0, connection.status()),
            ("22012", Status::Idle)
        );

        connection
            .queue(&QUOTIENT, &[Param::Int4(3)])
            .expect("queued");
        connection.sync().await.expect("sent");
        assert_eq!(connection.one(|mut row| row.int4()).await, Ok(2));
        connection.ready().await.expect("ready");

        let broken = Statement {
            name: "broken",
            sql: "SELECT * FROM no_such_table",
        };
        let error = connection
            .prepare(&[broken])
            .await
            .expect_err("no such table");
        assert!(
            error.to_string().contains("broken") && error.sqlstate() == Some("42P01"),
            "{error}"
        );
        connection.run("SELECT 1").await.expect("still in step");
    });
}

#[test]
fn values_go_and_come_as_they_are() {
    let Some(database) = Database::new() else {
        return;
    };
    let all = Statement {
        name: "all",
        sql: "SELECT $1::smallint, $2::integer, $3::text, $4::numeric, $5::numeric(12,2)::text,
                     ($6::smallint[])[2], ($7::integer[])[1], ($8::numeric[])[2]::text,
                     ($9::bpchar[])[1]::text, $10::integer IS NULL, 7::bigint, NULL::text",
    };
    block_on(async {
        let mut connection = database.connect().await;
        connection.prepare(&[all]).await.expect("prepared");
        let letters = [*b"abcdefghijklmnopqrstuvwx"];
        let params = [
            Param::Int2(-5),
            Param::Int4(1_000_000),
            Param::Text("Käse"),
            Param::Numeric(Decimal::cents(-1_234_567_890)),
            Param::Numeric(Decimal::cents(123)),
            Param::Int2Array(&[1, 2]),
            Param::Int4Array(&[9]),
            Param::NumericArray(&[Decimal::cents(0), Decimal::ten_thousandths(5)]),
            Param::CharArray(&letters),
            Param::Null,
        ];
        connection.queue(&all, &params).expect("queued");
        connection.sync().await.expect("sent");
        let seen = connection.rows(|mut row| {
            assert_eq!(
                (row.int2()?, row.int4()?, row.text()?),
                (-5, 1_000_000, "Käse")
            );
            assert_eq!((row.numeric(2)?, row.text()?), (-1_234_567_890, "1.23"));
            assert_eq!((row.int2()?, row.int4()?, row.text()?), (2, 9, "0.0005"));
            assert_eq!(
                (row.text()?, row.bytes()?),
                ("abcdefghijklmnopqrstuvwx", Some(&[1][..]))
            );
            assert_eq!((row.int8()?, row.bytes()?), (7, None));
            Ok(())
        });
        assert_eq!(seen.await, Ok(1));
        connection.ready().await.expect("ready");
    });
}

#[test]
fn copy_streams_rows_and_survives_a_refusal() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(async {
        let mut connection = database.connect().await;
        connection
            .run("CREATE TABLE t (n integer PRIMARY KEY, s text)")
            .await
            .expect("table");
        assert_eq!(
            fill(&mut connection, 1..=50_000)
                .await
                .map(|bytes| bytes > 1_000_000),
            Ok(true)
        );
        let twice = fill(&mut connection, 40_000..=90_000)
            .await
            .expect_err("the key is there");
        assert_eq!(twice.sqlstate(), Some("23505"));
        let count = Statement {
            name: "count",
            sql: "SELECT count(*), max(length(s)) FROM t",
        };
        connection.prepare(&[count]).await.expect("in step again");
        connection.queue(&count, &[]).expect("queued");
        connection.sync().await.expect("sent");
        let read = connection
            .one(|mut row| Ok((row.int8()?, row.int4()?)))
            .await;
        assert_eq!(read, Ok((50_000, 12)));
        connection.ready().await.expect("ready");
        let unknown = CopyIn::begin(&mut connection, "nowhere")
            .await
            .expect_err("no such table");
        assert_eq!(unknown.sqlstate(), Some("42P01"));
        connection.run("SELECT 1").await.expect("still in step");
    });
}

async fn fill(
    connection: &mut Connection,
    numbers: std::ops::RangeInclusive<i32>,
) -> Result<u64, Error> {
    let mut copy = CopyIn::begin(connection, "t").await?;
    for number in numbers {
        let row = &mut TupleWriter::new(copy.buffer());
        row.columns(2);
        row.int4(number);
        match number % 2 {
            0 => row.null(),
            _ => row.text_with(12, |room| room.copy_from_slice(b"twelve bytes")),
        };
        copy.send_if_full().await?;
    }
    copy.finish().await
}

#[test]
fn a_connection_that_is_cut_is_a_fatal_failure() {
    let Some(database) = Database::new() else {
        return;
    };
    block_on(async {
        let mut victim = database.connect().await;
        victim.prepare(&[ONE]).await.expect("prepared");
        let mut killer = database.connect().await;
        killer
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
            .await
            .expect("killed");
        victim.queue(&ONE, &[]).expect("queued");
        let error = match victim.sync().await {
            Ok(()) => victim.done().await.expect_err("it was cut"),
            Err(error) => error,
        };
        assert!(victim.fail(error).await.class.is_fatal());
    });
}
