// Asks a running `homing serve` for plans as editors do, and reads them with the library that VS Code's
// PDDL extension reads plans with (pddl-workspace, from npm).
//
//   npm install pddl-workspace@11.3.0
//   homing serve --port 5001 &
//   node plans.mjs http://localhost:5001
import { createRequire } from "node:module";
import http from "node:http";

const require = createRequire(process.cwd() + "/");
const { parser } = require("pddl-workspace");
const base = process.argv[2] ?? "http://localhost:5001";

// Length in letters, not in bytes: as the extension sends it.
const post = (path, body) => new Promise((resolve, reject) => {
  const text = JSON.stringify(body);
  const headers = { "Content-Type": "application/json", "Content-Length": text.length };
  const request = http.request(base + path, { method: "POST", headers }, (reply) => {
    let data = "";
    reply.setEncoding("utf8");
    reply.on("data", (part) => { data += part; });
    reply.on("end", () => {
      if (reply.statusCode > 202 || !/^application\/json/.test(reply.headers["content-type"])) reject(new Error(`${path}: ${reply.statusCode}`));
      else resolve(JSON.parse(data));
    });
  });
  request.on("error", reject);
  request.end(text);
});
const get = async (path) => (await fetch(base + path)).json();

const offer = await get("/offer");
for (const { name, domain, problem } of offer.examples) {
  const begun = await post("/package/homing/solve", { domain: `; ä ö ü\n${domain}`, problem });
  let found;
  do {
    await new Promise((resolve) => setTimeout(resolve, 100));
    found = await get(new URL(begun.result, base).pathname);
  } while (found.status === "PENDING");
  const text = found.result.output.plan;
  const reader = new parser.PddlPlannerOutputParser(undefined, undefined, { epsilon: 1e-3 });
  reader.appendBuffer(text);
  reader.onPlanFinished();
  const [plan] = reader.getPlans();
  const steps = text.split("\n").filter((line) => line.startsWith("(")).length;
  const cost = Number(/; cost = (\d+)/.exec(text)[1]);
  const right = plan.steps.length === steps && plan.cost === cost && plan.statesEvaluated > 0;
  console.log(`${name}: ${plan.steps.length} steps, metric ${plan.cost}, ${plan.statesEvaluated} states: ${right ? "as sent" : "WRONG"}`);
  if (!right) process.exitCode = 1;
}
