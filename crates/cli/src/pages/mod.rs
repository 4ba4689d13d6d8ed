//! `headstart pages`: the pages that come with headstart, or what headstart reads from one.

mod json;
mod shown;

use crate::race::page;
use cmdline::{Appendix, EXIT, Failure, stdout};
use json::PageJson;
use units::counted;
use workload::{BUILTINS, Page};

const JSON_SCHEMA: &str = include_str!("../../../../docs/pages-schema.json");

#[derive(Debug, clap::Args)]
pub(crate) struct PagesArgs {
    /// A HAR file, or a page by name or size; without it, all names are listed
    ///
    /// `-` reads a HAR file from standard input.
    #[arg(value_name = "FILE.har|PAGE|SIZE")]
    page: Option<String>,

    /// Page or visit of a HAR file with several, by number or id [default: the first]
    #[arg(long, value_name = "N|ID", requires = "page")]
    har_page: Option<String>,

    /// Print JSON: every object with its parent, host, bytes, server's time and recorded times
    #[arg(long, requires = "page")]
    json: bool,

    /// Print the schema of the JSON and do nothing else
    #[arg(long)]
    json_schema: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart pages", "Lists the pages by name."),
            (
                "headstart pages page.har",
                "Shows the hosts of a recording, its line, and what was left out and why.",
            ),
            (
                "headstart pages page.har --json",
                "Prints every object. `--json-schema` says how to read it.",
            ),
            ("headstart race news", "Races one of them."),
        ],
        exit: EXIT,
        see_also: &["headstart-race"],
        more: &["docs/pages.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run(args: &PagesArgs) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    let Some(name) = &args.page else { return list() };
    let page = page::page(name, args.har_page.as_deref())?;
    match args.json {
        true => stdout::print_json(&PageJson::of(&page)),
        false => shown::print(&page),
    }
}

fn list() -> Result<(), Failure> {
    let mut out = String::new();
    for builtin in BUILTINS {
        let Some(page) = Page::builtin(builtin.name) else { continue };
        let (objects, hosts) = (page.objects().len(), page.hosts().len());
        let default = if builtin.name == BUILTINS[0].name { "  (default)" } else { "" };
        out += &format!(
            "{}  {}, {}, {} kB{default}\n    {}\n",
            builtin.name,
            counted(objects, "object"),
            counted(hosts, "host"),
            page.response_bytes() / 1000,
            builtin.description
        );
    }
    out += "\nA size is a page, too: one object, as in `headstart race 30kB`. So is any HAR file: export one from a\n\
        browser's network panel. `headstart pages FILE.har` shows what is read from it.\n";
    stdout::print(&out)
}
