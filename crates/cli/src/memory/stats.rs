//! Figures over all runs, each beside its goal.

use fro_memory::Stats;

/// Returns the figures as a table.
pub(super) fn table(stats: &Stats) -> String {
    let saved = stats
        .exploration_saved()
        .map_or("no later runs yet".to_owned(), |saved| format!("{} fewer", percent(saved)));
    let rows = [
        ("runs", stats.runs.to_string(), ""),
        ("found a memory", percent(stats.hit_rate), ""),
        ("searched or read it", percent(stats.reuse), "at least 60 %"),
        ("were reminded by it", percent(stats.reminded), ""),
        ("explored, first run on a subject", format!("{:.1} calls", stats.exploration_first), ""),
        (
            "explored, later runs",
            format!("{:.1} calls, {saved}", stats.exploration_repeat),
            "at least 40 % fewer",
        ),
        ("first words, median of hits", format!("{:.1} s", stats.first_output), "at most 90 s"),
        ("cost", format!("${:.4}", stats.cost), ""),
        ("tokens", stats.tokens.to_string(), ""),
    ];
    let line = |(name, value, goal): &(&str, String, &str)| {
        let goal = if goal.is_empty() { String::new() } else { format!("  (goal: {goal})") };
        format!("{name:<34}{value}{goal}")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_beside_their_goals() {
        let stats = Stats {
            runs: 4,
            hit_rate: 0.75,
            reuse: 0.5,
            reminded: 0.25,
            exploration_first: 8.0,
            exploration_repeat: 3.0,
            first_output: 41.26,
            cost: 0.05,
            tokens: 4_200,
        };
        insta::assert_snapshot!(table(&stats), @"
        runs                              4
        found a memory                    75 %
        searched or read it               50 %  (goal: at least 60 %)
        were reminded by it               25 %
        explored, first run on a subject  8.0 calls
        explored, later runs              3.0 calls, 62 % fewer  (goal: at least 40 % fewer)
        first words, median of hits       41.3 s  (goal: at most 90 s)
        cost                              $0.0500
        tokens                            4200
        ");
    }
}
