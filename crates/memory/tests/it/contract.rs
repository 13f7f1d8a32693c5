//! What every store promises. A store passes when `holds` does.

use std::{io::Read as _, thread};

use fro_memory::{Advance, Error, Flaw, Folder, Head, ObjectName, Stored};

/// Checks all promises, each on an empty store of its own.
pub(crate) fn holds(new: impl Fn() -> Folder) {
    for promise in [
        an_object_is_named_by_its_content,
        storing_again_writes_nothing,
        what_is_not_there_is_missing,
        a_head_moves_only_from_where_it_is,
        a_head_set_aside_is_gone_unless_it_moved,
        no_step_of_many_writers_is_lost,
    ] {
        promise(&new());
    }
}

fn an_object_is_named_by_its_content(store: &Folder) {
    let large: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    for content in [&b""[..], b"seed", &large] {
        let stored = store.put(content).unwrap();
        let name = ObjectName::from(blake3::hash(content));
        assert_eq!(stored, Stored { name, written: content.len() as u64 });
        assert!(read(store, name) == content, "{name} came back different");
    }
}

fn storing_again_writes_nothing(store: &Folder) {
    let first = store.put(&b"seed"[..]).unwrap();
    let second = store.put(&b"seed"[..]).unwrap();
    assert_eq!(second, Stored { name: first.name, written: 0 });
}

fn what_is_not_there_is_missing(store: &Folder) {
    let name = ObjectName::from(blake3::hash(b"never stored"));
    assert!(matches!(store.get(name), Err(Error::Flawed(Flaw::Missing(missing))) if missing == name));
    assert_eq!(store.head().unwrap(), None);
}

fn a_head_moves_only_from_where_it_is(store: &Folder) {
    let [first, second] = ["first", "second"].map(|text| store.put(text.as_bytes()).unwrap().name);
    let (at_first, at_second) = (Head::from(first), Head::from(second));

    assert_eq!(store.advance(Some(&at_second), first).unwrap(), Advance::Moved { now: None });
    assert_eq!(store.advance(None, first).unwrap(), Advance::Done(at_first.clone()));
    assert_eq!(store.advance(None, second).unwrap(), Advance::Moved { now: Some(at_first.clone()) });
    assert_eq!(store.advance(Some(&at_first), second).unwrap(), Advance::Done(at_second.clone()));
    assert_eq!(store.head().unwrap(), Some(at_second));
}

fn a_head_set_aside_is_gone_unless_it_moved(store: &Folder) {
    let [first, second] = ["first", "second"].map(|text| store.put(text.as_bytes()).unwrap().name);
    store.advance(None, first).unwrap();

    store.set_aside(&Head::from(second)).unwrap();
    assert_eq!(store.head().unwrap(), Some(Head::from(first)));
    store.set_aside(&Head::from(first)).unwrap();
    assert_eq!(store.head().unwrap(), None);
    assert_eq!(read(store, first), b"first");
}

fn no_step_of_many_writers_is_lost(store: &Folder) {
    const WRITERS: usize = 6;
    const STEPS: usize = 15;
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || (0..STEPS).for_each(|step| link(store, writer, step)));
        }
    });
    assert_eq!(chain(store), WRITERS * STEPS);
}

/// Puts an object that names the head before it on top of the chain, as often as it takes.
fn link(store: &Folder, writer: usize, step: usize) {
    let mut before = store.head().unwrap();
    loop {
        let below = before.as_ref().map_or(String::new(), |head| head.manifest().unwrap().to_string());
        let name = store.put(format!("{below}\n{writer} {step}").as_bytes()).unwrap().name;
        match store.advance(before.as_ref(), name).unwrap() {
            Advance::Done(_) => return,
            Advance::Moved { now } => before = now,
        }
    }
}

/// Returns how many links hang on the head.
fn chain(store: &Folder) -> usize {
    let mut links = 0;
    let mut next = store.head().unwrap().map(|head| head.manifest().unwrap());
    while let Some(name) = next {
        links += 1;
        let text = String::from_utf8(read(store, name)).unwrap();
        next = ObjectName::parse(text.lines().next().unwrap());
    }
    links
}

fn read(store: &Folder, name: ObjectName) -> Vec<u8> {
    let mut content = Vec::new();
    store.get(name).unwrap().read_to_end(&mut content).unwrap();
    content
}
