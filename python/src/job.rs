//! Shards as tasks of an engine. Tasks and results are JSON, so that any engine can carry them.

use std::path::PathBuf;

use pith::{Failure, Job, Progress, ShardTask, Source};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{self, raised};
use crate::interrupt;

/// A folder of documents that an engine fills.
#[pyclass(module = "pith")]
pub struct ShardJob {
    job: Option<Job>,
}

#[pymethods]
impl ShardJob {
    /// Opens the folder `out`, locks it, and finds what is left to do of the inputs.
    #[new]
    #[pyo3(signature = (inputs, out, **settings))]
    fn new(inputs: Vec<PathBuf>, out: PathBuf, settings: Option<&Bound<'_, PyDict>>) -> PyResult<ShardJob> {
        let (settings, _) = arguments::settings(settings)?;
        let sources = pith::find(&inputs, None).map_err(|failure: Failure| PyValueError::new_err(failure.message()))?;
        let words: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
        let command = format!("pith extract {} --out {}", words.join(" "), out.display());
        Ok(ShardJob { job: Some(Job::open(&sources, &out, command, &settings).map_err(raised)?) })
    }

    /// What is left to do, one text for every shard.
    #[getter]
    fn tasks(&self) -> PyResult<Vec<String>> {
        self.open()?.tasks().iter().map(to_json).collect()
    }

    /// Records what `extract_shard` gave.
    fn record(&mut self, result: &str) -> PyResult<()> {
        let result = from_json(result)?;
        self.job.as_mut().ok_or_else(finished)?.record(result).map_err(raised)
    }

    /// Marks the folder as complete and gives the counts of all its pages by outcome.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let manifest = self.job.take().ok_or_else(finished)?.finish().map_err(raised)?;
        let counts = PyDict::new(py);
        for (name, count) in &manifest.step.counts {
            counts.set_item(name, count)?;
        }
        Ok(counts)
    }

    /// Lets go of the folder; what was recorded stays.
    fn close(&mut self) {
        self.job = None;
    }
}

impl ShardJob {
    fn open(&self) -> PyResult<&Job> {
        self.job.as_ref().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the job is finished or closed")
}

/// Does one task, and gives what `ShardJob.record` takes.
#[pyfunction]
#[pyo3(signature = (task, jobs=None, **settings))]
pub fn extract_shard(
    py: Python<'_>,
    task: &str,
    jobs: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let task: ShardTask = from_json(task)?;
    let jobs = arguments::jobs(jobs)?;
    let (settings, time_limit) = arguments::settings(settings)?;
    let progress = Progress::silent();
    let work = || pith::extract_task(&task, &settings, jobs, time_limit, &progress);
    let result = interrupt::stoppable(py, None, || progress.stop(), work)?;
    to_json(&result.map_err(raised)?)
}

/// The archives that the inputs name: themselves, those of a crawl, or those in a folder.
#[pyfunction]
pub fn find_archives(inputs: Vec<PathBuf>) -> PyResult<Vec<PathBuf>> {
    let sources = pith::find(&inputs, None).map_err(|failure: Failure| PyValueError::new_err(failure.message()))?;
    let mut archives = Vec::new();
    for source in sources {
        match source {
            Source::Archive(path) => archives.push(path),
            Source::Pages(_) => return Err(PyValueError::new_err("inputs must be archives or folders of them")),
        }
    }
    Ok(archives)
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("not a task or a result: {error}")))
}
