//! Client of the Chrome DevTools Protocol over a pair of pipes: commands to a browser, and its
//! answers.
//!
//! Messages are JSON objects, each ended by a zero byte (`--remote-debugging-pipe`). A command has
//! a number, which its answer repeats. All other messages are events.

use emulator::sandbox::Streams;
use serde_json::{Value, json};
use std::io::{self, ErrorKind};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};

/// A browser and, after [`attach`](Self::attach), the page that it shows.
pub(super) struct DevTools {
    to: Sender,
    from: BufReader<Receiver>,
    /// The page's, once there is one.
    session: Option<String>,
    commands: u64,
    /// Events since the last navigation began.
    events: Vec<Value>,
}

impl DevTools {
    /// Over the pipes of a command that reads messages from its input and writes them to its
    /// output.
    ///
    /// # Errors
    /// If these are no pipes.
    pub(super) fn from_pipes(streams: &mut Streams) -> io::Result<Self> {
        let to = streams.stdin.take().ok_or(ErrorKind::BrokenPipe)?;
        let from = streams.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        Ok(Self {
            to: Sender::from_owned_fd(to.into())?,
            from: BufReader::new(Receiver::from_owned_fd(from.into())?),
            session: None,
            commands: 0,
            events: Vec::new(),
        })
    }

    /// Turns to the page that the browser shows; false if it shows none yet.
    ///
    /// # Errors
    /// Fails like [`call`](Self::call).
    pub(super) async fn attach(&mut self) -> io::Result<bool> {
        let targets = self.call("Target.getTargets", json!({})).await?;
        let targets = targets["targetInfos"].as_array().into_iter().flatten();
        let page = targets.into_iter().find(|target| target["type"] == "page");
        let Some(page) = page else { return Ok(false) };
        let what = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", what).await?;
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        Ok(true)
    }

    /// Loads the page at `url`, and waits for its load event.
    ///
    /// # Errors
    /// Fails like [`call`](Self::call), and if nothing can be loaded or the page has crashed.
    pub(super) async fn navigate(&mut self, url: &str) -> io::Result<()> {
        for domain in ["Inspector.enable", "Page.enable"] {
            self.call(domain, json!({})).await?;
        }
        // These events are those of the previous page.
        self.events.clear();
        let started = self.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(why) = started["errorText"].as_str() {
            return Err(io::Error::other(why.to_owned()));
        }
        self.wait_for("Page.loadEventFired").await
    }

    /// Ends the browser, and waits until it has ended.
    pub(super) async fn end(mut self) {
        self.session = None;
        // It may end before it answers, or not answer because it has ended.
        let _ = self.call("Browser.close", json!({})).await;
        while self.next().await.is_ok() {}
    }

    /// The browser's answer to a command.
    ///
    /// # Errors
    /// If the browser reports an error, or has ended.
    pub(super) async fn call(&mut self, method: &str, params: Value) -> io::Result<Value> {
        self.commands += 1;
        let mut command = json!({ "id": self.commands, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut message = command.to_string().into_bytes();
        message.push(0);
        self.to.write_all(&message).await.map_err(|_| browser_ended())?;
        loop {
            let mut message = self.next().await?;
            if message["id"] == self.commands {
                return match message["error"]["message"].as_str() {
                    Some(why) => Err(io::Error::other(format!("{method}: {why}"))),
                    None => Ok(message["result"].take()),
                };
            }
            self.events.push(message);
        }
    }

    /// Waits for an event of that name, unless there has been one.
    ///
    /// # Errors
    /// If the browser has ended, or the page has crashed.
    async fn wait_for(&mut self, event: &str) -> io::Result<()> {
        let mut read = 0;
        loop {
            while let Some(message) = self.events.get(read) {
                match message["method"].as_str() {
                    Some(name) if name == event => return Ok(()),
                    Some("Inspector.targetCrashed") => {
                        return Err(io::Error::other("the page has crashed"));
                    }
                    _ => read += 1,
                }
            }
            let message = self.next().await?;
            self.events.push(message);
        }
    }

    /// The events since the last navigation began, in their order.
    pub(super) fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }

    async fn next(&mut self) -> io::Result<Value> {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).await?;
        if message.pop() != Some(0) {
            return Err(browser_ended());
        }
        serde_json::from_slice(&message).map_err(io::Error::other)
    }
}

/// A browser that has ended reads nothing and writes nothing.
fn browser_ended() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "it has ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// A program instead of the browser that answers any command with `script`.
    fn over(script: &str) -> (DevTools, std::process::Child) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        (DevTools::from_pipes(&mut Streams { stdin, stdout, stderr: None }).expect("pipes"), child)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap().block_on(future)
    }

    #[test]
    fn events_before_an_answer_are_kept_and_errors_are_told() {
        run(async {
            let (mut tools, mut child) = over(
                r#"printf '{"method":"Page.loaded"}\000{"id":1,"result":{"a":2}}\000{"id":2,"error":{"message":"no"}}\000{"method":"Inspector.targetCrashed"}\000'; cat >/dev/null"#,
            );
            assert_eq!(tools.call("A.b", json!({})).await.unwrap(), json!({ "a": 2 }));
            tools.wait_for("Page.loaded").await.unwrap();
            assert_eq!(tools.call("C.d", json!({})).await.unwrap_err().to_string(), "C.d: no");
            let crash = tools.wait_for("Page.loadEventFired").await.unwrap_err();
            assert_eq!(crash.to_string(), "the page has crashed");
            drop(tools);
            child.wait().unwrap();
        });
    }

    #[test]
    fn a_browser_that_ends_in_the_middle_is_an_error() {
        run(async {
            let (mut tools, mut child) = over(r#"printf '{"id":1'"#);
            child.wait().unwrap();
            let message = tools.wait_for("Page.loaded").await.unwrap_err();
            let asked = tools.call("A.b", json!({})).await.unwrap_err();
            assert_eq!([message.to_string(), asked.to_string()], ["it has ended"; 2]);
        });
    }
}
