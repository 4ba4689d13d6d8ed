//! The source of weights: the command line, or a file that is read again.

use server::Weights;
use std::fs;
use std::path::{Path, PathBuf};

/// Weights, and the file that they are from.
#[derive(Clone, Debug)]
pub(crate) struct WeightSource {
    pub(super) weights: Weights,
    file: Option<PathBuf>,
}

impl WeightSource {
    /// Parses the value of `--weights`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(file) => {
                let file = PathBuf::from(file);
                Ok(Self { weights: read(&file)?, file: Some(file) })
            }
            None => {
                let weights =
                    text.parse().map_err(|error: server::WeightsError| error.to_string())?;
                Ok(Self { weights, file: None })
            }
        }
    }

    /// The weights that the file has now; `None` if there is no file.
    pub(super) fn read_again(&self) -> Option<Result<Weights, String>> {
        self.file.as_deref().map(read)
    }
}

fn read(file: &Path) -> Result<Weights, String> {
    let named = |why: String| format!("{}: {why}", file.display());
    let text = fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    text.parse().map_err(|error: server::WeightsError| named(error.to_string()))
}
