//! Rows by columns: filled several cells at once, printed plainly.

use futures::{StreamExt as _, stream};

/// How many runs go on at the same time: much of a run is waiting.
const AT_ONCE: usize = 6;

/// Fills every cell by the same deed, and prints the table.
#[expect(clippy::print_stdout, reason = "the tables are for people, and long ones show how far they are")]
pub(crate) async fn fill<R: Copy, C: Copy>(
    title: &str,
    rows: &[(String, R)],
    columns: &[(&str, C)],
    deed: impl AsyncFn(R, C) -> String,
) {
    let deed = &deed;
    let cells = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
    let fill = async |((name, row), (heading, column)): (&(String, R), &(&str, C))| {
        let told = deed(*row, *column).await;
        println!("{name} × {heading}: {told}");
        told
    };
    let filled: Vec<String> = stream::iter(cells.map(fill)).buffered(AT_ONCE).collect().await;
    let headings = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let mut lines = vec![(String::new(), headings)];
    let names = rows.iter().map(|(name, _)| name.clone());
    lines.extend(names.zip(filled.chunks(columns.len().max(1)).map(<[String]>::to_vec)));
    println!("\n{title}\n\n{}", aligned(&lines));
}

/// Returns the lines of a table, each column as wide as its widest cell.
fn aligned(lines: &[(String, Vec<String>)]) -> String {
    let widest =
        |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let first = widest(&mut lines.iter().map(|(name, _)| name));
    let n_columns = lines.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let width = |at: usize| widest(&mut lines.iter().filter_map(|(_, cells)| cells.get(at)));
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let line = |(name, cells): &(String, Vec<String>)| {
        let cells = cells.iter().zip(&widths).map(|(cell, wide)| format!("  {cell:<wide$}"));
        format!("{name:<first$}{}", cells.collect::<Vec<_>>().concat()).trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}
