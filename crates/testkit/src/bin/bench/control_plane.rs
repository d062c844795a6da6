//! Measures a control plane on SQLite: events of loops while a thousand desktops are connected, and lists of
//! a hundred thousand loops.
//!
//! Desktops are simulated WebSocket clients; all loops are dispatched to the first one. The baseline is a
//! bare server under the same load.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use loopgate_testkit::control_plane::{TestControlPlane, data};
use reqwest::Client;
use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::bare;
use crate::gateway::resident_memory;
use crate::pulse;
use crate::table::Table;

const DESKTOPS: usize = 1_000;
/// The control plane's limit.
const DESKTOPS_OF_PERSON: usize = 100;
/// Number of loops that report events, and the interval of their reports.
const LOOPS: usize = 20;
const PACE: Duration = Duration::from_millis(100);
/// The desktops' presence messages are spread over this time.
const SPREAD: Duration = Duration::from_secs(30);
const EVENT_LIMIT: Duration = Duration::from_millis(50);
const STORED_LOOPS: usize = 100_000;
const LIST_LIMIT: Duration = Duration::from_millis(20);
const LISTINGS: usize = 200;

/// Measures events, then lists.
pub async fn measure(binary: &Path, load: Duration, table: &mut Table) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let plane = TestControlPlane::start(binary, directory.path()).await?;
    table.memory("control plane resident, idle", memory_of(&plane)?, None);
    measure_events(&plane, load, table).await?;
    plane.kill().await?;
    write_loops(&directory.path().join("data/control-plane.db")).await?;
    let plane = TestControlPlane::start(binary, directory.path()).await?;
    measure_list(&plane, table).await?;
    plane.kill().await
}

fn memory_of(plane: &TestControlPlane) -> anyhow::Result<f64> {
    resident_memory(plane.pid().context("the control plane has exited")?)
}

/// Measures the latency of loop events while the desktops are connected.
async fn measure_events(plane: &TestControlPlane, load: Duration, table: &mut Table) -> anyhow::Result<()> {
    let settings = json!({"maxConcurrentLoops": LOOPS});
    data(plane.request("PUT", "/organization/settings").json(&settings).send().await?).await?;
    plane.post("/repositories", json!({"fullName": "acme/shop"})).await?;
    let mut first = None;
    let begin = Instant::now();
    let mut person = plane.session().clone();
    for number in 0..DESKTOPS {
        if number > 0 && number % DESKTOPS_OF_PERSON == 0 {
            person = plane.add_member(&format!("member-{number}@example.org")).await?;
        }
        let (name, delay) = (format!("bench-{number}"), SPREAD.mul_f64(number as f64 / DESKTOPS as f64));
        let desktop = plane.connect_desktop_of(&person, &name, delay).await.with_context(|| name)?;
        first.get_or_insert(desktop);
    }
    table.plain("1,000 desktops create a key and connect", format!("{:.1?}", begin.elapsed()));
    table.memory("control plane resident, 1,000 desktops", memory_of(plane)?, None);

    let mut desktop = first.context("no desktop is connected")?;
    let mut runners = Vec::with_capacity(LOOPS);
    for number in 0..LOOPS {
        let runner = plane.plan(&mut desktop, "acme/shop", &format!("Request {number}")).await?;
        runners.push((plane.url(&format!("/loops/{}/events", runner.id)), runner.token));
    }
    let client = loopgate_http_client::builder().build()?;
    for (url, token) in &runners {
        report(&client, url, token, json!({"type": "started"})).await?;
    }
    let bare =
        bare::serve(bytes::Bytes::from_static(b"{\"success\":true,\"data\":{\"received\":true}}")).await?;
    let floor = async { pulse::p99(bare.url.clone(), load).await };
    let reports = runners.iter().enumerate().map(|(number, (url, token))| {
        // Offsets spread the reports evenly over the interval.
        let offset = PACE.mul_f64(number as f64 / LOOPS as f64);
        report_for(&client, url, token, offset, load)
    });
    let (times, floor) = tokio::join!(futures_util::future::try_join_all(reports), floor);
    // The baseline runs at the same time, so that it sees the same load.
    let mut times: Vec<Duration> = times?.into_iter().flatten().collect();
    times.sort_unstable();
    let floor = floor?;
    let percentile = |hundredths: usize| times.get(times.len() * hundredths / 100).copied();
    let (p50, p99) = (
        percentile(50).context("no events were reported")?,
        percentile(99).context("no events were reported")?,
    );
    let rate = times.len() as f64 / load.as_secs_f64();
    table.plain("loop events with 1,000 desktops, per second", format!("{rate:.0}"));
    table.latency("  event stored, p50 (floor: bare server's p99)", p50, floor);
    table.time("  event stored, p99", p99, EVENT_LIMIT);
    table.memory("control plane resident after the events", memory_of(plane)?, None);
    Ok(())
}

async fn report(client: &Client, url: &str, token: &str, event: Value) -> anyhow::Result<()> {
    let request =
        client.post(url).bearer_auth(token).header("x-loop-event-nonce", Uuid::new_v4().to_string());
    data(request.json(&event).send().await?).await.map(drop)
}

/// Sends a report in each interval. Latency is measured from the due time, so that a delayed report counts
/// its delay (no coordinated omission).
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

/// Inserts finished loops, which are copies of an existing row.
async fn write_loops(file: &Path) -> anyhow::Result<()> {
    let db = Database::connect(format!("sqlite://{}", file.display())).await?;
    let columns = Statement::from_string(DbBackend::Sqlite, "PRAGMA table_info(loops)");
    let columns = db.query_all_raw(columns).await?;
    let columns: Vec<String> = columns.iter().map(|row| row.try_get("", "name")).collect::<Result<_, _>>()?;
    let values = columns.iter().map(|column| match column.as_str() {
        // Ids are stored as 16 bytes.
        "id" => "randomblob(16)",
        "status" => "'COMPLETED'",
        // Distinct timestamps, all before that of the copied row.
        "created_at" | "updated_at" => "created_at - n",
        other => other,
    });
    let sql = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {STORED_LOOPS}) \
         INSERT INTO loops ({}) SELECT {} FROM (SELECT * FROM loops LIMIT 1), numbers",
        columns.join(", "),
        values.collect::<Vec<_>>().join(", ")
    );
    db.execute_unprepared(&sql).await?;
    db.close().await?;
    Ok(())
}

async fn measure_list(plane: &TestControlPlane, table: &mut Table) -> anyhow::Result<()> {
    let mut last = Value::Null;
    for (name, path) in [
        ("GET /loops of 100,000", "/loops"),
        ("GET /loops, 200 of them", "/loops?limit=200"),
        ("GET /loops by status and command", "/loops?status=COMPLETED&command=PLAN"),
        ("GET /loops, the page after 50,000", "/loops?offset=50000"),
        ("GET /loops, the page after a loop", "/loops?after={}"),
    ] {
        // The last query continues after the last row of the previous one.
        let path = path.replace("{}", last.as_str().unwrap_or_default());
        let mut times = Vec::with_capacity(LISTINGS);
        for _ in 0..LISTINGS {
            let begin = Instant::now();
            let mut loops = data(plane.request("GET", &path).send().await?).await?;
            times.push(begin.elapsed());
            let rows = loops.as_array_mut().context("the response is not an array")?;
            ensure!(rows.len() >= 50, "{path} returned {} loops", rows.len());
            last = rows.pop().map_or(Value::Null, |mut row| row["id"].take());
        }
        times.sort_unstable();
        let p99 = times.get(LISTINGS * 99 / 100).copied().context("no samples")?;
        table.time(&format!("{name}, p99"), p99, LIST_LIMIT);
    }
    Ok(())
}
