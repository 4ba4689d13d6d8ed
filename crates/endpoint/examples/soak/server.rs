//! The endpoint's side: answers requests until there are no more.

use crate::protocol::{Pattern, SoakRequest};
use endpoint::{Listener, Stream};
use std::io;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

pub(crate) const PORT: u16 = 80;

pub(crate) async fn serve(mut listener: Listener) {
    let pattern = Arc::new(Pattern::new());
    while let Ok((stream, _)) = listener.accept().await {
        let pattern = Arc::clone(&pattern);
        // A transfer that a client breaks off is an error on this side, too; only the client knows
        // the difference.
        tokio::spawn(async move { serve_connection(stream, &pattern).await.ok() });
    }
}

async fn serve_connection(mut stream: Stream, pattern: &Pattern) -> io::Result<()> {
    while let Some(request) = SoakRequest::receive(&mut stream).await? {
        match request {
            SoakRequest::Download(bytes) => {
                stream.handle().set_size(bytes);
                pattern.write(&mut stream, bytes).await?;
            }
            SoakRequest::Upload(bytes) => {
                pattern.read(&mut stream, bytes).await?;
                stream.write_all(&[1]).await?;
            }
            SoakRequest::Breach(bytes) => {
                pattern.write(&mut stream, bytes).await?;
                stream.handle().abort();
                return Ok(());
            }
        }
    }
    stream.shutdown().await
}
