//! Reading of the user's own value types; `core` gives them their meaning.

use std::path::Path;

use crate::failure::Failure;
use crate::source::beneath::{Place, UnderRoot};
use crate::source::open::{read_small, read_small_beneath};
use stepscope_base::text::Shown;
use stepscope_record::types::TypeRegistry;

/// A larger file is no type that anyone wrote.
const MAX_TYPE: u64 = 1 << 20;
/// Number of types that are known at most.
const MAX_TYPES: usize = 200;
const READ: &str = "cannot use the type";

/// Reads the program's types and the user's: every `NAME.json` (or `NAME.schema.json`) in the `schemas` folder of the
/// configuration, where there is one, and in a folder that was named; the latter win.
pub fn read_all(config: Option<&Path>, named: Option<&Path>) -> Result<TypeRegistry, Failure> {
    let mut texts = Vec::new();
    if let Some(folder) = config.map(|config| config.join("schemas")).filter(|folder| folder.is_dir()) {
        read_folder(&folder, own(&folder), &mut texts)?;
    }
    if let Some(folder) = named {
        read_folder(folder, listed(folder), &mut texts)?;
    }
    let (registry, refused) = TypeRegistry::with(texts);
    match refused.first() {
        Some((name, why)) => Err(Failure { what: READ, path: Shown::line(name.as_bytes()), source: Shown::error(why) }),
        None => Ok(registry),
    }
}

/// Files of a person's own configuration; people keep it elsewhere and link to it.
fn own(folder: &Path) -> std::io::Result<Vec<Place>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(Place::Named(entry?.path()))).collect()
}

/// Files in a folder that was named.
fn listed(folder: &Path) -> std::io::Result<Vec<Place>> {
    let (root, mut places) = (UnderRoot::root(folder)?, Vec::new());
    root.list(|entry| {
        places.push(root.join(entry.name).into());
        true
    })?;
    Ok(places)
}

fn read_folder(
    folder: &Path,
    places: std::io::Result<Vec<Place>>,
    texts: &mut Vec<(String, Vec<u8>, Shown)>,
) -> Result<(), Failure> {
    let mut places = places.map_err(|error| Failure::system("cannot read", folder, &error))?;
    places.retain(|place| place.path().extension().is_some_and(|extension| extension == "json"));
    places.sort_by(|a, b| a.path().cmp(b.path()));
    for place in places {
        let path = place.path();
        if texts.len() >= MAX_TYPES {
            return Err(Failure::own(READ, &Shown::path(path), "more than 200 types"));
        }
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let name = name.strip_suffix(".schema").unwrap_or(name).to_owned();
        let text = match &place {
            Place::UnderRoot(at) => read_small_beneath(at, MAX_TYPE, READ),
            place => read_small(place.path(), MAX_TYPE, READ),
        };
        texts.push((name, text?, Shown::path(path)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_from_both_folders_and_the_named_one_wins() {
        let (config, named) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(config.path().join("schemas")).unwrap();
        std::fs::write(config.path().join("schemas/vin.schema.json"), r#"{"type": "string"}"#).unwrap();
        std::fs::write(named.path().join("vin.json"), r#"{"type": "object"}"#).unwrap();
        std::fs::write(named.path().join("notes.txt"), "{").unwrap();
        let registry = read_all(Some(config.path()), Some(named.path())).unwrap();
        assert_eq!(registry.named(b"vin").unwrap().text, br#"{"type": "object"}"#);
        assert!(registry.named(b"notes").is_none());
        assert!(read_all(Some(named.path()), None).is_ok());

        std::fs::write(named.path().join("far.json"), r#"{"$ref": "http://127.0.0.1:1/x"}"#).unwrap();
        let failure = read_all(None, Some(named.path())).unwrap_err().to_string();
        assert!(failure.starts_with("cannot use the type far: "), "{failure}");
        assert!(read_all(None, Some(&named.path().join("none"))).is_err());
    }
}
