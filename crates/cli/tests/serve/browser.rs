//! The page in a real browser: Debian's chromium, through its driver. Where these are missing the
//! test says so and passes. With `HOMING_SCREENSHOTS` set to a folder, pictures of the page go
//! there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{DOMAIN, Served, problem};

/// A browser, ended when dropped.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// `None` where there is no browser.
    fn new(dark: bool, width: u32) -> Option<Self> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let stdout = BufReader::new(driver.stdout.take()?);
        let port = stdout.lines().map_while(Result::ok).find_map(|line| {
            let rest = line
                .split("successfully on port ")
                .nth(1)?
                .trim_end_matches('.')
                .to_owned();
            rest.parse().ok()
        })?;
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
        };
        let size = format!("--window-size={width},900");
        let mut arguments = vec![
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            // Nothing but this machine has an address.
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost",
            &size,
        ];
        if dark {
            arguments.push("--blink-settings=preferredColorScheme=0");
        }
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.ask("POST", "/session", &wanted);
        // A driver without its browser.
        browser.session = session["sessionId"].as_str()?.to_owned();
        Some(browser)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a driver");
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .expect("a limit");
        let body = body.to_string();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).expect("it reads");
        // The driver keeps the connection open: its reply is as long as it says.
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let body = String::from_utf8_lossy(&body).into_owned();
        let mut value: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
        value["value"].take()
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{path}", self.session), body)
    }

    fn script(&self, text: &str) -> Value {
        let value = self.command("execute/sync", &json!({"script": text, "args": []}));
        assert!(value["error"].is_null(), "{text}: {value}");
        value
    }

    /// Waits until an expression is true.
    fn until(&self, expression: &str) {
        let end = Instant::now() + Duration::from_secs(90);
        while self.script(&format!("return Boolean({expression})")) != true {
            let status = "return document.querySelector('section:not([hidden])').innerText";
            assert!(
                Instant::now() < end,
                "{expression}: {}",
                self.script(status)
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn click(&self, id: &str) {
        self.script(&format!("document.getElementById('{id}').click()"));
    }

    fn choose(&self, id: &str, value: &str) {
        self.script(&format!(
            "const e = document.getElementById('{id}'); e.value = {}; \
             e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input'))",
            json!(value)
        ));
    }

    fn tab(&self, name: &str) {
        self.script(&format!(
            "[...document.querySelectorAll('nav button')].find(b => b.textContent === '{name}').click()"
        ));
    }

    /// Presses keys where the focus is.
    fn keys(&self, selector: &str, text: &str) {
        let found = self.command(
            "element",
            &json!({"using": "css selector", "value": selector}),
        );
        let id = found
            .as_object()
            .and_then(|map| map.values().next()?.as_str())
            .expect("an element");
        self.command(&format!("element/{id}/value"), &json!({"text": text}));
    }

    fn picture(&self, name: &str) {
        let Ok(folder) = std::env::var("HOMING_SCREENSHOTS") else {
            return;
        };
        let path = format!("/session/{}/screenshot", self.session);
        let data = self.ask("GET", &path, &json!({}));
        let bytes = base64(data.as_str().expect("a picture"));
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).expect("written");
    }

    /// Nothing went wrong, and nothing was asked of another machine.
    fn is_clean(&self, served: &Served) {
        let log = self.command("se/log", &json!({"type": "browser"}));
        let severe = log
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| one["level"] == "SEVERE");
        assert_eq!(severe.count(), 0, "{log}");
        let own = format!("http://localhost:{}/", served.port);
        let asked = self.script("return performance.getEntriesByType('resource').map(e => e.name)");
        for name in asked.as_array().into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            assert!(
                name.starts_with(&own) || name.starts_with("data:"),
                "{name}"
            );
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            self.ask("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text
        .bytes()
        .filter(|&byte| byte != b'=')
        .map(digit)
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let number = group
            .iter()
            .fold(0u32, |sum, &digit| sum << 6 | u32::from(digit));
        let number = number << (6 * (4 - group.len()));
        bytes.extend_from_slice(&number.to_be_bytes()[1..group.len()]);
    }
    bytes
}

const STATUS: &str = "document.getElementById('status').textContent";

/// `None`, with a message, where there is no browser.
fn browser(dark: bool, width: u32) -> Option<Browser> {
    let browser = Browser::new(dark, width);
    if browser.is_none() {
        eprintln!("skipped: there is no chromium with chromedriver here");
    }
    browser
}

fn open(dark: bool, width: u32, served: &Served) -> Option<Browser> {
    let browser = browser(dark, width)?;
    browser.command(
        "url",
        &json!({"url": format!("http://localhost:{}/", served.port)}),
    );
    browser.until(&format!("{STATUS} === 'Nothing wrong.'"));
    Some(browser)
}

#[test]
fn the_page_marks_mistakes_solves_steps_and_cancels() {
    let served = Served::new(&["--jobs", "2"]);
    let Some(browser) = open(false, 1280, &served) else {
        return;
    };
    // A mistake, typed, is marked in place and told with line and column.
    browser.keys("#domain-editor textarea", "\u{e00f}(x)");
    browser.until("document.querySelector('#domain-editor mark')");
    let told =
        browser.script("return document.querySelector('#domain-editor .findings').innerText");
    assert!(
        told.as_str()
            .is_some_and(|text| text.contains("line ") && text.contains("column ")),
        "{told}"
    );
    browser.picture("mistake.png");
    browser.choose("example", "visitall");
    browser.until(&format!("{STATUS} === 'Nothing wrong.'"));
    assert_eq!(
        browser.script("return document.querySelectorAll('mark').length"),
        0
    );

    // A plan to step through, with the keyboard; a grid, since the places form one.
    browser.click("solve");
    browser.until("!document.getElementById('tab-plan').hidden");
    let step = "document.getElementById('step-text').textContent";
    browser.until(&format!("{step}.startsWith('0 of ')"));
    assert_eq!(browser.script("return document.activeElement.id"), "steps");
    browser.keys("#steps", &"\u{e014}".repeat(20));
    browser.until(&format!("{step}.startsWith('20 of ')"));
    let cells = "return document.querySelectorAll('#drawing svg rect').length";
    assert!(
        browser
            .script(cells)
            .as_u64()
            .is_some_and(|cells| cells >= 30)
    );
    browser.picture("grid.png");
    browser.keys("#steps", "\u{e010}");
    browser.until("document.querySelectorAll('.goal-not').length === 0");

    // A graph that stays put.
    browser.choose("example", "logistics");
    browser.tab("Model");
    browser.until(&format!("{STATUS} === 'Nothing wrong.'"));
    browser.click("solve");
    browser.until("document.getElementById('plan-note').textContent.startsWith('logistics')");
    let places = "return [...document.querySelectorAll('.thing')].map(g => g.getAttribute('transform')).join()";
    let before = browser.script(places);
    browser.keys("#steps", "\u{e014}\u{e014}");
    browser.until(&format!("{step}.startsWith('2 of ')"));
    assert_eq!(browser.script(places), before);
    assert!(before.as_str().is_some_and(|text| text.len() > 100));
    browser.picture("plan.png");

    // What takes too long can be cancelled, and stops.
    browser.tab("Model");
    browser.choose("search", "astar");
    browser.choose("heuristic", "blind");
    for (editor, text) in [("domain", DOMAIN.to_owned()), ("problem", problem(40))] {
        browser.script(&format!(
            "const e = document.querySelector('#{editor}-editor textarea'); e.value = {}; \
             e.dispatchEvent(new Event('input'))",
            json!(text)
        ));
    }
    browser.until(&format!("{STATUS} === 'Nothing wrong.'"));
    browser.click("solve");
    browser.until(&format!("{STATUS}.includes('searching')"));
    browser.click("cancel");
    browser.until(&format!("{STATUS} === 'Cancelled.'"));
    assert!(served.until(10, |served| served.children() == 0));
    browser.is_clean(&served);
}

#[test]
fn the_page_compares_h_and_the_learned_h_and_trains() {
    let served = Served::new(&["--jobs", "2"]);
    let Some(browser) = open(true, 1280, &served) else {
        return;
    };
    browser.choose("example", "blocks");
    browser.until(&format!("{STATUS} === 'Nothing wrong.'"));
    browser.tab("Search");
    browser.click("race");
    browser.until("/good|bad/.test(document.getElementById('race-status').className)");
    let told = browser.script("return document.getElementById('race-status').textContent");
    let told = told.as_str().expect("text").to_owned();
    assert_eq!(told.matches("plan of ").count(), 2, "{told}");
    assert_eq!(
        browser.script("return document.querySelectorAll('.race canvas').length"),
        4
    );
    let drawn = "const c = document.querySelector('.race canvas'); \
                 return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(x => x > 0)";
    assert_eq!(browser.script(drawn), true);
    browser.picture("search.png");

    browser.tab("Train");
    browser.choose("train-steps", "200");
    browser.choose("count", "5");
    browser.click("train");
    browser.until("document.querySelector('#curve canvas')");
    browser.until("/good|bad/.test(document.getElementById('train-status').className)");
    let told = browser.script("return document.getElementById('train-status').textContent");
    assert!(
        told.as_str()
            .is_some_and(|text| text.starts_with("Trained: trained-1")),
        "{told}"
    );
    browser.picture("train.png");
    browser.choose("learner", "counts");
    browser.click("train");
    browser.until(
        "document.getElementById('train-status').textContent.startsWith('Trained: trained-2')",
    );

    browser.tab("Models");
    browser.until("document.getElementById('model-text').innerText.includes('What weighs most')");
    // Every model has a curve and a coverage, those that ship too.
    let last = "return [...document.getElementById('model-page').options].at(-1).value";
    let shipped = browser.script(last).as_str().expect("a name").to_owned();
    for name in ["trained-1", &shipped] {
        browser.script("document.getElementById('model-text').replaceChildren()");
        browser.choose("model-page", name);
        browser.until("document.querySelector('#model-text table')");
        assert_eq!(
            browser.script("return Boolean(document.querySelector('#model-text canvas'))"),
            true,
            "{name}"
        );
        let told = browser.script("return document.getElementById('model-text').innerText");
        assert!(
            told.as_str().is_some_and(|text| text.contains("coverage")),
            "{told}"
        );
    }
    browser.picture("model.png");
    browser.is_clean(&served);
}

#[test]
fn a_narrow_screen_shows_everything() {
    let served = Served::new(&[]);
    let Some(browser) = open(false, 500, &served) else {
        return;
    };
    for name in ["Model", "Plan", "Search", "Train", "Models"] {
        browser.tab(name);
        let beyond =
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.script(beyond), 0, "{name}");
    }
    browser.tab("Model");
    browser.picture("narrow.png");
    browser.is_clean(&served);
}

/// Pages of `homing view` need no server.
#[test]
fn a_page_without_a_server_shows_its_pictures() {
    let Some(browser) = browser(false, 1280) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("domain.pddl"), DOMAIN).expect("written");
    std::fs::write(folder.path().join("p.pddl"), problem(3)).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_homing"))
        .args(["view", "p.pddl"])
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let page = folder.path().join("view.html");
    browser.command("url", &json!({"url": format!("file://{}", page.display())}));
    browser.until("document.querySelectorAll('#steps li').length > 3");
    browser.tab("Search");
    browser.until("document.querySelectorAll('.race canvas').length >= 2");
    let log = browser.command("se/log", &json!({"type": "browser"}));
    let severe = log
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| one["level"] == "SEVERE");
    assert_eq!(severe.count(), 0, "{log}");
}

/// Pages of records: every canvas is drawn on, nothing is wider than the screen, and nothing fails.
#[test]
fn records_are_drawn_in_light_and_dark_and_on_narrow_screens() {
    let folder = super::view::recorded();
    let pages = [
        ("runs", &["results"][..], &["Records", "Train"][..]),
        (
            "solves",
            &["p.pddl", "ff.json", "anytime.json"],
            &["Records", "Plan", "Search"],
        ),
    ];
    for (name, files, _) in pages {
        let output = Command::new(env!("CARGO_BIN_EXE_homing"))
            .args(["view", "--out", &format!("{name}.html")])
            .args(files)
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
    for (look, dark, width) in [
        ("light", false, 1280),
        ("dark", true, 1280),
        ("narrow", false, 500),
    ] {
        let Some(browser) = browser(dark, width) else {
            return;
        };
        for (name, _, tabs) in pages {
            let page = folder.path().join(format!("{name}.html"));
            browser.command("url", &json!({"url": format!("file://{}", page.display())}));
            browser.until("document.querySelector('nav button')");
            let found = browser.script(
                "return [...document.querySelectorAll('nav button')].map(b => b.textContent)",
            );
            assert_eq!(found, json!(tabs));
            for tab in tabs {
                browser.tab(tab);
                std::thread::sleep(Duration::from_millis(300));
                let beyond =
                    "const e = document.documentElement; return e.scrollWidth - e.clientWidth";
                assert_eq!(browser.script(beyond), 0, "{name} {tab} {look}");
                let empty = "return [...document.querySelectorAll('section:not([hidden]) canvas')] \
                             .filter(c => !c.getContext('2d').getImageData(0, 0, c.width, c.height) \
                             .data.some(x => x > 0)).length";
                assert_eq!(browser.script(empty), 0, "{name} {tab} {look}");
                browser.picture(&format!("{name}-{}-{look}.png", tab.to_lowercase()));
            }
            let log = browser.command("se/log", &json!({"type": "browser"}));
            let severe = log.as_array().into_iter().flatten();
            assert_eq!(
                severe.filter(|one| one["level"] == "SEVERE").count(),
                0,
                "{log}"
            );
        }
    }
}
