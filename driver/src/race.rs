//! Two futures against each other.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// What `future` gives, or `None` when `stop` comes first. What is ready is never thrown away.
pub async fn unless<T>(
    stop: impl Future<Output = ()>,
    future: impl Future<Output = T>,
) -> Option<T> {
    Unless {
        future: pin!(future),
        stop: pin!(stop),
    }
    .await
}

/// No closure: each operation is made within it, and it is to be compiled into that code.
struct Unless<'a, F, S> {
    future: Pin<&'a mut F>,
    stop: Pin<&'a mut S>,
}

impl<F: Future, S: Future<Output = ()>> Future for Unless<'_, F, S> {
    type Output = Option<F::Output>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(value) = self.future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        self.stop.as_mut().poll(context).map(|()| None)
    }
}
