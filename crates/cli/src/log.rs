//! What the crates have to say about their work, made harmless line by line before it is printed.
//!
//! Such lines may quote an engine or a provider, so they pass the redactor, and no part of them can become a
//! command of the workflow runner.

use std::io::{self, Write};

use fro_core::{Redactor, say::log::harmless};
use jiff::Timestamp;
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

use crate::{
    env::{self, Env},
    report::{self, json},
};

/// Starts to print the crates' own log; `FRO_LOG` says how much of it. Without it only warnings show, and the audit:
/// what the agent asked of the brokers.
pub(crate) fn start(env: &Env, redactor: Redactor) {
    begin(env, redactor, Format::Lines);
}

/// The same for a process that runs for weeks: each line has its time, and says what happened before where in the code.
pub(crate) fn start_of_daemon(env: &Env, redactor: Redactor) {
    begin(env, redactor, Format::Dated);
}

fn begin(env: &Env, redactor: Redactor, for_people: Format) {
    let wanted = env.text(env::FRO_LOG).unwrap_or("warn");
    let filter = EnvFilter::builder().parse_lossy(format!("audit=info,{wanted}"));
    let format = if report::is_for_machines(env) { Format::Objects } else { for_people };
    // Where in the code a line comes from tells something to those alone who asked for more of the log.
    let with_target = env.text(env::FRO_LOG).is_some() && !matches!(format, Format::Dated);
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(Printer { redactor, format });
    // A second start in one process would be ours to blame, and the first log goes on.
    let _already: Result<(), _> = lines.without_time().with_target(with_target).with_ansi(false).try_init();
}

struct Printer {
    redactor: Redactor,
    format: Format,
}

/// How an event is written.
#[derive(Debug, Clone, Copy)]
enum Format {
    Lines,
    Dated,
    Objects,
}

/// One event on its way out.
struct LogLine<'a> {
    redactor: &'a Redactor,
    format: Format,
    bytes: Vec<u8>,
}

impl<'a> MakeWriter<'a> for Printer {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine { redactor: &self.redactor, format: self.format, bytes: Vec::new() }
    }
}

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine<'_> {
    fn drop(&mut self) {
        let text = self.redactor.clean(&String::from_utf8_lossy(&self.bytes));
        let text = harmless(text.as_str());
        match self.format {
            Format::Lines => anstream::eprintln!("          {text}"),
            Format::Dated => anstream::eprintln!("{:.0} {}", Timestamp::now(), text.trim_start()),
            Format::Objects => anstream::eprintln!("{}", json::logged(&text, Timestamp::now())),
        }
    }
}

#[cfg(test)]
mod tests {
    use fro_core::Secret;
    use tracing_subscriber::fmt::MakeWriter as _;

    use super::*;

    #[test]
    fn a_line_is_collected_whole_before_it_is_cleaned() {
        let redactor = Redactor::knowing([&Secret::new("half-and-half")]);
        let printer = Printer { redactor, format: Format::Lines };
        let mut line = printer.make_writer();
        line.write_all(b"it is half-").unwrap();
        line.write_all(b"and-half").unwrap();
        assert_eq!(line.redactor.clean(&String::from_utf8_lossy(&line.bytes)).as_str(), "it is [redacted]");
    }
}
