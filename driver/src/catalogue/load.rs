//! The role `load`: all homes are made, each with its first files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::account::of;
use super::calls::Call;
use super::{Catalogue, Hands, hands, made};
use crate::session::{Failure, OperationId, Outcome, Session, Workload};

/// Makes the homes.
#[derive(Debug)]
pub struct CatalogueLoad {
    catalogue: Arc<Catalogue>,
    progress: Arc<Progress>,
}

/// What the sessions share.
#[derive(Debug, Default)]
struct Progress {
    next: AtomicU64,
    /// A limit was met: what is left would fail as well.
    failed: AtomicBool,
}

impl CatalogueLoad {
    /// Of a catalogue that is empty.
    pub fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            progress: Arc::default(),
        }
    }
}

impl Workload for CatalogueLoad {
    type Session = LoadSession;

    fn operations(&self) -> &[&'static str] {
        &["make-home"]
    }

    async fn open(&self, _user: u32, _seed: u64) -> Result<LoadSession, Failure> {
        Ok(LoadSession {
            hands: hands(&self.catalogue).await?,
            catalogue: Arc::clone(&self.catalogue),
            progress: Arc::clone(&self.progress),
        })
    }

    fn engine(&self) -> Option<String> {
        Some(self.catalogue.engine())
    }

    fn engine_cpu_s(&self) -> Option<f64> {
        Some(self.catalogue.meter.total_s())
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let account = &self.catalogue.account;
        vec![
            ("homes", of(&account.homes) as f64),
            ("files", of(&account.files) as f64),
            ("bytes", of(&account.written_bytes) as f64),
        ]
    }
}

/// A thread that makes homes.
#[derive(Debug)]
pub struct LoadSession {
    hands: Hands,
    catalogue: Arc<Catalogue>,
    progress: Arc<Progress>,
}

impl Session for LoadSession {
    fn choose(&mut self) -> OperationId {
        0
    }

    async fn execute(&mut self, _operation: OperationId) -> Outcome {
        let home = self.progress.next.fetch_add(1, Ordering::Relaxed);
        let all = home >= u64::from(self.catalogue.parameters.homes);
        if all || self.progress.failed.load(Ordering::Relaxed) {
            return Outcome::Exhausted;
        }
        match made(&mut self.hands, Call::MakeHome(home as u32)).await {
            Ok(()) => Outcome::Done,
            Err(failure) => {
                self.progress.failed.store(true, Ordering::Relaxed);
                Outcome::Failed(failure)
            }
        }
    }

    async fn reconnect(&mut self) -> Result<(), Failure> {
        if self.progress.failed.load(Ordering::Relaxed) {
            // Nothing is made any more: a server that is gone is not waited for.
            return Ok(());
        }
        self.hands = hands(&self.catalogue).await?;
        Ok(())
    }

    async fn close(&mut self) {
        self.hands.close().await;
    }
}
