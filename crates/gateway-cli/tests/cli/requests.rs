//! Certificates for keys that never leave their server, with openssl as the other side.

use crate::run::{folder, refused, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::{Need, has};

/// An authority, and the folder of a server that asks it.
struct Enrolment {
    authority: PathBuf,
    server: PathBuf,
}

impl Enrolment {
    /// Skips the test if there is no openssl.
    fn new(name: &str) -> Option<Self> {
        if !has(&[Need::Program("openssl")]) {
            return None;
        }
        let all = folder(name);
        let (authority, server) = (all.join("authority-of-site"), all.join("server"));
        stdout(&["init", authority.to_str().unwrap()]);
        fs::create_dir(&server).unwrap();
        Some(Self { authority, server })
    }

    /// Makes a request as the server does; returns its file.
    fn request(&self, name: &str) -> PathBuf {
        stdout(&["request", self.server.to_str().unwrap(), name]);
        self.server.join(format!("{name}.csr"))
    }

    /// Returns the arguments that sign a request for `name`.
    fn arguments<'a>(&'a self, name: &'a str, request: &'a Path) -> Vec<&'a str> {
        let (authority, request) = (self.authority.to_str().unwrap(), request.to_str().unwrap());
        vec!["certificate", authority, name, "--request", request]
    }

    /// Signs a request; returns the certificate's file.
    fn sign(&self, name: &str, request: &Path, more: &[&str]) -> PathBuf {
        let written = stdout(&[&self.arguments(name, request)[..], more].concat());
        PathBuf::from(written.strip_suffix('\n').unwrap())
    }

    /// Returns the purposes for which openssl verifies the certificate.
    fn purposes(&self, certificate: &Path) -> Vec<&'static str> {
        let ca = self.authority.join("ca.pem");
        let is_good = |purpose: &&str| {
            let verify = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile"];
            run(&verify, &[&ca, certificate]).status.success()
        };
        ["sslclient", "sslserver"].into_iter().filter(is_good).collect()
    }
}

/// Runs openssl, with files at the end.
fn run(arguments: &[&str], files: &[&Path]) -> Output {
    Command::new("openssl").args(arguments).args(files).output().unwrap()
}

/// Returns what openssl prints.
#[track_caller]
fn openssl(arguments: &[&str], file: &Path) -> String {
    let output = run(arguments, &[file]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The server makes a key and a request, which openssl verifies. The authority signs the request:
/// the certificate has the server's key, and openssl verifies it for a client alone.
#[test]
fn a_key_stays_on_its_server() {
    let Some(bed) = Enrolment::new("gateway-request") else { return };
    let request = bed.request("web-2");
    let key = bed.server.join("web-2.key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let verified = run(&["req", "-verify", "-noout", "-in"], &[&request]);
    assert!(String::from_utf8_lossy(&verified.stderr).contains("verify OK"), "{verified:?}");
    let certificate = bed.sign("web-2", &request, &["--tenant", "paris"]);
    assert_eq!(certificate, bed.authority.join("web-2.pem"));
    assert!(!bed.authority.join("web-2.key").exists());
    assert_eq!(bed.purposes(&certificate), ["sslclient"]);
    let of_key = openssl(&["pkey", "-pubout", "-in"], &key);
    assert_eq!(openssl(&["x509", "-noout", "-pubkey", "-in"], &certificate), of_key);
    let names = openssl(&["x509", "-noout", "-ext", "subjectAltName", "-in"], &certificate);
    let uri = names.trim().lines().last().unwrap().trim();
    assert_eq!(uri, "URI:spiffe://headstart/tenant/paris/agent/web-2");
    // Before the certificate ends: the same key, unless it was moved away.
    let again = bed.arguments("web-2", &request);
    refused(&again, &["web-2.pem: is there already", "--replace"]);
    let text = fs::read(&key).unwrap();
    let renewed = bed.sign("web-2", &bed.request("web-2"), &["--replace"]);
    assert_eq!(fs::read(&key).unwrap(), text);
    assert_eq!(openssl(&["x509", "-noout", "-pubkey", "-in"], &renewed), of_key);
    fs::remove_file(&key).unwrap();
    bed.request("web-2");
    assert_ne!(fs::read(&key).unwrap(), text);
}

/// openssl makes requests for several kinds of keys. They ask for the rights of an operator and of
/// an authority, and get those that the operator of the site states.
#[test]
fn a_request_of_openssl_is_signed_for_the_stated_holder() {
    let Some(bed) = Enrolment::new("gateway-request-openssl") else { return };
    let asked =
        "subjectAltName=URI:spiffe://headstart/tenant/site/operator/ann,DNS:gateway.example";
    for (number, kind) in
        [&["rsa:2048"][..], &["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], &["ed25519"]]
            .into_iter()
            .enumerate()
    {
        let (key, request) = (bed.server.join("a.key"), bed.server.join("a.csr"));
        let mut command = Command::new("openssl");
        command.args(["req", "-new", "-nodes", "-subj", "/CN=ann", "-newkey"]).args(kind);
        command.args(["-addext", asked, "-addext", "basicConstraints=critical,CA:TRUE"]);
        command.args(["-addext", "extendedKeyUsage=serverAuth,1.2.3.4"]);
        command.arg("-keyout").arg(&key).arg("-out").arg(&request);
        assert!(command.output().unwrap().status.success(), "{kind:?}");
        let name = format!("eye-{number}");
        let certificate = bed.sign(&name, &request, &["--observer", "--days", "2"]);
        assert_eq!(bed.purposes(&certificate), ["sslclient"], "{kind:?}");
        let of_key = openssl(&["pkey", "-pubout", "-in"], &key);
        assert_eq!(openssl(&["x509", "-noout", "-pubkey", "-in"], &certificate), of_key);
        let shown = openssl(&["x509", "-noout", "-text", "-in"], &certificate);
        assert!(shown.contains(&format!("spiffe://headstart/tenant/site/observer/{name}\n")));
        for word in ["ann", "operator", "gateway.example", "CA:TRUE", "1.2.3.4", "Server Auth"] {
            assert!(!shown.contains(word), "{word}: {shown}");
        }
    }
}

/// A gateway's key can stay on its machine as well; an operator's certificate is written beside the
/// authority's key.
#[test]
fn requests_are_for_gateways_and_operators_too() {
    let Some(bed) = Enrolment::new("gateway-request-roles") else { return };
    let request = bed.request("second");
    let hosts = ["--gateway", "--host", "second.example"];
    let certificate = bed.sign("second", &request, &hosts);
    assert_eq!(bed.purposes(&certificate), ["sslserver"]);
    let names = openssl(&["x509", "-noout", "-ext", "subjectAltName", "-in"], &certificate);
    assert!(names.trim().ends_with("DNS:second.example"), "{names}");
    let operator = bed.sign("ann", &bed.request("ann"), &["--operator"]);
    assert_eq!(operator, bed.authority.join("authority/ann.pem"));
}

/// A request that its key has not signed is refused, as is a key that TLS does not accept. Nothing
/// is written then.
#[test]
fn a_bad_request_is_refused_by_file_and_reason() {
    let Some(bed) = Enrolment::new("gateway-request-bad") else { return };
    let request = bed.request("web-2");
    let weak = bed.server.join("weak.csr");
    let make = ["req", "-new", "-nodes", "-subj", "/CN=a", "-newkey", "rsa:1024", "-keyout"];
    let made = run(&[&make[..], &["/dev/null", "-out"]].concat(), &[&weak]);
    assert!(made.status.success(), "{made:?}");
    refused(&bed.arguments("web-2", &weak), &["weak.csr: ", "RSA of 2048 bits"]);
    let changed = bed.server.join("changed.csr");
    // The name in the request differs from the signed one.
    let der = run(&["req", "-outform", "DER", "-in"], &[&request]).stdout;
    let at = der.windows(5).position(|some| some == b"web-2").unwrap();
    let other = [&der[..at], b"web-3", &der[at + 5..]].concat();
    fs::write(&changed, other).unwrap();
    let pem = run(&["req", "-inform", "DER", "-in"], &[&changed]).stdout;
    fs::write(&changed, pem).unwrap();
    refused(&bed.arguments("web-2", &changed), &["changed.csr: the signature is not of"]);
    let key = bed.server.join("web-2.key");
    refused(&bed.arguments("web-2", &key), &["web-2.key: no certificate request"]);
    let none = bed.server.join("none.csr");
    refused(&bed.arguments("web-2", &none), &["none.csr"]);
    assert!(!bed.authority.join("web-2.pem").exists());
    let server = bed.server.to_str().unwrap();
    for name in ["ca", "../web-2", ""] {
        refused(&["request", server, name], &["name"]);
    }
    fs::write(&key, "nothing").unwrap();
    refused(&["request", server, "web-2"], &["web-2.key: "]);
    assert_eq!(fs::read_to_string(&key).unwrap(), "nothing");
}
