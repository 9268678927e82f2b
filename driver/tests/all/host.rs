//! What a test needs of the host, whatever server it starts.

use std::pin::Pin;

use loadstone_driver::clock::Epoch;
use loadstone_driver::timer::Timer;

/// A TCP port that nobody listens on.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Runs a future as a worker of the driver does.
pub fn block_on<'f, T: 'f>(future: impl Future<Output = T> + 'f) -> T {
    // Boxed, so that the runtime is compiled once and not for each test.
    run(Box::pin(future))
}

fn run<'f, T>(future: Pin<Box<dyn Future<Output = T> + 'f>>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let _timer = Timer::start(Epoch::start()).expect("a timer");
        future.await
    })
}
