//! Start-ups that are classes of Python: an adapter between the trait of `policy` and the class.
//!
//! Each path has an instance of its own. Every call takes the lock of the interpreter, so a race
//! with a start-up of Python uses one core.

use crate::error::refused;
use policy::ack::AckSample;
use policy::registry::{Make, PolicySetup};
use policy::startup::{
    Beginning, LossEvent, LossSignal, Phase, Start, StartUp, StartUpCapabilities,
    StartUpDescriptor, StartupReason, register,
};
use policy::window::{Cause, Window};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::BTreeSet;
use std::panic;
use std::sync::{Mutex, PoisonError};
use units::Duration;

/// The payload with which a simulation unwinds when a start-up has raised an exception. The trait's
/// methods cannot fail.
pub(crate) struct StartUpFault {
    /// Name of the start-up.
    pub(crate) name: &'static str,
    pub(crate) error: PyErr,
}

/// Makes a class a value of `startup=`, under `name`. `about` describes it in a line.
///
/// The class and its name stay for the life of the process, because schemes refer to them.
#[pyfunction]
pub(crate) fn register_start_up(
    class_: Bound<'_, PyType>,
    name: String,
    about: String,
) -> PyResult<()> {
    let name: &'static str = name.leak();
    let class = class_.unbind();
    let make =
        move |_: &PolicySetup<'_>| Box::new(PythonStartUp::new(&class, name)) as Box<dyn StartUp>;
    let descriptor = StartUpDescriptor::new(
        name,
        about.leak(),
        "a class of Python",
        Make::Alone(Box::leak(Box::new(make))),
    );
    register(Box::leak(Box::new(descriptor))).map_err(refused)
}

/// A start-up whose decisions an object of Python makes.
struct PythonStartUp {
    name: &'static str,
    object: Py<PyAny>,
}

impl PythonStartUp {
    fn new(class: &Py<PyType>, name: &'static str) -> Self {
        let object = attached(name, |py| class.call0(py));
        Self { name, object }
    }

    /// Calls a method with a copy of the window, and applies what the method has changed in it.
    fn call<T: Default>(
        &self,
        window: &mut Window,
        cause: Cause,
        method: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyWindow>) -> PyResult<T>,
    ) -> T {
        let copy = PyWindow::of(window);
        let (changed, answer) = attached(self.name, |py| {
            let copy = Bound::new(py, copy)?;
            let answer = method(self.object.bind(py), &copy)?;
            let changed = copy.borrow().clone();
            Ok((changed, answer))
        });
        changed.apply(window, cause);
        answer
    }
}

impl StartUp for PythonStartUp {
    fn capabilities(&self) -> StartUpCapabilities {
        StartUpCapabilities { observes: false, ..StartUpCapabilities::default() }
    }

    fn begin(&mut self, window: &mut Window, start: &Start<'_>) -> Beginning {
        let start = PyStart::of(start);
        self.call(window, Cause::Seed, |object, window| {
            object.call_method1("begin", (window, start)).map(drop)
        });
        Beginning::Whole
    }

    fn on_ack(&mut self, window: &mut Window, sample: &AckSample) -> Phase {
        let ack = PyAck::of(sample);
        let is_done = self.call(window, Cause::SlowStart, |object, window| {
            object.call_method1("on_ack", (window, ack))?;
            object.call_method1("done", (window,))?.is_truthy()
        });
        if is_done { Phase::Done } else { Phase::Continue }
    }

    fn on_loss(&mut self, window: &mut Window, event: LossEvent) -> Phase {
        let event = match event {
            LossEvent::LossSignal(LossSignal::Timeout { .. }) => "timeout",
            LossEvent::LossSignal(LossSignal::PartialAck) => "partial ACK",
            LossEvent::Reduced => "reduced",
            LossEvent::Undone => "undone",
        };
        let falls_back = self.call(window, Cause::FallBack, |object, window| {
            object.call_method1("on_loss", (window, event))?.is_truthy()
        });
        if falls_back { Phase::FallBack } else { Phase::Continue }
    }
}

/// Runs `job` with the lock of the interpreter. An exception unwinds the simulation.
fn attached<T>(name: &'static str, job: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    let done = Python::attach(|py| {
        note_thread(py)?;
        job(py)
    });
    done.unwrap_or_else(|error| panic::resume_unwind(Box::new(StartUpFault { name, error })))
}

/// Threads that have called start-ups, by the numbers that Python has for them.
static THREADS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Takes the thread out of [`THREADS`] when it ends.
struct NotedThread(u64);

impl Drop for NotedThread {
    fn drop(&mut self) {
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

thread_local! {
    static THREAD: std::cell::OnceCell<NotedThread> = const { std::cell::OnceCell::new() };
}

fn note_thread(py: Python<'_>) -> PyResult<()> {
    THREAD.with(|noted| {
        if noted.get().is_none() {
            let number = py.import("threading")?.call_method0("get_ident")?.extract()?;
            THREADS.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
            let _ = noted.set(NotedThread(number));
        }
        Ok(())
    })
}

/// Raises `KeyboardInterrupt` in the start-ups that run just now. An endless loop in one would
/// otherwise outlast Ctrl-C.
pub(crate) fn interrupt(py: Python<'_>) -> PyResult<()> {
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    py.import("headstart._startup")?.call_method1("interrupt", (threads,)).map(drop)
}

/// The window of a path, as a start-up of Python changes it.
#[pyclass(name = "Window", module = "headstart", from_py_object)]
#[derive(Clone)]
pub(crate) struct PyWindow {
    /// Congestion window, bytes. It stays at one segment at least.
    #[pyo3(get, set)]
    cwnd: u64,
    /// Slow-start threshold, bytes; 2**64 - 1 while there is none. It stays at two segments at
    /// least.
    #[pyo3(get, set)]
    ssthresh: u64,
    /// Segment size, bytes.
    #[pyo3(get)]
    mss: u64,
    /// Bytes that may be in flight: `cwnd`, bounded by the scheme's parameter `window`.
    #[pyo3(get)]
    usable: u64,
    spread: Option<Duration>,
}

#[pymethods]
impl PyWindow {
    /// Paces what is sent from now on: a window takes `rtt` seconds.
    fn spread_over(&mut self, rtt: f64) -> PyResult<()> {
        if !(rtt > 0.0 && rtt < 1e6) {
            let why = format!("spread_over({rtt}): use a time in seconds, above 0");
            return Err(pyo3::exceptions::PyValueError::new_err(why));
        }
        self.spread = Some(Duration::from_secs_f64(rtt));
        Ok(())
    }
}

impl PyWindow {
    fn of(window: &Window) -> Self {
        Self {
            cwnd: window.cwnd(),
            ssthresh: window.ssthresh(),
            mss: window.mss(),
            usable: window.usable(),
            spread: None,
        }
    }

    /// Growth by `grow` leaves the fraction of congestion avoidance as built-in start-ups do.
    fn apply(&self, window: &mut Window, cause: Cause) {
        if self.ssthresh != window.ssthresh() {
            window.set_ssthresh(self.ssthresh, cause);
        }
        match self.cwnd.checked_sub(window.cwnd()) {
            Some(0) => {}
            Some(more) => window.grow(more, cause),
            None => window.set_cwnd(self.cwnd, cause),
        }
        if let Some(rtt) = self.spread {
            window.spread_over(rtt);
        }
    }
}

/// An ACK of new data, as a start-up of Python sees it. Times are in seconds, sizes in bytes.
#[pyclass(frozen, get_all, name = "Ack", module = "headstart")]
pub(crate) struct PyAck {
    /// Time of arrival on the simulation's clock.
    now: f64,
    /// Bytes newly acknowledged cumulatively.
    acked: u64,
    /// Bytes newly delivered, by cumulative or selective acknowledgement.
    delivered: u64,
    /// Round trip of the latest segment that was delivered; `None` if it was retransmitted.
    rtt: Option<f64>,
    /// Smoothed round trip; `None` before the first sample.
    srtt: Option<f64>,
    /// Lowest round trip; `None` before the first sample.
    min_rtt: Option<f64>,
    /// Bytes in flight before this ACK.
    prior_in_flight: u64,
    /// Bytes in flight after it.
    in_flight: u64,
    /// The window, not the application, limited sending in the last round trip.
    is_window_limited: bool,
    /// Bytes sent for the first time on this path so far.
    sent_total: u64,
    /// Bytes acknowledged cumulatively on this path, by this ACK, too.
    acked_total: u64,
}

impl PyAck {
    fn of(sample: &AckSample) -> Self {
        let known = |time: Duration| !time.is_zero() && time != Duration::MAX;
        Self {
            now: sample.now.as_secs_f64(),
            acked: sample.acked,
            delivered: sample.delivered,
            rtt: sample.rtt.map(Duration::as_secs_f64),
            srtt: Some(sample.srtt).filter(|rtt| known(*rtt)).map(Duration::as_secs_f64),
            min_rtt: Some(sample.min_rtt).filter(|rtt| known(*rtt)).map(Duration::as_secs_f64),
            prior_in_flight: sample.prior_in_flight,
            in_flight: sample.in_flight,
            is_window_limited: sample.cwnd_limited,
            sent_total: sample.sent_total,
            acked_total: sample.acked_total,
        }
    }
}

/// The situation in which a start-up of Python begins. Times are in seconds, sizes in bytes.
#[pyclass(frozen, get_all, name = "Start", module = "headstart")]
pub(crate) struct PyStart {
    /// `new path`; `idle` after a pause, with `idle=startup`; or `loss` after a timeout.
    occasion: &'static str,
    /// Time on the simulation's clock.
    now: f64,
    /// Round trip so far: that of the handshake on a new path; `None` without one.
    rtt: Option<f64>,
    /// Initial and restart window.
    initial_window: u64,
    /// Bytes that wait to be sent, if the start-up begins with data.
    waiting: Option<u64>,
    /// Bytes that the peer's window admits, if the start-up begins with data.
    admitted: Option<u64>,
    /// Length of the pause; zero after anything else.
    idle: f64,
}

impl PyStart {
    fn of(start: &Start<'_>) -> Self {
        Self {
            occasion: match start.reason {
                StartupReason::NewPath => "new path",
                StartupReason::Idle => "idle",
                StartupReason::Loss => "loss",
            },
            now: start.now.as_secs_f64(),
            rtt: start.rtt.measured().map(Duration::as_secs_f64),
            initial_window: start.initial_window,
            waiting: start.transfer.map(|data| data.bytes),
            admitted: start.transfer.map(|data| data.admitted),
            idle: start.idle.as_secs_f64(),
        }
    }
}
