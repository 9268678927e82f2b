//! Rows of an answer as texts, from whichever protocol they come.

/// Whoever is told them.
pub trait TextRows {
    /// The names of the columns, before any row. A further result of the same statement has further names.
    fn columns(&mut self, names: &[&str]);

    /// A row; `None` for NULL.
    fn row(&mut self, values: &[Option<&str>]);
}
