//! JSON paths (RFC 9535), as `$.items[*].id`.

use serde_json_path::JsonPath;

/// Reads a path.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse(path: &str) -> Result<JsonPath, String> {
    JsonPath::parse(path).map_err(|error| {
        format!("`{path}` is no JSON path ({error}); write one as $.items[*].id (RFC 9535)")
    })
}
