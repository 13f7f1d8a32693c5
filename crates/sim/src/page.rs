//! Web pages.
use crate::hub::Hub;
use axum::Router;
use std::sync::Arc;
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new()
}
