//! Databases that cannot be used: each says who has to act, and how.

use fro_core::Fault;
use fro_serve::{Address, Store};

use crate::databases::server;

async fn refused(address: &Address) -> (u8, String) {
    let fault = Store::open(address).await.map(drop).unwrap_err().fault();
    (fault.exit_code(), if let Fault::Yours { hint, .. } = fault { hint } else { String::new() })
}

#[tokio::test]
async fn what_a_person_has_to_change_is_told_and_what_passes_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let file = |name: &str| Address::File(path(name));
    let check = async |address: Address, code: u8, hint: &str| {
        let (told, said) = refused(&address).await;
        assert!(told == code && said.contains(hint), "{address:?}: {told}, {said}");
    };
    fs_err::write(path("diary.db"), "Dear diary, today I watered the beds. ".repeat(20)).unwrap();
    check(file("diary.db"), 2, "restore a backup").await;
    fs_err::create_dir(path("folder.db")).unwrap();
    check(file("folder.db"), 2, "can write to").await;
    check(file("diary.db/serve.db"), 2, "can write to").await;

    let Address::Url(url) = server().await.address else { unreachable!("a server has a URL") };
    let another = |from: &str, to: &str| Address::read(&url.expose().replace(from, to));
    check(another("/test_", "/nowhere_"), 2, "the database of the URL").await;
    check(another("fro@", "nobody@"), 2, "the user").await;
    check(another("fro-postgres", "fro-nothing"), 3, "").await;
}
