// Small helpers, and the one way to the server.

const at = (id) => document.getElementById(id);

/** An element with attributes and children; texts are texts, never HTML. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A colour of the style sheet. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const COLOURS = ["c0", "c1", "c2", "c3", "c4", "c5", "c6"];
const DASHES = ["", "6 3", "2 3", "9 3 2 3", "1 4", "12 4"];

function choose(select, options, value) {
  select.replaceChildren(...options.map(([key, text]) => make("option", { value: key }, text)));
  if (value != null) select.value = value;
}

function say(id, text, kind = "") {
  const place = at(id);
  place.textContent = text;
  place.className = kind;
}

/** What was said about a failure, in one text. */
class Failed extends Error {
  constructor(message, diagnostics = []) {
    super(message);
    this.diagnostics = diagnostics;
  }
}

/**
 * Asks the server for work. `each` is told every event on the way; the result of the last one is
 * returned. Breaking off, by the signal, ends the work.
 */
async function work(job, each = () => {}, signal = undefined) {
  const reply = await fetch("/work", {
    method: "POST", body: JSON.stringify(job), headers: { "Content-Type": "application/json" }, signal,
  });
  if (!reply.ok) {
    const body = await reply.json().catch(() => ({}));
    throw new Failed(body.Error || `the server answers ${reply.status}`);
  }
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Failed("the server has ended");
    rest += value;
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.event === "done") return event.result;
      if (event.event === "failed") throw new Failed(event.message, event.diagnostics);
      each(event);
    }
  }
}

/** A button that begins work, one that cancels it, and where it says how far it is. */
function task(begin, cancel, status, body) {
  let control = null;
  const run = async () => {
    if (control) return;
    control = new AbortController();
    at(begin).disabled = true;
    at(cancel).disabled = false;
    try {
      await body(control.signal);
    } catch (error) {
      if (error.name === "AbortError") say(status, "Cancelled.", "warn");
      else say(status, error.message, "bad");
    } finally {
      control = null;
      at(begin).disabled = false;
      at(cancel).disabled = true;
    }
  };
  at(begin).addEventListener("click", run);
  at(cancel).addEventListener("click", () => control?.abort());
  return { run, cancel: () => control?.abort() };
}

/** What an event on the way says to a person. */
function words(event) {
  if (event.event === "queued") return `waiting, ${event.ahead} ahead`;
  if (event.event === "progress") {
    return event.text + (event.best != null ? `, best h ${event.best}` : "");
  }
  return event.text;
}
