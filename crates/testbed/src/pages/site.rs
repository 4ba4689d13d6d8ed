//! The files of a site, and nginx's configuration for them.

use crate::documents::{PICTURE, media_type, pad_body};
use crate::site::config_preamble;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use units::Duration;
use workload::ObjectKind;

/// The way in which browser and server speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTransport {
    /// HTTP/1.1 in the clear.
    Http11,
    /// HTTP/2 over TLS 1.3.
    Http2,
}

/// The way in which the server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The file, at once.
    File,
    /// The file, after a time.
    After(Duration),
    /// A redirect to an address.
    Redirect(String),
}

/// A file of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SiteFile {
    /// Its address, from the first slash on.
    pub(super) at: String,
    pub(super) kind: ObjectKind,
    pub(super) answer: Answer,
    pub(super) body: Vec<u8>,
}

impl SiteFile {
    /// A document without an icon.
    pub(super) fn document(at: &str) -> Self {
        let body = "<!doctype html><link rel=icon href=data:,><body>";
        Self::with_body(at, ObjectKind::Html, body)
    }

    /// A file of a kind that says nothing yet.
    pub(super) fn empty(at: &str, kind: ObjectKind) -> Self {
        Self::with_body(at, kind, "")
    }

    /// A script.
    pub(super) fn script(at: &str, text: &str) -> Self {
        Self::with_body(at, ObjectKind::Script, text)
    }

    /// A picture of `bytes` bytes.
    pub(super) fn picture(at: &str, bytes: usize) -> Self {
        let mut picture = Self::with_body(at, ObjectKind::Image, "");
        picture.body.extend_from_slice(&PICTURE);
        picture.pad(bytes);
        picture
    }

    /// A redirect.
    pub(super) fn redirect(at: &str, to: &str) -> Self {
        let answer = Answer::Redirect(to.to_owned());
        Self { answer, ..Self::with_body(at, ObjectKind::Redirect, "") }
    }

    fn with_body(at: &str, kind: ObjectKind, text: &str) -> Self {
        Self { at: at.to_owned(), kind, answer: Answer::File, body: text.as_bytes().to_vec() }
    }

    /// The same file, which the server has after a time.
    pub(super) fn delayed_by(self, time: Duration) -> Self {
        Self { answer: Answer::After(time), ..self }
    }

    /// Adds a reference to another file, in its language.
    pub(super) fn name(&mut self, other: &Self) {
        let at = &other.at;
        let text = match (self.kind, other.kind) {
            (ObjectKind::Style, _) => format!("@import \"{at}\";"),
            (ObjectKind::Script, _) => format!("import \"{at}\";"),
            (_, ObjectKind::Style) => format!("<link rel=stylesheet href={at}>"),
            (_, ObjectKind::Script) => format!("<script type=module src={at}></script>"),
            _ => format!("<img src={at}>"),
        };
        self.body.extend_from_slice(text.as_bytes());
    }

    /// Lengthens it to `bytes` bytes, if it is shorter, with text that means nothing in its
    /// language.
    pub(super) fn pad(&mut self, bytes: usize) {
        pad_body(&mut self.body, bytes as u64, self.kind);
    }

    /// The media type of its answer.
    pub(super) fn media_type(&self) -> &'static str {
        media_type(self.kind)
    }
}

/// The files of a site, and the way to it.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) files: &'a [SiteFile],
    pub(super) transport: PageTransport,
}

/// Addresses that the configuration needs.
#[derive(Clone, Copy)]
pub(super) struct SiteAddresses {
    /// Address of the site.
    pub(super) site: SocketAddr,
    /// Address of the check that nginx serves.
    pub(super) ready: SocketAddr,
    /// Address of the server behind nginx that is slow.
    pub(super) slow: SocketAddr,
}

/// Writes the site's files to a folder, and returns nginx's configuration.
pub(super) fn write_site(
    folder: &Path,
    site: &Site<'_>,
    addresses: SiteAddresses,
    has: impl Fn(&str) -> bool,
) -> io::Result<String> {
    let SiteAddresses { site: at, ready, slow } = addresses;
    fs::create_dir(folder.join("objects"))?;
    let mut text = config_preamble(folder, has);
    let secured = match site.transport {
        PageTransport::Http11 => "",
        PageTransport::Http2 => " ssl http2",
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  server {{ listen {at}{secured};");
    if site.transport == PageTransport::Http2 {
        write_certificate(folder, at)?;
        let at = folder.display();
        let _ = writeln!(
            text,
            "    ssl_certificate {at}/certificate; ssl_certificate_key {at}/key; \
             ssl_protocols TLSv1.3;"
        );
    }
    for (n, file) in site.files.iter().enumerate() {
        let (at, media) = (&file.at, file.media_type());
        let answer = match &file.answer {
            Answer::File => {
                fs::write(folder.join(format!("objects/{n}")), &file.body)?;
                format!("default_type {media}; try_files /{n} =404;")
            }
            Answer::After(_) => format!("proxy_pass http://{slow};"),
            Answer::Redirect(to) => format!("return 302 {to};"),
        };
        let _ = writeln!(text, "    location = {at} {{ {answer} }}");
    }
    let _ = writeln!(text, "  }}\n  server {{ listen {ready}; }}");
    Ok(text + "}\n")
}

fn write_certificate(folder: &Path, site: SocketAddr) -> io::Result<()> {
    let made = rcgen::generate_simple_self_signed([site.ip().to_string()]);
    let made = made.map_err(io::Error::other)?;
    fs::write(folder.join("certificate"), made.cert.pem())?;
    fs::write(folder.join("key"), made.signing_key.serialize_pem())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways of naming a file in each language: HTML Standard §4.2.4, §4.8.3 and §4.12.1, CSS
    /// Cascading §2, ECMAScript §16.2.2.
    #[test]
    fn a_file_names_others_in_its_own_language() {
        let named = |by: SiteFile, other: &SiteFile| {
            let mut by = by;
            by.body.clear();
            by.name(other);
            String::from_utf8(by.body).expect("text")
        };
        let style = SiteFile::empty("/a.css", ObjectKind::Style);
        let script = SiteFile::script("/b.js", "");
        let picture = SiteFile::picture("/c", 100);
        let document = || SiteFile::document("/");
        assert_eq!(named(document(), &style), "<link rel=stylesheet href=/a.css>");
        assert_eq!(named(document(), &script), "<script type=module src=/b.js></script>");
        assert_eq!(named(document(), &picture), "<img src=/c>");
        assert_eq!(named(style.clone(), &style), "@import \"/a.css\";");
        assert_eq!(named(script.clone(), &script), "import \"/b.js\";");
    }

    #[test]
    fn a_picture_is_as_long_as_it_is_to_be() {
        let picture = SiteFile::picture("/c", 1234);
        assert_eq!(picture.body.len(), 1234);
        assert!(picture.body.starts_with(b"GIF89a"));
    }
}
