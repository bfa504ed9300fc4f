//! A lane: calls of one kind, started in order, a bounded number at a time.
//!
//! Invariant: entering never waits, so the engine never does. What waits is small; a future exists only for
//! what is in flight.

use std::future::Future;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc, watch};

/// The entrance of a lane.
pub(in crate::driver) struct Lane<T> {
    queue: mpsc::UnboundedSender<T>,
    slots: Arc<Semaphore>,
    width: u32,
}

impl<T: Send + 'static> Lane<T> {
    /// A lane with room for `width` calls at a time. Once `stop` is true nothing more is started.
    pub(in crate::driver) fn start<F, C>(width: u32, mut stop: watch::Receiver<bool>, run: F) -> Self
    where
        F: Fn(T) -> C + Send + Sync + 'static,
        C: Future<Output = ()> + Send + 'static,
    {
        let (queue, mut waiting) = mpsc::unbounded_channel();
        let slots = Arc::new(Semaphore::new(width as usize));
        let free = Arc::clone(&slots);
        tokio::spawn(async move {
            let work = async {
                while let Some(next) = waiting.recv().await {
                    let Ok(slot) = Arc::clone(&free).acquire_owned().await else { return };
                    let call = run(next);
                    tokio::spawn(async move {
                        call.await;
                        drop(slot);
                    });
                }
            };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                () = work => {}
            }
        });
        Self { queue, slots, width }
    }

    /// Queues one call.
    pub(in crate::driver) fn enter(&self, call: T) {
        // It fails only once the lane has stopped.
        let _ = self.queue.send(call);
    }

    /// Queues one call once a slot is free, for those who bound their own queue.
    pub(in crate::driver) async fn enter_when_free(&self, call: T) {
        // Taken by the lane again right away; what counts is that there was one.
        drop(self.slots.acquire().await);
        self.enter(call);
    }

    /// Waits until no call is in flight.
    pub(in crate::driver) async fn empty(&self) {
        let _ = self.slots.acquire_many(self.width).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::sync::Notify;

    #[tokio::test]
    async fn no_more_than_its_width_are_in_flight() {
        let (started, gate) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let (count, open) = (Arc::clone(&started), Arc::clone(&gate));
        let (_running, stop) = watch::channel(false);
        let lane = Lane::start(2, stop, move |(): ()| {
            let (count, open) = (Arc::clone(&count), Arc::clone(&open));
            async move {
                count.fetch_add(1, Ordering::SeqCst);
                open.notified().await;
            }
        });
        (0..5).for_each(|_| lane.enter(()));
        for expected in 2..=5 {
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            assert_eq!(started.load(Ordering::SeqCst), expected);
            gate.notify_one();
        }
    }

    #[tokio::test]
    async fn a_stopped_lane_finishes_what_it_began_and_begins_nothing() {
        let (done, gate) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let (count, open) = (Arc::clone(&done), Arc::clone(&gate));
        let (stopping, stop) = watch::channel(false);
        let lane = Lane::start(1, stop, move |(): ()| {
            let (count, open) = (Arc::clone(&count), Arc::clone(&open));
            async move {
                open.notified().await;
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        lane.enter(());
        lane.enter(());
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        stopping.send(true).unwrap();
        gate.notify_one();
        lane.empty().await;
        gate.notify_one();
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert_eq!(done.load(Ordering::SeqCst), 1);
    }
}
