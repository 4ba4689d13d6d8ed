//! Plans that are run in memory.

use experiment::plan::{Plan, RunResult, WorkloadMetric};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn read(text: &str) -> Plan<'_> {
    Plan::read("test.toml", text, &|_| Err("no files".to_owned())).unwrap()
}

/// The result of a run and its transfers, each by its columns.
pub(crate) fn execute(plan: &Plan<'_>, index: usize) -> (RunResult, Vec<Vec<String>>) {
    let flows = Memory::default();
    let mut output = |name: &str| -> io::Result<Box<dyn Write>> {
        assert_eq!(name, "flows.csv");
        Ok(Box::new(flows.clone()))
    };
    let result = plan.execute(&plan.run(index), &mut output, &AtomicBool::new(false)).unwrap();
    let bytes = flows.0.borrow().clone();
    let text = String::from_utf8(bytes).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect());
    (result, rows.collect())
}

pub(crate) fn value(result: &RunResult, metric: WorkloadMetric) -> f64 {
    let at = WorkloadMetric::ALL.iter().position(|known| *known == metric).unwrap();
    result.workloads[0].values[at].unwrap()
}
