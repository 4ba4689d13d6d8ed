//! The files of one folder: tower-http's, behind a check that none of them lies outside.

use hyper::{Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use tokio::fs;
use tower_http::services::ServeDir;
use tower_http::services::fs::ServeFileSystemResponseBody;

/// Fails if `root` is no folder that can be read; names it.
///
/// # Errors
/// If it is no readable folder.
pub fn check_folder(root: &Path) -> io::Result<()> {
    Files::new(root).map(drop)
}

/// A folder.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    /// Path of the folder, without symbolic links.
    root: PathBuf,
    service: ServeDir,
}

impl Files {
    /// # Errors
    /// If there is no such folder, which is named.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        let named = |error: io::Error| {
            let shown = root.display();
            let why = match error.kind() {
                io::ErrorKind::NotFound => format!("{shown}: no such folder"),
                io::ErrorKind::NotADirectory => format!("{shown}: is no folder"),
                _ => format!("{shown}: {error}"),
            };
            io::Error::new(error.kind(), why)
        };
        let found = root.canonicalize().map_err(named)?;
        // Reading it now detects a file, and a folder that may not be read.
        found.read_dir().map_err(named)?;
        Ok(Self { service: ServeDir::new(&found), root: found })
    }

    /// The answer to a request, without a body's being read yet.
    pub(crate) async fn serve_file(
        &self,
        request: Request<()>,
    ) -> io::Result<Response<Option<ServeFileSystemResponseBody>>> {
        if !self.is_servable(request.uri().path()).await {
            return Ok(not_found());
        }
        match self.service.clone().try_call(request).await {
            Err(error) if is_missing(&error) => Ok(not_found()),
            answer => answer.map(|response| response.map(Some)),
        }
    }

    /// False for a path that leads out of the folder, by symbolic links or otherwise, and for
    /// entries that are neither a file nor a folder. A path that does not exist leads nowhere.
    async fn is_servable(&self, path: &str) -> bool {
        let Ok(path) = percent_decode_str(path.trim_start_matches('/')).decode_utf8() else {
            return false;
        };
        let path = Path::new(&*path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !path.components().all(plain) {
            return false;
        }
        let path = self.root.join(path);
        // A folder is answered by its index, which may be a link of its own.
        self.is_inside(&path).await && self.is_inside(&path.join("index.html")).await
    }

    async fn is_inside(&self, path: &Path) -> bool {
        match fs::canonicalize(path).await {
            // Opening a FIFO would wait for a writer, and a device has no end.
            Ok(found) => found.starts_with(&self.root) && is_file_or_folder(&found).await,
            Err(error) => {
                matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
            }
        }
    }
}

async fn is_file_or_folder(path: &Path) -> bool {
    fs::metadata(path).await.is_ok_and(|data| data.is_file() || data.is_dir())
}

fn not_found() -> Response<Option<ServeFileSystemResponseBody>> {
    let mut response = Response::new(None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// True if the answer is 404. A file that may not be read is not shown to exist.
fn is_missing(error: &io::Error) -> bool {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotADirectory | NotFound | PermissionDenied)
}
