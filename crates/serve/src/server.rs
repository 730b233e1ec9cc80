//! The server: listens on this machine only, checks who asks, and finds who answers.

use std::fmt;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::child::Workshop;
use crate::folder::Folder;
use crate::http::{Connection, Reply, Request};
use crate::job::{Event, Job, JobLimits};
use crate::models::Models;
use crate::queue::{Full, Queue, Turn};
use crate::results::Results;
use crate::{child, package, page, services, stream};

/// Connections at the same time, at the most.
const MOST_CONNECTIONS: usize = 512;

/// Bytes of requests that wait, at the most.
const MOST_WAITING_BYTES: usize = 256 << 20;

/// How a server is run.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The port; 0 for one that is free.
    pub port: u16,
    /// A folder of models that clients may name.
    pub models: Option<PathBuf>,
    /// Origins of other pages that may ask, such as `https://editor.planning.domains`.
    pub origins: Vec<String>,
    /// Searches and trainings at the same time.
    pub jobs: usize,
    /// Requests that may wait.
    pub queue: usize,
    /// Seconds of a search.
    pub time_limit: f64,
    /// Seconds of a training.
    pub train_time_limit: f64,
    /// Bytes of memory of each process.
    pub memory_limit: u64,
    /// The command `homing`, which carries out jobs.
    pub command: PathBuf,
}

/// Why there is no server.
#[derive(Debug)]
pub enum ServeError {
    /// The port cannot be had.
    Port {
        /// The port.
        port: u16,
        /// Why.
        error: std::io::Error,
    },
    /// There is no folder to work in.
    Folder(std::io::Error),
    /// The models cannot be read.
    Models(homing::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port { port, error } => write!(
                f,
                "cannot listen on 127.0.0.1:{port}: {error}; `--port` takes another"
            ),
            Self::Folder(error) => write!(f, "cannot make a folder for temporary files: {error}"),
            Self::Models(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Two kinds of work: what a person waits for while typing, and what takes its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Quick,
    Long,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) options: ServeOptions,
    pub(crate) port: u16,
    pub(crate) models: Models,
    pub(crate) results: Results,
    pub(crate) workshop: Workshop,
    quick: Arc<Queue>,
    long: Arc<Queue>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

impl Shared {
    /// Joins the queue of a kind of work.
    pub(crate) fn join(&self, lane: Lane, bytes: usize) -> Result<Turn, Full> {
        match lane {
            Lane::Quick => self.quick.join(bytes),
            Lane::Long => self.long.join(bytes),
        }
    }

    /// How many work and wait for long work.
    pub(crate) fn load(&self) -> (usize, usize) {
        self.long.load()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// The limits of a job.
    pub(crate) fn limits(&self, job: &Job) -> JobLimits {
        let seconds = match job {
            Job::Solve { request, .. } => {
                // Reading the plan back and the like come on top of the search's own limit.
                request.limits.time_limit.unwrap_or(self.options.time_limit) + 2.0
            }
            Job::Train { .. } => self.options.train_time_limit,
            _ => self.options.time_limit.min(10.0),
        };
        JobLimits {
            seconds,
            memory: self.options.memory_limit,
        }
    }

    /// Waits for a place and runs a job to its last event; `None` if it was broken off.
    pub(crate) fn run(
        &self,
        mut turn: Turn,
        job: &Job,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Option<Event> {
        let mut goes_on = || !self.stopped() && goes_on();
        if !turn.wait(&mut |_| goes_on()) {
            return None;
        }
        let limits = self.limits(job);
        let workshop = &self.workshop;
        child::last_event(
            &workshop.command,
            &workshop.folder,
            job,
            &limits,
            &mut goes_on,
        )
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    folder: Mutex<Option<Folder>>,
}

impl Server {
    /// Listens on 127.0.0.1.
    ///
    /// # Errors
    ///
    /// If the port is taken, or models cannot be read.
    pub fn bind(options: ServeOptions) -> Result<Self, ServeError> {
        let port_error = |error| ServeError::Port {
            port: options.port,
            error,
        };
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(port_error)?;
        let port = listener.local_addr().map_err(port_error)?.port();
        let folder = Folder::new(&std::env::temp_dir()).map_err(ServeError::Folder)?;
        let place = folder.path().to_owned();
        let models = Models::new(options.models.as_deref(), place.clone());
        let shared = Shared {
            port,
            models: models.map_err(ServeError::Models)?,
            results: Results::default(),
            workshop: Workshop {
                command: options.command.clone(),
                folder: place,
            },
            quick: Queue::new(options.jobs.max(2), options.queue, MOST_WAITING_BYTES),
            long: Queue::new(options.jobs.max(1), options.queue, MOST_WAITING_BYTES),
            connections: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            options,
        };
        Ok(Self {
            listener,
            shared: Arc::new(shared),
            folder: Mutex::new(Some(folder)),
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.shared.port
    }

    /// Serves until `stop` says so. Work under way is ended then.
    pub fn run(&self, stop: &dyn Fn() -> bool) {
        let listener = self.listener.try_clone();
        let shared = Arc::clone(&self.shared);
        let accepting = std::thread::Builder::new().spawn(move || {
            let Ok(listener) = listener else { return };
            for stream in listener.incoming().flatten() {
                accept(&shared, stream);
            }
        });
        while accepting.is_ok() && !stop() {
            std::thread::sleep(Duration::from_millis(50));
        }
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Long enough for children to be ended, whose files are in the folder.
        std::thread::sleep(Duration::from_millis(200));
        let folder = self.folder.lock().expect("no thread panics here").take();
        drop(folder);
    }
}

/// Counts a connection while it is there.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

fn accept(shared: &Arc<Shared>, stream: TcpStream) {
    let before = shared.connections.fetch_add(1, Ordering::SeqCst);
    let counted = Counted(Arc::clone(shared));
    if before >= MOST_CONNECTIONS {
        return;
    }
    // A thread that cannot be started drops the connection.
    let _ = std::thread::Builder::new()
        .name("client".to_owned())
        .stack_size(512 << 10)
        .spawn(move || {
            if let Ok(connection) = Connection::new(stream) {
                serve(&counted.0, connection);
            }
        });
}

fn serve(shared: &Arc<Shared>, mut connection: Connection) {
    let request = match connection.request() {
        Ok(Some(request)) => request,
        Ok(None) => return,
        Err(refusal) => {
            return connection.reply(&Reply::error(refusal.status, refusal.message));
        }
    };
    let cors = match admitted(shared, &request) {
        Ok(cors) => cors,
        Err(reply) => return connection.reply(&reply),
    };
    if request.method == "POST" && request.path == "/work" {
        return stream::work(shared, &request, connection, &cors);
    }
    let mut reply = answer(shared, &request, &mut connection);
    reply.headers.extend(cors);
    connection.reply(&reply);
}

/// Whether the server was asked by its own name, from a page that may; the headers that say so.
/// A page of another site that has given its name the address 127.0.0.1 is found out by `Host`.
fn admitted(shared: &Shared, request: &Request) -> Result<Vec<(&'static str, String)>, Reply> {
    let port = shared.port;
    let host = request.header("host").unwrap_or_default();
    let own = [format!("localhost:{port}"), format!("127.0.0.1:{port}")];
    if !own.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        let message = format!("this server is {} only", own[0]);
        return Err(Reply::error(421, &message));
    }
    let Some(origin) = request.header("origin") else {
        return Ok(Vec::new());
    };
    let allowed = own
        .iter()
        .any(|name| origin.strip_prefix("http://") == Some(name))
        || shared
            .options
            .origins
            .iter()
            .any(|allowed| allowed == origin);
    if !allowed {
        return Err(Reply::error(
            403,
            "pages of this origin may not ask; `homing serve --origin ORIGIN` lets them",
        ));
    }
    Ok(vec![
        ("Access-Control-Allow-Origin", origin.to_owned()),
        ("Access-Control-Allow-Methods", "GET, POST".to_owned()),
        ("Access-Control-Allow-Headers", "content-type".to_owned()),
        ("Access-Control-Allow-Private-Network", "true".to_owned()),
        ("Vary", "Origin".to_owned()),
    ])
}

fn answer(shared: &Arc<Shared>, request: &Request, connection: &mut Connection) -> Reply {
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("OPTIONS", _) => Reply::new(204, "text/plain", ""),
        ("GET" | "HEAD", [""]) => page::reply(),
        ("GET", ["offer"]) => Reply::json(&page::offer(shared)),
        ("GET", ["model", name]) => match shared.models.bytes(name) {
            Some(bytes) => Reply::new(200, "application/octet-stream", bytes),
            None => Reply::error(404, "there is no such model here"),
        },
        ("GET", ["package"]) => Reply::json(&package::list(shared)),
        ("GET", ["package", "homing"] | ["package", "homing", _]) => {
            Reply::json(&package::manifest(shared))
        }
        ("POST", ["package", "homing", service]) => {
            package::begin(shared, service, connection, request)
        }
        ("GET" | "POST", ["solver"]) => package::begin(shared, "solve", connection, request),
        ("GET" | "POST", ["check", id]) => package::check(shared, id, connection, request),
        ("GET", ["docs", "homing", ..]) => package::page(shared),
        ("POST", ["solve"]) => services::solve(shared, connection, request),
        ("POST", ["request"]) => services::request(shared, connection, request),
        ("POST", ["parse"]) => services::parse(shared, connection, request),
        ("POST", ["validate"]) => services::validate(shared, connection, request),
        ("GET" | "POST" | "HEAD", _) => Reply::error(404, "there is nothing under this path"),
        _ => Reply::error(405, "only GET and POST are understood"),
    }
}
