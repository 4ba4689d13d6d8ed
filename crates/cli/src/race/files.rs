//! The files a race leaves behind: report and captures. Checked before the race, written after.

use super::raced::Raced;
use super::{RaceArgs, view};
use cmdline::{Failure, report_file};
use race::World;
use report::{check_writable, write_atomically};
use std::fs;
use std::path::Path;

/// Refuses paths that cannot be written to, before anything is run.
pub(super) fn check(args: &RaceArgs) -> Result<(), Failure> {
    if let Some(report) = &args.report {
        if args.pcap.as_ref().is_some_and(|folder| folder == report) {
            let shown = report.display();
            return Err(Failure::input(format!("--report {shown}: --pcap names the same place")));
        }
        report_file::check(report, [Path::new(&args.page)])?;
    }
    args.pcap.as_deref().map_or(Ok(()), check_folder)
}

/// Refuses what is no folder that files can be written to, and can be none.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    // A new folder needs an entry in its parent as a file does; a slash behind its name is no part
    // of it.
    let place = match folder.is_dir() {
        true => folder.join(format!(".headstart-{}", std::process::id())),
        false => folder.with_file_name(folder.file_name().unwrap_or_default()),
    };
    let why = match folder.exists() && !folder.is_dir() {
        true => "a file".to_owned(),
        false => match check_writable(&place) {
            Ok(()) => return Ok(()),
            Err(error) => error.cause().to_string(),
        },
    };
    let shown = folder.display();
    Err(Failure::input(format!(
        "--pcap {shown}: {why}; name a folder, or a new one in a folder that exists and can be written"
    )))
}

/// Writes the files that were asked for; `remark` gets where they are.
pub(super) fn write_files(
    args: &RaceArgs,
    raced: &Raced,
    remark: &dyn Fn(&str),
) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        remark(&report_file::save(path, &view::report(raced).to_html())?);
    }
    if let Some(folder) = &args.pcap {
        let analysed = write_captures(folder, raced)?;
        remark(&format!("captures: {}", folder.display()));
        if let Some([down, up]) = analysed {
            let (down, up) = (folder.join(down), folder.join(up));
            let (down, up) = (down.display(), up.display());
            remark(&format!(
                "the packets of one scheme at the access link: headstart analyze --vantage middle --sender SCHEME {down} {up}"
            ));
        }
    }
    Ok(())
}

/// Writes captures of simulated contestants' first loads; those of real worlds exist already.
/// Returns the names of the first pair that is one capture: both directions at the servers' end of
/// the access link.
fn write_captures(folder: &Path, raced: &Raced) -> Result<Option<[String; 2]>, Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let beside_others = raced.result.worlds() != [World::Sim];
    let mut pair = None;
    for (name, bytes) in testbed::simulated_captures(&raced.outcome, beside_others) {
        if let Some(scheme) = name.strip_suffix("-down-sent.pcap") {
            pair.get_or_insert_with(|| [name.clone(), format!("{scheme}-up.pcap")]);
        }
        write_atomically(&folder.join(name), bytes).map_err(Failure::failed)?;
    }
    Ok(pair)
}
