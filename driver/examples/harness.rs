//! tmp
use loadstone_driver::{oltp::*, point_select::*, postgres::Config, session::*};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (host, port, db, what, users, secs) = (
        a[1].clone(),
        a[2].parse().unwrap(),
        a[3].clone(),
        a[4].clone(),
        a[5].parse::<u32>().unwrap(),
        a[6].parse::<f64>().unwrap(),
    );
    let params: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&a[7]).unwrap();
    let config = Config {
        host,
        port,
        user: "postgres".into(),
        database: db,
        password: None,
        settings: vec![],
    };
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    match what.as_str() {
        "run" => drive(&rt, OltpRun::new(config, &params, 42).unwrap(), users, secs),
        "load" => drive(&rt, OltpLoad::new(config, &params).unwrap(), users, 1e9),
        _ => drive(&rt, PointSelect::new(config, &params).unwrap(), users, secs),
    }
}
fn cpu() -> (f64, f64) {
    unsafe {
        let mut u: libc::rusage = std::mem::zeroed();
        libc::getrusage(0, &mut u);
        (
            u.ru_utime.tv_sec as f64 + u.ru_utime.tv_usec as f64 / 1e6,
            u.ru_stime.tv_sec as f64 + u.ru_stime.tv_usec as f64 / 1e6,
        )
    }
}
fn drive<W: Workload>(rt: &tokio::runtime::Runtime, w: W, users: u32, secs: f64) {
    let local = tokio::task::LocalSet::new();
    let w: &'static W = Box::leak(Box::new(w));
    let counts = Rc::new(RefCell::new(BTreeMap::<String, (u64, f64)>::new()));
    local.block_on(rt, async {
        let mut sessions = vec![];
        for u in 0..users {
            sessions.push(w.open(u, 42).await.unwrap());
        }
        let (c0, t0) = (cpu(), Instant::now());
        let end = t0 + Duration::from_secs_f64(secs);
        let mut hs = vec![];
        for mut s in sessions {
            let counts = counts.clone();
            hs.push(tokio::task::spawn_local(async move {
                let mut n = vec![(0u64, 0u64, 0f64); w.operations().len()];
                while Instant::now() < end {
                    let op = s.choose();
                    let t = Instant::now();
                    match s.execute(op).await {
                        Outcome::Done => n[op].0 += 1,
                        Outcome::RolledBack => {
                            n[op].0 += 1;
                            n[op].1 += 1
                        }
                        Outcome::Exhausted => break,
                        Outcome::Failed(f) => {
                            let mut c = counts.borrow_mut();
                            let e = c
                                .entry(format!("ERR {} {}", f.class.0, f.message))
                                .or_default();
                            e.0 += 1;
                            if f.class.is_fatal() || e.0 > 1000 {
                                break;
                            }
                        }
                    }
                    n[op].2 += t.elapsed().as_secs_f64();
                }
                s.close().await;
                let mut c = counts.borrow_mut();
                for (i, (d, r, t)) in n.into_iter().enumerate() {
                    let e = c.entry(w.operations()[i].into()).or_default();
                    e.0 += d;
                    e.1 += t;
                    if r > 0 {
                        c.entry("rolledback".into()).or_default().0 += r
                    }
                }
            }));
        }
        for h in hs {
            h.await.unwrap();
        }
        let (c1, el) = (cpu(), t0.elapsed().as_secs_f64());
        let total: u64 = counts
            .borrow()
            .iter()
            .filter(|(k, _)| !k.starts_with("ERR") && *k != "rolledback")
            .map(|(_, v)| v.0)
            .sum();
        for (k, v) in counts.borrow().iter() {
            println!("  {k}: {} mean {:.0} us", v.0, v.1 / v.0 as f64 * 1e6)
        }
        println!("  {:?}", w.facts());
        println!(
            "ops {total} in {el:.2}s = {:.0}/s  cpu/op user {:.2} sys {:.2} us",
            total as f64 / el,
            (c1.0 - c0.0) / total as f64 * 1e6,
            (c1.1 - c0.1) / total as f64 * 1e6
        );
    });
}
