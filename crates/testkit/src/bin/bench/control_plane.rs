//! A control plane on SQLite: a thousand connected desktops with the events of loops, and the list of a hundred
//! thousand loops.
//!
//! The desktops are WebSockets that say hello and are present; the loops are dispatched to the first of them. The
//! floor of an answer is that of a bare server beside the same load.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use loopgate_testkit::control_plane::{ControlPlane, data};
use reqwest::Client;
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::bare;
use crate::gateway::resident_memory;
use crate::pulse;
use crate::table::Table;

const DESKTOPS: usize = 1_000;
/// Loops that report, and how often each does.
const LOOPS: usize = 20;
const PACE: Duration = Duration::from_millis(100);
/// Time over which the desktops begin to say that they are there.
const SPREAD: Duration = Duration::from_secs(30);
const EVENT_LIMIT: Duration = Duration::from_millis(50);
const LISTED: usize = 100_000;
const LIST_LIMIT: Duration = Duration::from_millis(20);
const LISTINGS: usize = 200;

/// Measures both.
pub async fn measure(binary: &Path, load: Duration, table: &mut Table) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let plane = ControlPlane::start(binary, directory.path()).await?;
    table.memory("control plane resident, idle", memory_of(&plane)?, None);
    measure_events(&plane, load, table).await?;
    plane.kill().await?;
    write_loops(&directory.path().join("data/control-plane.db")).await?;
    let plane = ControlPlane::start(binary, directory.path()).await?;
    measure_list(&plane, table).await?;
    plane.kill().await
}

fn memory_of(plane: &ControlPlane) -> anyhow::Result<f64> {
    resident_memory(plane.pid().context("the control plane has ended")?)
}

/// The desktops, and the loops that report beside them.
async fn measure_events(plane: &ControlPlane, load: Duration, table: &mut Table) -> anyhow::Result<()> {
    let settings = json!({"maxConcurrentLoops": LOOPS});
    data(plane.request("PUT", "/organization/settings").json(&settings).send().await?).await?;
    plane.post("/repositories", json!({"fullName": "acme/shop"})).await?;
    let mut first = None;
    let begin = Instant::now();
    for number in 0..DESKTOPS {
        let (name, delay) = (format!("bench-{number}"), SPREAD.mul_f64(number as f64 / DESKTOPS as f64));
        let desktop = plane.connect_desktop(&name, delay).await.with_context(|| name)?;
        first.get_or_insert(desktop);
    }
    table.plain("1,000 desktops claim a key and connect", format!("{:.1?}", begin.elapsed()));
    table.memory("control plane resident, 1,000 desktops", memory_of(plane)?, None);

    let mut desktop = first.context("no desktop is connected")?;
    let mut runners = Vec::with_capacity(LOOPS);
    for number in 0..LOOPS {
        let made = plane.plan(&mut desktop, "acme/shop", &format!("Wish {number}")).await?;
        runners.push((plane.url(&format!("/loops/{}/events", made.id)), made.token));
    }
    let client = Client::new();
    for (url, token) in &runners {
        report(&client, url, token, json!({"type": "started"})).await?;
    }
    let bare =
        bare::serve(bytes::Bytes::from_static(b"{\"success\":true,\"data\":{\"received\":true}}")).await?;
    let floor = async { pulse::p99(bare.url.clone(), load).await };
    let reports = runners.iter().enumerate().map(|(number, (url, token))| {
        // They do not all report at the same instant.
        let offset = PACE.mul_f64(number as f64 / LOOPS as f64);
        report_for(&client, url, token, offset, load)
    });
    let (times, floor) = tokio::join!(futures_util::future::try_join_all(reports), floor);
    let mut times: Vec<Duration> = times?.into_iter().flatten().collect();
    times.sort_unstable();
    let floor = floor?;
    let percentile = |hundredths: usize| times.get(times.len() * hundredths / 100).copied();
    let (p50, p99) = (percentile(50).context("no event")?, percentile(99).context("no event")?);
    let rate = times.len() as f64 / load.as_secs_f64();
    table.plain("events of loops beside 1,000 desktops, per second", format!("{rate:.0}"));
    table.latency("  event stored, p50 (floor: bare server's p99)", p50, floor);
    table.time("  event stored, p99", p99, EVENT_LIMIT);
    table.memory("control plane resident after them", memory_of(plane)?, None);
    Ok(())
}

async fn report(client: &Client, url: &str, token: &str, event: Value) -> anyhow::Result<()> {
    let request =
        client.post(url).bearer_auth(token).header("x-loop-event-nonce", Uuid::new_v4().to_string());
    data(request.json(&event).send().await?).await.map(drop)
}

/// Reports at the pace for a while. Each time is counted from the moment when the report was due.
async fn report_for(
    client: &Client,
    url: &str,
    token: &str,
    offset: Duration,
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let begin = Instant::now() + offset;
    let mut times = Vec::new();
    for number in 0.. {
        let due = begin + PACE * number;
        if due >= begin + time {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        report(client, url, token, json!({"type": "output", "chunk": format!("Line {number} of a loop.\n")}))
            .await?;
        times.push(due.elapsed());
    }
    Ok(times)
}

/// Loops that ended, each like one that is there.
async fn write_loops(file: &Path) -> anyhow::Result<()> {
    let db = Database::connect(format!("sqlite://{}", file.display())).await?;
    let columns = Statement::from_string(DbBackend::Sqlite, "PRAGMA table_info(loops)");
    let columns = db.query_all_raw(columns).await?;
    let columns: Vec<String> = columns.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    let values = columns.iter().map(|column| match column.as_str() {
        "id" => "randomblob(16)",
        "status" => "'COMPLETED'",
        // Older than the row that they are made from.
        "created_at" | "updated_at" => "created_at - n",
        other => other,
    });
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {LISTED}) \
         INSERT INTO loops ({}) SELECT {} FROM (SELECT * FROM loops LIMIT 1), numbers",
        columns.join(", "),
        values.collect::<Vec<_>>().join(", ")
    );
    db.execute_unprepared(&sql).await?;
    db.close().await?;
    Ok(())
}

async fn measure_list(plane: &ControlPlane, table: &mut Table) -> anyhow::Result<()> {
    let mut last = Value::Null;
    for (name, path) in [
        ("GET /loops of 100,000", "/loops"),
        ("GET /loops, 200 of them", "/loops?limit=200"),
        ("GET /loops by status and command", "/loops?status=COMPLETED&command=PLAN"),
        ("GET /loops, the page after 50,000", "/loops?offset=50000"),
        ("GET /loops, the page after a loop", "/loops?after={}"),
    ] {
        let path = path.replace("{}", last.as_str().unwrap_or_default());
        let mut times = Vec::with_capacity(LISTINGS);
        for _ in 0..LISTINGS {
            let begin = Instant::now();
            let mut listed = data(plane.request("GET", &path).send().await?).await?;
            times.push(begin.elapsed());
            let rows = listed.as_array_mut().context("loops")?;
            ensure!(rows.len() >= 50, "{path} listed {} loops", rows.len());
            last = rows.pop().map_or(Value::Null, |mut row| row["id"].take());
        }
        times.sort_unstable();
        let p99 = times.get(LISTINGS * 99 / 100).copied().context("no answer")?;
        table.time(&format!("{name}, p99"), p99, LIST_LIMIT);
    }
    Ok(())
}
