"use strict";
// Shows the runs behind a number: the part of the address after # says which.
(() => {
  const data = JSON.parse(document.getElementById("records").textContent);
  const place = document.getElementById("chosen");
  const number = (value) => value < 0 ? "–" : value.toLocaleString("en-US");
  const seconds = (value) => value.toLocaleString("en-US", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const text = (value) => value;
  const bad = new Set(["failed", "time-limit", "memory-limit"]);
  const kinds = {
    runs: {
      rows: data.runs, file: "runs.csv", words: ["run", "runs"],
      columns: [
        ["domain", (r) => data.domains[r[0]].name, text, true],
        ["problem", (r) => data.domains[r[0]].problems[r[1]], text, true],
        ["objects", (r) => data.domains[r[0]].objects[r[1]], number],
        ["configuration", (r) => data.names[r[2]], text, true],
        ["seed", (r) => r[3], number],
        ["outcome", (r) => data.outcomes[r[6]], text, true],
        ["evaluations", (r) => r[7], number],
        ["generated", (r) => r[8], number],
        ["expansions", (r) => r[9], number],
        ["plan", (r) => r[10], number],
        ["CPU s", (r) => r[11], seconds],
        ["revision", (r) => data.revisions[r[12]] + (r[14] ? " (not counted)" : ""), text, true],
        ["machine", (r) => data.machines[r[13]], text, true],
      ],
      filters: {
        group: (r, value) => { const g = data.groups[value]; return !!g && r[4] === g[0] && (r[5] < 0 || r[5] === g[1]); },
        domain: (r, value) => data.domains[r[0]].name === value,
        configuration: (r, value) => data.names[r[2]] === value,
        heuristic: (r, value) => data.names[r[2]].replace(/^H-/, "") === value,
        seed: (r, value) => String(r[3]) === value,
        outcome: (r, value) => data.outcomes[r[6]] === value,
        p: (r, value) => value.split(".").includes(String(r[1])),
      },
      choices: { domain: (r) => data.domains[r[0]].name, configuration: (r) => data.names[r[2]], seed: (r) => r[3] < 0 ? "" : String(r[3]), outcome: (r) => data.outcomes[r[6]] },
    },
    trainings: {
      rows: data.trainings, file: "trainings.csv", words: ["run of training", "runs of training"],
      columns: [
        ["domain", (r) => data.domains[r[0]].name, text, true],
        ["heuristic", (r) => data.names[r[1]], text, true],
        ["seed", (r) => r[2], number],
        ["training", (r) => data.variants[r[3]], text, true],
        ["steps", (r) => r[4], number],
        ["goals", (r) => r[5], number],
        ["episodes", (r) => r[6], number],
        ["loss", (r) => r[7], (value) => value === null ? "–" : value.toFixed(4)],
        ["CPU s", (r) => r[8], (value) => value.toFixed(1)],
        ["revision", (r) => data.revisions[r[9]], text, true],
        ["machine", (r) => data.machines[r[10]], text, true],
      ],
      filters: {
        training: (r, value) => String(r[3]) === value,
        domain: (r, value) => data.domains[r[0]].name === value,
        heuristic: (r, value) => data.names[r[1]] === value,
        seed: (r, value) => String(r[2]) === value,
      },
      choices: { domain: (r) => data.domains[r[0]].name, heuristic: (r) => data.names[r[1]], seed: (r) => String(r[2]) },
    },
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const natural = new Intl.Collator("en", { numeric: true }).compare;
  const asked = () => {
    const [name, query] = location.hash.slice(1).split(/\?(.*)/s);
    return kinds[name] && (query !== undefined || name === "runs" || name === "trainings") ? [name, new URLSearchParams(query || "")] : null;
  };

  let sorted = null;
  const show = (name, wanted, most) => {
    const kind = kinds[name];
    const filters = [...wanted].filter(([key]) => kind.filters[key]);
    let rows = kind.rows.filter((row) => filters.every(([key, value]) => kind.filters[key](row, value)));
    if (sorted && sorted.name === name) {
      const value = kind.columns[sorted.column][1];
      const compare = (a, b) => typeof value(a) === "number" ? value(a) - value(b) : natural(String(value(a)), String(value(b)));
      rows = rows.slice().sort((a, b) => sorted.down ? compare(b, a) : compare(a, b));
    }
    const controls = element("div", { className: "filters" });
    for (const [key, of] of Object.entries(kind.choices)) {
      const values = [...new Set(kind.rows.map(of))].filter((value) => value !== "").sort(natural);
      const select = element("select", {}, element("option", { value: "", textContent: "all" }));
      for (const value of values) select.append(element("option", { value, textContent: value }));
      select.value = wanted.get(key) ?? "";
      select.onchange = () => {
        const next = new URLSearchParams(wanted);
        if (select.value) next.set(key, select.value); else next.delete(key);
        location.hash = name + "?" + next;
      };
      controls.append(element("label", {}, key, select));
    }
    if (filters.length) controls.append(element("button", { type: "button", textContent: "show all", onclick: () => { location.hash = name + "?"; } }));
    const shown = rows.slice(0, most);
    const head = element("tr", {});
    kind.columns.forEach(([label, , , left], column) => {
      const arrow = sorted && sorted.name === name && sorted.column === column ? (sorted.down ? " ↓" : " ↑") : "";
      const sort = () => { sorted = { name, column, down: arrow === " ↑" }; show(name, wanted, most); };
      head.append(element("th", { scope: "col", className: left ? "left" : "" }, element("button", { type: "button", textContent: label + arrow, onclick: sort })));
    });
    const body = element("tbody", {});
    for (const row of shown) {
      const line = element("tr", {});
      for (const [, value, write, left] of kind.columns) {
        const cell = String(write(value(row)));
        line.append(element("td", { className: (left ? "left" : "") + (bad.has(cell) ? " bad" : ""), textContent: cell }));
      }
      body.append(line);
    }
    const count = rows.length.toLocaleString("en-US") + " " + kind.words[rows.length === 1 ? 0 : 1];
    const more = shown.length < rows.length ? ", the first " + shown.length.toLocaleString("en-US") + " of them here" : "";
    const note = element("p", { className: "note" }, count + more + ". All there are: ", element("a", { href: kind.file, textContent: kind.file }), ".");
    const table = element("div", { className: "wide" }, element("table", {}, element("thead", {}, head), body));
    place.replaceChildren(controls, note, table);
    if (more) place.append(element("p", {}, element("button", { type: "button", textContent: "show more", onclick: () => show(name, wanted, most * 5) })));
    place.dataset.rows = rows.length;
  };

  const follow = () => {
    const found = asked();
    if (!found) return;
    show(found[0], found[1], 200);
    document.getElementById("runs").scrollIntoView();
  };
  addEventListener("hashchange", follow);
  // The same number clicked twice changes no address, but should lead there all the same.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href]");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  // Marks of figures say what they are when pointed at.
  document.addEventListener("mouseover", (event) => {
    const mark = event.target.closest && event.target.closest("svg a");
    if (!mark || mark.querySelector("title")) return;
    const query = new URLSearchParams(mark.getAttribute("href").split(/\?(.*)/s)[1]);
    const domain = data.domains.find((known) => known.name === query.get("domain"));
    const problems = query.get("p") ? query.get("p").split(".").map((p) => domain.problems[p]) : [];
    const few = problems.length > 4 ? problems.slice(0, 3).join(", ") + " and " + (problems.length - 3) + " more" : problems.join(", ");
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = query.get("heuristic") + ": " + (few || "many problems");
    mark.append(title);
  });
  if (asked()) follow(); else show(data.runs.length ? "runs" : "trainings", new URLSearchParams(), 20);
  const root = document.documentElement;
  root.dataset.figures = [...document.querySelectorAll("figure.plot svg")].filter((figure) => figure.getBBox().width > 0).length;
  root.dataset.ready = "yes";
})();
