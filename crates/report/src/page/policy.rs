//! The page's scripts and styles, and the policy that admits these and nothing else.
//!
//! The palette is a sheet of its own, the first of every page. The hashes stand here as constants,
//! so that no hashing is linked into the program; a test recomputes them and prints the right value
//! when a file has changed.

use crate::palette;

/// The scripts of the page. The filter comes last: it reads the texts that the first script moves.
pub(crate) const SCRIPTS: [&str; 3] = [SCRIPT, CONTROLS, FILTER];
const SCRIPT: &str = include_str!("script.js");
const CONTROLS: &str = include_str!("controls.js");
const FILTER: &str = include_str!("filter.js");
/// The whole style of a race's page.
pub(crate) const STYLE: &str = include_str!("style.css");
/// Additional style sheet of a document's page.
pub(crate) const DOCUMENT_STYLE: &str = include_str!("document.css");

const PALETTE_SHA256: &str = "vatKjNSU2iC+HmVjebuBbr8PFueWB8c7Ersiljs6oBA=";
const SCRIPT_SHA256: &str = "LxyLTAqXpQkYNAsmjWMR9RGZE5Qk9rH93axrVBND9HI=";
const CONTROLS_SHA256: &str = "uHh/W735TQsfxt3atcHeEpoVsFIFXflXpsizSfflMRo=";
const FILTER_SHA256: &str = "3znqm8PYsyi7EoMTusxx/k4utsuEavaPZlo+WYGiyFY=";
const STYLE_SHA256: &str = "X+aHmDpCFs6+1sFUxKC/Ge0/52LIroF76IRaUITZr0E=";
const DOCUMENT_STYLE_SHA256: &str = "/qcKRv5g7RqE+7ZqtQpIrhAhDOZcrxgSmc78djBHmS8=";

/// Style sheets of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Styles {
    /// A race's.
    Race,
    /// A race's and a document's own.
    Document,
}

impl Styles {
    /// The style sheets.
    pub(crate) fn sheets(self) -> Vec<String> {
        let own: &[&str] = match self {
            Self::Race => &[STYLE],
            Self::Document => &[STYLE, DOCUMENT_STYLE],
        };
        [palette::style_sheet()]
            .into_iter()
            .chain(own.iter().map(|sheet| (*sheet).to_owned()))
            .collect()
    }

    /// Content security policy: no network, no plug-in, no frame, no form, no other script or
    /// style.
    pub(crate) fn policy(self) -> String {
        let own = match self {
            Self::Race => String::new(),
            Self::Document => format!(" 'sha256-{DOCUMENT_STYLE_SHA256}'"),
        };
        format!(
            "default-src 'none'; script-src 'sha256-{SCRIPT_SHA256}' 'sha256-{CONTROLS_SHA256}' 'sha256-{FILTER_SHA256}'; \
             style-src 'sha256-{PALETTE_SHA256}' 'sha256-{STYLE_SHA256}'{own}; base-uri 'none'; form-action 'none'"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// Base64 with padding (RFC 4648 §4).
    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let byte = |i: usize| u32::from(*chunk.get(i).unwrap_or(&0));
            let group = byte(0) << 16 | byte(1) << 8 | byte(2);
            for i in 0..4 {
                let digit = DIGITS[(group >> (18 - 6 * i)) as usize & 63];
                out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
            }
        }
        out
    }

    #[test]
    fn base64_agrees_with_the_vectors_of_rfc_4648() {
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
    }

    /// A browser refuses the script or style if its hash is not the one in the policy.
    #[test]
    fn the_policy_names_the_hashes_of_script_and_style() {
        let palette = base64(&Sha256::digest(palette::style_sheet()));
        assert_eq!(palette, PALETTE_SHA256, "PALETTE_SHA256");
        assert_eq!(base64(&Sha256::digest(SCRIPT)), SCRIPT_SHA256, "SCRIPT_SHA256");
        assert_eq!(base64(&Sha256::digest(CONTROLS)), CONTROLS_SHA256, "CONTROLS_SHA256");
        assert_eq!(base64(&Sha256::digest(FILTER)), FILTER_SHA256, "FILTER_SHA256");
        assert_eq!(base64(&Sha256::digest(STYLE)), STYLE_SHA256, "STYLE_SHA256");
        let document = base64(&Sha256::digest(DOCUMENT_STYLE));
        assert_eq!(document, DOCUMENT_STYLE_SHA256, "DOCUMENT_STYLE_SHA256");
    }

    /// An element's text ends at its end tag, and a carriage return would change the hash.
    #[test]
    fn script_and_style_survive_being_inlined() {
        for text in [SCRIPT, CONTROLS, FILTER, STYLE, DOCUMENT_STYLE, &palette::style_sheet()] {
            assert!(!text.contains("</") && !text.contains("<!--") && !text.contains('\r'));
        }
    }
}
