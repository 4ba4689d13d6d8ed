//! Messages to a user without rights: what is missing, and what is still done.

use crate::nobody::Copied;
use serde_json::Value;

#[test]
fn without_rights_commands_that_need_them_say_which() {
    let Some(nobodys) = Copied::new("refused") else { return };
    for arguments in [
        &["emulate", "--path", "20mbit,20ms,100p", "--", "true"][..],
        &["serve", "."],
        &["serve", ".", "--path", "20mbit,20ms,100p", "--", "true"],
    ] {
        let output = nobodys.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains("CAP_NET_ADMIN") && errors.contains("root"), "{errors}");
        assert!(output.stdout.is_empty() && !errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn without_rights_nothing_is_captured() {
    let Some(nobodys) = Copied::new("captures") else { return };
    let output = nobodys.run(&["capture", "-i", "lo", "-w", "x.pcap"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("CAP_NET_RAW") && errors.contains("root"), "{errors}");
}

#[test]
fn without_rights_a_race_is_simulated_and_says_why_no_more() {
    let Some(nobodys) = Copied::new("race") else { return };
    let race =
        ["race", "text", "--on", "sim,wire,kernel", "--schemes", "linux,linux-bbr", "--json"];
    let output = nobodys.run(&race);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("simulated only") && errors.contains("CAP_NET_ADMIN"), "{errors}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows: Vec<_> = race["schemes"].as_array().unwrap().iter().collect();
    let on: Vec<_> = rows.iter().map(|row| (row["name"].as_str(), row["on"].as_str())).collect();
    assert!(!on.is_empty() && on.iter().all(|(_, on)| on.is_none_or(|on| on == "sim")), "{on:?}");
    assert!(rows.iter().all(|row| row["page_s"].as_f64() > Some(0.0)), "{race:#}");
}
