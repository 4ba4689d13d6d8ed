//! `headstart serve`: files by HTTP over our own TCP, on a device of its own, or for a client
//! behind an emulated link.

mod args;
mod client;
mod device;
mod log;
mod network;
mod sink;
mod weights;

pub(crate) use args::{ServeArgs, appendix};

use client::Line;
use cmdline::{Failure, remark};
use device::ServerDevice;
use endpoint::Endpoint;
use log::Log;
use network::url;
use server::{HttpServer, ServerOptions, StatusAccess};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    args.check()?;
    let log = Arc::new(Log::new(args)?);
    match args.command.is_empty() {
        true => run_on_a_device(args, &log),
        false => run_for_a_client(args, &log),
    }
}

fn run_on_a_device(args: &ServeArgs, log: &Arc<Log>) -> Result<(), Failure> {
    let ServerDevice { endpoint, name, addresses, peers } = device::open(args)?;
    let server = server(args, endpoint.clone(), StatusAccess::Only(peers), log)?;
    let runtime = runtime()?;
    let asked = runtime.block_on(async { ServerSignals::new() }).map_err(Failure::failed)?;
    runtime.block_on(async {
        let listener = listen(args, &endpoint).await?;
        announce(args, log, &addresses, Some(&name));
        let stop = asked.until_stopped(args, &server, log);
        let ended = server.run(listener, stop, time(args.grace)).await;
        log.log_ended(ended.map_err(Failure::failed)?);
        log.finish();
        Ok(())
    })
}

fn run_for_a_client(args: &ServeArgs, log: &Arc<Log>) -> Result<(), Failure> {
    let (line, endpoint) = Line::open_link(&args.links, args.limits())?;
    // The command is the only client.
    let server = server(args, endpoint.clone(), StatusAccess::Everybody, log)?;
    let runtime = runtime()?;
    let addresses = line.addresses();
    let code = std::thread::scope(|scope| {
        let (ended, command_ended) = tokio::sync::oneshot::channel::<()>();
        // Listening comes first: the server is there when the command begins.
        let listener = runtime.block_on(listen(args, &endpoint))?;
        let command = scope.spawn(|| {
            let code = line.run(&args.command, args.port);
            drop(ended);
            code
        });
        announce(args, log, &addresses, None);
        let stop = async {
            // It is dropped, never sent.
            let _ = command_ended.await;
        };
        // The client is gone: pending transfers are dropped.
        let served = runtime.block_on(server.run(listener, stop, Duration::ZERO));
        let code = command.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        served.map_err(Failure::failed)?;
        log.finish();
        Ok::<u8, Failure>(code)
    })?;
    line.end();
    match code {
        0 => Ok(()),
        code => Err(Failure::Command(code)),
    }
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(Failure::failed)
}

/// `status`: who may read the status page, unless the options say otherwise.
fn server(
    args: &ServeArgs,
    endpoint: Endpoint,
    status: StatusAccess,
    log: &Arc<Log>,
) -> Result<HttpServer, Failure> {
    let log = Arc::clone(log);
    let status = match (args.no_status, args.status_for_all) {
        (true, _) => StatusAccess::Nobody,
        (_, true) => StatusAccess::Everybody,
        _ => status,
    };
    let options = ServerOptions {
        root: args.root.clone(),
        scheme: args.scheme.clone(),
        weights: args.weights.as_ref().map(|source| source.weights.clone()),
        status,
        idle: time(args.idle),
        on_response: Box::new(move |response| log.response(response)),
    };
    HttpServer::new(endpoint, options).map_err(Failure::input)
}

async fn listen(args: &ServeArgs, endpoint: &Endpoint) -> Result<endpoint::Listener, Failure> {
    endpoint.listen(args.port, &args.scheme).await.map_err(Failure::failed)
}

fn announce(args: &ServeArgs, log: &Log, addresses: &[IpAddr], device: Option<&str>) {
    let urls: Vec<String> = addresses.iter().map(|address| url(*address, args.port)).collect();
    log.listening(&args.root.display().to_string(), &urls, device);
}

fn time(duration: units::Duration) -> Duration {
    Duration::from_nanos(duration.as_nanos())
}

/// Signals that ask the server for something.
struct ServerSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl ServerSignals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until the server is to end, and reads weights again meanwhile. A second signal ends
    /// the server at once.
    async fn until_stopped(mut self, args: &ServeArgs, server: &HttpServer, log: &Log) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => break,
                _ = self.terminate.recv() => break,
                _ = self.hang_up.recv() => reload(args, server, log),
            }
        }
        log.ending(args.grace);
        tokio::spawn(async move {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            }
            std::process::exit(130);
        });
    }
}

/// Reloads the weights. A file that cannot be read leaves them unchanged.
fn reload(args: &ServeArgs, server: &HttpServer, log: &Log) {
    let again = args.weights.as_ref().and_then(|source| source.read_again());
    match again {
        Some(Ok(weights)) => {
            log.weights(&weights.to_string());
            server.set_weights(weights);
        }
        Some(Err(why)) => remark(&format!("headstart: --weights: {why}; they stay as they were")),
        None => remark("headstart: nothing to read again: --weights has no @FILE"),
    }
}
