use super::*;
use crate::page::RevealEvidence;

#[test]
fn in_the_course_of_the_body_at_the_fraction_that_had_arrived() {
    // The HTML's body comes from 10 to 30 ms: at 15 ms a quarter of 1000 bytes is delivered.
    let objects = objects(vec![html(0), png(15, "http://a.test/i.png")]);
    assert_eq!(objects[0].discovery, Discovery::AtStart);
    assert_eq!(objects[1].discovery, found(0, 250, 0));
}

#[test]
fn before_the_first_byte_with_the_header() {
    let objects = objects(vec![html(0), png(5, "http://a.test/i.png")]);
    assert_eq!(objects[1].discovery, found(0, 0, 0));
}

#[test]
fn after_the_end_the_rest_is_the_browsers_time() {
    // The HTML ends at 30 ms.
    let objects = objects(vec![html(0), png(37, "http://a.test/i.png")]);
    assert_eq!(objects[1].discovery, found(0, 1000, 7));
}

#[test]
fn late_ones_wait_for_what_last_finished_and_can_reveal() {
    let script = entry(30, "http://a.test/s.js", "text/javascript", 800);
    // Ends at 62 ms, but a picture reveals nothing.
    let picture = png(32, "http://a.test/i.png");
    // The script ends at 60 ms.
    let data = entry(65, "http://a.test/d", "application/json", 90);
    let objects = objects(vec![html(0), script, picture, data]);
    assert_eq!(objects[3].discovery, found(1, 800, 5));
}

#[test]
fn what_the_parser_found_is_the_documents() {
    let script = entry(30, "http://a.test/s.js", "text/javascript", 800);
    let initiator = json!({"type": "parser", "url": "http://a.test/#top"});
    let picture = with(png(65, "http://a.test/i.png"), "/_initiator", initiator);
    assert_eq!(objects(vec![html(0), script, picture])[2].discovery, found(0, 1000, 35));
}

#[test]
fn a_style_sheet_named_as_referer_is_the_parent() {
    let style = entry(30, "http://a.test/s.css", "text/css", 800);
    let script = entry(35, "http://a.test/s.js", "text/javascript", 800);
    let referer = json!([{"name": "Referer", "value": "http://a.test/s.css"}]);
    let font = entry(70, "http://a.test/f.woff2", "font/woff2", 700);
    let font = with(font, "/request/headers", referer);
    // The style sheet ends at 60 ms, the script, which would be later, at 65.
    assert_eq!(objects(vec![html(0), style, script, font])[3].discovery, found(1, 800, 10));
}

#[test]
fn the_innermost_script_of_a_stack_is_the_parent() {
    let script = entry(12, "http://a.test/s.js", "text/javascript", 800);
    let stack = json!({"callFrames": [], "parent": {
        "callFrames": [{"url": ""}, {"url": "http://a.test/s.js"}]
    }});
    let data = entry(32, "http://a.test/d", "application/json", 90);
    let data = with(data, "/_initiator", json!({"type": "script", "stack": stack}));
    // The script's body comes from 22 to 42 ms: half of 800 bytes at 32.
    assert_eq!(objects(vec![html(0), script, data])[2].discovery, found(1, 400, 0));
}

#[test]
fn redirects_are_fetches_whose_end_reveals_the_next() {
    let redirect = entry(0, "http://a.test/", "", 0);
    let redirect = with(redirect, "/response/status", json!(302));
    let redirect = with(redirect, "/response/redirectURL", json!("/home"));
    // It ends at 30 ms. Pictures that name the address before the redirect mean the document.
    let home = entry(33, "http://a.test/home", "text/html", 1000);
    let referer = json!([{"name": "referer", "value": "http://a.test/"}]);
    let picture = with(png(53, "http://a.test/i.png"), "/request/headers", referer);
    let page = parse(vec![redirect, home, picture]).unwrap();
    assert_eq!(page.name(), "http://a.test/home");
    let kinds: Vec<_> = page.objects().iter().map(|o| o.kind).collect();
    assert_eq!(kinds, [ObjectKind::Redirect, ObjectKind::Html, ObjectKind::Image]);
    assert_eq!(page.objects()[1].discovery, found(0, 0, 3));
    // Home's body comes from 43 to 63 ms.
    assert_eq!(page.objects()[2].discovery, found(1, 500, 0));
}

#[test]
fn a_redirect_to_itself_ends() {
    let back = |at| {
        let entry = with(entry(at, "http://a.test/", "", 0), "/response/status", json!(302));
        with(entry, "/response/redirectURL", json!("http://a.test/"))
    };
    let objects = objects(vec![back(0), back(40), html(80)]);
    assert_eq!(objects[1].discovery, found(0, 0, 10));
    assert_eq!(objects[2].discovery, found(1, 0, 10));
}

#[test]
fn the_root_comes_first_whatever_the_order_in_the_file() {
    let page = parse(vec![png(15, "http://a.test/i.png"), html(0)]).unwrap();
    assert_eq!(page.objects()[0].kind, ObjectKind::Html);
    // The load begins with requests that preceded the document's, too.
    let before = parse(vec![png(0, "http://a.test/i.png"), html(2)]).unwrap();
    assert_eq!(before.objects()[0].kind, ObjectKind::Html);
    assert_eq!(before.objects()[1].discovery, Discovery::AtStart);
}

#[test]
fn a_page_without_any_document_has_its_first_fetch_for_one() {
    let page = parse(vec![png(0, "http://a.test/i.png")]).unwrap();
    assert_eq!(page.objects()[0].kind, ObjectKind::Html);
}

/// There are a redirect, an initiator that the browser names, and a discovery for which only its
/// time is evidence: the script had ended last.
#[test]
fn the_evidence_for_a_discovery_is_kept() {
    let redirect = entry(0, "http://a.test/old", "", 0);
    let redirect = with(redirect, "/response/status", json!(302));
    let redirect = with(redirect, "/response/redirectURL", json!("http://a.test/"));
    let document = entry(40, "http://a.test/", "text/html", 1000);
    let script = entry(75, "http://a.test/s.js", "text/javascript", 800);
    let initiator = json!({"type": "parser", "url": "http://a.test/"});
    let script = with(script, "/_initiator", initiator.clone());
    let likely = png(120, "http://a.test/i.png");
    // The browser names the document, but a script that had ended since may have asked.
    let script_named =
        json!({"type": "script", "stack": {"callFrames": [{"url": "http://a.test/"}]}});
    let doubted = with(png(121, "http://a.test/j.png"), "/_initiator", script_named);
    let page = parse(vec![redirect, document, script, likely, doubted]).unwrap();
    let fetches = &page.recorded().unwrap().fetches;
    let evidence: Vec<_> = fetches[1..].iter().map(|fetch| fetch.revealed_by).collect();
    let expected = [
        RevealEvidence::Redirect,
        RevealEvidence::Named,
        RevealEvidence::Time,
        RevealEvidence::Time,
    ];
    assert_eq!(evidence, expected);
    let discovery = |n: usize| page.objects()[n].discovery;
    assert_eq!((discovery(3), discovery(4)), (found(2, 800, 15), found(2, 800, 16)));
}
