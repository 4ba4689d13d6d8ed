//! Certificates for more agents, and those that are refused.

use crate::failure::Failure;
use crate::{input, stdout};
use clap::Args;
use cmdline::Appendix;
use gateway::clock::system_time;
use gateway::config::DaemonConfig;
use gateway::init::{DAYS, TENANT, write_private};
use gateway::pki::{Authority, HolderRole, fingerprint_of_file};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct CertificateArgs {
    /// Folder with ca.pem and ca.key; NAME.pem and NAME.key are written there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name of the agent, unique within its tenant: the host's
    #[arg(value_name = "NAME")]
    name: String,
    /// Tenant whose memory it shares, the name of a tenant in gateway.toml
    #[arg(long, value_name = "NAME", default_value = TENANT)]
    tenant: String,
    /// It may also have networks forgotten
    #[arg(long)]
    operator: bool,
    /// Days until it ends
    #[arg(long, value_name = "DAYS", default_value_t = DAYS, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// Configuration of the gateway that is to refuse it
    #[arg(long, value_name = "FILE.toml")]
    config: PathBuf,
    /// The certificate, PEM
    #[arg(value_name = "CERTIFICATE.pem")]
    certificate: PathBuf,
}

pub(crate) fn certificate_appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart gateway certificate DIR web-2", "Makes DIR/web-2.pem and DIR/web-2.key."),
            (
                "headstart gateway certificate DIR shop-1 --tenant shop",
                "For a tenant of its own: it shares nothing with others.",
            ),
        ],
        exit: cmdline::EXIT,
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn revoke_appendix() -> Appendix {
    Appendix {
        examples: &[(
            "headstart gateway revoke --config DIR/gateway.toml DIR/web-2.pem",
            "Refuses web-2 within a second, and ends its connections.",
        )],
        exit: cmdline::EXIT,
        more: &["docs/gateway/operate.md"],
        ..Appendix::default()
    }
}

pub(crate) fn make(args: &CertificateArgs) -> Result<(), Failure> {
    let text = |name: &str| {
        let bytes = input::read(&args.folder.join(name))?;
        String::from_utf8(bytes).map_err(|_| Failure::input(format!("{name}: is no PEM file")))
    };
    let authority = Authority::of_pem(&text("ca.pem")?, &text("ca.key")?);
    let authority =
        authority.map_err(|why| Failure::input(format!("{}: {why}", args.folder.display())))?;
    let role = if args.operator { HolderRole::Operator } else { HolderRole::Agent };
    let holder = (args.tenant.as_str(), args.name.as_str());
    let issued =
        authority.client(system_time(), args.days, role, holder).map_err(Failure::input)?;
    let file = |ending: &str| args.folder.join(format!("{}.{ending}", args.name));
    for (file, text) in [(file("pem"), issued.certificate), (file("key"), issued.key)] {
        if file.exists() {
            let shown = file.display();
            return Err(Failure::input(format!(
                "{shown}: is there already; choose another name, or remove it"
            )));
        }
        write_private(&file, &text).map_err(|error| unwritten(&file, &error))?;
        stdout::print(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

pub(crate) fn revoke(args: &RevokeArgs) -> Result<(), Failure> {
    let config = DaemonConfig::read(&args.config).map_err(Failure::input)?;
    let fingerprint = fingerprint_of_file(&args.certificate).map_err(Failure::input)?;
    let list = &config.revoked;
    let remark = args.certificate.display().to_string();
    gateway::pki::revoke(list, fingerprint, &remark).map_err(|error| unwritten(list, &error))?;
    stdout::print(&format!("{fingerprint} is in {}\n", list.display()))
}

fn unwritten(file: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: {error}", file.display()))
}
