// Training, with its curve as it grows, and what a model is.

/** Goals and loss over steps; records of experiments have goals alone. */
function makeCurve(hasLoss = true) {
  const goals = canvas(200, "Goals reached, over steps");
  const loss = canvas(200, "Loss, over steps");
  const parts = [[goals, "Goals"], ...(hasLoss ? [[loss, "Loss"]] : [])];
  const element = make("div", { class: "two" }, ...parts.map(([place, name]) => make("div", { class: "chart" }, make("h2", {}, name), place.element)));
  const steps = [];
  let of = 1;
  const chart = (place, index, tone, name) => {
    const points = steps.filter((step) => step[index] != null);
    const board = place.ready();
    const most = Math.max(1e-9, ...points.map((step) => step[index]));
    const { px, py } = frame(board, [0, of], [0, most * 1.05], "steps", name);
    board.brush.strokeStyle = colour(tone);
    board.brush.lineWidth = 2.5;
    board.brush.beginPath();
    points.forEach((step, at) => { if (at) board.brush.lineTo(px(step[0]), py(step[index])); else board.brush.moveTo(px(step[0]), py(step[index])); });
    board.brush.stroke();
    board.brush.fillStyle = colour(tone);
    points.slice(-1).forEach((step) => { board.brush.beginPath(); board.brush.arc(px(step[0]), py(step[index]), 4, 0, 7); board.brush.fill(); });
  };
  const paint = () => { chart(goals, 1, "c0", "goals"); if (hasLoss) chart(loss, 2, "c1", "loss"); };
  return { element, add: (more, all) => { steps.push(...more); of = Math.max(all, 1); paint(); }, paint, steps };
}

/** Candidates as they were tried: pairs in order and problems solved, in percent. */
function makeCandidates({ candidates, held_out: heldOut }) {
  const chart = makeLines("Candidates, as they were tried", "candidate", "%", false);
  const paint = () => chart.show(["pairs in order", "problems solved"], [
    { group: 0, points: candidates.map((one, index) => [index + 1, 100 * one.ordered]) },
    { group: 1, points: heldOut ? candidates.map((one, index) => [index + 1, (100 * one.solved) / heldOut]) : [] },
  ]);
  return { element: chart.element, paint };
}

/** The curve of a model, however it was trained; `null` where nothing is known of it. */
function modelCurve(model, steps) {
  if (model.candidates?.length) return makeCandidates(model);
  const known = model.curve ?? (steps?.length ? { steps, of: steps[steps.length - 1][0] } : null);
  if (!known) return null;
  const curve = makeCurve(known.steps.some((step) => step[2] != null));
  curve.add(known.steps, known.of);
  return curve;
}

const curves = new Map();

/** What a model is, as rows and tables. */
function describeModel(model) {
  const rows = [["domain", model.domain], ["learner", model.learner === "nlm" ? `network, corrects h_${model.corrects}` : "counts, by ranking"], ["seed", model.seed]];
  if (model.learner === "nlm") rows.push(["problems", model.problems], ["steps", model.steps], ["goals reached", `${model.goals} in ${model.episodes} episodes`], ["last loss", model.loss.toPrecision(4)], ["parameters", model.parameters]);
  else rows.push(["trained on", `${model.walked} problems walked through, ${model.states.toLocaleString("en")} states; ${model.too_large} too large`], ["features", model.weights]);
  rows.push(["coverage", coverage(model)], ["predicates", model.signature.predicates.join(" ")], ["actions", model.signature.actions.join(" ")], ["trained by homing", model.revision]);
  if (model.note) rows.push(["note", model.note]);
  const parts = [make("div", { class: "wide" }, make("table", { class: "rows" }, ...rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, String(value))))))];
  if (model.candidates) {
    parts.push(make("h2", {}, `Candidates, compared on ${model.held_out} problem${model.held_out === 1 ? "" : "s"}`), table(["", "candidate", "rounds", "features", "pairs in order", "solved"],
      model.candidates.map((one) => [one.chosen ? "★" : "", one.name, one.rounds, one.features, `${(100 * one.ordered).toFixed(1)} %`, `${one.solved} of ${model.held_out}`].map(String))));
    parts.push(make("h2", {}, "What weighs most"), make("p", { class: "small" }, "Less is better: a search strives for what is below 0."), make("div", { class: "wide" }, make("table", { class: "rows" },
      ...model.features.map((one) => make("tr", {}, make("td", {}, one.weights.map((weight) => weight.toFixed(3)).join(" ")), make("td", {}, one.text))))));
  }
  return parts;
}

function coverage(model) {
  const parts = (model.evaluated ?? []).map(({ search, solved, of }) => `${solved} of ${of} with ${search}, by the records beside its file`);
  const chosen = model.candidates?.find((one) => one.chosen);
  if (chosen && model.held_out) parts.push(`${chosen.solved} of ${model.held_out} problems that were kept out of the fit, by the learned order alone`);
  return parts.join("; ") || (model.candidates ? "nothing was kept out of the fit" : "not known: there are no records of evaluations beside its file");
}

/** The parts of the page for training and for models. */
function makeTraining(offer, refresh) {
  let uploaded = null;
  const domains = offer.examples.map((example) => [example.name, example.name]);
  choose(at("train-domain"), domains, "gripper");
  const example = () => offer.examples.find((one) => one.name === at("train-domain").value);
  const sized = () => { at("sizes").value = example().training; };
  at("train-domain").addEventListener("change", sized);
  sized();
  const fits = () => { const nlm = at("learner").value === "nlm"; at("train-steps").disabled = at("train-heuristic").disabled = !nlm; };
  at("learner").addEventListener("change", fits);
  at("files").addEventListener("change", async () => {
    const texts = await Promise.all([...at("files").files].map((file) => file.text()));
    const isDomain = (text) => /\(\s*define\s*\(\s*domain/i.test(text);
    uploaded = { domain: texts.find(isDomain), problems: texts.filter((text) => !isDomain(text)) };
    if (!texts.length) uploaded = null;
    else if (!uploaded.domain) say("train-status", "The files should hold a domain, too.", "bad");
    else say("train-status", `${uploaded.problems.length} problems of your files will be trained on.`);
  });

  const run = task("train", "train-cancel", "train-status", async (signal) => {
    const learner = at("learner").value;
    let data = uploaded;
    if (!data?.domain) {
      say("train-status", "Drawing problems …");
      const drawn = await work({ job: "generate", domain: at("train-domain").value, sizes: at("sizes").value, count: Number(at("count").value) }, () => {}, signal);
      data = { domain: drawn.domain, problems: drawn.problems.map((problem) => problem.text) };
    }
    const curve = makeCurve();
    at("curve").replaceChildren(...(learner === "nlm" ? [curve.element] : []));
    const log = make("ol", { class: "small" });
    at("train-log").replaceChildren(log);
    curve.paint?.();
    let name = null;
    const job = { job: "train", learner, domain: data.domain, problems: data.problems, heuristic: at("train-heuristic").value, steps: Number(at("train-steps").value) };
    const model = await work(job, (event) => {
      if (event.event === "model") name = event.name;
      else if (event.event === "steps") {
        curve.add(event.steps, event.of);
        const [step, goals, loss] = event.steps[event.steps.length - 1];
        say("train-status", `step ${step} of ${event.of}, ${goals} goals${loss == null ? "" : `, loss ${loss.toPrecision(3)}`}`);
      } else {
        say("train-status", words(event));
        if (event.event !== "queued") log.append(make("li", {}, words(event)));
      }
    }, signal);
    if (curve.steps.length) curves.set(name, curve.steps);
    at("train-log").append(make("h2", {}, `Model ${name}`), ...describeModel(model));
    await refresh(name);
    say("train-status", `Trained: ${name}. It can be chosen where plans are searched.`, "good");
  });
  fits();
  return { run };
}

let modelShown = null;
window.addEventListener("resize", () => modelShown?.paint());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => modelShown?.paint());

/** The page of a model. */
async function showModel(name) {
  try {
    const model = await work({ job: "model", model: name });
    at("model-download").replaceChildren(...(name.startsWith("trained-") ? [make("a", { href: `/model/${name}`, download: `${name}.safetensors` }, "Download")] : []));
    modelShown = modelCurve(model, curves.get(name));
    at("model-text").replaceChildren(...(modelShown ? [modelShown.element] : []), ...describeModel(model));
    modelShown?.paint();
  } catch (error) {
    at("model-text").replaceChildren(make("p", { class: "bad" }, error.message));
  }
}
