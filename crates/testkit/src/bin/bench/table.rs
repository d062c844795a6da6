//! Result table with the columns figure, floor and ratio.

use std::fmt;
use std::time::Duration;

struct TableRow {
    name: String,
    figure: String,
    floor: String,
    ratio: String,
}

/// Collects rows and formats them in aligned columns.
#[derive(Default)]
pub struct Table {
    rows: Vec<TableRow>,
}

impl Table {
    /// Adds a rate, where higher is better, and the rate of its baseline.
    pub fn rate(&mut self, name: &str, figure: f64, floor: f64) {
        self.push(
            name,
            format!("{figure:.0}"),
            format!("{floor:.0}"),
            format!("{:.0} %", 100.0 * figure / floor),
        );
    }

    /// Adds a latency, where lower is better, and the latency of its baseline.
    pub fn latency(&mut self, name: &str, figure: Duration, floor: Duration) {
        let ratio = figure.as_secs_f64() / floor.as_secs_f64();
        self.push(name, format!("{figure:.2?}"), format!("{floor:.2?}"), format!("{ratio:.2} ×"));
    }

    /// Adds a duration with its limit.
    pub fn time(&mut self, name: &str, figure: Duration, limit: Duration) {
        let ratio = figure.as_secs_f64() / limit.as_secs_f64();
        self.push(name, format!("{figure:.1?}"), format!("limit {limit:.0?}"), format!("{ratio:.2} ×"));
    }

    /// Adds an amount of memory in megabytes, with an optional limit.
    pub fn memory(&mut self, name: &str, figure: f64, limit: Option<f64>) {
        let (floor, ratio) = match limit {
            Some(limit) => (format!("limit {limit:.0} MB"), format!("{:.2} ×", figure / limit)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        self.push(name, format!("{figure:.1} MB"), floor, ratio);
    }

    /// Adds an amount of bytes with its limit.
    #[expect(clippy::cast_precision_loss, reason = "printed with two decimals")]
    pub fn bytes(&mut self, name: &str, figure: usize, limit: usize) {
        let ratio = format!("{:.2} ×", figure as f64 / limit as f64);
        self.push(name, format!("{} KB", figure / 1000), format!("limit {} KB", limit / 1000), ratio);
    }

    /// Adds the average number of busy processors, with a limit.
    pub fn cores(&mut self, name: &str, figure: f64, limit: f64) {
        let ratio = format!("{:.2} ×", figure / limit);
        self.push(name, format!("{figure:.2} cores"), format!("limit {limit:.0}"), ratio);
    }

    /// Adds a figure without a baseline or limit.
    pub fn plain(&mut self, name: &str, figure: String) {
        self.push(name, figure, "-".to_owned(), "-".to_owned());
    }

    fn push(&mut self, name: &str, figure: String, floor: String, ratio: String) {
        self.rows.push(TableRow { name: name.to_owned(), figure, floor, ratio });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<52} {:>14} {:>16} {:>9}", "measured", "figure", "floor", "ratio")?;
        for row in &self.rows {
            writeln!(f, "{:<52} {:>14} {:>16} {:>9}", row.name, row.figure, row.floor, row.ratio)?;
        }
        Ok(())
    }
}
