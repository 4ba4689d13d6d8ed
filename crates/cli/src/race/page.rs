//! The page that a race loads, under whatever name.

use super::values::parse_schemes;
use cmdline::input::{self, STANDARD_INPUT};
use cmdline::{Failure, names};
use std::path::Path;
use std::str::FromStr;
use units::Rate;
use workload::{BUILTINS, Page, RecordedRun, parse_har_page, parse_har_runs};

/// Larger objects take hours.
const MAX_BYTES: u64 = 10_000_000_000;

/// Chooses every page of a HAR file.
pub(super) const ALL: &str = "all";

/// The page that `name` stands for: one that comes with headstart, one object of a size, or a HAR
/// file, of whose several pages `har_page` chooses one.
pub(crate) fn page(name: &str, har_page: Option<&str>) -> Result<Page, Failure> {
    match <[RecordedRun; 1]>::try_from(pages(name, har_page)?) {
        Ok([run]) => Ok(run.page),
        Err(all) => {
            Err(Failure::input(format!("{name} has {} pages: choose one by --har-page", all.len())))
        }
    }
}

/// The same, or each page of the file if `har_page` is [`ALL`].
pub(super) fn pages(name: &str, har_page: Option<&str>) -> Result<Vec<RecordedRun>, Failure> {
    let alone = |page| vec![RecordedRun { id: None, page }];
    match (page_by_name(name)?, har_page) {
        (Some(page), None) => Ok(alone(page)),
        (Some(_), Some(_)) => Err(Failure::input(format!(
            "--har-page chooses a page of a HAR file, and {name} is none; leave it out"
        ))),
        (None, _) => {
            let shown = if name == STANDARD_INPUT { "standard input" } else { name };
            let bytes = input::read(Path::new(name))?;
            let pages = match har_page {
                Some(ALL) => parse_har_runs(&bytes, shown),
                _ => parse_har_page(&bytes, har_page, shown).map(alone),
            };
            pages.map_err(Failure::input)
        }
    }
}

/// True if `name` stands for a recording, and not for a model of a page.
pub(super) fn is_recording(name: &str) -> bool {
    page_by_name(name).is_ok_and(|page| page.is_none())
}

/// The page of a name or a size; `None` if `name` is a file's.
fn page_by_name(name: &str) -> Result<Option<Page>, Failure> {
    if let Some(page) = Page::builtin(name) {
        return Ok(Some(page));
    }
    let path = Path::new(name);
    let looks_like_size = name.starts_with(|c: char| c.is_ascii_digit());
    if !path.exists()
        && let Some(option) = option_of(name)
    {
        return Err(Failure::input(format!("\"{name}\" is no page: write {option} {name}")));
    }
    match units::parse_bytes(name) {
        Ok(bytes @ 1..=MAX_BYTES) => return Ok(Some(Page::single(bytes))),
        Ok(_) => {
            return Err(Failure::input(format!("an object of {name}: from 1B to 10GB, please")));
        }
        Err(error) if looks_like_size && !path.exists() && path.extension().is_none() => {
            return Err(Failure::input(error));
        }
        Err(_) => {}
    }
    let looks_like_file = path.components().count() > 1 || path.extension().is_some();
    if name != STANDARD_INPUT && !looks_like_file && !path.exists() {
        let unknown = support::errors::unknown("page", name, &BUILTINS.map(|page| page.name), "");
        return Err(Failure::input(format!(
            "{unknown}; a size like 30kB and a HAR file are pages, too"
        )));
    }
    Ok(None)
}

/// The option that takes `text`, if it is a path or a scheme, or the beginning of a path.
fn option_of(text: &str) -> Option<&'static str> {
    let first = text.split(',').next().unwrap_or(text);
    if names::path(text).is_ok() || Rate::from_str(first).is_ok() {
        Some("--path")
    } else {
        parse_schemes(text).is_ok().then_some("--schemes")
    }
}
