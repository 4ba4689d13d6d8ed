//! Wrapped files, and files of other kinds.

use super::*;

#[test]
fn a_call_is_unwrapped_and_positions_stay() {
    let har = json!({"log": {"entries": [html(0)]}}).to_string();
    for text in
        [format!("onInputData({har});\n"), format!("a.b_$1 (\n{har}\n)"), format!("f({har}")]
    {
        assert_eq!(parse_har(text.as_bytes(), "t.har").unwrap().objects().len(), 1, "{text}");
    }
    let wrong = error("f({\"log\": {\n\"entries\": [{\"startedDateTime\": 7}]}});");
    assert!(wrong.starts_with("t.har:2:"), "{wrong}");
    assert!(error("({})").contains("no JSON from here on"));
}

#[test]
fn files_of_other_kinds_are_named() {
    let cases = [
        ("[{\"method\": \"Network.requestWillBeSent\", \"params\": {}}]", "DevTools"),
        ("{\"traceEvents\": []}", "performance panel"),
        ("<!DOCTYPE html><html>", "HTML"),
        ("PK\u{3}\u{4}\u{14}", "ZIP"),
        ("  \n", "empty"),
    ];
    for (text, kind) in cases {
        let message = error(text);
        assert!(message.contains(kind) && message.contains("no HAR file"), "{message}");
    }
}

#[test]
fn errors_have_no_words_of_the_reader() {
    let texts =
        ["{", "[]", "{\"log\": 1}", "{\"log\": {\"entries\": {}}}", "{\"log\": {}}", "nul", "{a"];
    for text in texts {
        let message = error(text);
        for word in ["expected", "EOF", "field `", "invalid type", "sequence", "struct", "map"] {
            assert!(!message.contains(word), "{text}: {message}");
        }
        assert!(message.contains("Export HAR"), "{message}");
    }
    assert!(error("{\"log\": {\"entries\": {}}}").contains("at log.entries: a list is needed"));
}
