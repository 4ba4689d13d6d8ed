//! The dashboard's files, which are compiled into the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// Returns the page; its address selects the network that it shows.
pub(super) async fn dashboard() -> Response {
    file("text/html; charset=utf-8", include_str!("dashboard.html"))
}

/// Returns the script that fills the page.
pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("dashboard.js"))
}

/// Returns the style of the page.
pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("dashboard.css"))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}
