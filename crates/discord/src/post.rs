//! A message before it is sent: its text, buttons and files, checked against Discord's limits.

use fro_core::{
    Clean,
    chat::{MessageId, UserId},
};
use fro_http::Request;
use serde_json::{Map, Value, json};

const LONGEST_TEXT: usize = 2000;
const LONGEST_NONCE: usize = 25;
const LONGEST_ID: usize = 100;
const LONGEST_LABEL: usize = 80;
const MOST_ROWS: usize = 5;
const MOST_BUTTONS: usize = 5;
const MOST_OPTIONS: usize = 25;
const MOST_FILES: usize = 10;
const SILENT: u64 = 1 << 12;
/// Whoever fetches an address to show what is there also tells its server the address, and so what stands in it.
const NO_PREVIEWS: u64 = 1 << 2;
const EPHEMERAL: u64 = 1 << 6;

/// What tells one message of ours from another, so that a second attempt is not a second message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// Takes a text of 1 to 25 characters.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (1..=LONGEST_NONCE).contains(&text.chars().count()).then_some(Self(text))
    }
}

/// A message to be.
#[derive(Debug, Clone)]
pub struct Post {
    /// The text.
    pub text: Clean,
    /// Rows of buttons, or menus.
    pub rows: Vec<Row>,
    /// Files with it.
    pub files: Vec<Upload>,
    /// Who is rung by it.
    pub pings: Pings,
    /// Whether nobody is notified, not even those who follow the channel.
    pub silent: bool,
    /// The message it answers.
    pub reply_to: Option<MessageId>,
}

/// Who is rung, whatever the text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Pings {
    /// Nobody.
    #[default]
    Nobody,
    /// These, if the text names them.
    People(Vec<UserId>),
}

/// A row below the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// Up to five buttons.
    Buttons(Vec<Button>),
    /// One menu.
    Menu {
        /// What we call it.
        custom_id: String,
        /// What stands in it before a choice.
        placeholder: String,
        /// Labels and values, up to 25.
        options: Vec<(String, String)>,
        /// How many may be chosen.
        most: usize,
    },
}

/// A button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What stands on it.
    pub label: String,
    /// What we call it.
    pub custom_id: String,
    /// How it looks.
    pub style: ButtonStyle,
    /// Whether it can be clicked.
    pub enabled: bool,
}

/// How a button looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonStyle {
    /// The one that is meant.
    Primary,
    /// A grey button, for one choice of several.
    Secondary,
    /// A green button, for an answer that allows something.
    Success,
    /// A red button, for a no or for what cannot be undone.
    Danger,
}

/// A file to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Post {
    /// A plain text that rings nobody.
    pub fn new(text: Clean) -> Self {
        Self {
            text,
            rows: Vec::new(),
            files: Vec::new(),
            pings: Pings::Nobody,
            silent: false,
            reply_to: None,
        }
    }

    /// Says which limit of Discord's it breaks.
    pub(crate) fn check(&self) -> Result<(), String> {
        let length = self.text.as_str().chars().count();
        let empty = self.text.as_str().trim().is_empty() && self.files.is_empty();
        match () {
            () if length > LONGEST_TEXT => {
                Err(format!("the text has {length} characters, {LONGEST_TEXT} is the most"))
            }
            () if empty => Err("the text is empty".to_owned()),
            () if self.rows.len() > MOST_ROWS => {
                Err(format!("{} rows, {MOST_ROWS} is the most", self.rows.len()))
            }
            () if self.files.len() > MOST_FILES => {
                Err(format!("{} files, {MOST_FILES} is the most", self.files.len()))
            }
            () => self.rows.iter().try_for_each(Row::check),
        }
    }

    /// The form of a new message that is sent once, however often it is tried.
    pub(crate) fn created(&self, nonce: &Nonce) -> Value {
        let mut form = self.form();
        form["nonce"] = json!(nonce.0);
        form["enforce_nonce"] = json!(true);
        form
    }

    /// The form of an answer to an interaction.
    pub(crate) fn answered(&self, ephemeral: bool) -> Value {
        let mut form = self.form();
        if ephemeral {
            form["flags"] = json!(form["flags"].as_u64().unwrap_or_default() | EPHEMERAL);
        }
        form
    }

    /// The form, with everything said: what is left out when a message is changed stays as it was.
    pub(crate) fn form(&self) -> Value {
        let users: &[UserId] = match &self.pings {
            Pings::Nobody => &[],
            Pings::People(people) => people,
        };
        let mut form = Map::new();
        form.insert("content".to_owned(), json!(self.text.as_str()));
        form.insert(
            "allowed_mentions".to_owned(),
            json!({ "parse": [], "users": users, "replied_user": false }),
        );
        form.insert("components".to_owned(), self.rows.iter().map(Row::form).collect());
        form.insert("flags".to_owned(), json!(if self.silent { NO_PREVIEWS | SILENT } else { NO_PREVIEWS }));
        if let Some(earlier) = self.reply_to {
            let reference = json!({ "message_id": earlier, "fail_if_not_exists": false });
            form.insert("message_reference".to_owned(), reference);
        }
        form.into()
    }

    /// The form of a message that is changed: its files are those of now, too.
    pub(crate) fn changed(&self) -> Value {
        let mut form = self.form();
        let file = |(id, file): (usize, &Upload)| json!({ "id": id, "filename": file.name });
        form["attachments"] = self.files.iter().enumerate().map(file).collect();
        form
    }

    /// Puts a form into a request, with the files if there are any.
    pub(crate) fn load(&self, request: Request, form: &Value) -> Request {
        if self.files.is_empty() {
            return request.json(form);
        }
        let boundary = boundary(&self.files);
        let body = multipart(&boundary, form, &self.files);
        request.header("content-type", &format!("multipart/form-data; boundary={boundary}")).body(body)
    }
}

impl Row {
    fn check(&self) -> Result<(), String> {
        let id = |id: &str| match id.chars().count() {
            1..=LONGEST_ID => Ok(()),
            n => Err(format!("an id of {n} characters, 1 to {LONGEST_ID} can be")),
        };
        match self {
            Self::Buttons(buttons) if buttons.is_empty() || buttons.len() > MOST_BUTTONS => {
                Err(format!("{} buttons in a row, 1 to {MOST_BUTTONS} can be", buttons.len()))
            }
            Self::Buttons(buttons) => buttons.iter().try_for_each(|button| {
                id(&button.custom_id)?;
                match button.label.chars().count() {
                    1..=LONGEST_LABEL => Ok(()),
                    n => Err(format!("a label of {n} characters, 1 to {LONGEST_LABEL} can be")),
                }
            }),
            Self::Menu { options, .. } if options.is_empty() || options.len() > MOST_OPTIONS => {
                Err(format!("{} options, 1 to {MOST_OPTIONS} can be", options.len()))
            }
            Self::Menu { custom_id, .. } => id(custom_id),
        }
    }

    fn form(&self) -> Value {
        let inside = match self {
            Self::Buttons(buttons) => buttons.iter().map(Button::form).collect(),
            Self::Menu { custom_id, placeholder, options, most } => {
                let options: Value =
                    options.iter().map(|(label, value)| json!({ "label": label, "value": value })).collect();
                json!([{
                    "type": 3,
                    "custom_id": custom_id,
                    "placeholder": placeholder,
                    "options": options,
                    "min_values": 1,
                    "max_values": most,
                }])
            }
        };
        json!({ "type": 1, "components": inside })
    }
}

impl Button {
    fn form(&self) -> Value {
        let style = match self.style {
            ButtonStyle::Primary => 1,
            ButtonStyle::Secondary => 2,
            ButtonStyle::Success => 3,
            ButtonStyle::Danger => 4,
        };
        json!({
            "type": 2,
            "style": style,
            "label": self.label,
            "custom_id": self.custom_id,
            "disabled": !self.enabled,
        })
    }
}

/// A line that stands in none of the files.
fn boundary(files: &[Upload]) -> String {
    let stands_in = |line: &str| {
        let line = line.as_bytes();
        files.iter().any(|file| file.bytes.windows(line.len()).any(|part| part == line))
    };
    let mut line = "fro-bot-part".to_owned();
    for number in 0_u64.. {
        if !stands_in(&line) {
            break;
        }
        line = format!("fro-bot-part-{number}");
    }
    line
}

fn multipart(boundary: &str, form: &Value, files: &[Upload]) -> Vec<u8> {
    let mut body = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"payload_json\"\r\ncontent-type: application/json\r\n\r\n{form}\r\n"
    )
    .into_bytes();
    for (number, file) in files.iter().enumerate() {
        let name = file_name(&file.name);
        let head = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"files[{number}]\"; filename=\"{name}\"\r\ncontent-type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&file.bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

/// A file's name without anything that means something in a header, a path or Markdown.
fn file_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
    let name: String = name.chars().map(plain).take(100).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "file".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use fro_core::Redactor;

    use super::*;

    fn post(text: &str) -> Post {
        Post::new(Redactor::knowing([]).clean(text))
    }

    #[test]
    fn what_discord_would_refuse_is_told_before() {
        let menu = |n: usize| Row::Menu {
            custom_id: "m".to_owned(),
            placeholder: String::new(),
            options: vec![("a".to_owned(), "b".to_owned()); n],
            most: 1,
        };
        let check = |post: Post, why: Result<(), &str>| assert_eq!(post.check(), why.map_err(str::to_owned));
        check(post(&"ß".repeat(2000)), Ok(()));
        check(post(&"ß".repeat(2001)), Err("the text has 2001 characters, 2000 is the most"));
        check(post(" "), Err("the text is empty"));
        check(Post { rows: vec![menu(25)], ..post("?") }, Ok(()));
        check(Post { rows: vec![menu(26)], ..post("?") }, Err("26 options, 1 to 25 can be"));
        check(
            Post { rows: vec![Row::Buttons(Vec::new())], ..post("?") },
            Err("0 buttons in a row, 1 to 5 can be"),
        );
    }

    #[test]
    fn discord_is_not_to_fetch_what_a_message_links_to() {
        for silent in [false, true] {
            let linking = Post { silent, ..post("https://mole.example/?key=planted") };
            let forms = [linking.form(), linking.answered(true), linking.changed()];
            let flags = forms.map(|form| form["flags"].as_u64().unwrap());
            assert!(flags.iter().all(|flags| flags & 4 == 4), "{flags:?}");
        }
    }

    #[test]
    fn a_file_cannot_end_its_part_nor_its_header() {
        let file = Upload { name: "../a\"\r\nx: y.md".to_owned(), bytes: b"--fro-bot-part\r\n".to_vec() };
        let line = boundary(std::slice::from_ref(&file));
        assert_eq!(line, "fro-bot-part-0");
        let body = String::from_utf8(multipart(&line, &json!({}), &[file])).unwrap();
        assert!(body.contains("filename=\"_a___x__y.md\""), "{body}");
    }
}
