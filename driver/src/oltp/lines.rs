//! The lines of an order (clause 2.4.1.5), and the choice of another warehouse.

use rand::{Rng, RngExt};

use super::inputs::Scale;
use super::parameters::ITEMS;
use super::random::{A_ITEM, nu_rand};

/// An item number that no item has (clause 2.4.1.5).
pub const UNUSED_ITEM: i32 = ITEMS as i32 + 1;
/// Most lines of an order.
pub const MAX_LINES: usize = 15;

/// Lines of an order, as columns: this is how they are sent. Kept in place, without allocation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    count: usize,
    items: [i32; MAX_LINES],
    suppliers: [i32; MAX_LINES],
    quantities: [i16; MAX_LINES],
}

/// A warehouse other than `home`, if there is another.
pub fn remote_warehouse(rng: &mut impl Rng, home: i32, warehouses: u32) -> i32 {
    if warehouses == 1 {
        return home;
    }
    let drawn = rng.random_range(1..warehouses as i32);
    if drawn >= home { drawn + 1 } else { drawn }
}

impl Lines {
    /// Number of lines.
    pub fn count(&self) -> usize {
        self.count
    }

    /// `ol_i_id` of each line.
    pub fn items(&self) -> &[i32] {
        &self.items[..self.count]
    }

    /// `ol_supply_w_id` of each line.
    pub fn suppliers(&self) -> &[i32] {
        &self.suppliers[..self.count]
    }

    /// `ol_quantity` of each line.
    pub fn quantities(&self) -> &[i16] {
        &self.quantities[..self.count]
    }

    /// Draws 5 to 15 lines; in one order of a hundred the last item is one that does not exist.
    ///
    /// An item that the order already has from the same warehouse is drawn again (3 in 1000 orders):
    /// all lines can then be one set-wise update of the stock, which changes a row only once.
    pub fn draw(rng: &mut impl Rng, home: i32, scale: &Scale) -> Self {
        let count = rng.random_range(5..=MAX_LINES);
        let mut lines: [(i32, i32, i16); MAX_LINES] = [(0, 0, 0); MAX_LINES];
        for at in 0..count {
            let remote = rng.random_range(1..=100) == 1;
            let supplier = if remote {
                remote_warehouse(rng, home, scale.warehouses)
            } else {
                home
            };
            let item = loop {
                let item = nu_rand(rng, A_ITEM, scale.constants.item, 1, ITEMS) as i32;
                if !lines[..at]
                    .iter()
                    .any(|line| (line.0, line.1) == (supplier, item))
                {
                    break item;
                }
            };
            lines[at] = (supplier, item, rng.random_range(1..=10));
        }
        if rng.random_range(1..=100) == 1 {
            lines[count - 1].1 = UNUSED_ITEM;
        }
        lines[..count].sort_unstable();
        Self {
            count,
            items: lines.map(|line| line.1),
            suppliers: lines.map(|line| line.0),
            quantities: lines.map(|line| line.2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::random::{Purpose, stream};

    #[test]
    fn a_remote_warehouse_is_any_other() {
        let mut rng = stream(5, Purpose::User, 0);
        let seen: std::collections::BTreeSet<_> =
            (0..500).map(|_| remote_warehouse(&mut rng, 2, 4)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(remote_warehouse(&mut rng, 1, 1), 1);
    }
}
