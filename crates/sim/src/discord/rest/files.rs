//! Files that came with messages, under addresses that need no token.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};

use crate::discord::switchboard::Switchboard;

pub(super) async fn read(
    State(board): State<Arc<Switchboard>>,
    Path((channel, file, name)): Path<(u64, u64, String)>,
) -> Response {
    let found = board.read(|chat| {
        let mut files = chat.messages_in(channel).flat_map(|message| &message.files);
        files.find(|upload| upload.id == file && upload.name == name).cloned()
    });
    match found {
        Some(file) => ([(CONTENT_TYPE, file.kind)], file.bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
