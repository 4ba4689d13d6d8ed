//! The files a race leaves behind: report and captures. Checked before the race, written after.

use super::raced::Raced;
use super::{RaceArgs, view};
use crate::failure::{Failure, remark};
use crate::report_file;
use race::World;
use report::write_atomically;
use std::fs;
use std::path::Path;

/// Refuses places that cannot be written to, before anything is run.
pub(super) fn check(args: &RaceArgs) -> Result<(), Failure> {
    if let Some(report) = &args.report {
        let folder = report.parent().filter(|folder| !folder.as_os_str().is_empty());
        let there = folder.is_none_or(Path::is_dir);
        if !there || report.is_dir() || report.file_name().is_none() {
            let shown = report.display();
            return Err(Failure::input(format!(
                "--report {shown}: name a file in a folder that exists"
            )));
        }
        refuse_to_overwrite(args, report)?;
    }
    if let Some(folder) = &args.pcap {
        let parent = folder.parent().filter(|p| !p.as_os_str().is_empty());
        let can_be = folder.is_dir() || (!folder.exists() && parent.is_none_or(Path::is_dir));
        if !can_be {
            let shown = folder.display();
            return Err(Failure::input(format!(
                "--pcap {shown}: name a folder, or a new one in a folder that exists"
            )));
        }
    }
    Ok(())
}

/// The report must not take the place of the page it is about, nor of the folder for captures.
fn refuse_to_overwrite(args: &RaceArgs, report: &Path) -> Result<(), Failure> {
    let shown = report.display();
    if is_same(Path::new(&args.page), report) {
        return Err(Failure::input(format!("--report {shown}: that is the page itself")));
    }
    if args.pcap.as_deref().is_some_and(|folder| folder == report || is_same(folder, report)) {
        return Err(Failure::input(format!("--report {shown}: --pcap names the same place")));
    }
    Ok(())
}

/// True if both exist and are one file, under whatever names.
fn is_same(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

pub(super) fn write(args: &RaceArgs, raced: &Raced) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        report_file::write(path, &view::report(raced).to_html())?;
    }
    if let Some(folder) = &args.pcap {
        write_captures(folder, raced)?;
        remark(&format!("captures: {}", folder.display()));
    }
    Ok(())
}

/// Those of simulated contestants' first loads; those of real worlds are there already.
fn write_captures(folder: &Path, raced: &Raced) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let beside_others = raced.result.worlds() != [World::Sim];
    for (name, bytes) in worlds::simulated_captures(&raced.outcome, beside_others) {
        write_atomically(&folder.join(name), bytes).map_err(Failure::failed)?;
    }
    Ok(())
}
