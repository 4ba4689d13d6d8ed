//! Choice of the server in the kernel's world.

use super::{Nginx, ServerProgram};
use std::path::PathBuf;
use std::str::FromStr;
use workload::{LoaderConfig, Page};

/// The server that the user requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerChoice {
    /// nginx where it is installed and writes as it would on the real site, else this process.
    #[default]
    Auto,
    /// The installed nginx.
    Nginx,
    /// nginx at a path.
    At(PathBuf),
    /// This process.
    Builtin,
}

impl ServerChoice {
    /// The server of a page, and, if it is not the one that would be first choice, why not.
    ///
    /// # Errors
    /// If the requested server is not there or cannot serve the page.
    pub fn serve(
        &self,
        page: &Page,
        config: &LoaderConfig,
    ) -> Result<(ServerProgram, Option<String>), String> {
        let able = |nginx: Nginx| match nginx.refusal(page, config) {
            None => Ok(ServerProgram::Nginx(nginx)),
            Some(why) => Err(why),
        };
        let installed = || {
            let missing = "no nginx in PATH, /usr/sbin, /usr/local/sbin or /sbin";
            able(Nginx::installed().ok_or(missing)?)
        };
        match self {
            Self::Builtin => Ok((ServerProgram::Builtin, None)),
            // TLS is imitated in the clear. nginx then holds the last part of a file back until a
            // header before it has been acknowledged; behind TLS it does not.
            Self::Auto if config.speaks_tls(page) => {
                let why =
                    "nginx would run in the clear, where it writes in another way than behind TLS";
                Ok((ServerProgram::Builtin, Some(why.to_owned())))
            }
            Self::Auto => Ok(match installed() {
                Ok(server) => (server, None),
                Err(why) => (ServerProgram::Builtin, Some(why)),
            }),
            Self::Nginx => Ok((installed()?, None)),
            Self::At(program) => {
                let nginx = Nginx::at(program).map_err(|error| error.to_string())?;
                Ok((able(nginx)?, None))
            }
        }
    }
}

impl FromStr for ServerChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "nginx" => Ok(Self::Nginx),
            "builtin" => Ok(Self::Builtin),
            path if path.contains('/') => Ok(Self::At(path.into())),
            _ => Err("use auto, nginx, builtin, or the path of an nginx".to_owned()),
        }
    }
}
