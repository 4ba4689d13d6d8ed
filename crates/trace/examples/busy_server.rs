//! Writes a capture of a busy server to standard output, to measure the memory of an analysis.
//!
//! `busy_server BYTES OPEN HOSTS | headstart analyze -` writes BYTES bytes. OPEN connections are
//! open at a time, of HOSTS clients in turn.

use std::io::{self, Read, Write};
use trace::testing::BusyServer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let bytes: u64 = args.next().ok_or("how many bytes?")?.parse()?;
    let open: u32 = args.next().ok_or("how many connections at a time?")?.parse()?;
    let hosts: u32 = args.next().ok_or("of how many hosts?")?.parse()?;
    let mut capture = BusyServer::new(open, hosts).take(bytes);
    let (mut out, mut room) = (io::stdout().lock(), vec![0; 1 << 20]);
    loop {
        let read = capture.read(&mut room)?;
        if read == 0 {
            return Ok(out.flush()?);
        }
        out.write_all(&room[..read])?;
    }
}
