//! Files that a plan names: rate traces, recorded pages. The trace `changing` comes with headstart,
//! so that the example that reads it runs anywhere.

use super::document::{At, PlanDocument};
use super::error::Fault;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Gives the contents of a file that a plan names, or says why it cannot.
pub type Loader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Contents of the loaded files, by the names in the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    known: BTreeMap<String, Vec<u8>>,
}

/// The traces that come with headstart, by the name that a plan gives instead of a file's.
const TRACES: [(&str, &[u8]); 1] =
    [("changing", include_bytes!("../../../../plans/examples/traces/changing.trace"))];

fn missing(why: &str) -> String {
    format!(
        "{why}; files lie beside the plan; the trace `changing` and the pages of `headstart pages` need none"
    )
}

impl Files {
    /// Loads the files that a document names and that are not known yet.
    pub(super) fn load(
        &mut self,
        document: &PlanDocument,
        loader: Loader<'_>,
    ) -> Result<(), Fault> {
        for name in document.files() {
            if !self.known.contains_key(&**name) {
                let own = TRACES.iter().find(|(trace, _)| *trace == name.as_str());
                let contents = match own {
                    Some((_, contents)) => contents.to_vec(),
                    None => loader(name).map_err(|why| Fault::new(name.span(), missing(&why)))?,
                };
                self.known.insert(String::clone(name), contents);
            }
        }
        Ok(())
    }

    /// The contents of a file that was loaded.
    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        self.known.get(name).map_or(&[], Vec::as_slice)
    }

    /// The text of a file that was loaded.
    pub(crate) fn text(&self, name: &At<String>) -> Result<&str, Fault> {
        std::str::from_utf8(self.bytes(name))
            .map_err(|_| Fault::new(name.span(), format!("{}: not a text file", **name)))
    }

    /// SHA-256 of `text` and, where there are files, of their names and contents behind it.
    pub(super) fn hash(&self, text: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(text);
        for (name, contents) in &self.known {
            // Lengths keep names and contents apart.
            hash.update(format!("\0{}:{name}:{}:", name.len(), contents.len()));
            hash.update(contents);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
