// Searches as pictures that grow: states by depth and estimate, and the best estimate so far.

/** A canvas as sharp as the screen, with its brush; sizes are in CSS pixels. */
function canvas(height, label) {
  const element = make("canvas", { role: "img", "aria-label": label, style: `height:${height}px` });
  const ready = () => {
    const scale = window.devicePixelRatio || 1;
    const width = element.clientWidth || 500;
    element.width = width * scale;
    element.height = height * scale;
    const brush = element.getContext("2d");
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    brush.font = "12px system-ui, sans-serif";
    return { brush, width, height };
  };
  return { element, ready };
}

/** Round values for an axis. */
function ticks(low, high, count = 5) {
  const span = high - low || 1;
  const unit = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => span / n <= count) || unit * 10;
  const list = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) list.push(Number(value.toPrecision(6)));
  return list;
}

/** Powers of ten for an axis. */
function powers(low, high) {
  const list = [];
  for (let value = low; value <= high; value *= 10) list.push(value);
  return list;
}

/** A number that fits an axis. */
const short = (value) => (value >= 1e6 ? `${value / 1e6}M` : value >= 1e4 ? `${value / 1e3}k` : value.toLocaleString("en"));

/** The frame of a chart; where a pair of values stands in it. Axes may go by powers of ten. */
function frame({ brush, width, height }, [x0, x1], [y0, y1], xName, yName, [logX, logY] = [false, false]) {
  const [left, right, top, bottom] = [52, width - 12, 12, height - 32];
  const share = (value, low, high, log) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low || 1));
  const px = (x) => left + share(x, x0, x1, logX) * (right - left);
  const py = (y) => bottom - share(y, y0, y1, logY) * (bottom - top);
  brush.fillStyle = colour("soft");
  brush.strokeStyle = colour("line");
  brush.lineWidth = 1;
  brush.textAlign = "center";
  for (const x of logX ? powers(x0, x1) : ticks(x0, x1)) {
    const half = brush.measureText(short(x)).width / 2;
    brush.fillText(short(x), Math.min(px(x), width - half - 2), bottom + 14);
  }
  brush.textAlign = "right";
  for (const y of logY ? powers(y0, y1) : ticks(y0, y1)) {
    brush.fillText(short(y), left - 6, py(y) + 4);
    brush.beginPath(); brush.moveTo(left, py(y)); brush.lineTo(right, py(y)); brush.stroke();
  }
  brush.textAlign = "center";
  brush.fillText(xName, (left + right) / 2, bottom + 28);
  brush.save();
  brush.translate(12, (top + bottom) / 2);
  brush.rotate(-Math.PI / 2);
  brush.fillText(yName, 0, 0);
  brush.restore();
  return { px, py, left, right, top, bottom };
}

/** One search, as it grows. */
function makeRace(title, tone) {
  const map = canvas(260, `${title}: states by depth and estimate`);
  const line = canvas(150, `${title}: best estimate over evaluations`);
  const note = make("p", { class: "small" });
  const element = make("div", { class: "race" }, make("h2", {}, title), map.element, line.element, note);
  const cells = new Map();
  const best = [];
  const parents = new Map();
  const spots = new Map();
  let [count, deepest, high, low, dead, goal, scored] = [0, 1, 1, 0, 0, null, 0];
  let pending = false;

  const paint = () => {
    pending = false;
    const board = map.ready();
    const { px, py, left, right, top, bottom } = frame(board, [0, deepest], [low, high], "depth", scored || low < 0 ? "learned score" : "estimate");
    const most = Math.max(1, ...cells.values());
    board.brush.fillStyle = colour(tone);
    const wide = Math.max(3, Math.min(14, (right - left) / (deepest + 1) - 1));
    const tall = Math.max(3, Math.min(14, (bottom - top) / (high - low + 1) - 1));
    for (const [key, number] of cells) {
      const [depth, value] = key.split(" ").map(Number);
      board.brush.globalAlpha = 0.2 + 0.8 * Math.sqrt(number / most);
      board.brush.fillRect(px(depth) - wide / 2, py(value) - tall / 2, wide, tall);
    }
    board.brush.globalAlpha = 1;
    if (goal != null) {
      const brush = board.brush;
      brush.strokeStyle = colour("ink");
      brush.lineWidth = 2;
      brush.beginPath();
      for (let state = goal; state != null && state >= 0; state = parents.get(state)) {
        const spot = spots.get(state);
        if (spot) brush.lineTo(px(spot[0]), py(spot[1]));
      }
      brush.stroke();
      const [depth, value] = spots.get(goal);
      brush.fillStyle = colour("ink");
      brush.font = "16px system-ui, sans-serif";
      brush.textAlign = "center";
      brush.fillText("★", Math.min(px(depth), right - 1), Math.min(py(value), bottom) + 5);
      // Above the way to the goal, which comes from the left.
      brush.font = "13px system-ui, sans-serif";
      brush.textAlign = "right";
      brush.fillText("goal", right + 6, py(value) - 34 > top ? py(value) - 34 : py(value) + 20);
    }
    const strip = line.ready();
    const axes = frame(strip, [0, Math.max(10, count)], [low, high], "evaluations", "best so far");
    const brush = strip.brush;
    const ends = best.map((_, index) => (index + 1 < best.length ? best[index + 1][0] : count));
    const plateau = Math.max(20, count / 10);
    brush.fillStyle = colour("line");
    best.forEach(([at], index) => {
      if (ends[index] - at >= plateau) {
        brush.globalAlpha = 0.6;
        brush.fillRect(axes.px(at), axes.top, axes.px(ends[index]) - axes.px(at), axes.bottom - axes.top);
      }
    });
    brush.globalAlpha = 1;
    brush.strokeStyle = colour(tone);
    brush.lineWidth = 2.5;
    brush.beginPath();
    best.forEach(([at, value], index) => {
      if (index === 0) brush.moveTo(axes.px(at), axes.py(value));
      brush.lineTo(axes.px(at), axes.py(value));
      brush.lineTo(axes.px(ends[index]), axes.py(value));
    });
    brush.stroke();
    const longest = best.reduce((most, [at], index) => Math.max(most, ends[index] - at), 0);
    note.textContent = `${count.toLocaleString("en")} states looked at, ${dead.toLocaleString("en")} dead ends, deepest ${deepest}, longest plateau ${longest.toLocaleString("en")} evaluations.${goal != null ? " Goal reached." : ""}`;
  };
  const later = () => { if (!pending) { pending = true; requestAnimationFrame(paint); } };

  const add = (states) => {
    for (const [state, parent, kind, value, depth] of states) {
      if (!parents.has(state)) parents.set(state, parent);
      deepest = Math.max(deepest, depth);
      if (kind === "goal") {
        goal = state;
        const before = spots.get(parent);
        // Learned values may be below 0 all along: then the goal stands beside its parent.
        spots.set(state, [depth, low < 0 && before ? before[1] : 0]);
        continue;
      }
      count += 1;
      if (kind === "dead") { dead += 1; continue; }
      // A lazy search with a model has both kinds: the learned ones are shown, on their own scale.
      if (kind === "score" && !scored) { cells.clear(); spots.clear(); best.length = 0; }
      if (kind === "score") scored += 1;
      else if (scored) continue;
      const first = !spots.size;
      spots.set(state, [depth, value]);
      // On a fine raster: learned estimates are no whole numbers.
      const coarse = Math.abs(value) > 1000 ? Math.round(value / 100) * 100 : Math.round(value * 4) / 4;
      const key = `${depth} ${coarse}`;
      cells.set(key, (cells.get(key) || 0) + 1);
      if (first) { high = value; low = Math.min(0, value); }
      high = Math.max(high, value);
      low = Math.min(low, value);
      if (!best.length || value < best[best.length - 1][1]) best.push([count, value]);
    }
    later();
  };
  paint();
  return { element, add, paint: later };
}

/** The part of the page where h and H run on the same problem. */
function makeRaces(editors) {
  let shown = [];
  window.addEventListener("resize", () => shown.forEach((race) => race.paint()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown.forEach((race) => race.paint()));

  const show = (races) => { shown = races; at("races").replaceChildren(...races.map((race) => race.element)); races.forEach((race) => race.paint()); };

  const run = task("race", "race-cancel", "race-status", async (signal) => {
    const search = at("race-search").value;
    const evaluations = Number(at("evaluations").value);
    const sides = [["left-h", "c0", "h"], ["right-h", "c1", "H"]].map(([id, tone, letter]) => {
      const [kind, ...rest] = at(id).value.split(":");
      const name = rest.join(":");
      return { job: kind === "model" ? { model: name } : { heuristic: name }, name, race: null, tone, title: `${letter}: ${at(id).selectedOptions[0].textContent}` };
    });
    sides.forEach((side) => { side.race = makeRace(side.title, side.tone); });
    show(sides.map((side) => side.race));
    const said = ["", ""];
    const tell = () => say("race-status", sides.map((side, index) => `${side.title}: ${said[index]}`).join("\n"));
    const results = await Promise.allSettled(sides.map(async (side, index) => {
      const job = { job: "solve", trace: true, domain: editors.domain.value, problem: editors.problem.value, search, max_evaluations: evaluations, time_limit: Number(at("seconds").value), ...side.job };
      const result = await work(job, (event) => {
        if (event.event === "states") side.race.add(event.states);
        else { said[index] = words(event); tell(); }
      }, signal);
      const end = result.plan ? `plan of ${result.plan_length} steps` : `no plan (${result.outcome})`;
      said[index] = `${end}, ${result.evaluations.toLocaleString("en")} evaluations, ${result.search_seconds.toFixed(2)} s`;
      tell();
    }));
    const failed = results.filter((result) => result.status === "rejected").map((result) => result.reason);
    if (failed.some((error) => error.name === "AbortError")) throw failed.find((error) => error.name === "AbortError");
    results.forEach((result, index) => { if (result.status === "rejected") said[index] = result.reason.message; });
    tell();
    at("race-status").className = failed.length ? "bad" : "good";
  });
  return { show, run };
}
