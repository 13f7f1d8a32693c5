//! What only a bucket can show: signatures, encryption, addresses and lost answers.

use fro_core::{Fault, remembered::Audience};
use fro_memory::{
    Advance, Encryption, Endpoint, Error, Head, Keep, Kept, Object, ObjectName, Part, Recall, RecallTarget,
    Refusal, S3Settings, SessionSelection, Store, StoreSettings, Stores, keep, recall,
};

use crate::{
    bucket::{self, Bucket, credentials},
    contract::{self, get, put},
    engine::{Engine, after, saved, say},
};

#[test]
fn a_bucket_keeps_the_contract() {
    let bucket = Bucket::open();
    let number = std::cell::Cell::new(0);
    contract::holds(|| {
        number.set(number.get() + 1);
        bucket.store(&format!("memory-{}", number.get()))
    });
}

#[test]
fn a_large_object_goes_up_in_parts_and_comes_down_side_by_side() {
    let bucket = Bucket::open();
    let store = bucket.store("large");
    let content: Vec<u8> = (0..6_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let object = Object::Pack(blake3::hash(&content).into());

    assert_eq!(put(&store, object, &content), content.len() as u64);
    let up = bucket.seen();
    assert!(get(&store, object, Part::Slice { from: 3, length: content.len() as u64 }) == content[3..]);

    let parts = up.iter().filter(|seen| seen.line.contains("partNumber=")).count();
    assert_eq!((parts, bucket.seen().len()), (3, 6));
}

/// What the run was told when it began it need not ask again.
#[test]
fn a_save_does_not_ask_for_what_its_run_began_with() {
    let bucket = Bucket::open();
    keep(&bucket.store("octo/garden"), Engine::with_sessions(3).data(), &after(None)).unwrap();
    let engine = Engine::fresh();
    let settings = StoreSettings { s3: Some(bucket.settings("octo/garden")), ..StoreSettings::default() };
    let mut stores = Stores::open(&settings);
    let to = RecallTarget {
        engine_data: engine.data(),
        ledger: None,
        index: None,
        engine_version: None,
        audience: Audience::Insiders,
        given: SessionSelection::Everything,
    };
    let recollection = stores.recall(to, after(None).now);
    say(&mut engine.connect(), 9, "said by this run");
    bucket.seen();
    let kept = stores.keep(&Keep::new(engine.data(), after(recollection.recall.head()))).kept;
    assert!(matches!(kept, Some(Kept::Saved { sessions: 4, .. })), "{kept:?}");
    let lines: Vec<String> = bucket.seen().into_iter().map(|seen| seen.line).collect();
    let again = lines.iter().filter(|line| line.starts_with("GET") && line.contains("/manifests/"));
    assert_eq!(again.count(), 0, "{lines:#?}");
}

#[test]
fn the_expected_owner_is_signed_wherever_it_is_sent() {
    let bucket = Bucket::open();
    let settings = S3Settings {
        expected_owner: Some("123456789012".to_owned()),
        encryption: Encryption::Kms("a-key".to_owned()),
        ..bucket.settings("owned")
    };
    let store = Store::s3(&settings).unwrap();
    let large = vec![7; 9 << 20];
    put(&store, Object::Pack(blake3::hash(&large).into()), &large);
    let name = ObjectName::from(blake3::hash(b"seed"));
    put(&store, Object::Manifest(name), b"seed");
    get(&store, Object::Manifest(name), Part::Whole);
    store.advance(None, &Head::from(name)).unwrap();
    store.set_aside(&Head::from(name)).unwrap();
    store.list().unwrap();
    store.delete(Object::Manifest(name)).unwrap();

    let mut lists = 0;
    for seen in bucket.seen() {
        let text = |name: &str| seen.headers.get(name).map(|value| value.to_str().unwrap());
        let signed = text("authorization").unwrap();
        if seen.line.contains("list-type") {
            lists += 1;
            assert_eq!(text("x-amz-expected-bucket-owner"), None);
            continue;
        }
        assert_eq!(text("x-amz-expected-bucket-owner"), Some("123456789012"), "{}", seen.line);
        assert!(signed.contains("x-amz-expected-bucket-owner"), "{}: {signed}", seen.line);
        if seen.line.starts_with("PUT") && !seen.line.contains("partNumber") {
            assert_eq!(text("x-amz-server-side-encryption"), Some("aws:kms"), "{}", seen.line);
            assert!(signed.contains("x-amz-server-side-encryption-aws-kms-key-id"), "{signed}");
        }
    }
    assert_eq!(lists, 1);
}

#[test]
fn the_server_is_asked_to_encrypt_with_its_own_keys() {
    let bucket = Bucket::open();
    let settings = S3Settings { encryption: Encryption::S3, ..bucket.settings("encrypted") };
    let store = Store::s3(&settings).unwrap();
    store.advance(None, &Head::new("anything")).unwrap();
    let seen = bucket.seen();
    let write = seen.iter().find(|seen| seen.line.starts_with("PUT")).unwrap();
    assert_eq!(write.headers.get("x-amz-server-side-encryption").unwrap(), "AES256");
}

#[test]
fn a_wrong_key_is_denied_and_the_owner_is_told() {
    let bucket = Bucket::open();
    let settings = S3Settings { credentials: credentials("wrong"), ..bucket.settings("denied") };
    let store = Store::s3(&settings).unwrap();
    let error = store.head().unwrap_err();
    assert_eq!(error.refusal(), Some(Refusal::Denied));
    let fault = Fault::from(error);
    assert!(fault.what().starts_with("cannot read the head in S3: access is denied"), "{fault}");
    assert_eq!(fault.hint(), "check the credentials of the memory's store and what they may do");
}

#[test]
fn an_address_without_encryption_must_be_allowed() {
    let bucket = Bucket::open();
    let settings = bucket.settings("open");
    let Endpoint::Insecure(url) = settings.endpoint.clone() else { panic!("it is on this machine") };
    let refused = Store::s3(&S3Settings { endpoint: Endpoint::Custom(url), ..settings }).map(drop);
    let Err(Error::Settings { why, .. }) = refused else { panic!("{refused:?}") };
    assert!(why.contains("is not https, and `s3-allow-insecure-endpoint` is not set"), "{why}");
    assert!(bucket.seen().is_empty());
}

#[test]
fn a_move_of_the_head_whose_answer_was_lost_is_done() {
    let bucket = Bucket::open();
    let store = bucket.store("lost");
    let [first, second] = ["first", "second"].map(Head::new);
    store.advance(None, &first).unwrap();
    bucket.fail("PUT /head.3", bucket::Fault::Lose);
    let mender = std::thread::scope(|scope| {
        let moved = scope.spawn(|| store.advance(Some(&first), &second));
        while !bucket.seen().iter().any(|seen| seen.line.starts_with("PUT")) {
            std::thread::yield_now();
        }
        bucket.mend();
        moved.join().unwrap()
    });
    assert_eq!(mender.unwrap(), Advance::Done);
    assert_eq!(store.head().unwrap(), Some(second));
}

#[test]
fn a_memory_goes_through_a_bucket_and_back() {
    let bucket = Bucket::open();
    let store = bucket.store("octo/garden");
    let engine = Engine::with_sessions(3);
    engine.write("session_diff/ses_00000001.json", "[]");
    let head = saved(&keep(&store, engine.data(), &after(None)).unwrap());
    let next = Engine::fresh();
    let recalled = recall(&store, next.data()).unwrap();
    assert_eq!((recalled.head(), matches!(recalled, Recall::Warm { sessions: 3, .. })), (Some(&head), true));
    assert_eq!(next.remembers(), engine.remembers());
    let again = Keep::new(next.data(), after(Some(&head))).save(&store).unwrap();
    let Kept::Saved { uploaded, .. } = again else { panic!("{again:?}") };
    assert!(uploaded < 20_000, "{uploaded} bytes went up though nothing had changed");
}

#[test]
fn four_runs_at_once_lose_nothing() {
    let bucket = Bucket::open();
    crate::many::go_well(4, |prefix| bucket.store(prefix));
}
