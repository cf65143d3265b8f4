"use strict";
(() => {
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  const head = (run) => {
    const told = ["success", "failure"].includes(run.outcome) && run.ending === "done" ? "" : ` (${run.ending})`;
    const cell = make("th", { scope: "col" }, make("b", {}, run.condition),
      make("span", { class: run.outcome }, run.outcome), `${told} · milestone ${run.milestone} · ${run.online} tokens`);
    if (run.failures.length) cell.append(make("span", { class: "obs" }, run.failures.join(", ")));
    if (run.flags.length) cell.append(make("span", { class: "obs" }, `flags: ${run.flags.join(", ")}`));
    if (run.support) {
      cell.append(make("details", {}, make("summary", {}, run.title), make("pre", {}, run.support)));
    }
    return cell;
  };

  const entry = (step) => {
    if (!step) return make("td", {});
    const [action, observation, error, stale] = step;
    return make("td", {}, make("code", {}, action),
      stale.length ? make("span", { class: "stale" }, `stale: ${stale.join(", ")}`) : null,
      error ? make("span", { class: "obs failure" }, error) : null,
      make("span", { class: "obs" }, observation));
  };

  const steps = (group, ledger) => {
    if (!group.steps) {
      const runs = group.runs.map((run) => `rebind ledger show ${ledger} --cell ${run.cell}`).join("\n");
      return make("div", {}, make("p", {}, "Its steps are not on this page. The ledger has them:"), make("pre", {}, runs));
    }
    const columns = make("colgroup", {}, make("col", { class: "step" }));
    const top = make("tr", {}, make("td", {}, make("span", { class: "n" }, "step")));
    for (const run of group.runs) {
      columns.append(make("col", { class: "run" }));
      top.append(head(run));
    }
    const body = make("tbody", {});
    group.steps.forEach((row, n) => {
      body.append(make("tr", {}, make("th", { scope: "row" }, String(n + 1)), ...row.map(entry)));
    });
    const table = make("table", { class: "side" }, columns, make("thead", {}, top), body);
    const label = "Steps of every condition, side by side";
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
  };

  const kinds = {
    differ: (group) => new Set(group.runs.map((run) => run.outcome)).size > 1,
    stale: (group) => group.runs.some((run) => run.stale > 0),
    invalid: (group) => group.runs.some((run) => run.outcome.startsWith("invalid")),
  };

  const row = (group, ledger) => {
    const summary = make("summary", {}, make("span", { class: "goal" }, group.goal),
      make("span", { class: "n" }, `${group.level} shift · seed ${group.seed}`));
    for (const run of group.runs) {
      summary.append(make("span", { class: `badge ${run.outcome}` }, `${run.condition}: ${run.outcome}`));
    }
    const made = make("details", { class: "target" }, summary);
    made.dataset.kinds = Object.keys(kinds).filter((kind) => kinds[kind](group)).join(" ");
    made.addEventListener("toggle", () => {
      if (made.open && made.children.length === 1) made.append(steps(group, ledger));
    });
    return made;
  };

  const filter = document.getElementById("drill-filter");
  const apply = (family) => {
    for (const made of family.querySelectorAll("details.target")) {
      made.hidden = filter.value !== "all" && !made.dataset.kinds.split(" ").includes(filter.value);
    }
    const none = family.querySelector(".none");
    if (none) none.hidden = Boolean(family.querySelector("details.target:not([hidden])"));
  };

  for (const family of document.querySelectorAll("details.family")) {
    const place = family.querySelector(".groups");
    family.addEventListener("toggle", async () => {
      if (!family.open || place.dataset.state) return;
      place.dataset.state = "reading";
      try {
        const groups = await unpack(family.querySelector("script").textContent);
        const none = make("p", { class: "none", hidden: "" }, "No episode of this family fits the filter.");
        place.replaceChildren(...groups.map((group) => row(group, place.dataset.ledger)), none);
        apply(family);
      } catch (error) {
        place.replaceChildren(make("p", {}, `This browser cannot unpack the steps (${error}); rebind ledger show prints them.`));
      }
    });
  }
  if (filter) {
    filter.disabled = false;
    filter.addEventListener("change", () => document.querySelectorAll("details.family").forEach(apply));
  }

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.more:not([open])")];
    for (const more of closed) more.open = true;
  });
  addEventListener("afterprint", () => closed.forEach((more) => { more.open = false; }));
})();
