use super::*;

fn header_and_body(entry: Value) -> (u64, u64) {
    let objects = objects(vec![entry]);
    (objects[0].response_header_bytes, objects[0].body_bytes)
}

#[test]
fn what_crossed_the_wire_is_best() {
    let entry = with(html(0), "/response/_transferSize", json!(700));
    assert_eq!(header_and_body(entry), (200, 500));
}

#[test]
fn without_a_header_size_it_is_what_uncompressed_content_is_not() {
    let entry = with(html(0), "/response/_transferSize", json!(1065));
    let entry = with(entry, "/response/headersSize", json!(-1));
    let entry = with(entry, "/response/content/compression", json!(0));
    assert_eq!(header_and_body(entry), (65, 1000));
}

#[test]
fn then_body_size_and_then_content_less_compression() {
    assert_eq!(header_and_body(html(0)), (200, 1000));
    let unknown = with(html(0), "/response/bodySize", json!(-1));
    assert_eq!(header_and_body(unknown.clone()), (200, 1000));
    let saved = with(unknown.clone(), "/response/content/compression", json!(400));
    assert_eq!(header_and_body(saved), (200, 600));
    // A response without a size is taken as empty, and a note names it.
    let missing = with(
        with(png(40, "http://a.test/i.png"), "/response/content", json!(null)),
        "/response/bodySize",
        json!(-1),
    );
    let page = parse(vec![html(0), missing]).unwrap();
    assert_eq!(page.objects()[1].body_bytes, 0);
    assert!(page.notes()[0].contains("size unknown"), "{:?}", page.notes());
}

#[test]
fn a_file_without_any_size_is_no_page() {
    let silent = |entry| {
        with(with(entry, "/response/content", json!(null)), "/response/bodySize", json!(-1))
    };
    let error = parse(vec![silent(html(0)), silent(png(40, "http://a.test/i.png"))]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("no response says how many bytes it had"), "{error}");
    assert!(error.contains("export the page again"), "{error}");
}

#[test]
fn a_transfer_that_contradicts_its_content_is_said() {
    let plain = json!([{"name": "Content-Type", "value": "text/html"}]);
    let of = |transferred: u64, content: u64| {
        let entry = with(html(0), "/response/headers", plain.clone());
        let entry = with(entry, "/response/_transferSize", json!(transferred));
        let page = parse(vec![with(entry, "/response/content/size", json!(content))]).unwrap();
        page.notes().iter().find(|note| note.contains("transferred")).cloned()
    };
    // The header has 200 of them: 50,000 and 50,000 agree. A kilobyte or a twentieth is no
    // contradiction.
    assert_eq!(of(50_200, 50_000), None);
    assert_eq!(of(52_000, 50_000), None);
    assert!(of(90_200, 50_000).unwrap().contains("more bytes were transferred"));
    assert!(of(10_200, 50_000).unwrap().contains("fewer bytes were transferred"));
}

#[test]
fn not_modified_has_no_body_though_it_shows_content() {
    let entry = with(html(0), "/response/status", json!(304));
    let entry = with(entry, "/response/bodySize", json!(-1));
    assert_eq!(header_and_body(entry), (200, 0));
}

#[test]
fn compressed_content_of_unknown_transfer_is_said_to_be_too_large() {
    let entry = with(html(0), "/response/bodySize", json!(null));
    let encoding = json!([{"name": "Content-Encoding", "value": "br"}]);
    let page = parse(vec![with(entry, "/response/headers", encoding)]).unwrap();
    assert!(page.notes()[0].contains("too large"), "{:?}", page.notes());
}

#[test]
fn a_request_is_never_free() {
    let entry = with(html(0), "/request/headersSize", json!(-1));
    // "GET" + 14 of the address + 14 around them.
    assert_eq!(objects(vec![entry.clone()])[0].request_bytes, 31);
    // "Ab: cd" and its line end are 8 more, the body 10.
    let entry = with(entry, "/request/headers", json!([{"name": "Ab", "value": "cd"}]));
    let entry = with(entry, "/request/bodySize", json!(10));
    assert_eq!(objects(vec![entry])[0].request_bytes, 49);
}
