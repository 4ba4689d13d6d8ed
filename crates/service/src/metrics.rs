//! The page of metrics in the format that a scraper asks for.
//!
//! Services write OpenMetrics 1.0. A client that accepts `text/plain` and not OpenMetrics gets the
//! older text format of Prometheus (version 0.0.4). That format names counters and infos
//! differently in its comments, and knows neither units nor an end.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderName};

const OPEN: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the page `open`, text in OpenMetrics 1.0, as the client with these headers wants it.
pub fn metrics_page(
    headers: &HeaderMap,
    open: String,
) -> ([(HeaderName, &'static str); 1], String) {
    let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_plain = accepts.contains("text/plain") && !accepts.contains("application/openmetrics");
    match is_plain {
        true => ([(CONTENT_TYPE, PLAIN)], to_prometheus_text(&open)),
        false => ([(CONTENT_TYPE, OPEN)], open),
    }
}

/// Returns text in OpenMetrics 1.0 in the text format of Prometheus.
fn to_prometheus_text(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    // The help of a family precedes its type, which decides the name in both.
    let mut help = None;
    for line in open.lines() {
        if let Some(of) = line.strip_prefix("# HELP ") {
            help = Some(of);
        } else if let Some((name, kind)) =
            line.strip_prefix("# TYPE ").and_then(|of| of.split_once(' '))
        {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                other => ("", other),
            };
            if let Some((_, words)) = help.take().and_then(|help| help.split_once(' ')) {
                text += &format!("# HELP {name}{suffix} {words}\n");
            }
            text += &format!("# TYPE {name}{suffix} {kind}\n");
        } else if !line.starts_with('#') {
            text += line;
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    const OPEN_PAGE: &str = "# HELP h_build Version.\n# TYPE h_build info\nh_build_info{version=\"1\"} 1\n\
        # HELP h_paths Paths.\n# TYPE h_paths gauge\nh_paths 3\n\
        # HELP h_reports Reports.\n# TYPE h_reports counter\nh_reports_total{way=\"a\"} 7\n# EOF\n";

    fn asked(accept: Option<&'static str>) -> ([(HeaderName, &'static str); 1], String) {
        let mut headers = HeaderMap::new();
        if let Some(accept) = accept {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        metrics_page(&headers, OPEN_PAGE.to_owned())
    }

    /// Prometheus' documents: "Exposition formats", text-based format.
    #[test]
    fn a_client_of_the_older_format_gets_it() {
        let (header, page) = asked(Some("text/plain;version=0.0.4;q=1,*/*;q=0.1"));
        assert_eq!(header[0].1, PLAIN);
        assert_eq!(
            page,
            "# HELP h_build_info Version.\n# TYPE h_build_info gauge\nh_build_info{version=\"1\"} 1\n\
             # HELP h_paths Paths.\n# TYPE h_paths gauge\nh_paths 3\n\
             # HELP h_reports_total Reports.\n# TYPE h_reports_total counter\nh_reports_total{way=\"a\"} 7\n"
        );
    }

    #[test]
    fn others_get_openmetrics() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        for accept in [None, Some("*/*"), Some(prometheus)] {
            let (header, page) = asked(accept);
            assert_eq!((header[0].1, page.as_str()), (OPEN, OPEN_PAGE), "{accept:?}");
        }
    }
}
