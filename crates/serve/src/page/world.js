// A plan to step through, with the state after each step: as a graph that stays put, or as a grid.

/** What is true after each step, as sets of facts; a fact is ["predicate", object, ...]. */
function statesOf(replay) {
  const states = [];
  let now = new Map();
  for (const { add, del } of replay.states) {
    now = new Map(now);
    del.forEach((fact) => now.delete(fact.join(" ")));
    add.forEach((fact) => now.set(fact.join(" "), fact));
    states.push(now);
  }
  return states;
}

/** Facts of predicates that never change. */
function fixedFacts(replay, states) {
  const changing = new Set(replay.states.slice(1).flatMap(({ add, del }) => [...add, ...del].map((fact) => fact[0])));
  return new Map([...states[0]].filter(([, fact]) => !changing.has(fact[0])));
}

const MOST_NODES = 120;
const MOST_CELLS = 2500;

/**
 * Places in a grid: objects with two numbers in their names, next to each other in the names
 * exactly if a fact that never changes joins them. Null if there is no such thing.
 */
function findGrid(replay, fixed) {
  const cells = new Map();
  replay.objects.forEach((object, index) => {
    const found = /^\D*?(\d+)\D+?(\d+)\D*$/.exec(object.name);
    // Rows, then columns; but a name such as loc-x1-y2 says the column first.
    const pair = found && [Number(found[1]), Number(found[2])];
    if (found) cells.set(index, /x\d+.*y\d+/i.test(object.name) ? pair.reverse() : pair);
  });
  if (cells.size < 4) return null;
  let near = 0;
  let far = 0;
  const touched = new Set();
  const spots = new Set([...cells.values()].map((cell) => cell.join()));
  if (spots.size !== cells.size) return null;
  for (const fact of fixed.values()) {
    const places = fact.slice(1).filter((object) => cells.has(object));
    if (places.length !== 2) continue;
    const [[a, b], [c, d]] = places.map((object) => cells.get(object));
    if (Math.abs(a - c) + Math.abs(b - d) === 1) { near += 1; places.forEach((one) => touched.add(one)); } else far += 1;
  }
  if (near < cells.size / 2 || far > near / 4) return null;
  for (const index of [...cells.keys()]) if (!touched.has(index)) cells.delete(index);
  const rows = [...new Set([...cells.values()].map((cell) => cell[0]))].sort((x, y) => x - y);
  const columns = [...new Set([...cells.values()].map((cell) => cell[1]))].sort((x, y) => x - y);
  if (rows.length * columns.length > MOST_CELLS) return null;
  return { cells, rows, columns };
}

/** Places for the objects: drawn together by all facts of all states, so that they never move. */
function layout(replay, states) {
  const count = replay.objects.length;
  const joined = new Map();
  const weigh = (facts, weight) => {
    for (const fact of facts) {
      for (let i = 1; i < fact.length; i += 1) {
        for (let j = i + 1; j < fact.length; j += 1) {
          const key = [Math.min(fact[i], fact[j]), Math.max(fact[i], fact[j])].join();
          joined.set(key, (joined.get(key) || 0) + weight);
        }
      }
    }
  };
  states.forEach((state) => weigh(state.values(), 1 / states.length));
  weigh(replay.goal.map((goal) => goal.fact), 0.3);
  // Objects of a type begin side by side on a circle: the same plan gives the same picture.
  const order = replay.objects.map((_, index) => index)
    .sort((a, b) => replay.objects[a].type.localeCompare(replay.objects[b].type) || a - b);
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  order.forEach((object, index) => {
    const angle = (2 * Math.PI * index) / Math.max(1, count);
    x[object] = Math.cos(angle) * (1 + 0.001 * object);
    y[object] = Math.sin(angle);
  });
  const ideal = 1.6 / Math.sqrt(Math.max(1, count));
  const edges = [...joined].map(([key, weight]) => [...key.split(",").map(Number), Math.min(weight, 2)]);
  const rounds = count > 80 ? 150 : 300;
  for (let round = 0; round < rounds; round += 1) {
    const dx = new Float64Array(count);
    const dy = new Float64Array(count);
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) {
        const ex = x[a] - x[b];
        const ey = y[a] - y[b];
        const square = ex * ex + ey * ey + 1e-4;
        const push = (ideal * ideal) / square;
        dx[a] += ex * push; dy[a] += ey * push; dx[b] -= ex * push; dy[b] -= ey * push;
      }
      // Towards the middle, so that what hangs together with nothing stays near.
      dx[a] -= 0.5 * x[a]; dy[a] -= 0.5 * y[a];
    }
    for (const [a, b, weight] of edges) {
      const ex = x[a] - x[b];
      const ey = y[a] - y[b];
      const pull = (weight * Math.sqrt(ex * ex + ey * ey)) / ideal / 2;
      dx[a] -= ex * pull; dy[a] -= ey * pull; dx[b] += ex * pull; dy[b] += ey * pull;
    }
    const heat = 0.1 * (1 - round / rounds) + 0.002;
    for (let a = 0; a < count; a += 1) {
      const length = Math.hypot(dx[a], dy[a]) || 1;
      const step = Math.min(length, heat) / length;
      x[a] += dx[a] * step; y[a] += dy[a] * step;
    }
  }
  const [left, right, top, bottom] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const width = 900;
  const height = 560;
  const place = (value, low, high, size) => 60 + ((value - low) / (high - low || 1)) * (size - 120);
  return replay.objects.map((_, index) => [place(x[index], left, right, width), place(y[index], top, bottom, height)]);
}

/** The lines and marks of predicates: told apart by colour and by dashes. */
function styleOf(names) {
  return new Map(names.map((name, index) => [name, {
    colour: colour(COLOURS[index % COLOURS.length]), dash: DASHES[index % DASHES.length],
  }]));
}

function legend(styles, shown) {
  return make("div", { class: "legend" }, ...[...styles].filter(([name]) => shown.has(name)).map(([name, style]) => {
    const line = draw("line", { x1: 0, y1: 6, x2: 26, y2: 6, stroke: style.colour, "stroke-width": 3, "stroke-dasharray": style.dash });
    return make("span", {}, draw("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }, line), ` ${name}`);
  }));
}

/** A state as a graph. */
function drawGraph(scene, facts, active) {
  const { replay, places, styles } = scene;
  const marks = replay.objects.map(() => []);
  const groups = new Map();
  const plain = [];
  const shown = new Set();
  for (const fact of facts) {
    const [name, ...objects] = fact;
    if (objects.length === 0) plain.push(name);
    else if (objects.length === 1) marks[objects[0]].push(name);
    else {
      shown.add(name);
      for (let i = 1; i < objects.length; i += 1) {
        const key = `${objects[i - 1]} ${objects[i]}`;
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(name);
      }
    }
  }
  const svg = draw("svg", { viewBox: "0 0 900 560", role: "img", "aria-label": `State after step ${scene.step}` });
  const defs = draw("defs");
  for (const [name, style] of styles) {
    const id = `tip-${[...name].map((c) => c.charCodeAt(0).toString(36)).join("")}`;
    style.tip = id;
    defs.append(draw("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" }, draw("path", { d: "M0 0 8 4 0 8z", fill: style.colour })));
  }
  svg.append(defs);
  for (const [key, names] of groups) {
    const [a, b] = key.split(" ").map(Number);
    if (a === b) continue;
    names.forEach((name, index) => {
      const [ax, ay] = places[a];
      const [bx, by] = places[b];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
      const bend = 14 + 16 * index;
      const middle = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
      const end = [bx - ux * 17, by - uy * 17];
      const style = styles.get(name);
      svg.append(draw("path", {
        d: `M${ax} ${ay}Q${middle[0]} ${middle[1]} ${end[0]} ${end[1]}`, fill: "none", stroke: style.colour,
        "stroke-width": active.has(a) && active.has(b) ? 3.5 : 2, "stroke-dasharray": style.dash, "marker-end": `url(#${style.tip})`,
      }, draw("title", {}, document.createTextNode(`${name} ${replay.objects[a].name} ${replay.objects[b].name}`))));
    });
  }
  replay.objects.forEach((object, index) => {
    const [cx, cy] = places[index];
    const node = draw("g", { class: "thing", transform: `translate(${cx} ${cy})` });
    node.append(draw("circle", { r: 14, fill: colour("paper"), stroke: active.has(index) ? colour("c1") : colour("soft"), "stroke-width": active.has(index) ? 4 : 1.5 }));
    const name = draw("text", { "text-anchor": "middle", y: 4 });
    name.textContent = object.name.length > 5 ? "" : object.name;
    const below = draw("text", { "text-anchor": "middle", y: 27 });
    below.textContent = object.name.length > 5 ? object.name : "";
    const notes = draw("text", { "text-anchor": "middle", y: object.name.length > 5 ? 39 : 27, class: "soft" });
    notes.textContent = marks[index].join(", ");
    const title = draw("title");
    title.textContent = `${object.name} - ${object.type}${marks[index].length ? `: ${marks[index].join(", ")}` : ""}`;
    node.append(name, below, notes, title);
    svg.append(node);
  });
  const parts = [svg, legend(styles, shown)];
  if (plain.length) parts.push(make("p", {}, plain.map((name) => `(${name})`).join(" ")));
  return parts;
}

/** A state as a grid: what is at a cell stands in it, what is true of a cell shades it. */
function drawGrid(scene, facts, active) {
  const { replay, grid, styles } = scene;
  const size = Math.max(22, Math.min(70, 640 / Math.max(grid.rows.length, grid.columns.length)));
  const svg = draw("svg", { viewBox: `0 0 ${grid.columns.length * size + 4} ${grid.rows.length * size + 4}`, role: "img", "aria-label": `State after step ${scene.step}`, style: `max-width:${grid.columns.length * size + 4}px` });
  const here = new Map([...grid.cells.keys()].map((cell) => [cell, { marks: [], things: [] }]));
  const other = [];
  const shown = new Set();
  for (const fact of facts) {
    const cells = fact.slice(1).filter((object) => here.has(object));
    const things = fact.slice(1).filter((object) => !here.has(object));
    if (cells.length === 1) {
      if (things.length) here.get(cells[0]).things.push([fact[0], things]);
      else { here.get(cells[0]).marks.push(fact[0]); shown.add(fact[0]); }
    } else if (cells.length === 0) other.push(fact);
  }
  // What is true of one cell only says who is there, such as at-robot: by its name.
  const alone = new Map();
  for (const { marks } of here.values()) marks.forEach((name) => alone.set(name, (alone.get(name) || 0) + 1));
  for (const [cell, [row, column]] of grid.cells) {
    const [x, y] = [grid.columns.indexOf(column) * size + 2, grid.rows.indexOf(row) * size + 2];
    const { marks, things } = here.get(cell);
    const group = draw("g", {});
    group.append(draw("rect", { x, y, width: size, height: size, fill: colour("paper"), stroke: colour("line") }));
    marks.forEach((name, index) => {
      const inset = 2 + 3 * index;
      group.append(draw("rect", { x: x + inset, y: y + inset, width: size - 2 * inset, height: size - 2 * inset, fill: index === 0 ? styles.get(name).colour : "none", "fill-opacity": 0.22, stroke: styles.get(name).colour, "stroke-dasharray": styles.get(name).dash }));
    });
    const lines = things.flatMap(([name, objects]) => objects.map((object) => [name, object]));
    const texts = [...marks.filter((name) => alone.get(name) === 1).map((name) => [name, true]), ...lines.map(([, object]) => [replay.objects[object].name, active.has(object)])].slice(0, 3);
    texts.forEach(([content, bold], index) => {
      const text = draw("text", { x: x + size / 2, y: y + size / 2 + 4 + 13 * (index - (texts.length - 1) / 2), "text-anchor": "middle", "font-weight": bold ? 700 : 400, "font-size": size < 50 ? 9 : 12 });
      text.textContent = content;
      group.append(text);
    });
    const title = draw("title");
    title.textContent = [replay.objects[cell].name, ...marks, ...lines.map(([name, object]) => `${name} ${replay.objects[object].name}`)].join(", ");
    group.append(title);
    if (active.has(cell)) group.append(draw("rect", { x: x + 1, y: y + 1, width: size - 2, height: size - 2, fill: "none", stroke: colour("c1"), "stroke-width": 3 }));
    svg.append(group);
  }
  const text = other.map((fact) => showFact(replay, fact)).join(" ");
  return [svg, legend(styles, shown), make("p", { class: "small" }, text)];
}

const showFact = (replay, fact) => `(${[fact[0], ...fact.slice(1).map((object) => replay.objects[object].name)].join(" ")})`;

/** The plan's part of the page. */
function makePlan() {
  let scene = null;
  let timer = null;

  const stop = () => { clearInterval(timer); timer = null; at("play").textContent = "Play"; };

  const drawState = () => {
    const { replay, states, fixed, step } = scene;
    const state = states[step];
    const facts = [...state].filter(([key]) => at("fixed").checked || !fixed.has(key)).map(([, fact]) => fact);
    const change = replay.states[step];
    const named = step > 0 ? replay.steps[step - 1].replace(/[()]/g, "").split(" ").slice(1) : [];
    const active = new Set(replay.objects.map((object, index) => (named.includes(object.name) ? index : -1)).filter((index) => index >= 0));
    let view = at("view").value;
    if (view === "auto") view = scene.grid ? "grid" : replay.objects.length <= MOST_NODES ? "graph" : "facts";
    if (view === "grid" && !scene.grid) view = "graph";
    if (view === "graph" && !scene.places) scene.places = layout(replay, states);
    const drawn = view === "grid" ? drawGrid(scene, facts, active)
      : view === "graph" ? drawGraph(scene, facts, active)
        : [make("div", { class: "facts" }, ...facts.slice(0, 3000).map((fact) => make("div", {}, showFact(replay, fact))))];
    at("drawing").replaceChildren(...drawn);
    const goals = replay.goal.map(({ fact, positive }) => {
      const met = state.has(fact.join(" ")) === positive;
      const text = showFact(replay, fact);
      return make("span", { class: met ? "goal-met" : "goal-not" }, `${met ? "✓" : "·"} ${positive ? text : `(not ${text})`}  `);
    });
    const met = goals.filter((goal) => goal.className === "goal-met").length;
    const changes = step === 0 ? [] : [
      ...change.add.map((fact) => make("div", { class: "add" }, showFact(replay, fact))),
      ...change.del.map((fact) => make("div", { class: "del" }, showFact(replay, fact)))];
    at("changes").replaceChildren(...changes, make("p", {}, `Goal, ${met} of ${goals.length}: `, ...goals));
    at("step-text").textContent = `${step} of ${states.length - 1}`;
  };

  const go = (step) => {
    if (!scene) return;
    scene.step = Math.max(0, Math.min(step, scene.states.length - 1));
    for (const item of at("steps").children) item.removeAttribute("aria-current");
    const item = at("steps").children[scene.step];
    item?.setAttribute("aria-current", "step");
    item?.scrollIntoView({ block: "nearest" });
    drawState();
  };

  const show = (replay) => {
    stop();
    at("plan-note").textContent = replay.error ? `The plan does not hold: ${replay.error}` : `${replay.problem}: ${replay.steps.length} steps, cost ${replay.cost}.`;
    at("plan-note").className = replay.error ? "bad" : "";
    if (!replay.states?.length) return;
    const states = statesOf(replay);
    const fixed = fixedFacts(replay, states);
    // What changes and joins objects comes first: it gets the plainest lines.
    const facts = new Map(states.flatMap((state) => [...state].map(([key, fact]) => [fact[0], [fixed.has(key), fact.length < 3]])));
    const rank = (name) => facts.get(name).map(Number).join("");
    const names = [...facts.keys()].sort((a, b) => rank(a).localeCompare(rank(b)) || a.localeCompare(b));
    scene = { replay, states, fixed, grid: findGrid(replay, fixed), styles: styleOf(names), step: 0 };
    at("plan-bar").hidden = at("plan-parts").hidden = false;
    at("steps").replaceChildren(...["at first", ...replay.steps.slice(0, states.length - 1)].map((text, index) =>
      make("li", { onclick: () => go(index) }, index ? `${index}. ${text}` : text)));
    go(0);
  };

  at("first").addEventListener("click", () => go(0));
  at("back").addEventListener("click", () => go(scene.step - 1));
  at("next").addEventListener("click", () => go(scene.step + 1));
  at("last").addEventListener("click", () => go(Infinity));
  at("view").addEventListener("change", () => scene && drawState());
  at("fixed").addEventListener("change", () => scene && drawState());
  at("play").addEventListener("click", () => {
    if (timer) { stop(); return; }
    if (scene.step >= scene.states.length - 1) go(0);
    at("play").textContent = "Pause";
    timer = setInterval(() => { go(scene.step + 1); if (scene.step >= scene.states.length - 1) stop(); }, 700);
  });
  at("tab-plan").addEventListener("keydown", (event) => {
    if (!scene || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (move) go(scene.step + move);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(Infinity);
    else return;
    event.preventDefault();
  });
  return { show };
}
