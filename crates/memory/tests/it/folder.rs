//! What only a folder can show: files, modes and names.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use proptest::prelude::{ProptestConfig, any, proptest};

use fro_core::Fault;
use fro_memory::{Error, Flaw, Head, Object, ObjectName, Part, Store};

use crate::contract::{self, get, put};

#[test]
fn a_folder_keeps_the_contract() {
    let root = tempfile::tempdir().unwrap();
    let fresh = || tempfile::tempdir_in(&root).unwrap().keep();
    contract::holds(|| Store::folder(fresh()).unwrap());
}

#[test]
fn only_the_owner_can_read_it_and_nothing_is_left_in_between() {
    let root = tempfile::tempdir().unwrap();
    let folder = Store::folder(root.path().join("memory")).unwrap();
    let name = ObjectName::from(blake3::hash(b"seed"));
    for _ in 0..2 {
        put(&folder, Object::Manifest(name), b"seed");
        folder.advance(None, &Head::from(name)).unwrap();
    }

    insta::assert_snapshot!(tree(&root.path().join("memory")), @"
    3 40700
    3/aside 40700
    3/head.3 100600
    3/head.lock 100644
    3/manifests 40700
    3/manifests/606ec154e4634e71c6bc67b6614417192a7e7ac2944523c1a55435f1b7c54f47 100600
    3/packs 40700
    3/scratch 40700
    ");
}

#[test]
fn a_folder_that_cannot_be_made_is_for_its_owner_to_mend() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    let fault = Fault::from(Store::folder(root.path().join("file/memory")).unwrap_err());

    let told = format!("{fault}\nhint: {}", fault.hint()).replace(root.path().to_str().unwrap(), "[root]");
    insta::assert_snapshot!(told, @"
    cannot read or write a file of the memory: failed to create folder `[root]/file/memory`: Not a directory (os error 20)
    hint: check that the folder of the memory is writable and its disk has room
    ");
}

#[test]
fn a_damaged_object_is_healed_by_storing_it_again() {
    let root = tempfile::tempdir().unwrap();
    let folder = Store::folder(root.path()).unwrap();
    let object = Object::Pack(blake3::hash(b"seed").into());
    put(&folder, object, b"seed");
    fs::write(root.path().join("3").join(object.to_string()), b"sead").unwrap();
    assert_eq!(put(&folder, object, b"seed"), 4);
    assert_eq!(get(&folder, object, Part::Whole), b"seed");
}

#[test]
fn a_link_is_no_object() {
    let root = tempfile::tempdir().unwrap();
    let folder = Store::folder(root.path()).unwrap();
    let object = Object::Pack(blake3::hash(b"seed").into());
    std::os::unix::fs::symlink("/etc/hostname", root.path().join("3").join(object.to_string())).unwrap();
    let refused = folder.get(object, Part::Whole).map(drop);
    assert!(matches!(refused, Err(Error::Flawed(Flaw::Altered(_)))));
}

#[test]
fn names_that_are_not_hashes_are_none() {
    let upper = "AF1349B9F5F9A1A6A0404DEA36DCC9499BCB25C9ADC112B7CC9A93CAE41F3262";
    let long = format!("{}/", upper.to_lowercase());
    for hostile in ["", ".", "..", "../head", "/etc/passwd", "head", "\0", "objects/../../x", upper, &long] {
        assert_eq!(ObjectName::parse(hostile), None, "{hostile:?}");
        assert_eq!(Object::parse(&format!("packs/{hostile}")), None, "{hostile:?}");
        assert_eq!(Object::parse(hostile), None, "{hostile:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_name_has_one_spelling(hash in any::<[u8; 32]>(), text in ".{0,80}") {
        let name = ObjectName::from(blake3::Hash::from(hash));
        assert_eq!(ObjectName::parse(&name.to_string()), Some(name));
        assert!(ObjectName::parse(&text).is_none_or(|name| name.to_string() == text));
    }
}

/// Draws a folder as one line per file with its mode.
fn tree(folder: &Path) -> String {
    let mut lines: Vec<_> = walk(folder).collect();
    lines.sort();
    lines.join("\n")
}

fn walk(folder: &Path) -> Box<dyn Iterator<Item = String>> {
    let root = folder.to_owned();
    Box::new(fs::read_dir(folder).unwrap().flat_map(move |entry| {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let below: Vec<_> = if path.is_dir() {
            walk(&path).map(|line| format!("{name}/{line}")).collect()
        } else {
            Vec::new()
        };
        std::iter::once(format!("{name} {mode:o}")).chain(below)
    }))
}
