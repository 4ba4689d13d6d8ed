//! The keys of a HAR file that are used, under the names HAR 1.2 gives them. Keys with a leading
//! underscore are additions of Chromium, Safari or Playwright.

use super::encoding;
use super::error::{HarError, Problem};
use super::form;
use super::lenient::{Flag, Number, Text, or_default};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

#[derive(Debug, Deserialize)]
pub(super) struct Har {
    pub(super) log: Log,
}

#[derive(Debug, Deserialize)]
pub(super) struct Log {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) creator: Creator,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) pages: Vec<RecordedPage>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Creator {
    #[serde(default)]
    pub(super) name: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedPage {
    #[serde(default)]
    pub(super) id: Text,
    #[serde(default)]
    pub(super) title: Text,
    #[serde(default)]
    pub(super) started_date_time: Text,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) page_timings: PageTimings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageTimings {
    #[serde(default)]
    pub(super) on_content_load: Number,
    #[serde(default)]
    pub(super) on_load: Number,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    #[serde(default)]
    pub(super) pageref: Text,
    pub(super) started_date_time: String,
    pub(super) request: Request,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) response: Response,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) timings: Timings,
    #[serde(default)]
    pub(super) connection: Text,
    #[serde(default, rename = "_fromCache")]
    pub(super) from_cache: Flag,
    #[serde(default, rename = "_fetchedViaServiceWorker")]
    pub(super) from_service_worker: Flag,
    /// Safari: `Network Load`, `Memory Cache`, `Disk Cache`, `Service Worker`.
    #[serde(default, rename = "_fetchType")]
    pub(super) fetch_type: Text,
    #[serde(default, rename = "_resourceType")]
    pub(super) resource_type: Text,
    /// WebPageTest: all bytes of the response.
    #[serde(default, rename = "_bytesIn")]
    pub(super) bytes_in: Number,
    /// WebPageTest: the HTTP version, which older headers do not say.
    #[serde(default, rename = "_protocol")]
    pub(super) protocol: Text,
    #[serde(default)]
    pub(super) cache: Value,
    #[serde(default, rename = "_initiator")]
    pub(super) initiator: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) url: String,
    #[serde(default)]
    pub(super) method: Text,
    #[serde(default)]
    pub(super) http_version: Text,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) headers: Vec<Header>,
    #[serde(default)]
    pub(super) headers_size: Number,
    #[serde(default)]
    pub(super) body_size: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    #[serde(default)]
    pub(super) status: Number,
    #[serde(default)]
    pub(super) http_version: Text,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) headers: Vec<Header>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) content: Content,
    #[serde(default, rename = "redirectURL")]
    pub(super) redirect_url: Text,
    #[serde(default)]
    pub(super) headers_size: Number,
    #[serde(default)]
    pub(super) body_size: Number,
    #[serde(default, rename = "_transferSize")]
    pub(super) transfer_size: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Content {
    #[serde(default)]
    pub(super) size: Number,
    /// Bytes that compression saved.
    #[serde(default)]
    pub(super) compression: Number,
    #[serde(default)]
    pub(super) mime_type: Text,
}

#[derive(Debug, Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    pub(super) name: Text,
    #[serde(default)]
    pub(super) value: Text,
}

/// Milliseconds; whether `ssl` is part of `connect` is the [exporter](super::exporter)'s matter.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Timings {
    #[serde(default)]
    pub(super) blocked: Number,
    #[serde(default)]
    pub(super) dns: Number,
    #[serde(default)]
    pub(super) connect: Number,
    #[serde(default)]
    pub(super) ssl: Number,
    #[serde(default)]
    pub(super) send: Number,
    #[serde(default)]
    pub(super) wait: Number,
    #[serde(default)]
    pub(super) receive: Number,
}

/// Reads the JSON; errors carry line, column and key.
pub(super) fn read(bytes: &[u8], file: &str) -> Result<Har, HarError> {
    let text = form::without_call(encoding::text(bytes, file)?);
    let mut json = serde_json::Deserializer::from_slice(&text);
    let har = serde_path_to_error::deserialize(&mut json)
        .map_err(|e| unreadable(&text, &e.path().to_string(), e.inner()));
    let har = har.map_err(|problem| HarError::new(file, problem))?;
    let end = json.end().map_err(|e| unreadable(&text, "the end", &e));
    end.map_err(|problem| HarError::new(file, problem))?;
    Ok(har)
}

fn unreadable(text: &[u8], path: &str, error: &serde_json::Error) -> Problem {
    match form::other_form(text) {
        Some(form) => Problem::OtherForm(form),
        None => json_problem(path, error),
    }
}

/// Translates serde's error about Rust types into terms of JSON.
fn json_problem(path: &str, error: &serde_json::Error) -> Problem {
    // Hostile nesting makes keys as long as it is deep, and keys may hold any text.
    const LONGEST: usize = 100;
    let message = error.to_string();
    let between = |from: &str, to: &str| {
        let (_, rest) = message.split_once(from)?;
        Some(rest.split(to).next().unwrap_or_default())
    };
    let missing = between("missing field `", "`");
    let key = match (path, missing) {
        (".", None) => "the top".to_owned(),
        (".", Some(missing)) => missing.to_owned(),
        (path, None) => path.escape_debug().take(LONGEST).collect(),
        (path, Some(missing)) => {
            let path: String = path.escape_debug().take(LONGEST).collect();
            format!("{path}.{missing}")
        }
    };
    let message = match error.classify() {
        Category::Data if missing.is_some() => "this key is missing".to_owned(),
        Category::Data => {
            let needed = match between(", expected ", " at line ").unwrap_or_default() {
                "a string" | "a borrowed string" => "text",
                needed if needed.starts_with("a sequence") => "a list",
                _ => "an object",
            };
            format!("{needed} is needed")
        }
        Category::Eof => "the file ends too early".to_owned(),
        _ if message.starts_with("recursion limit") => "the nesting is too deep".to_owned(),
        _ if message.starts_with("trailing characters") => "more text follows".to_owned(),
        _ => "the text is no JSON from here on".to_owned(),
    };
    Problem::Json { line: error.line(), column: error.column(), key, message }
}

/// The value of the first header of that name, in any case.
pub(super) fn header<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    let of_name = headers.iter().find(|h| h.name.0.eq_ignore_ascii_case(name));
    of_name.map(|h| h.value.0.as_str())
}
