// Tabs, tables that sort and scroll, and the choice of two schemes. Without this script all panels are there, one below
// the other, tables are as they were made, and the two schemes those that were chosen.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // ---- Tabs: one panel at a time.

  const tabs = all(".tabs a");
  const panels = tabs.map((tab) => document.getElementById(tab.getAttribute("href").slice(1)));
  const select = (at) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === at);
      tab.tabIndex = i === at ? 0 : -1;
      panels[i].hidden = i !== at;
    });
  };
  tabs.forEach((tab, at) => {
    tab.parentNode.setAttribute("role", "tablist");
    tab.setAttribute("role", "tab");
    panels[at].setAttribute("role", "tabpanel");
    tab.addEventListener("click", (event) => { event.preventDefault(); select(at); });
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      const next = (at + by + tabs.length) % tabs.length;
      select(next);
      tabs[next].focus();
    });
  });
  if (tabs.length) select(Math.max(0, tabs.findIndex((tab) => tab.hash && tab.hash === location.hash)));

  // The heads of waterfalls stay in sight below the tabs.
  const tabbar = document.querySelector(".tabbar");
  const belowTabs = () => document.documentElement.style.setProperty("--tabs", `${tabbar.offsetHeight}px`);
  if (tabbar) new ResizeObserver(belowTabs).observe(tabbar);

  // ---- Shadows where there is more to the side.

  const watchEdges = (outer) => {
    const inner = outer.firstElementChild;
    const update = () => {
      const right = inner.scrollWidth - inner.clientWidth - inner.scrollLeft;
      const down = inner.scrollHeight - inner.clientHeight - inner.scrollTop;
      outer.classList.toggle("left", inner.scrollLeft > 1);
      outer.classList.toggle("right", right > 1);
      outer.classList.toggle("down", down > 1);
    };
    inner.addEventListener("scroll", update, { passive: true });
    new ResizeObserver(update).observe(inner);
    update();
  };
  all(".more").forEach(watchEdges);

  // ---- Sorting: a click on a head sorts by its column, a second one the other way round, a third one not at all.

  /** Numbers by what is in `data-v`, words by their letters, what is undefined last whichever way. */
  const compare = (a, b, sign) => {
    const [x, y] = [a, b].map((cell) => (cell.dataset.v === undefined ? null : +cell.dataset.v));
    if (x !== null && y !== null) return sign * (x - y);
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return sign * a.textContent.localeCompare(b.textContent, "en", { numeric: true });
  };
  const ORDERS = ["ascending", "descending"];
  const sortable = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) return;
    const heads = all("thead th:not(.group)", table);
    const sort = (column) => {
      const head = heads[column];
      const order = ORDERS[ORDERS.indexOf(head.getAttribute("aria-sort")) + 1];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (order) head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      const by = (a, b) => compare(a.cells[column], b.cells[column], sign);
      body.append(...(order ? [...rows].sort(by) : rows));
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(column));
      head.append(button);
    });
  };
  all("table.sortable").forEach(sortable);

  // ---- Two schemes side by side.

  const compared = document.querySelector(".fig.compare");
  /** Shows the load of another tab's scheme in a lane: its bars, the colour of its edge, and the end of its load. */
  const show = (lane, at) => {
    const { c } = tabs[at].dataset;
    for (const bars of all(`use.${lane}`, compared)) {
      bars.setAttribute("href", bars.getAttribute("href").replace(/^#s\d+/, `#s${at}`));
    }
    for (const edge of all(`.edge.${lane}`, compared)) edge.setAttribute("class", `edge ${lane} ${c}`);
    for (const line of all(`.ref.${lane}`, compared)) moveLine(line, lane, tabs[at].dataset);
    compared.dispatchEvent(new Event("marks"));
  };
  const moveLine = (line, lane, { c, end = "-1", time = "" }) => {
    line.setAttribute("class", `ref ${c} ${lane}`);
    line.dataset.f = end;
    const text = line.querySelector("text");
    if (!text) return;
    const isLate = end / (compared.dataset.home || 1) > 0.6;
    text.textContent = text.textContent.trim().replace(/ .*/, ` ${time}`);
    text.setAttribute("text-anchor", isLate ? "end" : "start");
    text.setAttribute("dx", isLate ? -4 : 4);
  };
  const chooser = (named) => {
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", `Scheme of the ${named.dataset.lane} lanes`);
    choice.append(...tabs.map((tab, at) => new Option(tab.textContent, at)));
    choice.value = named.dataset.at;
    choice.addEventListener("change", () => show(named.dataset.lane, +choice.value));
    named.replaceWith(choice);
  };
  if (compared && tabs.length) all("[data-lane]").forEach(chooser);
})();
