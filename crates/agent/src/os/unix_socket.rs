//! Unix sockets at a path of the operator's choice. They replace nothing but a socket there, and a
//! socket for root alone is at no moment open to others.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process;

/// Removes what a dead agent left at `path`.
///
/// # Errors
/// `AlreadyExists` if there is something else than a socket: a mistyped path destroys no file.
pub(crate) fn remove_socket(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(there) if there.file_type().is_socket() => fs::remove_file(path),
        Ok(_) => Err(io::Error::new(
            ErrorKind::AlreadyExists,
            "something that is no socket is there; name another file, or remove it",
        )),
    }
}

/// Listens at `path` for the process's own user alone. Until its mode is changed, the umask
/// determines who may connect to a socket. Therefore it is made in a folder that no other user may
/// enter, and moved.
///
/// # Errors
/// Fails as [`remove_socket`] does, or if it cannot be made.
pub(crate) fn listen_privately(path: &Path) -> io::Result<UnixListener> {
    remove_socket(path)?;
    let folder = path.with_file_name(format!(".hs-{}", process::id()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    let inside = folder.join("s");
    let listener = UnixListener::bind(&inside).and_then(|listener| {
        fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
        fs::rename(&inside, path)?;
        Ok(listener)
    });
    if listener.is_err() {
        let _ = fs::remove_file(&inside);
    }
    fs::remove_dir(&folder)?;
    listener
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;

    fn place(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("headstart-unix-{name}-{}", process::id()))
    }

    #[test]
    fn a_mistyped_path_costs_no_file() {
        let file = place("file");
        fs::write(&file, "what somebody needs").unwrap();
        for made in [remove_socket(&file), listen_privately(&file).map(drop)] {
            assert_eq!(made.unwrap_err().kind(), ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "what somebody needs");
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn what_a_dead_agent_left_is_replaced_and_nobody_else_may_connect() {
        let file = place("socket");
        drop(UnixListener::bind(&file).unwrap());
        let listener = listen_privately(&file).unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let _asks = UnixStream::connect(&file).unwrap();
        listener.accept().unwrap();
        assert!(!file.with_file_name(format!(".hs-{}", process::id())).exists());
        fs::remove_file(&file).unwrap();
    }
}
