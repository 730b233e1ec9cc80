// What was recorded: searches beside one another, runs on many problems, trainings.

const median = (list) => { const sorted = [...list].sort((a, b) => a - b); return sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : null; };
/** The greatest of a list, which may be too long to be arguments. */
const greatest = (list, least) => list.reduce((most, value) => Math.max(most, value), least);
const count = (number) => (number == null ? "–" : number.toLocaleString("en"));

/** A table; the first cell of each row names it. */
function table(head, rows) {
  return make("div", { class: "wide" }, make("table", { class: "rows numbers" },
    make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text))),
    ...rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell))))));
}

/** Lines in one chart, told apart by colour and dashes; a legend names them. */
function makeLines(label, xName, yName, log) {
  const place = canvas(280, label);
  const legend = make("div", { class: "legend" });
  const element = make("div", { class: "chart" }, make("h2", {}, label), place.element, legend);
  let lines = [];
  const style = (index) => ({ tone: COLOURS[index % COLOURS.length], dash: DASHES[index % DASHES.length] });
  const paint = () => {
    const board = place.ready();
    const all = lines.flatMap(({ points }) => points);
    const x1 = greatest(all.map(([x]) => x), log ? 10 : 0) || 1;
    const y1 = greatest(all.map(([, y]) => y), 0) || 1;
    const { px, py } = frame(board, [log ? 1 : 0, x1], [0, y1], xName, yName, [log, false]);
    board.brush.lineWidth = 2;
    for (const { points, group } of lines) {
      board.brush.strokeStyle = colour(style(group).tone);
      board.brush.setLineDash(style(group).dash.split(" ").filter(Boolean).map(Number));
      board.brush.beginPath();
      points.forEach(([x, y], index) => { if (index) board.brush.lineTo(px(x), py(y)); else board.brush.moveTo(px(x), py(y)); });
      board.brush.stroke();
      if (log || points.length > 40) continue;
      board.brush.fillStyle = colour(style(group).tone);
      for (const [x, y] of points) { board.brush.beginPath(); board.brush.arc(px(x), py(y), 3.5, 0, 7); board.brush.fill(); }
    }
    board.brush.setLineDash([]);
  };
  const show = (names, all) => {
    lines = all;
    legend.replaceChildren(...names.map((name, index) => make("span", {}, draw("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }, draw("line", { x1: 0, y1: 6, x2: 26, y2: 6, "stroke-width": 3, stroke: `var(--${style(index).tone})`, "stroke-dasharray": style(index).dash })), ` ${name}`)));
    paint();
  };
  return { element, paint, show };
}

/** Two configurations problem by problem: what is below the line took the second less. */
function makePairs() {
  const place = canvas(280, "Evaluations, problem by problem");
  const [left, right] = [make("select", { "aria-label": "across" }), make("select", { "aria-label": "upwards" })];
  const note = make("p", { class: "small" });
  const element = make("div", { class: "chart" }, make("h2", {}, "Problem by problem"), place.element, make("div", { class: "bar" }, make("label", {}, "across ", left), make("label", {}, "upwards ", right)), note);
  let [names, each] = [[], () => []];
  const paint = () => {
    const board = place.ready();
    const pairs = each(Number(left.value), Number(right.value));
    const most = 2 * greatest(pairs.flat().filter((value) => value != null), 10);
    const axes = frame(board, [1, most * 2], [1, most * 2], names[left.value] ?? "", names[right.value] ?? "", [true, true]);
    const { brush } = board;
    const at = ([x, y]) => [axes.px(x ?? most * 1.6), axes.py(y ?? most * 1.6)];
    brush.strokeStyle = colour("line");
    brush.beginPath(); brush.moveTo(...at([1, 1])); brush.lineTo(...at([most, most])); brush.stroke();
    brush.setLineDash([3, 3]);
    brush.beginPath(); brush.moveTo(...at([most, 1])); brush.lineTo(...at([most, most])); brush.lineTo(...at([1, most])); brush.stroke();
    brush.setLineDash([]);
    brush.fillStyle = colour("c0");
    brush.globalAlpha = 0.6;
    for (const pair of pairs) { brush.beginPath(); brush.arc(...at(pair), 3.5, 0, 7); brush.fill(); }
    brush.globalAlpha = 1;
    const both = pairs.filter(([x, y]) => x != null && y != null);
    const [fewer, more] = [both.filter(([x, y]) => y < x).length, both.filter(([x, y]) => y > x).length];
    const [leftOnly, rightOnly] = [pairs.filter(([x, y]) => x != null && y == null).length, pairs.filter(([x, y]) => x == null && y != null).length];
    note.textContent = `Of ${pairs.length} problems that both tried, ${both.length} were solved by both: ${names[right.value]} took fewer evaluations on ${fewer}, more on ${more}. Only ${names[left.value]} solved ${leftOnly}, only ${names[right.value]} ${rightOnly}. Beyond the dashed lines there is no plan.`;
  };
  for (const select of [left, right]) select.addEventListener("change", paint);
  const show = (all, pairs) => {
    const kept = names.length > 0;
    [names, each] = [all, pairs];
    if (!kept) {
      const options = all.map((name, index) => [index, name]);
      const learned = all.findIndex((name) => name.startsWith("H-"));
      const base = learned >= 0 ? all.indexOf(all[learned].slice(2)) : -1;
      choose(left, options, base >= 0 ? base : 0);
      choose(right, options, learned >= 0 ? learned : all.length - 1);
    }
    paint();
  };
  return { element, paint, show };
}

/** Runs of evaluations: what was solved within how many evaluations, and h beside H. */
function makeRuns({ domains, problems, configurations, rows }) {
  const domain = make("select");
  choose(domain, [["", "all"], ...domains.map((name, index) => [index, name])], domains.length === 1 ? "0" : "");
  const coverage = makeLines("Solved within so many evaluations", "evaluations", "% of runs", true);
  const pairs = makePairs();
  const tables = make("div", {});
  const element = make("div", {}, make("div", { class: "bar" }, make("label", {}, "Domain ", domain)), make("div", { class: "two" }, coverage.element, pairs.element), tables);
  const paint = () => {
    const chosen = rows.filter(([at]) => domain.value === "" || at === Number(domain.value));
    const of = (index) => chosen.filter((row) => row[2] === index);
    const lines = configurations.map((name, index) => {
      const runs = of(index);
      const solved = runs.filter((row) => row[3] === "solved").map((row) => Math.max(1, row[4])).sort((a, b) => a - b);
      const points = [[1, 0]];
      solved.forEach((value, at) => points.push([value, (100 * at) / runs.length], [value, (100 * (at + 1)) / runs.length]));
      points.push([greatest(chosen.map((row) => row[4]), 10), (100 * solved.length) / (runs.length || 1)]);
      return { points, group: index };
    });
    coverage.show(configurations, lines);
    // Several seeds of a model are several runs of one problem: their median stands for them.
    const byProblem = new Map();
    for (const row of chosen) {
      if (!byProblem.has(row[1])) byProblem.set(row[1], new Map());
      const runs = byProblem.get(row[1]);
      if (!runs.has(row[2])) runs.set(row[2], []);
      runs.get(row[2]).push(row);
    }
    const value = (runs) => { const all = median(runs.map((row) => (row[3] === "solved" ? Math.max(1, row[4]) : Infinity))); return all === Infinity ? null : all; };
    pairs.show(configurations, (left, right) => [...byProblem.values()].filter((runs) => runs.has(left) && runs.has(right)).map((runs) => [value(runs.get(left)), value(runs.get(right))]));
    const cell = (runs) => {
      if (!runs.length) return "–";
      const solved = runs.filter((row) => row[3] === "solved");
      return `${solved.length} of ${runs.length}${solved.length ? `, ${count(median(solved.map((row) => row[4])))}` : ""}`;
    };
    const inDomain = (index) => (at) => chosen.filter((row) => row[0] === index && row[2] === at);
    const shown = domains.map((name, index) => [name, index]).filter(([, index]) => chosen.some((row) => row[0] === index));
    const summary = table(["domain", ...configurations], shown.map(([name, index]) => [name, ...configurations.map((_, at) => cell(inDomain(index)(at)))]));
    const listed = [...byProblem].slice(0, 300);
    const words = (runs) => { if (!runs) return "–"; const all = value(runs); return all != null ? count(all) : [...new Set(runs.map((row) => row[3]))].join(", "); };
    tables.replaceChildren(make("h2", {}, "Solved, and the median of evaluations where it was"), summary,
      make("details", {}, make("summary", {}, `Evaluations on ${listed.length < byProblem.size ? `the first ${listed.length} of ` : ""}${byProblem.size} problems`),
        table(["problem", ...configurations], listed.map(([problem, runs]) => [problems[problem], ...configurations.map((_, at) => words(runs.get(at)))]))));
  };
  domain.addEventListener("change", paint);
  return { element, paint };
}

/** Records of single searches, side by side. */
function makeSolves(solves) {
  const records = solves.map(({ record }) => record);
  const rows = [
    ["problem", (one) => `${one.problem} (${one.domain}), ${one.objects} objects`],
    ["search", (one) => [one.search, one.heuristic && `with ${one.heuristic}`, one.weight != null && `weight ${one.weight}`].filter(Boolean).join(" ")],
    ["model", (one) => one.model ?? "–"],
    ["outcome", (one) => one.outcome],
    ["plan", (one) => (one.plan_length == null ? "–" : `${count(one.plan_length)} steps, cost ${count(one.plan_cost)}${one.optimal ? ", optimal" : ""}`)],
    ["evaluations", "evaluations"], ["expansions", "expansions"], ["generated", "generated"],
    ["scored by what was learned", "scored"], ["dead ends", "dead_ends"], ["states stored", "stored"],
    ["seconds of search", "search_seconds"], ["seconds in all", "total_seconds"], ["peak memory, KiB", "peak_memory_kb"],
  ];
  const cell = (row, one) => {
    if (typeof row !== "string") return row(one);
    const most = Math.max(...records.map((record) => record[row] ?? 0));
    const text = row.endsWith("seconds") ? one[row].toFixed(3) : count(one[row]);
    const bar = make("span", { class: "meter", style: `width:${most ? Math.max(0.5, (100 * (one[row] ?? 0)) / most) : 0}%` });
    return make("span", { class: "measured" }, text, bar);
  };
  const element = make("div", {}, make("h2", {}, solves.length > 1 ? "Searches" : "Search"), table(["", ...solves.map(({ title }) => title)], rows.map(([name, row]) => [name, ...records.map((one) => cell(row, one))])));
  const anytime = solves.filter(({ record }) => record.plans?.length);
  const costs = anytime.length ? makeLines("Cost of the best plan so far", "seconds", "cost", false) : null;
  if (costs) element.append(costs.element);
  for (const { title, record } of solves) {
    if (record.plan) element.append(make("details", {}, make("summary", {}, `Plan of ${title}`), make("ol", { class: "facts" }, ...record.plan.map((step) => make("li", {}, step)))));
  }
  const paint = () => costs?.show(anytime.map(({ title }) => title), anytime.map(({ record }, group) => {
    const points = record.plans.flatMap(({ seconds, cost }, at, all) => (at ? [[seconds, all[at - 1].cost], [seconds, cost]] : [[seconds, cost]]));
    return { points: [...points, [record.total_seconds, record.plans[record.plans.length - 1].cost]], group };
  }));
  return { element, paint };
}

/** Records of trainings: the goals of every run, one chart a domain. */
function makeTrainings(trainings) {
  const heuristics = [...new Set(trainings.map((run) => run.heuristic))];
  const charts = [...new Set(trainings.map((run) => run.domain))].map((domain) => {
    const runs = trainings.filter((run) => run.domain === domain);
    const chart = makeLines(domain, "steps", "goals", false);
    chart.lines = runs.map((run) => ({ points: [[0, 0], ...run.points], group: heuristics.indexOf(run.heuristic) }));
    return chart;
  });
  const list = table(["domain", "corrects", "seed", "problems", "goals", "steps", "loss at the end", "CPU seconds"], trainings.slice(0, 500).map((run) => [run.domain, `h_${run.heuristic}`, String(run.seed), count(run.problems), `${count(run.goals)} in ${count(run.episodes)} episodes`, `${count(run.steps)}${run.selected != null ? `, kept ${count(run.selected)}` : ""}`, run.loss.toPrecision(3), run.cpu_seconds.toFixed(1)]));
  const element = make("div", {}, make("p", { class: "small" }, "Goals reached, over steps of training: one line a run, one colour a heuristic that is corrected."), make("div", { class: "two" }, ...charts.map((chart) => chart.element)), make("details", {}, make("summary", {}, `${trainings.length} runs`), list));
  const paint = () => charts.forEach((chart) => chart.show(heuristics.map((name) => `H-${name}`), chart.lines));
  return { element, paint };
}
