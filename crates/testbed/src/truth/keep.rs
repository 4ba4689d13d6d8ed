//! Files of a row: the captures of both ends, the truth, and the records of link and kernels.

use super::compare::MeasuredRow;
use super::play::{DeliveredBytes, EndLog};
use super::played::PlayedConnection;
use super::samples::KernelSample;
use crate::files::write_files;
use crate::pair::Recorded;
use std::io;
use std::path::Path;

/// Writes a row's files to a folder of its own in `folder`.
///
/// # Errors
/// If a file cannot be written; the error names it.
pub(super) fn write_row_files(
    folder: &Path,
    measured: &MeasuredRow,
    recorded: &Recorded,
) -> io::Result<()> {
    let folder = folder.join(measured.row.folder());
    let truth = serde_json::to_vec_pretty(measured).map_err(io::Error::other)?;
    let (counters, reads) = (counters(measured), reads(measured));
    let files = [
        ("client.pcap", recorded.at_client.as_slice()),
        ("server.pcap", &recorded.at_server),
        ("truth.json", &truth),
        ("link.csv", &recorded.link_log),
        ("kernel.csv", counters.as_bytes()),
        ("reads.csv", reads.as_bytes()),
    ];
    write_files(&folder, &files)
}

/// Logs of both ends of each connection, with the end's name.
fn end_logs(connection: &PlayedConnection) -> [(&'static str, &EndLog); 2] {
    [("client", &connection.client), ("server", &connection.server)]
}

/// A line for each read of each end.
fn reads(measured: &MeasuredRow) -> String {
    let mut text = "port,end,at_s,bytes\n".to_owned();
    for connection in &measured.connections {
        for (end, log) in end_logs(connection) {
            for DeliveredBytes { at, bytes } in &log.arrivals {
                text += &format!("{},{end},{:.6},{bytes}\n", connection.port, at.as_secs_f64());
            }
        }
    }
    text
}

/// A line for each sample of each end.
fn counters(measured: &MeasuredRow) -> String {
    let mut text = "port,end,at_s,cwnd,ssthresh,ca_state,unacked,notsent,buffered,send_buffer,srtt_us,total_retrans,\
                    busy_us,rwnd_limited_us,sndbuf_limited_us\n"
        .to_owned();
    for connection in &measured.connections {
        for (end, log) in end_logs(connection) {
            for KernelSample { at, counters: c } in &log.samples {
                text += &format!(
                    "{},{end},{:.6},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                    connection.port,
                    at.as_secs_f64(),
                    c.cwnd,
                    c.ssthresh,
                    c.ca_state,
                    c.unacked,
                    c.notsent,
                    c.buffered,
                    c.send_buffer,
                    c.srtt_us,
                    c.total_retrans,
                    c.busy_us,
                    c.rwnd_limited_us,
                    c.sndbuf_limited_us,
                );
            }
        }
    }
    text
}
