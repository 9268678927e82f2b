//! Entry point of `loadstone-driver`.
fn main() {}
