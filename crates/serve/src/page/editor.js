// Two editors, with what is wrong underlined in place.

/** An editor under a heading; `changed` is called after typing. */
function makeEditor(id, title, changed) {
  const text = make("textarea", { spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-label": title, "aria-describedby": `${id}-findings` });
  const under = make("pre", { "aria-hidden": "true" });
  const findings = make("ul", { class: "findings", id: `${id}-findings`, "aria-label": `Messages about the ${title}` });
  at(id).replaceChildren(make("h2", {}, title), make("div", { class: "paper" }, under, text), findings);
  const follow = () => { under.scrollTop = text.scrollTop; under.scrollLeft = text.scrollLeft; };
  text.addEventListener("scroll", follow);
  text.addEventListener("input", () => { under.textContent = text.value + "\n"; changed(); });

  /** Offset of a line and column, both from 1; columns count characters, not UTF-16 units. */
  const offset = ([line, column]) => {
    let start = 0;
    for (let n = 1; n < line; n += 1) {
      const end = text.value.indexOf("\n", start);
      if (end < 0) return text.value.length;
      start = end + 1;
    }
    const letters = [...text.value.slice(start, start + 2 * column)].slice(0, column - 1);
    return start + letters.join("").length;
  };

  const show = (list) => {
    const marks = list.map((one) => ({ ...one, a: offset(one.from), b: offset(one.to) }));
    const parts = [];
    let done = 0;
    for (const mark of [...marks].sort((x, y) => x.a - y.a)) {
      // At the end of the text there is nothing to underline but the last letter.
      const a = Math.max(done, mark.a < text.value.length ? mark.a : text.value.length - 1);
      const b = Math.max(mark.b, a + 1);
      if (a < done || a < 0) continue;
      parts.push(text.value.slice(done, a), make("mark", { class: mark.severity }, text.value.slice(a, b)));
      done = b;
    }
    under.replaceChildren(...parts, text.value.slice(done) + "\n");
    follow();
    findings.replaceChildren(...marks.map((mark) => make("li", {}, make("button", {
      class: mark.severity === "error" ? "bad" : "warn",
      onclick: () => {
        text.focus();
        text.setSelectionRange(mark.a, Math.max(mark.b, mark.a + 1));
        const line = parseFloat(getComputedStyle(text).lineHeight);
        text.scrollTop = Math.max(0, (mark.from[0] - 5) * line);
      },
    }, `${mark.severity}, line ${mark.from[0]}, column ${mark.from[1]}: ${mark.message}${mark.help ? ` (${mark.help})` : ""}`))));
  };
  return {
    get value() { return text.value; },
    set value(content) { text.value = content; under.textContent = content + "\n"; text.scrollTop = 0; },
    show,
  };
}

/** Both editors; they check what is typed a moment after it was. */
function makeEditors(checked) {
  let timer = null;
  let control = null;
  const check = async () => {
    control?.abort();
    control = new AbortController();
    try {
      const problems = problem.value.trim() ? [problem.value] : [];
      const findings = await work({ job: "check", domain: domain.value, problems }, () => {}, control.signal);
      domain.show(findings.filter((one) => one.location === "DOMAIN"));
      problem.show(findings.filter((one) => one.location !== "DOMAIN"));
      checked(findings);
    } catch (error) {
      if (error.name !== "AbortError") checked(null, error.message);
    }
  };
  const changed = () => { clearTimeout(timer); timer = setTimeout(check, 250); };
  const domain = makeEditor("domain-editor", "domain", changed);
  const problem = makeEditor("problem-editor", "problem", changed);
  return { domain, problem, check };
}
