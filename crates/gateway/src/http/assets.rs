//! The dashboard's files, which the program carries.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// The page; it reads from its address which network it is of.
pub(super) async fn dashboard() -> Response {
    file("text/html; charset=utf-8", include_str!("dashboard.html"))
}

/// What fills the page.
pub(super) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("dashboard.js"))
}

/// How it looks.
pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("dashboard.css"))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind)], text).into_response()
}
