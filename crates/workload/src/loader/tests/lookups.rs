//! Name lookups of a load.

use super::*;

/// A page whose pictures are of another host, and lookups of 20 ms.
fn looked_up(images: usize) -> Arc<Page> {
    let image = Object { host: HostId(1), ..object(ObjectKind::Image, found(0, BODY, 0)) };
    let mut objects = vec![object(ObjectKind::Html, Discovery::AtStart)];
    objects.extend(vec![image; images]);
    let hosts = ["a", "b"].map(|name| PageHost::plain(name, Http::Http11)).to_vec();
    let page = Page::new("p", hosts, objects).expect("a page");
    Arc::new(page.with_hosts(|_, host| host.lookup = Some(Duration::from_millis(20))))
}

/// All connections that wait for a name open when it is known.
#[test]
fn connections_wait_for_the_names_of_their_hosts() {
    let mut load = Load::start(&looked_up(2), &LoaderConfig::default());
    assert_eq!((load.wants(), load.loader.poll_timeout()), (String::new(), Some(at_ms(20))));
    load.loader.handle_timeout(at_ms(19));
    assert_eq!(load.wants(), "");
    load.loader.handle_timeout(at_ms(20));
    assert_eq!((load.wants().as_str(), load.loader.poll_timeout()), ("+0", None));
    load.connect(0);
    load.receive(at_ms(50), 0, (0, RESPONSE));
    assert_eq!((load.wants(), load.loader.poll_timeout()), (String::new(), Some(at_ms(70))));
    load.loader.handle_timeout(at_ms(70));
    assert_eq!(load.wants(), "+1 +2");
    let sought: Vec<_> = load.loader.connections().map(|one| (one.lookup, one.opened)).collect();
    let image = (Some(at_ms(50)), at_ms(70));
    assert_eq!(sought, [(Some(T0), at_ms(20)), image, image]);
}

#[test]
fn known_names_and_chromiums_first_connections() {
    let knows_hosts = LoaderConfig { knows_hosts: true, ..LoaderConfig::default() };
    assert_eq!(Load::start(&looked_up(2), &knows_hosts).wants(), "+0");
    let chromium = LoaderConfig { client: ClientModel::Chromium, ..LoaderConfig::default() };
    let mut load = Load::start(&looked_up(2), &chromium);
    assert_eq!(load.wants(), "");
    load.loader.handle_timeout(at_ms(20));
    assert_eq!(load.wants(), "+0 +1");
}

/// The second connection to a host finds its name known, and did not wait for the lookup.
#[test]
fn later_connections_waited_for_no_lookup() {
    let page = Page::clone(&gallery(1));
    let page = Arc::new(page.with_hosts(|_, host| host.lookup = Some(Duration::from_millis(20))));
    let mut load = Load::over(&page, Http::Http10);
    load.loader.handle_timeout(at_ms(20));
    assert_eq!(load.wants(), "+0");
    load.connect(0);
    load.receive(at_ms(50), 0, (0, RESPONSE));
    let sought: Vec<_> = load.loader.connections().map(|one| (one.lookup, one.opened)).collect();
    assert_eq!(sought, [(Some(T0), at_ms(20)), (None, at_ms(50))]);
}
