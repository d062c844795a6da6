//! One table: figure, floor, ratio.

use std::fmt;
use std::time::Duration;

struct TableRow {
    name: String,
    figure: String,
    floor: String,
    ratio: String,
}

/// Collects rows and prints them aligned.
#[derive(Default)]
pub struct Table {
    rows: Vec<TableRow>,
}

impl Table {
    /// More is better; the floor is the bare server.
    pub fn rate(&mut self, name: &str, figure: f64, floor: f64) {
        self.push(
            name,
            format!("{figure:.0}"),
            format!("{floor:.0}"),
            format!("{:.0} %", 100.0 * figure / floor),
        );
    }

    /// Less is better; the floor is the bare server.
    pub fn latency(&mut self, name: &str, figure: Duration, floor: Duration) {
        let ratio = figure.as_secs_f64() / floor.as_secs_f64();
        self.push(name, format!("{figure:.2?}"), format!("{floor:.2?}"), format!("{ratio:.2} ×"));
    }

    /// A time with its limit.
    pub fn time(&mut self, name: &str, figure: Duration, limit: Duration) {
        let ratio = figure.as_secs_f64() / limit.as_secs_f64();
        self.push(name, format!("{figure:.1?}"), format!("limit {limit:.0?}"), format!("{ratio:.2} ×"));
    }

    /// Megabytes, with a limit where there is one.
    pub fn memory(&mut self, name: &str, figure: f64, limit: Option<f64>) {
        let (floor, ratio) = match limit {
            Some(limit) => (format!("limit {limit:.0} MB"), format!("{:.2} ×", figure / limit)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        self.push(name, format!("{figure:.1} MB"), floor, ratio);
    }

    /// Processors that were busy, with a limit.
    pub fn cores(&mut self, name: &str, figure: f64, limit: f64) {
        let ratio = format!("{:.2} ×", figure / limit);
        self.push(name, format!("{figure:.2} cores"), format!("limit {limit:.0}"), ratio);
    }

    /// A figure that has no floor.
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
