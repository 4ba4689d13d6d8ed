// The filter of the waterfalls' rows: by text, by kind, by host, and by the critical path. All waterfalls of the page show
// the same choice, so tabs can be compared. Without this script all rows are there.
"use strict";
(() => {
  const GRID = 100000;
  const ANY = "";
  const choice = { text: "", kind: ANY, host: ANY, critical: false };

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // ---- Charts and their rows.

  const readRow = (element, drawing) => {
    const [, host, kind] = [...element.children].map((cell) => cell.textContent);
    const address = element.dataset.t.split("\n", 1)[0];
    return { element, drawing, host, kind, text: `${address} ${host}`.toLowerCase() };
  };
  const readChart = (root) => {
    const drawings = root.querySelector(".curves").children;
    const rows = [...root.querySelectorAll(".rows .r")].map((element, at) => readRow(element, drawings[at]));
    return { root, rows };
  };
  const charts = [...document.querySelectorAll(".waterfall")].map(readChart).filter(({ rows }) => rows.length > 1);
  const values = (name) => [...new Set(charts.flatMap(({ rows }) => rows.map((row) => row[name])))].sort();
  const kinds = values("kind");
  const hosts = values("host");

  /** Whether the load waits for the object; where two schemes are compared, one of the two loads. */
  const isCritical = ({ drawing }) => {
    const bars = [...drawing.querySelectorAll("use")].map((use) => document.querySelector(use.getAttribute("href")));
    return [drawing, ...bars].some((bar) => bar && bar.querySelector(".critical"));
  };
  const isChosen = (row) =>
    choice.text.toLowerCase().split(" ").every((word) => row.text.includes(word)) &&
    [ANY, row.kind].includes(choice.kind) &&
    [ANY, row.host].includes(choice.host) &&
    (!choice.critical || isCritical(row));

  /** Hides all other rows; drawings share the height of those that are left. */
  const apply = ({ rows, output }) => {
    const shown = rows.filter(isChosen);
    const height = GRID / shown.length;
    for (const { element, drawing } of rows) {
      element.hidden = true;
      drawing.setAttribute("display", "none");
    }
    shown.forEach(({ element, drawing }, at) => {
      element.hidden = false;
      drawing.removeAttribute("display");
      drawing.setAttribute("transform", `translate(0 ${height * at}) scale(1 ${height / 100})`);
    });
    output.value = shown.length === rows.length ? "" : `${shown.length} of ${rows.length} objects`;
  };

  // ---- Controls.

  const change = (name, value) => {
    choice[name] = value;
    for (const chart of charts) {
      for (const list of ["text", "kind", "host"]) chart.controls[list].value = choice[list];
      chart.controls.critical.checked = choice.critical;
      apply(chart);
    }
  };
  const list = (name, all, label) => {
    const options = [new Option(label, ANY), ...all.map((value) => new Option(value, value))];
    const element = make("select", { ariaLabel: label, hidden: all.length < 2 }, ...options);
    element.addEventListener("change", () => change(name, element.value));
    return element;
  };
  const addControls = (chart) => {
    const text = make("input", { type: "search", placeholder: "Filter objects", ariaLabel: "Filter objects by address" });
    text.addEventListener("input", () => change("text", text.value));
    const critical = make("input", { type: "checkbox" });
    critical.addEventListener("change", () => change("critical", critical.checked));
    const kind = list("kind", kinds, "all kinds");
    const host = list("host", hosts, "all hosts");
    chart.controls = { text, kind, host, critical };
    chart.output = make("output");
    const onPath = make("label", { hidden: !document.querySelector(".bar .critical") }, critical, "critical path");
    chart.root.before(make("div", { className: "filter" }, text, kind, host, onPath, chart.output));
    // Another scheme in a lane has another critical path (`controls.js`).
    chart.root.addEventListener("marks", () => apply(chart));
  };
  charts.forEach(addControls);
})();
