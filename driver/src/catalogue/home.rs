//! Where the files of a user are.

use std::path::{Path, PathBuf};

use super::parameters::{Layout, Parameters};

/// Above all homes.
const TOP: &str = "users";

/// A file: whose it is, and its number in that home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Number of the user, from 0.
    pub home: u32,
    /// Number of the file, from 0.
    pub file: u32,
}

impl FileId {
    /// What it is called in its home.
    pub fn name(self) -> String {
        format!("f{:05}", self.file)
    }

    /// What it is called while it is written, before it takes the place of another.
    pub fn new_name(self) -> String {
        format!("f{:05}.new", self.file)
    }
}

/// Names and paths of all homes.
#[derive(Debug, Clone)]
pub struct Homes {
    names: Vec<String>,
    layout: Layout,
    hash_characters: usize,
}

impl Homes {
    /// Of the users that parameters name.
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            names: parameters.names.clone(),
            layout: parameters.layout,
            hash_characters: parameters.hash_characters,
        }
    }

    /// The name of user `home`.
    pub fn name(&self, home: u32) -> String {
        let Some(rounds) = home.checked_div(self.names.len() as u32) else {
            return format!("user{home:07}");
        };
        let name = &self.names[home as usize % self.names.len()];
        match rounds {
            0 => name.clone(),
            _ => format!("{name}{}", rounds + 1),
        }
    }

    /// The names of the folders that lead to the home of user `home`.
    pub fn steps(&self, home: u32) -> Vec<String> {
        let name = self.name(home);
        let mut steps = vec![TOP.to_owned()];
        if self.layout == Layout::Hashed {
            // Names are ASCII.
            steps.push(name[..self.hash_characters.min(name.len())].to_owned());
        }
        steps.push(name);
        steps
    }

    /// The home folder of user `home`, below `folder`.
    pub fn path(&self, folder: &Path, home: u32) -> PathBuf {
        let mut path = folder.to_path_buf();
        path.extend(self.steps(home));
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(layout: Layout, names: &[&str]) -> Homes {
        Homes {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            layout,
            hash_characters: 2,
        }
    }

    #[test]
    fn homes_are_hashed_by_the_name_or_flat() {
        let folder = Path::new("/d");
        let named = homes(Layout::Hashed, &["steve", "ann", "x"]);
        assert_eq!(named.path(folder, 0), Path::new("/d/users/st/steve"));
        assert_eq!(named.path(folder, 2), Path::new("/d/users/x/x"));
        assert_eq!(named.path(folder, 4), Path::new("/d/users/an/ann2"));
        let numbered = homes(Layout::Hashed, &[]);
        assert_eq!(
            numbered.path(folder, 41),
            Path::new("/d/users/us/user0000041")
        );
        let flat = homes(Layout::Flat, &["steve"]);
        assert_eq!(flat.path(folder, 0), Path::new("/d/users/steve"));
        assert_eq!(named.steps(4), ["users", "an", "ann2"]);
        let id = FileId { home: 0, file: 3 };
        assert_eq!(
            (id.name(), id.new_name()),
            ("f00003".into(), "f00003.new".into())
        );
    }
}
