//! A page for people: its hosts, the line it was recorded over, what was left out, and the notes.

use cmdline::{Failure, harmless, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use units::{Duration, counted};
use workload::{HostId, Object, Page, RecordedLoad, ServerTimeConfidence};

pub(super) fn print(page: &Page) -> Result<(), Failure> {
    let (objects, hosts) = (page.objects().len(), page.hosts().len());
    let (objects, hosts) = (counted(objects, "object"), counted(hosts, "host"));
    let bytes = report::bytes(page.response_bytes());
    stdout::print(&harmless(&format!("{}\n{objects}, {hosts}, {bytes}\n\n", page.name())))?;
    stdout::print_table(&hosts_table(page))?;
    let mut out = page.recorded().map_or_else(String::new, |recorded| line(page, recorded));
    if !page.notes().is_empty() {
        out += "\n";
    }
    for note in page.notes() {
        out += &format!("note: {note}\n");
    }
    stdout::print(&harmless(&out))
}

fn hosts_table(page: &Page) -> Table {
    let columns = vec![
        Column::new("host", Quantity::Text, "Name and port."),
        Column::new("HTTP", Quantity::Text, "HTTP version."),
        Column::new("TLS", Quantity::Text, "TLS version."),
        Column::new("round trip", Quantity::Time, "The shortest TCP handshake of the recording."),
        Column::new("connections", Quantity::Count, "Connections of the recording."),
        Column::new("objects", Quantity::Count, "Requests to the host."),
        Column::new("bytes", Quantity::Bytes, "Bytes of its responses."),
    ];
    let number = |value: f64| Cell::Number(value.into());
    let row = |(index, host): (usize, &workload::PageHost)| {
        let id = HostId(index as u32);
        let recorded = page.recorded().map(|recorded| &recorded.hosts[index]);
        let of_host = || page.objects().iter().filter(|object| object.host == id);
        let or_undefined = |value: Option<f64>| value.map_or(Cell::Undefined, number);
        Row {
            cells: vec![
                Cell::Text(host.name.clone()),
                Cell::Text(host.http.to_string()),
                Cell::Text(host.tls.to_string()),
                or_undefined(recorded.and_then(|host| host.rtt).map(Duration::as_secs_f64)),
                or_undefined(recorded.map(|host| host.connections as f64)),
                number(of_host().count() as f64),
                number(of_host().map(Object::response_bytes).sum::<u64>() as f64),
            ],
            is_reference: false,
        }
    };
    Table { columns, rows: page.hosts().iter().enumerate().map(row).collect() }
}

/// The recording's line, and how sure the servers' times are.
fn line(page: &Page, recorded: &RecordedLoad) -> String {
    let rtt = recorded.rtt.map(|rtt| report::seconds(rtt.as_secs_f64()));
    let rtt = rtt.unwrap_or_else(|| "unknown: no handshake is recorded".to_owned());
    let all = page.objects().len();
    let (rate_is, confidence) = match recorded.server_times {
        ServerTimeConfidence::Measured => {
            ("the highest seen; the line did not delay responses", "measured".to_owned())
        }
        ServerTimeConfidence::Estimated { responses } => (
            "the line delayed responses",
            format!("estimated for {responses} of {all} responses, from others of the same host"),
        ),
        ServerTimeConfidence::Assumed { responses } => (
            "the line delayed responses",
            format!("assumed for {responses} of {all} responses: all of a host waited"),
        ),
    };
    let rate = match recorded.rate {
        Some(rate) => format!("{} ({rate_is})", report::rounded_rate(rate.as_bps() as f64)),
        None => "unknown: too few bytes, or times in whole milliseconds".to_owned(),
    };
    let mut out = format!("\nrate of the recording: {rate}\n");
    out += &format!("round trip of the recording: {rtt}\nservers' times: {confidence}\n");
    for left_out in &recorded.left_out {
        let requests = counted(left_out.requests, "request");
        out += &format!("left out: {requests} {}\n", left_out.reason);
    }
    out
}
