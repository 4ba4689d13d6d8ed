//! Revoked certificates: a file of fingerprints and serial numbers, one a line, which is read again
//! when it changes. A line may name the certificate of a holder or of an authority.
//! [`add_revocation`] adds a line. If the list cannot be read for too long, every certificate is
//! refused, since a stolen one may be in it.

mod entry;
mod signature_form;

pub use entry::{CertificateSerial, Fingerprint, RevocationEntry};
pub use signature_form::other_signatures;

use super::pem::{TlsError, certificates, named};
use crate::os::clock::SiteClock;
use arc_swap::ArcSwap;
use entry::RevocationList;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use x509_parser::prelude::{FromDer, X509Certificate};

/// The list in force.
#[derive(Debug)]
pub struct Revocations {
    file: Option<PathBuf>,
    list: ArcSwap<RevocationList>,
    /// Version of the file when it was last read.
    read: Mutex<Option<FileVersion>>,
    /// Longest time for which the file may be unreadable.
    grace: Duration,
    opened: SiteClock,
    /// Time at which the list was last known to match the file, milliseconds after `opened`.
    known_ms: AtomicU64,
}

/// The properties by which a change of a file is detected. Two writes may be in one tick of the
/// file system's clock; then the length distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    changed: SystemTime,
    /// Length, bytes.
    length: u64,
}

impl FileVersion {
    fn of(data: &Metadata) -> io::Result<Self> {
        Ok(Self { changed: data.modified()?, length: data.len() })
    }
}

/// Adds `entry` to the list in `file`, which is created if need be. `remark` says whose certificate
/// it is.
///
/// The line is written at once, so a gateway that reads the file meanwhile never finds a part of
/// it. If the last line of the file has no end, the new line begins after an end of line: nothing
/// is appended to a remark.
///
/// # Errors
/// If the file cannot be read or written.
pub fn add_revocation(file: &Path, entry: &RevocationEntry, remark: &str) -> io::Result<()> {
    let mut list = OpenOptions::new().read(true).append(true).create(true).open(file)?;
    let end = if ends_its_line(&mut list)? { "" } else { "\n" };
    let remark = remark.replace(['\n', '\r'], " ");
    list.write_all(format!("{end}{entry} # {remark}\n").as_bytes())
}

/// Returns the fingerprint of the certificate in a PEM file; of a chain, that of its first one.
///
/// # Errors
/// If there is none, or if there are several authorities, of which only one may be meant.
pub fn fingerprint_of_file(file: &Path) -> Result<Fingerprint, TlsError> {
    let all = certificates(file)?;
    let is_authority =
        |der: &[u8]| X509Certificate::from_der(der).is_ok_and(|(_, read)| read.is_ca());
    match &all[..] {
        [first, _, ..] if is_authority(first) => {
            Err(named(file, "several authorities in it; name a file with the one that you mean"))
        }
        certificates => Ok(Fingerprint::of_certificate(&certificates[0])),
    }
}

/// Returns true if appended text begins a new line.
fn ends_its_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl Revocations {
    /// Opens the list in `file`, if one is named. A missing file is an empty list. `grace`: how
    /// long the file may be unreadable before [`Self::is_unknown`].
    ///
    /// # Errors
    /// With the line, if something in it is no entry.
    pub fn open(file: Option<PathBuf>, grace: Duration) -> Result<Self, String> {
        let revocations = Self {
            file,
            list: ArcSwap::default(),
            read: Mutex::default(),
            grace,
            opened: SiteClock::start(),
            known_ms: AtomicU64::new(0),
        };
        revocations.reread().map(|_| revocations)
    }

    /// Returns true if the list has this fingerprint. [`Self::names`] finds more.
    pub fn contains(&self, certificate: Fingerprint) -> bool {
        self.list.load().has_fingerprint(certificate)
    }

    /// Returns true if the list names the certificate `der`: by its fingerprint, also with the
    /// other form of its signature, or by its serial number.
    pub fn names(&self, der: &[u8]) -> bool {
        self.list.load().names(der)
    }

    /// Returns true if the file has been unreadable for too long, so that no certificate is
    /// accepted any more. That does not need an attempt to read it.
    pub fn is_unknown(&self) -> bool {
        let known = Duration::from_millis(self.known_ms.load(Ordering::Acquire));
        self.file.is_some() && self.opened.uptime().saturating_sub(known) > self.grace
    }

    /// Returns the longest time for which the file may be unreadable.
    pub const fn grace(&self) -> Duration {
        self.grace
    }

    /// Notes that the list matches the file at this moment.
    fn note_known(&self) {
        let ms = u64::try_from(self.opened.uptime().as_millis()).unwrap_or(u64::MAX);
        self.known_ms.store(ms, Ordering::Release);
    }

    /// Returns the number of entries in the list.
    pub fn len(&self) -> usize {
        self.list.load().len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the file if it has changed; returns true if it had. A fault in one line does not lift
    /// the revocations of the others: they count, together with the list that was in force.
    ///
    /// # Errors
    /// With the line, if something in it is no entry, or with the reason why it cannot be
    /// read. A file that existed and is gone cannot be read.
    pub fn reread(&self) -> Result<bool, String> {
        let Some(file) = &self.file else { return Ok(false) };
        let named = |error| format!("{}: {error}", file.display());
        let mut read = self.read.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let version = match fs::metadata(file).and_then(|data| FileVersion::of(&data)) {
            Ok(version) => version,
            Err(error) if error.kind() == ErrorKind::NotFound && read.is_none() => {
                self.note_known();
                return Ok(false);
            }
            Err(error) => return Err(named(error)),
        };
        if *read == Some(version) {
            self.note_known();
            return Ok(false);
        }
        let text = fs::read_to_string(file).map_err(named)?;
        self.note_known();
        *read = Some(version);
        let (mut list, faults) = RevocationList::parse(&text, file);
        if !faults.is_empty() {
            list.extend(&self.list.load());
        }
        self.list.store(Arc::new(list));
        match faults.first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a list with `text` to a file of its own.
    fn list(name: &str, text: &str) -> PathBuf {
        let name = format!("headstart-revoked-{}-{name}", std::process::id());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, text).unwrap();
        file
    }

    fn open(file: &Path) -> Revocations {
        Revocations::open(Some(file.to_owned()), Duration::from_secs(60)).unwrap()
    }

    /// A list that is no text, or gone, stays known for the grace, here a tenth of a second. The
    /// time also passes without attempts to read. A file that can be read again ends that.
    #[test]
    fn a_list_that_cannot_be_read_is_unknown_after_the_grace() {
        let grace = Duration::from_millis(100);
        let file = list("grace", "");
        let revocations = Revocations::open(Some(file.clone()), grace).unwrap();
        let pass = || std::thread::sleep(Duration::from_millis(150));
        for is_gone in [true, false] {
            fs::write(&file, "# empty\n").unwrap();
            assert!(revocations.reread().is_ok() && !revocations.is_unknown());
            let spoilt = if is_gone { fs::remove_file(&file) } else { fs::write(&file, [0xff; 8]) };
            spoilt.unwrap();
            assert!(revocations.reread().is_err() && !revocations.is_unknown());
            pass();
            assert!(revocations.is_unknown());
            assert!(revocations.reread().is_err() && revocations.is_unknown());
        }
        fs::write(&file, "# empty\n").unwrap();
        assert!(revocations.reread().is_ok() && !revocations.is_unknown());
        pass();
        assert_eq!((revocations.reread(), revocations.is_unknown()), (Ok(false), false));
        fs::remove_file(&file).unwrap();
        // A list whose file never existed is empty.
        let none = Revocations::open(Some(file), grace).unwrap();
        pass();
        assert_eq!((none.reread(), none.is_unknown()), (Ok(false), false));
    }

    #[test]
    fn what_is_revoked_is_refused_also_behind_a_line_without_an_end() {
        let [laptop, phone, desk] = [b"l", b"p", b"d"].map(|der| Fingerprint::of_certificate(der));
        let file = list("unended", &format!("# lost\n{laptop} # laptop"));
        add_revocation(&file, &RevocationEntry::Certificate(phone), "DIR/phone.pem").unwrap();
        // A file name may have any characters, and none of them begins a line.
        add_revocation(&file, &RevocationEntry::Certificate(desk), "a\nb\rc").unwrap();
        let expected =
            format!("# lost\n{laptop} # laptop\n{phone} # DIR/phone.pem\n{desk} # a b c\n");
        assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        let revocations = open(&file);
        assert!([laptop, phone, desk].map(|one| revocations.contains(one)) == [true; 3]);
        fs::remove_file(&file).unwrap();
        // A missing list begins with its first line.
        add_revocation(&file, &RevocationEntry::Certificate(phone), "phone").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{phone} # phone\n"));
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_list_that_grows_within_a_tick_of_the_clock_is_read_anew() {
        let [first, second] = [b"1", b"2"].map(|der| Fingerprint::of_certificate(der));
        let file = list("tick", &format!("{first}\n"));
        let revocations = open(&file);
        assert_eq!(revocations.reread(), Ok(false));
        let tick = fs::metadata(&file).unwrap().modified().unwrap();
        add_revocation(&file, &RevocationEntry::Certificate(second), "second").unwrap();
        File::options().append(true).open(&file).unwrap().set_modified(tick).unwrap();
        assert_eq!(revocations.reread(), Ok(true));
        assert!(revocations.contains(first) && revocations.contains(second));
        fs::remove_file(&file).unwrap();
    }

    /// An operator breaks a line while another certificate is added. The broken line's certificate
    /// stays refused, also after other faults, until a list without a fault leaves it out.
    #[test]
    fn only_a_list_without_a_fault_gives_a_certificate_back() {
        let [laptop, phone] = [b"l", b"p"].map(|der| Fingerprint::of_certificate(der));
        let file = list("fault", &format!("{laptop} # laptop\n"));
        let revocations = open(&file);
        let refused = || [laptop, phone].map(|one| revocations.contains(one));
        assert_eq!(refused(), [true, false]);
        fs::write(&file, format!("{}\n{phone}\n", &laptop.to_string()[1..])).unwrap();
        let why = revocations.reread().unwrap_err();
        assert!(why.starts_with(&format!("{}:1: ", file.display())), "{why}");
        assert_eq!(refused(), [true, true]);
        // A file that is not text is a fault of the whole list.
        fs::write(&file, [0xff; 8]).unwrap();
        assert!(revocations.reread().is_err());
        assert_eq!(refused(), [true, true]);
        fs::write(&file, format!("{phone}\n")).unwrap();
        assert_eq!(revocations.reread(), Ok(true));
        assert_eq!(refused(), [false, true]);
        // While a list is gone, as when an editor replaces it, all revocations stay in force.
        fs::remove_file(&file).unwrap();
        assert!(revocations.reread().unwrap_err().contains("No such file"));
        assert_eq!(refused(), [false, true]);
    }

    /// A list of the same length is another one if it was written at another time.
    #[test]
    fn a_line_that_takes_the_place_of_another_is_read() {
        let [first, second] = [b"1", b"2"].map(|der| Fingerprint::of_certificate(der));
        let file = list("replaced", &format!("{first}\n"));
        let revocations = open(&file);
        fs::write(&file, format!("{second}\n")).unwrap();
        let written = fs::metadata(&file).unwrap().modified().unwrap();
        let later = written + std::time::Duration::from_secs(1);
        File::options().append(true).open(&file).unwrap().set_modified(later).unwrap();
        assert_eq!(revocations.reread(), Ok(true));
        assert_eq!([first, second].map(|one| revocations.contains(one)), [false, true]);
        fs::remove_file(&file).unwrap();
    }
}
