//! What every store promises. A store passes when `holds` does.

use std::{io::Read as _, path::Path, thread};

use fro_memory::{Advance, Error, Flaw, Head, Listing, Object, ObjectName, Part, Store};

/// Checks all promises, each on an empty store of its own.
pub(crate) fn holds(new: impl Fn() -> Store) {
    for promise in [
        an_object_comes_back_whole_and_in_parts,
        storing_again_writes_nothing,
        what_is_not_there_is_missing,
        what_is_deleted_is_gone_and_the_rest_is_not,
        a_head_moves_only_from_where_it_is,
        a_head_set_aside_is_gone_unless_it_moved,
        no_step_of_many_writers_is_lost,
    ] {
        promise(&new());
    }
}

fn an_object_comes_back_whole_and_in_parts(store: &Store) {
    let large: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    for content in [&b"seed"[..], &large] {
        for kind in [Object::Manifest, Object::Pack] {
            let object = kind(blake3::hash(content).into());
            assert_eq!(put(store, object, content), content.len() as u64);
            assert!(get(store, object, Part::Whole) == content, "{object} came back different");
            assert_eq!(get(store, object, Part::Slice { from: 1, length: 2 }), content[1..3]);
            let end = content.len() as u64 - 1;
            assert_eq!(
                get(store, object, Part::Slice { from: end, length: 9 }),
                content[content.len() - 1..]
            );
        }
    }
}

fn storing_again_writes_nothing(store: &Store) {
    let object = Object::Pack(blake3::hash(b"seed").into());
    assert_eq!(put(store, object, b"seed"), 4);
    assert_eq!(put(store, object, b"seed"), 0);
}

fn what_is_not_there_is_missing(store: &Store) {
    let name = ObjectName::from(blake3::hash(b"never stored"));
    for object in [Object::Manifest(name), Object::Pack(name)] {
        let missing = store.get(object, Part::Whole).map(drop);
        assert!(matches!(missing, Err(Error::Flawed(Flaw::Missing(missing))) if missing == name));
    }
    assert_eq!(store.head().unwrap(), None);
}

fn what_is_deleted_is_gone_and_the_rest_is_not(store: &Store) {
    let [kept, deleted] = [b"kept", b"dead"].map(|content| {
        let object = Object::Pack(blake3::hash(content).into());
        put(store, object, content);
        object
    });
    let Listing::Known(listed) = store.list().unwrap() else { return };
    assert_eq!(listed.iter().map(|listed| listed.bytes).collect::<Vec<_>>(), [4, 4]);
    store.delete(deleted).unwrap();
    store.delete(deleted).unwrap();
    let Listing::Known(listed) = store.list().unwrap() else { panic!("it could list before") };
    assert_eq!(listed.iter().map(|listed| listed.object).collect::<Vec<_>>(), [kept]);
    assert!(store.get(deleted, Part::Whole).is_err());
}

fn a_head_moves_only_from_where_it_is(store: &Store) {
    let [first, second] = ["first", "second"].map(|text| manifest(store, text));
    assert_eq!(store.advance(Some(&second), &first).unwrap(), Advance::Moved { now: None });
    assert_eq!(store.advance(None, &first).unwrap(), Advance::Done);
    assert_eq!(store.advance(None, &second).unwrap(), Advance::Moved { now: Some(first.clone()) });
    assert_eq!(store.advance(Some(&first), &second).unwrap(), Advance::Done);
    assert_eq!(store.head().unwrap(), Some(second));
}

fn a_head_set_aside_is_gone_unless_it_moved(store: &Store) {
    let [first, second] = ["first", "second"].map(|text| manifest(store, text));
    store.advance(None, &first).unwrap();
    store.set_aside(&second).unwrap();
    assert_eq!(store.head().unwrap(), Some(first.clone()));
    store.set_aside(&first).unwrap();
    assert_eq!(store.head().unwrap(), None);
    assert_eq!(get(store, Object::Manifest(first.manifest().unwrap()), Part::Whole), b"first");
}

fn no_step_of_many_writers_is_lost(store: &Store) {
    const WRITERS: usize = 4;
    const STEPS: usize = 8;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || (0..STEPS).for_each(|step| link(store, writer, step)));
        }
    });
    assert_eq!(chain(store), WRITERS * STEPS);
}

/// Puts an object that names the head before it on top of the chain, as often as it takes.
fn link(store: &Store, writer: usize, step: usize) {
    let mut before = store.head().unwrap();
    loop {
        let below = before.as_ref().map_or("", Head::as_str);
        let next = manifest(store, &format!("{below}\n{writer} {step}"));
        match store.advance(before.as_ref(), &next).unwrap() {
            Advance::Done => return,
            Advance::Moved { now } => before = now,
        }
    }
}

/// Returns how many links hang on the head.
fn chain(store: &Store) -> usize {
    let mut links = 0;
    let mut next = store.head().unwrap().map(|head| head.manifest().unwrap());
    while let Some(name) = next {
        links += 1;
        let text = String::from_utf8(get(store, Object::Manifest(name), Part::Whole)).unwrap();
        next = ObjectName::parse(text.lines().next().unwrap());
    }
    links
}

fn manifest(store: &Store, text: &str) -> Head {
    let name = ObjectName::from(blake3::hash(text.as_bytes()));
    put(store, Object::Manifest(name), text.as_bytes());
    Head::from(name)
}

pub(crate) fn put(store: &Store, object: Object, content: &[u8]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let path: &Path = &folder.path().join("content");
    std::fs::write(path, content).unwrap();
    store.put(object, path).unwrap()
}

pub(crate) fn get(store: &Store, object: Object, part: Part) -> Vec<u8> {
    let mut content = Vec::new();
    store.get(object, part).unwrap().read_to_end(&mut content).unwrap();
    content
}
