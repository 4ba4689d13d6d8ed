//! curl behind a link.

use super::{LINE, large, possible, site};
use crate::run::command;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Output, Stdio};

/// Runs a script as the client of a server of `root`, which stops at the first command that fails.
fn client(root: &Path, options: &[&str], script: &str) -> Output {
    let script = format!("set -eu\nask() {{ curl -sS --max-time 60 \"$@\"; }}\n{script}");
    let arguments = [&["serve", root.to_str().unwrap()], &LINE[..], options].concat();
    command(&[&arguments[..], &["--", "sh", "-c", &script]].concat()).output().unwrap()
}

#[track_caller]
fn printed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Over both families: a page, its headers, parts of a file, what is not there, and what is not to
/// be had.
#[test]
fn curl_gets_files_and_nothing_else() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-files");
    let script = r#"
        for url in $HEADSTART_URL $HEADSTART_URL6; do
            ask $url | grep -q '<title>start'
            ask -I ${url}style.css | tr -d '\r' > head
            grep -qi '^content-type: text/css' head; grep -qi '^content-length: 16$' head
            grep -qi '^server-timing: .*scheme;desc="linux".*srtt;dur=' head
            echo "$(ask -r 2-4 ${url}digits.txt) $(ask -r -2 ${url}digits.txt)"
            ask -o /dev/null -w '%{http_code} ' -r 10- ${url}digits.txt
            ask -o /dev/null -w '%{http_code} ' ${url}nothing
            ask -o /dev/null -w '%{http_code} ' -d x ${url}
            ask -o /dev/null -w '%{http_code} %{redirect_url}\n' ${url}sub | sed 's,http://[^/]*,,'
            for path in ../secret.txt %2e%2e/secret.txt sub/..%2f..%2fsecret.txt link.txt %2fetc/passwd; do
                ask --path-as-is -o /dev/null -w '%{http_code} ' $url$path
            done
            echo
            # Three files, one connection.
            ask -o a -o b -o c -w '%{num_connects} ' $url ${url}style.css ${url}sub/page.html
            echo
            rm a b c head
        done"#;
    let folder = root.parent().unwrap().to_str().unwrap();
    let output = client(&root, &[], &format!("cd {folder}\n{script}"));
    let expected = "234 89\n416 404 405 307 /sub/\n404 404 404 404 404 \n1 0 0 \n";
    assert_eq!(printed(&output), expected.repeat(2));
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("GET /digits.txt 206 3 bytes other"), "{log}");
    assert!(log.contains("HEAD /style.css 200 0 bytes css"), "{log}");
}

/// A pipe holds 64 KiB: 2 KB for each of 200 responses are more. The log's reader stalls until the
/// client has all responses.
#[test]
fn a_log_that_nobody_reads_keeps_no_client_waiting() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-unread");
    let script = r#"
        long=$(printf 'a%.0s' $(seq 2000))
        curl -sS --max-time 20 -Z --parallel-max 20 -o /dev/null -w '%{http_code}\n' "${HEADSTART_URL}$long[1-200]" 2>/dev/null | grep -c 404"#;
    let arguments = [&["serve", root.to_str().unwrap()], &LINE[..], &["--", "sh", "-c", script]];
    let mut server = command(&arguments.concat());
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut printed).unwrap();
    assert_eq!(printed, "200\n");
    // Only now: what the pipe had room for, and what waited.
    let mut log = String::new();
    server.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0), "{}", log.len());
    assert_eq!(log.matches("GET /aaa").count(), 200);
}

/// A client that goes away in the middle frees what it had, and others are served meanwhile. The
/// file would take 40 s.
#[test]
fn a_client_that_goes_away_in_the_middle_frees_what_it_had() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-away");
    large(&root, 100_000_000);
    let log = root.with_file_name("log.jsonl");
    let script = r#"
        curl -s -o /dev/null --max-time 1.5 ${HEADSTART_URL}large.bin && exit 1
        ask -o /dev/null $HEADSTART_URL
        # The status page itself is a connection.
        for n in $(seq 100); do
            left=$(ask ${HEADSTART_URL}.headstart/status.json | grep -c '"peer":')
            [ $left -gt 1 ] || break
            sleep 0.1
        done
        echo $left"#;
    let json = format!("--json={}", log.display());
    assert_eq!(printed(&client(&root, &[&json, "--quiet"], script)), "1\n");
    let log = fs::read_to_string(log).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let large = lines.iter().find(|line| line["path"] == "/large.bin").expect("it is told of");
    assert_eq!((&large["is_complete"], &large["body_bytes"]), (&false.into(), &100_000_000.into()));
    assert_eq!(lines[0]["event"], "listening");
}

/// Two downloads of one client under a scheme that shares: one path, and the heavier one is ahead.
/// Both files are longer than what is looked at, and as large as each other.
#[test]
fn the_heavier_of_a_clients_downloads_gets_ahead() {
    if !possible(&["curl"]) {
        return;
    }
    let root = site("serve-weights");
    for name in ["heavy.html", "light.png"] {
        fs::File::create(root.join(name)).unwrap().set_len(30_000_000).unwrap();
    }
    let script = r#"
        ask -o /dev/null ${HEADSTART_URL}light.png & light=$!
        ask -o /dev/null ${HEADSTART_URL}heavy.html & heavy=$!
        sleep 4
        ask ${HEADSTART_URL}.headstart/status.json
        kill $light $heavy"#;
    let options = ["--scheme", "etcp-fair", "--weights", "html=8,image=1", "--quiet"];
    let status = printed(&client(&root, &options, script));
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    let acked = |content: &str| {
        let all = status["connections"].as_array().unwrap();
        let found = all.iter().find(|c| c["content"] == content).expect("a connection");
        found["acked_bytes"].as_u64().unwrap()
    };
    let (html, image) = (acked("html"), acked("image"));
    // 8 to 1 once both are under way; the light one began first, alone.
    assert!(html > 3 * image && image > 0, "{html} {image}");
    assert_eq!(status["paths"].as_array().unwrap().len(), 1, "{status:#}");
}

#[test]
fn the_exit_code_is_the_commands() {
    if !possible(&[]) {
        return;
    }
    let output = client(&site("serve-code"), &[], "exit 7");
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
}
