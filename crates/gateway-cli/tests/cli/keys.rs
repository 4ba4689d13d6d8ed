//! Keys that a gateway's user may and may not read, and certificates that are revoked.

use crate::run::{command, folder, headstart, refused, stdout};
use gateway::pki::fingerprint_of_file;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

/// Users that every Linux system has.
const NOBODY: &str = "nobody";
const NOBODY_ID: u32 = 65_534;

/// Runs a command as `nobody`, whom no group but its own helps.
fn as_nobody(mut command: Command) -> Output {
    command.uid(NOBODY_ID).gid(NOBODY_ID).output().unwrap()
}

fn read_as_nobody(file: &Path) -> bool {
    let mut cat = Command::new("cat");
    cat.arg(file);
    as_nobody(cat).status.success()
}

/// The documented `init` for a service. The service's user reads its own key and its configuration,
/// changes none of them, and reads neither the authority's key nor the operator's.
#[test]
fn a_gateways_user_reads_its_own_key_and_no_other() {
    if !nix::unistd::geteuid().is_root() {
        return test_support::skipped("another user needs root");
    }
    let folder = std::env::temp_dir().join(format!("headstart-keys-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let shown = folder.to_str().unwrap();
    refused(&["init", shown, "--user", "no-such-user"], &["no such user", "useradd"]);
    assert!(!folder.exists());
    stdout(&["init", shown, "--user", NOBODY]);
    for (name, is_read) in [
        ("gateway.toml", true),
        ("ca.pem", true),
        ("server.key", true),
        ("revoked.txt", true),
        ("authority/ca.key", false),
        ("authority/operator.key", false),
        ("agent.key", false),
    ] {
        assert_eq!(read_as_nobody(&folder.join(name)), is_read, "{name}");
    }
    for name in ["server.key", "revoked.txt", "gateway.toml", "new"] {
        let mut write = Command::new("sh");
        write.args(["-c", ": >> \"$0\""]).arg(folder.join(name));
        assert!(!as_nobody(write).status.success(), "{name} was written");
    }
    // Others may need the permissions of a folder that was there before.
    let others = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&folder, others.clone()).unwrap();
    stdout(&["init", shown, "--user", NOBODY, "--force"]);
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, others.mode());
    let config = folder.join("gateway.toml");
    let check = ["--config", config.to_str().unwrap(), "--check"];
    // The program may be where only root may look.
    let program = folder.join("headstart-gateway");
    fs::copy(crate::PROGRAM, &program).unwrap();
    let mut checked = Command::new(&program);
    checked.args(check).current_dir("/");
    let checked = as_nobody(checked);
    let said = String::from_utf8(checked.stderr).unwrap();
    assert!(checked.status.success() && said.is_empty(), "{said}");
    // The same folder for a gateway that runs as root.
    let said = String::from_utf8(headstart(&check).stderr).unwrap();
    for key in ["authority/ca.key", "authority/operator.key", "--user"] {
        assert!(said.contains(key), "{key}: {said}");
    }
    fs::remove_dir_all(folder.join("authority")).unwrap();
    let said = String::from_utf8(headstart(&check).stderr).unwrap();
    assert!(said.is_empty(), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}

/// An operator's certificate is made where the authority's key is, and an agent's beside the
/// gateway's. A folder with both files of the authority serves as well.
#[test]
fn certificates_are_made_by_the_key_in_the_authoritys_folder() {
    let folder = folder("gateway-keys-made");
    let shown = folder.to_str().unwrap();
    stdout(&["init", shown]);
    stdout(&["certificate", shown, "ann", "--operator"]);
    stdout(&["certificate", shown, "web-2"]);
    let away = folder.join("authority");
    stdout(&["certificate", away.to_str().unwrap(), "web-3"]);
    for name in ["authority/ann.key", "web-2.key", "authority/web-3.key"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert!(!folder.join("ann.key").exists());
    fs::remove_dir_all(away).unwrap();
    refused(&["certificate", shown, "web-4"], &["ca.key"]);
}

#[test]
fn a_certificate_is_revoked_by_file_fingerprint_and_serial_number() {
    let folder = folder("gateway-keys-revoked");
    stdout(&["init", folder.to_str().unwrap()]);
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let config = file("gateway.toml");
    let revoke = |more: &[&str]| stdout(&[&["revoke", "--config", &config][..], more].concat());
    let authority = fingerprint_of_file(&folder.join("ca.pem")).unwrap().to_string();
    let said = revoke(&[&file("ca.pem")]);
    assert!(said.starts_with(&format!("{authority} is in ")), "{said}");
    revoke(&["--fingerprint", &authority.to_uppercase()]);
    assert!(revoke(&["--serial", "3F:A2"]).starts_with("serial 3fa2 is in "));
    let list = fs::read_to_string(folder.join("revoked.txt")).unwrap();
    let lines: Vec<_> = list.lines().rev().take(3).collect();
    assert!(lines[0].starts_with("serial 3fa2 # "), "{list}");
    assert!(lines[1].starts_with(&format!("{authority} # ")), "{list}");
    assert!(lines[2].starts_with(&format!("{authority} # {}", file("ca.pem"))), "{list}");
    let revoke = ["revoke", "--config", &config];
    refused(&revoke, &["CERTIFICATE.pem"]);
    refused(&[&revoke[..], &["--serial", "0"]].concat(), &["is no serial number"]);
    let two = ["--serial", "7", "--fingerprint", &authority];
    refused(&[&revoke[..], &two].concat(), &["cannot be used with"]);
    // A file for the time of a change has two authorities, and one of them is good.
    let both = fs::read_to_string(folder.join("ca.pem")).unwrap().repeat(2);
    fs::write(folder.join("both.pem"), both).unwrap();
    refused(&[&revoke[..], &[&file("both.pem")]].concat(), &["several authorities"]);
    let checked = command(&["--config", &config, "--check"]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}
