//! The server behind nginx that takes its time.

use super::site::{Answer, SiteFile};
use crate::timer;
use emulator::Clock;
use std::io;
use std::rc::Rc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;

/// Answers requests of nginx for these files, each after its time, for as long as the runtime
/// lives.
pub(super) async fn serve(listener: TcpListener, files: Rc<Vec<SiteFile>>, clock: Clock) {
    while let Ok((stream, _)) = listener.accept().await {
        let files = Rc::clone(&files);
        spawn_local(async move {
            // Without an answer nginx reports an error to the browser, and the load fails.
            let _ = serve_slowly(stream, &files, &clock).await;
        });
    }
}

async fn serve_slowly(stream: TcpStream, files: &[SiteFile], clock: &Clock) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    let mut rest = String::new();
    while stream.read_line(&mut rest).await? > 2 {
        rest.clear();
    }
    let at = first.split_whitespace().nth(1).unwrap_or_default();
    let Some(file) = files.iter().find(|file| file.at == at) else { return Ok(()) };
    if let Answer::After(time) = file.answer {
        timer::sleep_until(clock, Some(clock.now() + time)).await;
    }
    let (media, bytes) = (file.media_type(), file.body.len());
    let head =
        format!("HTTP/1.0 200 OK\r\nContent-Type: {media}\r\nContent-Length: {bytes}\r\n\r\n");
    stream.write_all(&[head.as_bytes(), &file.body].concat()).await?;
    stream.shutdown().await
}
