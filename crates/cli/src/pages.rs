//! `headstart pages`: the pages that come with headstart.

use crate::failure::Failure;
use crate::stdout;
use cmdline::{Appendix, EXIT};
use report::{Cell, Column, Quantity, Row, Table};
use workload::{BUILTINS, Page};

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart pages", "Lists the pages by name."),
            ("headstart race news", "Races one of them."),
        ],
        exit: EXIT,
        see_also: &["headstart-race"],
        more: &["docs/pages.md"],
        ..Appendix::default()
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let columns = [
        Column::new("page", Quantity::Text, "Name to ask for"),
        Column::new("objects", Quantity::Count, "Objects in all"),
        Column::new("hosts", Quantity::Count, "Servers they come from"),
        Column::new("kB", Quantity::Count, "Bytes of all responses"),
        Column::new("about", Quantity::Text, "What it is"),
    ];
    let rows = BUILTINS.iter().filter_map(|builtin| {
        let page = Page::builtin(builtin.name)?;
        let default = if builtin.name == BUILTINS[0].name { " (default)" } else { "" };
        let count = |n: u64| Cell::Number((n as f64).into());
        Some(Row {
            cells: vec![
                Cell::Text(builtin.name.to_owned()),
                count(page.objects().len() as u64),
                count(page.hosts().len() as u64),
                count(page.response_bytes() / 1000),
                Cell::Text(format!("{}{default}", builtin.description)),
            ],
            is_reference: false,
        })
    });
    let table = Table { columns: columns.into(), rows: rows.collect() };
    stdout::print_table(&table)?;
    stdout::print(
        "\nA size is a page too: one object, as in `headstart race 30kB`. So is any HAR file: export one from a browser's network \
         panel.\n",
    )
}

/// Where the documents that reports mention are to be read.
pub(crate) const DOCUMENTS: &str = env!("CARGO_PKG_REPOSITORY");

/// The fact of a report that says where more is said.
pub(crate) fn explained_in(documents: &[&str]) -> String {
    format!("What the words mean: {}", documents.join(", "))
}
