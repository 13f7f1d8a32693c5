//! Planted secrets in every form and every place of an answer: none leaves.

use data_encoding::{BASE64, BASE64URL, HEXLOWER, HEXUPPER};
use fro_core::{Redactor, Secret};

/// Keys of all sorts, none of them real.
const PLANTED: [&str; 6] = [
    "ghs_plantedplantedplantedplanted0123456789",
    "planted-model-key-0123456789",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYPLANTEDKEY",
    "AKIAPLANTED012345678",
    "planted \"quoted\" \\ value",
    "pläntéd-ünïcode-sécret",
];

/// Returns the ways in which a secret may be written.
fn forms(secret: &str) -> Vec<(&'static str, String)> {
    let bytes = secret.as_bytes();
    let json = serde_json::to_string(secret).unwrap().trim_matches('"').to_owned();
    let url: String = bytes
        .iter()
        .map(|byte| match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => {
                char::from(*byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let middle = secret.char_indices().nth(secret.chars().count() / 2).map_or(0, |(at, _)| at);
    let (head, tail) = secret.split_at(middle);
    vec![
        ("raw", secret.to_owned()),
        ("base64", BASE64.encode(bytes)),
        ("base64 inside", BASE64.encode(format!("user:{secret}:x").as_bytes())),
        ("base64 for urls", BASE64URL.encode(bytes)),
        ("url", url),
        ("json", json),
        ("hex", HEXLOWER.encode(bytes)),
        ("HEX", HEXUPPER.encode(bytes)),
        ("two lines", format!("{head}\n{tail}")),
        ("indented", format!("{head}\n    {tail}")),
        ("invisible", format!("{head}\u{200b}{tail}")),
    ]
}

#[test]
fn no_form_of_a_secret_leaves_from_any_place() {
    let secrets: Vec<_> = PLANTED.iter().map(|secret| Secret::new(*secret)).collect();
    let redactor = Redactor::knowing(&secrets);
    let mut cases = 0;
    for secret in PLANTED {
        for (form, written) in forms(secret) {
            for text in [
                format!("It is {written}."),
                format!("```\nTOKEN={written}\n```"),
                format!("<details>{written}</details>"),
                format!("https://x:{written}@example.org/"),
                format!("{{\"key\": \"{written}\"}}"),
            ] {
                let clean = redactor.clean(&text);
                assert!(clean.found() > 0, "{form} of {secret} left: {}", clean.as_str());
                assert!(!clean.as_str().contains(&written), "{form} of {secret} left: {}", clean.as_str());
                assert!(!clean.as_str().contains("lanted"), "{form} of {secret}: {}", clean.as_str());
                cases += 1;
            }
        }
    }
    println!("{cases} planted secrets, none left");
}
