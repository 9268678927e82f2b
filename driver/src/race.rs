//! Two futures against each other.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// What `future` gives, or `None` when `stop` comes first. What is ready is never thrown away.
pub async fn unless<T>(
    stop: impl Future<Output = ()>,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let mut stop = pin!(stop);
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        stop.as_mut().poll(context).map(|()| None)
    })
    .await
}
