//! The run's own page: the answer where it is for nobody in particular, and the account of every run.

use std::io::{self, Write as _};

use fro_core::{
    Clean, Delivery, Fault, Permit, Redactor, Surface,
    say::{
        page::{self, AnswerFate},
        summary::Account,
    },
};

use fro_memory::Keeping;

use crate::{ending::Receipt, occasion::Occasion, process::Process};

/// Writes the answer to the page.
pub(super) fn answer(occasion: &Occasion, delivery: &Delivery) -> Result<Receipt, Fault> {
    let page = occasion.run_page.as_ref();
    let page = page.ok_or_else(|| Fault::ours("an answer for the run's page, which there is none of"))?;
    let texts: Vec<_> = std::iter::once(&delivery.body).chain(&delivery.whole).collect();
    write(occasion, &texts).map_err(|error| {
        Fault::yours(
            format!("cannot write the answer to the run's page: {error}"),
            "see that the file which `GITHUB_STEP_SUMMARY` names can be written",
        )
    })?;
    Ok(Receipt { url: occasion.run.url.clone().unwrap_or_else(|| page.display().to_string()) })
}

/// Adds what the run accounts for, and the answer as far as it is not elsewhere; a page that cannot be written
/// fails no run.
pub(crate) fn account(
    occasion: &Occasion,
    permit: &Permit,
    (account, redactor): (&Account, &Redactor),
    (delivery, delivered): (&Delivery, &Result<Receipt, Fault>),
) {
    if *permit.surface() == Surface::RunPage && delivered.is_ok() {
        return;
    }
    let whole = delivery.whole.as_ref().map(Clean::as_str);
    let fate = match delivered {
        Ok(receipt) => AnswerFate::Posted { url: &receipt.url, whole },
        Err(_) => AnswerFate::Refused { answer: whole.unwrap_or(delivery.body.as_str()) },
    };
    let text = redactor.clean(&page::report(permit.subject(), account, fate));
    if let Err(error) = write(occasion, &[&text]) {
        tracing::warn!("cannot write to the run's page: {error}");
    }
}

/// Adds a list that would be too long for a comment; a page that cannot be written fails no run.
pub(crate) fn list(occasion: &Occasion, redactor: &Redactor, list: &str) {
    if let Err(error) = write(occasion, &[&redactor.clean(list)]) {
        tracing::warn!("cannot write to the run's page: {error}");
    }
}

/// Adds what became of the memory; a page that cannot be written fails no run.
pub(crate) fn memory(process: &Process, occasion: &Occasion, kept: Option<&Keeping>) {
    let Some(keeping) = kept else { return };
    let text = process.redactor().clean(&fro_agent::on_page(keeping));
    if let Err(error) = write(occasion, &[&text]) {
        tracing::warn!("cannot write to the run's page: {error}");
    }
}

fn write(occasion: &Occasion, texts: &[&Clean]) -> io::Result<()> {
    let Some(page) = &occasion.run_page else { return Ok(()) };
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(page)?;
    texts.iter().try_for_each(|text| writeln!(file, "{}", text.as_str()))
}
