//! Certificates for more agents and for gateways, by a request or with a new key. Certificates that
//! are refused.

use clap::{ArgGroup, Args};
use cmdline::{Appendix, Failure, input, remark, stdout};
use gateway::config::DaemonConfig;
use gateway::config::init::{AUTHORITY, DAYS, TENANT, replace_private, write_private};
use gateway::os::clock::system_time;
use gateway::pki::{
    self, Authority, CertificateContent, CertificateRequest, CertificateSerial, Fingerprint,
    Holder, HolderRole, Issued, RevocationEntry, add_revocation, fingerprint_of_file,
    hosts_of_file, is_name,
};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct CertificateArgs {
    /// Folder that has ca.pem and ca.key, or has them in its folder authority; NAME.pem and
    /// NAME.key are written there, an operator's beside ca.key
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name of the agent, unique within its tenant: the host's; with --gateway, of the files alone
    #[arg(value_name = "NAME")]
    name: String,
    /// For a gateway, to be shown to agents
    #[arg(long, conflicts_with_all = ["observer", "operator", "tenant"])]
    gateway: bool,
    /// Name or address by which agents reach the gateway; give it again for more [default: those of
    /// NAME.pem in DIR, or of server.pem]
    #[arg(long, value_name = "HOST", requires = "gateway")]
    host: Vec<String>,
    /// Replace NAME.pem and NAME.key if they are there: before a certificate ends
    #[arg(long)]
    replace: bool,
    /// Sign the key of this request (PKCS #10) and write NAME.pem alone; names and rights in the
    /// request do not count
    #[arg(long, value_name = "REQUEST.csr")]
    request: Option<PathBuf>,
    /// Tenant whose memory it shares, the name of a tenant in gateway.toml
    #[arg(long, value_name = "NAME", default_value = TENANT)]
    tenant: String,
    /// It may also have networks forgotten
    #[arg(long, conflicts_with = "observer")]
    operator: bool,
    /// For an observer, which may only report and announce visitors
    #[arg(long)]
    observer: bool,
    /// Days until it ends
    #[arg(long, value_name = "DAYS", default_value_t = DAYS, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
}

#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// Folder to write NAME.csr to, and NAME.key; if NAME.key is there, the request is for this key
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name of the files
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("revoked").required(true).args(["certificate", "fingerprint", "serial"])))]
pub(crate) struct RevokeArgs {
    /// Configuration of the gateway that is to refuse it
    #[arg(long, value_name = "FILE.toml")]
    config: PathBuf,
    /// The certificate, PEM; that of an authority refuses all certificates that it has signed
    #[arg(value_name = "CERTIFICATE.pem")]
    certificate: Option<PathBuf>,
    /// SHA-256 of the certificate, of a holder or of an authority, if there is no file of it
    #[arg(long, value_name = "HEX")]
    fingerprint: Option<Fingerprint>,
    /// Serial number; all certificates that have it are refused, of any authority
    #[arg(long, value_name = "HEX")]
    serial: Option<CertificateSerial>,
}

pub(crate) fn certificate_appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart gateway certificate DIR web-2", "Makes DIR/web-2.pem and DIR/web-2.key."),
            (
                "headstart gateway certificate DIR web-2 --request web-2.csr",
                "Makes DIR/web-2.pem for a key that stays on web-2.",
            ),
            (
                "headstart gateway certificate DIR shop-1 --tenant shop",
                "For a tenant of its own: it shares nothing with others.",
            ),
            (
                "headstart gateway certificate DIR eye-2 --observer",
                "Makes a certificate for an observer of packets.",
            ),
            (
                "headstart gateway certificate DIR server --gateway --replace",
                "Before the gateway's certificate ends: a new one for the same hosts. Then reload the gateway.",
            ),
        ],
        exit: cmdline::EXIT,
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn request_appendix() -> Appendix {
    Appendix {
        examples: &[(
            "headstart gateway request /etc/headstart web-2",
            "On web-2: makes web-2.key, which stays there, and web-2.csr for `headstart gateway certificate --request`.",
        )],
        exit: cmdline::EXIT,
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn revoke_appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "headstart gateway revoke --config DIR/gateway.toml DIR/web-2.pem",
                "Refuses web-2 within a second, and ends its connections.",
            ),
            (
                "headstart gateway revoke --config DIR/gateway.toml OLD/ca.pem",
                "Refuses all certificates of a stolen authority, and ends their connections.",
            ),
            (
                "headstart gateway revoke --config DIR/gateway.toml --serial 3F:A2",
                "Refuses a certificate of which only the serial number is known.",
            ),
        ],
        exit: cmdline::EXIT,
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn make(args: &CertificateArgs) -> Result<(), Failure> {
    let folder = authority_folder(&args.folder);
    let text = |name: &str| {
        let bytes = input::read(&folder.join(name))?;
        String::from_utf8(bytes).map_err(|_| Failure::input(format!("{name}: is no PEM file")))
    };
    let authority = Authority::of_pem(&text("ca.pem")?, &text("ca.key")?);
    let authority =
        authority.map_err(|why| Failure::input(format!("{}: {why}", folder.display())))?;
    let content = if args.gateway { of_gateway(args) } else { of_holder(args) }?;
    let Some(file) = &args.request else {
        let Issued { certificate, key } = authority.issue(content).map_err(Failure::input)?;
        return write(args, &[("pem", &certificate), ("key", &key)]);
    };
    let request = CertificateRequest::of_pem(&input::read(file)?);
    let request = request.map_err(|why| Failure::input(format!("{}: {why}", file.display())))?;
    let certificate = authority.sign(content, &request).map_err(Failure::input)?;
    write(args, &[("pem", &certificate)])
}

/// Makes a request, and its key unless there is one.
pub(crate) fn request(args: &RequestArgs) -> Result<(), Failure> {
    check_file_name(&args.name)?;
    let file = |ending: &str| args.folder.join(format!("{}.{ending}", args.name));
    let (key, request) = (file("key"), file("csr"));
    let before = key.exists().then(|| input::read_text(&key, "a key")).transpose()?;
    let made = pki::request(&args.name, before.as_deref());
    let (new_key, text) =
        made.map_err(|why| Failure::input(format!("{}: {why}", key.display())))?;
    if before.is_none() {
        write_private(&key, &new_key).map_err(|error| unwritten(&key, &error))?;
        stdout::print(&format!("{}\n", key.display()))?;
    }
    fs::write(&request, text).map_err(|error| unwritten(&request, &error))?;
    stdout::print(&format!("{}\n", request.display()))
}

/// Returns the folder of the authority's key.
fn authority_folder(folder: &Path) -> PathBuf {
    let within = folder.join(AUTHORITY);
    if within.join("ca.key").exists() { within } else { folder.to_owned() }
}

fn of_holder(args: &CertificateArgs) -> Result<CertificateContent, Failure> {
    let role = match (args.operator, args.observer) {
        (true, _) => HolderRole::Operator,
        (_, true) => HolderRole::Observer,
        _ => HolderRole::Agent,
    };
    let holder = Holder { tenant: &args.tenant, role, name: &args.name };
    CertificateContent::client(system_time(), args.days, holder).map_err(Failure::input)
}

fn of_gateway(args: &CertificateArgs) -> Result<CertificateContent, Failure> {
    check_file_name(&args.name)?;
    let hosts = hosts(args)?;
    let content = CertificateContent::server(system_time(), args.days, &hosts);
    let content = content.map_err(Failure::input)?;
    remark(&format!("headstart: agents reach this gateway as {}", hosts.join(", ")));
    Ok(content)
}

/// Checks that `name` can be the name of files.
fn check_file_name(name: &str) -> Result<(), Failure> {
    match is_name(name) {
        true if name == "ca" => {
            let why = "ca.pem and ca.key are the authority's; choose another name";
            Err(Failure::input(why))
        }
        true => Ok(()),
        false => Err(Failure::input(format!(
            "name {name:?}: 1 to 63 letters, digits, dots, dashes and underscores, please"
        ))),
    }
}

/// Returns the hosts that the operator names, or those of the existing certificate.
fn hosts(args: &CertificateArgs) -> Result<Vec<String>, Failure> {
    if !args.host.is_empty() {
        return Ok(args.host.clone());
    }
    let before = [format!("{}.pem", args.name), "server.pem".to_owned()];
    let before = before.map(|name| args.folder.join(name));
    let unknown = |why: String| {
        let way_out = "name with --host each name and address by which agents reach the gateway";
        Failure::input(format!("{why}; {way_out}"))
    };
    let Some(there) = before.iter().find(|file| file.exists()) else {
        return Err(unknown(format!("{}: is not there", before[1].display())));
    };
    match hosts_of_file(there).map_err(unknown)? {
        none if none.is_empty() => Err(unknown(format!("{}: names no host", there.display()))),
        hosts => Ok(hosts),
    }
}

/// Writes all files, given by their endings, or none of them if one exists and may not be replaced.
fn write(args: &CertificateArgs, contents: &[(&str, &String)]) -> Result<(), Failure> {
    check_file_name(&args.name)?;
    // The key of an operator has other networks forgotten, so no gateway's user may read it.
    let folder = if args.operator { authority_folder(&args.folder) } else { args.folder.clone() };
    let file = |ending: &str| folder.join(format!("{}.{ending}", args.name));
    let files: Vec<_> = contents.iter().map(|(ending, text)| (file(ending), *text)).collect();
    if let Some((there, _)) = files.iter().find(|(file, _)| !args.replace && file.exists()) {
        let shown = there.display();
        return Err(Failure::input(format!(
            "{shown}: is there already; choose another name, or add --replace"
        )));
    }
    for (file, text) in files {
        let written =
            if args.replace { replace_private(&file, text) } else { write_private(&file, text) };
        written.map_err(|error| unwritten(&file, &error))?;
        stdout::print(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

pub(crate) fn revoke(args: &RevokeArgs) -> Result<(), Failure> {
    let config = DaemonConfig::read(&args.config).map_err(Failure::input)?;
    let list = &config.revoked;
    let (entry, remark) = entry(args)?;
    add_revocation(list, &entry, &remark).map_err(|error| unwritten(list, &error))?;
    stdout::print(&format!("{entry} is in {}\n", list.display()))
}

/// Returns what is to be revoked, and a remark for the list.
fn entry(args: &RevokeArgs) -> Result<(RevocationEntry, String), Failure> {
    let by_number = "headstart gateway revoke".to_owned();
    Ok(match (&args.certificate, &args.serial, args.fingerprint) {
        (Some(file), _, _) => {
            let fingerprint = fingerprint_of_file(file).map_err(Failure::input)?;
            (RevocationEntry::Certificate(fingerprint), file.display().to_string())
        }
        (None, Some(serial), _) => (RevocationEntry::Serial(serial.clone()), by_number),
        (None, None, Some(one)) => (RevocationEntry::Certificate(one), by_number),
        (None, None, None) => return Err(Failure::input("name a certificate")),
    })
}

fn unwritten(file: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: {error}", file.display()))
}
