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
        ("page", Quantity::Text, "Name to ask for"),
        ("objects", Quantity::Count, "Objects in all"),
        ("hosts", Quantity::Count, "Servers they come from"),
        ("kB", Quantity::Count, "Bytes of all responses"),
        ("about", Quantity::Text, "What it is"),
    ];
    let rows = BUILTINS.iter().filter_map(|builtin| {
        let page = Page::builtin(builtin.name)?;
        let count = |n: u64| Cell::Number((n as f64).into());
        Some(Row {
            cells: vec![
                Cell::Text(builtin.name.to_owned()),
                count(page.objects().len() as u64),
                count(page.hosts().len() as u64),
                count(page.response_bytes() / 1000),
                Cell::Text(builtin.description.to_owned()),
            ],
            is_reference: false,
        })
    });
    let table = Table { columns: columns.map(column).to_vec(), rows: rows.collect() };
    stdout::print_table(&table)?;
    stdout::print(
        "\nA size is a page too: one object, as in `headstart race 30kB`. So is any HAR file: export one from a browser's network \
         panel.\n",
    )
}

/// A column from its title, quantity and definition.
pub(crate) fn column((title, quantity, help): (&str, Quantity, &str)) -> Column {
    Column { title: title.to_owned(), quantity, help: help.to_owned() }
}
