//! The objects of a load, in JSON.

use crate::race::json;
use crate::run::stdout;
use serde_json::Value;

const PAGE: &str = "pages/article.har";

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

/// The keys of `headstart pages` and of a race, for the same facts.
const KEYS: [(&str, &str); 6] = [
    ("/url", "/label"),
    ("/discovery/parent", "/parent"),
    ("/discovery/offset", "/offset"),
    ("/discovery/delay_s", "/delay_s"),
    ("/body_bytes", "/body_bytes"),
    ("/server_time_s", "/server_wait_s"),
];

#[test]
fn a_race_has_the_objects_of_its_page_and_the_times_of_a_load() {
    let arguments = ["race", PAGE, "--json", "--schemes", "linux,linux+iw=32", "--repeat", "2"];
    let race = json(&arguments);
    let page: Value = serde_json::from_str(&stdout(&["pages", PAGE, "--json"])).expect("JSON");
    let (objects, recorded) = (array(&race["objects"]), array(&page["objects"]));
    assert_eq!(objects.len(), recorded.len());
    for (object, recorded) in objects.iter().zip(recorded) {
        for (of_page, of_race) in KEYS {
            let own = object.pointer(of_race).unwrap_or(&Value::Null);
            assert_eq!(
                own,
                recorded.pointer(of_page).unwrap_or(&Value::Null),
                "{of_race}: {object}"
            );
        }
        let host = recorded["host"].as_u64().expect("a number") as usize;
        assert_eq!(object["host"], page["hosts"][host]["name"]);
    }
    let last = |scheme: &Value| {
        let loaded = array(&scheme["first_load"]["objects"]);
        assert_eq!(loaded.len(), objects.len());
        loaded.iter().map(|one| one["done_s"].as_f64().expect("it came")).fold(0.0, f64::max)
    };
    for scheme in array(&race["schemes"]) {
        if scheme["on"].is_null() {
            assert!(scheme["first_load"].is_null(), "{scheme}");
            continue;
        }
        // The load is the first sample.
        assert_eq!(
            last(scheme),
            scheme["samples"][0]["times"]["last_byte_s"],
            "{}",
            scheme["name"]
        );
    }
    // The critical path of linux has the phases of its last object, and this object's connection.
    let linux = &race["schemes"][0]["first_load"];
    for critical in array(&race["critical_path"]["objects"]) {
        let own = &linux["objects"][critical["object"].as_u64().expect("a number") as usize];
        assert_eq!(own["connection"], critical["connection"]);
        assert_eq!(own["server_s"], critical["server_s"], "{critical}");
        let connection = critical["connection"].as_u64().expect("a number") as usize;
        assert_eq!(linux["connections"][connection]["host"], critical["host"]);
    }
}
