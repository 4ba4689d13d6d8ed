//! The changes of a page, in words and as a table.

use super::diagnosis::short_address;
use cmdline::{Failure, stdout};
use race::RaceVariant;
use report::{Cell, Column, Quantity, Row, Table, bytes};
use units::counted;
use workload::{ChangeKind, ObjectChange, PageChanges};

/// Changes that the terminal shows.
const MAX_SHOWN: usize = 10;

/// Prints how the page of a variant differs from that of the first; nothing if it is the same page.
pub(super) fn print(first: &RaceVariant, variant: &RaceVariant) -> Result<(), Failure> {
    let Some(changes) = &variant.changes else { return Ok(()) };
    let sentence = changes_summary(changes);
    stdout::print(&format!("From {} to {}: {sentence}.\n", first.value, variant.value))?;
    if changes.objects.is_empty() {
        return stdout::print("\n");
    }
    let most = match changes.objects.len() {
        0..=MAX_SHOWN => String::new(),
        all => format!("The {MAX_SHOWN} largest of {all} changes:\n"),
    };
    stdout::print(&format!("{most}\n"))?;
    stdout::print_table(&changes_table(changes))?;
    stdout::print("\n")
}

/// The changes by their kinds, and the hosts.
fn changes_summary(changes: &PageChanges) -> String {
    let kinds = ChangeKind::ALL.into_iter().filter_map(|kind| {
        let sizes: Vec<u64> = changes.of_kind(kind).map(ObjectChange::difference).collect();
        let (all, total) = (counted(sizes.len(), "object"), bytes(sizes.iter().sum()));
        (!sizes.is_empty()).then(|| format!("{all} {} ({total})", kind.name()))
    });
    let same = format!("{} of the same size", counted(changes.same, "object"));
    let hosts = [("new hosts", &changes.hosts_added), ("hosts gone", &changes.hosts_removed)];
    let hosts = hosts.into_iter().filter(|(_, names)| !names.is_empty());
    let hosts = hosts.map(|(what, names)| format!("{what}: {}", names.join(", ")));
    let parts: Vec<String> =
        [kinds.chain([same]).collect::<Vec<_>>().join(", ")].into_iter().chain(hosts).collect();
    parts.join("; ")
}

fn changes_table(changes: &PageChanges) -> Table {
    let columns = vec![
        Column::new("object", Quantity::Text, "The object that differs"),
        Column::new("change", Quantity::Text, "Added, removed, larger or smaller"),
        Column::new("before", Quantity::Bytes, "Bytes of its body on the first page"),
        Column::new("after", Quantity::Bytes, "Bytes of its body on this page"),
    ];
    let size =
        |bytes: Option<u64>| bytes.map_or(Cell::Undefined, |n| Cell::Number((n as f64).into()));
    let row = |change: &ObjectChange| Row {
        cells: vec![
            Cell::Text(short_address(&change.label)),
            Cell::Text(change.kind().name().to_owned()),
            size(change.before_bytes),
            size(change.after_bytes),
        ],
        is_reference: false,
    };
    Table { columns, rows: changes.objects.iter().take(MAX_SHOWN).map(row).collect() }
}
