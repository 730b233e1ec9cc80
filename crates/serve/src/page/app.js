// Puts the parts together.

function makeTabs(names) {
  const sections = [...document.querySelectorAll("main > section")].filter((section) => names.includes(section.dataset.name));
  document.querySelectorAll("main > section").forEach((section) => { section.hidden = true; });
  const open = (name) => {
    sections.forEach((section) => { section.hidden = section.dataset.name !== name; });
    for (const button of at("tabs").children) {
      const chosen = button.textContent === name;
      button.setAttribute("aria-selected", chosen);
      button.tabIndex = chosen ? 0 : -1;
    }
    window.dispatchEvent(new Event("resize"));
  };
  at("tabs").replaceChildren(...sections.map((section) => make("button", { role: "tab", "aria-controls": section.id, onclick: () => open(section.dataset.name) }, section.dataset.name)));
  at("tabs").addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    const buttons = [...at("tabs").children];
    const next = buttons[(buttons.indexOf(document.activeElement) + move + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
  open(names[0]);
  return open;
}

/** A page made by `homing view`: data instead of a server. */
function showData() {
  const names = [];
  if (DATA.runs || DATA.solves) names.push("Records");
  if (DATA.replay) names.push("Plan");
  if (DATA.races) names.push("Search");
  if (DATA.curves || DATA.trainings) names.push("Train");
  const open = makeTabs(names);
  at("version").textContent = DATA.title;
  document.title = `${DATA.title} - homing`;
  if (DATA.replay) makePlan().show(DATA.replay);
  document.querySelectorAll("#tab-search .bar, #tab-train .bar").forEach((bar) => { bar.hidden = true; });
  const parts = [];
  const put = (place, part) => { at(place).append(part.element); parts.push(part); };
  if (DATA.runs) put("records", makeRuns(DATA.runs));
  if (DATA.solves) put("records", makeSolves(DATA.solves));
  (DATA.races || []).forEach(({ title, states }, index) => { const race = makeRace(title, COLOURS[index % COLOURS.length]); race.add(states); put("races", race); });
  if (DATA.trainings) put("curve", makeTrainings(DATA.trainings));
  (DATA.curves || []).forEach(({ title, steps, of }) => { const curve = makeCurve(); at("curve").append(make("h2", {}, title)); put("curve", curve); curve.add(steps, of); });
  const paint = () => parts.forEach((part) => part.paint());
  window.addEventListener("resize", paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  open(names[0]);
}

async function start() {
  if (DATA) { showData(); return; }
  let offer = await (await fetch("/offer")).json();
  const open = makeTabs(["Model", "Plan", "Search", "Train", "Models"]);
  at("version").textContent = `version ${offer.version}`;
  const plan = makePlan();
  const editors = makeEditors((findings, failure) => {
    if (failure) { say("status", failure, "bad"); return; }
    const errors = findings.filter((one) => one.severity === "error").length;
    const text = errors ? `${errors} mistake${errors > 1 ? "s" : ""}` : findings.length ? "Nothing wrong, but see the warnings." : "Nothing wrong.";
    say("status", text, errors ? "bad" : "");
  });
  makeRaces(editors);

  const heuristics = offer.heuristics.map(({ name, text }) => [name, `${name}: ${text}`]);
  choose(at("search"), offer.searches.map(({ name, text }) => [name, `${name}: ${text}`]), "lazy");
  choose(at("race-search"), offer.searches.filter(({ name }) => name !== "dijkstra").map(({ name, text }) => [name, `${name}: ${text}`]), "gbfs");
  for (const id of ["heuristic", "train-heuristic"]) choose(at(id), heuristics, "ff");
  const models = () => {
    const list = offer.models.map(({ name, domain, from }) => [name, `${name} (${domain}; ${from})`]);
    const keep = (id) => (list.some(([name]) => name === at(id).value) || at(id).value === "auto" ? at(id).value : null);
    choose(at("model"), [["none", "none"], ["auto", "the one that ships for the domain"], ...list], keep("model") || "none");
    choose(at("model-page"), list, keep("model-page") || list[0]?.[0]);
    const sides = [...heuristics.map(([name, text]) => [`h:${name}`, text]), ["model:auto", "model that ships for the domain"], ...list.map(([name, text]) => [`model:${name}`, `model ${text}`])];
    const [left, right] = [at("left-h").value || "h:ff", at("right-h").value || "model:auto"];
    choose(at("left-h"), sides, left);
    choose(at("right-h"), sides, right);
  };
  models();
  makeTraining(offer, async (trained) => {
    offer = await (await fetch("/offer")).json();
    models();
    if (trained) { at("model-page").value = trained; showModel(trained); }
  });
  at("model-page").addEventListener("change", () => showModel(at("model-page").value));
  at("tabs").addEventListener("click", () => { if (!at("tab-models").hidden && !at("model-text").children.length) showModel(at("model-page").value); });

  choose(at("example"), [...offer.examples.map(({ name }) => [name, name])], "visitall");
  const load = () => {
    const example = offer.examples.find(({ name }) => name === at("example").value);
    editors.domain.value = example.domain;
    editors.problem.value = example.problem;
    editors.check();
  };
  at("example").addEventListener("change", load);
  load();

  const solving = task("solve", "cancel", "status", async (signal) => {
    say("status", "Solving …");
    const notices = [];
    const job = { job: "solve", domain: editors.domain.value, problem: editors.problem.value, search: at("search").value, heuristic: at("heuristic").value, model: at("model").value, time_limit: Number(at("seconds").value) };
    let result;
    try {
      result = await work(job, (event) => {
        if (event.event === "notice") notices.push(event.text);
        say("status", [...notices, words(event)].filter((text, index, all) => all.indexOf(text) === index).join("\n"));
      }, signal);
    } catch (error) {
      if (error.diagnostics?.length) {
        editors.domain.show(error.diagnostics.filter((one) => one.location === "DOMAIN"));
        editors.problem.show(error.diagnostics.filter((one) => one.location !== "DOMAIN"));
      }
      throw error;
    }
    say("status", result.summary, result.plan ? "good" : "warn");
    if (result.replay) { open("Plan"); plan.show(result.replay); at("steps").focus(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.ctrlKey) { open("Model"); solving.run(); }
    if (event.key === "Escape") solving.cancel();
  });
}

start().catch((error) => { at("version").textContent = `The page cannot begin: ${error.message}`; at("version").className = "bad"; });
