// Zoom, pan and hover of the report page. Without this script every figure is still there.
//
// A figure's view is the part of each axis in sight, as fractions {x: [0, 1], y: [0, 1]} of its full
// range. At first it is `home`, a part of the axis of time if `data-home` says so. `show` applies a view: it moves the view box of the curves, the per cents of the marks, and
// the ticks. Figures of one data-link show the same stretch of time.
"use strict";
(() => {
  const SVG = document.querySelector("svg").namespaceURI;
  const GRID = 100000;
  const CLOSEST = 1 / 2000;
  const REACH = 24;
  const figures = [];
  const tip = document.getElementById("tip");
  /** The row of each bar in the schemes' panels, by the bar's name. */
  const rowOf = new Map();

  // ---- Axes: the same rules as the ones that drew the page, for the width that there is.

  const axis = (text) => {
    const [scale, low, high, unit] = text.split(" ");
    return { log: scale === "log", low: +low, high: +high, unit };
  };
  const value = (a, f) =>
    a.log ? a.low * Math.pow(a.high / a.low, f) : a.low + f * (a.high - a.low);
  const fraction = (a, v) =>
    a.log ? Math.log(v / a.low) / Math.log(a.high / a.low) : (v - a.low) / (a.high - a.low);

  const prefix = (unit, v) => {
    if (unit === "s") return v >= 1 ? [1, " s"] : v >= 1e-3 ? [1e-3, " ms"] : [1e-6, " µs"];
    if (unit === "B") return v >= 1e6 ? [1e6, " MB"] : v >= 1e3 ? [1e3, " kB"] : [1, " B"];
    if (unit === "b") {
      return v >= 1e9 ? [1e9, " Gbit/s"] : v >= 1e6 ? [1e6, " Mbit/s"] : v >= 1e3 ? [1e3, " kbit/s"] : [1, " bit/s"];
    }
    return unit === "%" ? [0.01, " %"] : [1, ""];
  };
  const written = (a, v, step, greatest) => {
    const [divisor, suffix] = prefix(a.unit, greatest);
    const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / divisor) + 1e-9)));
    return (v / divisor).toFixed(decimals) + suffix;
  };
  const roundStep = (rough) => {
    const decade = Math.pow(10, Math.floor(Math.log10(rough)));
    return ([1, 2, 5].find((f) => f * decade >= rough * (1 - 1e-9)) || 10) * decade;
  };
  const linearTicks = (a, low, high, target) => {
    let step = roundStep((high - low) / target);
    if (a.unit === "c") step = Math.max(step, 1);
    const ticks = [];
    const greatest = Math.max(Math.abs(low), Math.abs(high));
    for (let i = Math.ceil(low / step); i <= Math.floor(high / step + 1e-9); i++) {
      ticks.push([i * step, written(a, i * step, step, greatest)]);
    }
    return ticks;
  };
  const logTicks = (a, low, high, target) => {
    const first = Math.floor(Math.log10(low));
    const last = Math.ceil(Math.log10(high));
    const stride = Math.max(1, Math.floor((last - first) / target));
    const ticks = [];
    for (let k = first; k <= last; k += stride) {
      for (const f of last - first <= Math.min(3, target / 2) ? [1, 2, 5] : [1]) {
        const v = f * Math.pow(10, k);
        if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)) ticks.push([v, written(a, v, v, v)]);
      }
    }
    return ticks.length > 1 ? ticks : linearTicks(a, low, high, target);
  };
  const ticks = (a, view, target) => {
    const [low, high] = view.map((f) => value(a, f));
    return (a.log ? logTicks : linearTicks)(a, low, high, Math.max(2, target));
  };

  // ---- Showing a view.

  const make = (name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text) element.textContent = text;
    return element;
  };
  const percent = (f) => (f * 100).toFixed(3) + "%";
  const within = (f, [low, high]) => (f - low) / (high - low);

  const drawTicks = (fig, horizontal) => {
    const a = horizontal ? fig.x : fig.y;
    if (!a) return;
    const view = horizontal ? fig.view.x : fig.view.y;
    const box = fig.curves.getBoundingClientRect();
    const target = horizontal ? box.width / 80 : box.height / 48;
    const parts = () => ticks(a, view, Math.floor(target)).flatMap(([v, text]) => {
      const f = within(fraction(a, v), view);
      const at = percent(horizontal ? f : 1 - f);
      return horizontal
        ? [make("line", { x1: at, x2: at, y2: "100%" }),
           make("text", { x: at, y: "100%", dy: "1.3em" }, text)]
        : [make("line", { y1: at, y2: at, x2: "100%" }),
           make("text", { x: -6, y: at, dy: "0.32em" }, text)];
    });
    // A waterfall has its grid lines and their labels in two layers.
    for (const group of fig.root.querySelectorAll(horizontal ? ".xt" : ".yt")) group.replaceChildren(...parts());
  };

  const placeMark = (fig, mark) => {
    const x = mark.fx === null ? 0 : within(mark.fx, fig.view.x);
    const y = mark.fy === null ? 0 : 1 - within(1 - mark.fy, fig.view.y);
    const inSight = x > -1e-6 && x < 1 + 1e-6 && y > -1e-6 && y < 1 + 1e-6;
    mark.element.setAttribute("visibility", inSight ? "visible" : "hidden");
    if (mark.fx !== null) mark.element.setAttribute("x", percent(x));
    if (mark.fy !== null) mark.element.setAttribute("y", percent(y));
  };

  const isAt = (fig, end) => fig.view.x[0] === 0 && fig.view.x[1] === end && fig.view.y[0] === 0 && fig.view.y[1] === 1;
  const isFull = (fig) => isAt(fig, 1);
  const isHome = (fig) => isAt(fig, fig.home);

  const show = (fig) => {
    const { x, y } = fig.view;
    const box = [x[0], 1 - y[1], x[1] - x[0], y[1] - y[0]].map((f) => f * GRID);
    fig.curves.setAttribute("viewBox", box.join(" "));
    fig.marks.forEach((mark) => placeMark(fig, mark));
    drawTicks(fig, true);
    drawTicks(fig, false);
    fig.root.parentNode.classList.toggle("zoomed", !isHome(fig));
  };

  // ---- Changing it.

  const clamped = ([low, high]) => {
    const length = Math.min(1, Math.max(CLOSEST, high - low));
    const start = Math.min(1 - length, Math.max(0, low));
    return length === 1 ? [0, 1] : [start, start + length];
  };
  const scaled = ([low, high], about, factor) => {
    const pivot = low + about * (high - low);
    return [pivot - (pivot - low) * factor, pivot + (high - pivot) * factor];
  };
  const moved = ([low, high], by) => [low + by * (high - low), high + by * (high - low)];

  const change = (fig, x, y) => {
    fig.view = { x: clamped(x), y: fig.y ? clamped(y) : [0, 1] };
    show(fig);
    const times = fig.view.x.map((f) => value(fig.x, f));
    for (const other of linked(fig)) {
      other.view.x = clamped(times.map((t) => fraction(other.x, t)));
      show(other);
    }
  };
  const linked = (fig) =>
    fig.root.dataset.link
      ? figures.filter((f) => f !== fig && f.root.dataset.link === fig.root.dataset.link)
      : [];
  const reset = (fig) => {
    fig.view.y = [0, 1];
    for (const other of [fig, ...linked(fig)]) {
      other.view.x = [0, other.home];
      show(other);
    }
  };
  const zoom = (fig, factor, [fx, fy]) =>
    change(fig, scaled(fig.view.x, fx, factor), scaled(fig.view.y, 1 - fy, factor));

  /** Where the pointer is within the plot, as fractions from left and from top. */
  const place = (fig, event) => {
    const box = plotBox(fig);
    const f = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    return f.map((v) => Math.min(1, Math.max(0, v)));
  };
  const plotBox = (fig) => fig.curves.getBoundingClientRect();

  // A wheel that is already scrolling the page goes on scrolling when a figure passes below it.
  let lastScroll = -1000;
  addEventListener("scroll", (event) => { lastScroll = event.timeStamp; }, { passive: true });

  const onWheel = (fig, event) => {
    const out = event.deltaY > 0;
    if (event.timeStamp - lastScroll < 300 && !event.ctrlKey) return;
    if (out && (isFull(fig) || isHome(fig))) return;
    event.preventDefault();
    zoom(fig, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), place(fig, event));
  };

  const onDown = (fig, event) => {
    if (event.button !== 0 || isFull(fig)) return;
    const box = plotBox(fig);
    const start = { x: event.clientX, y: event.clientY, view: fig.view };
    fig.root.setPointerCapture(event.pointerId);
    fig.root.classList.add("dragging");
    hideTip();
    const onMove = (e) => {
      const dx = (start.x - e.clientX) / box.width;
      const dy = (e.clientY - start.y) / box.height;
      change(fig, moved(start.view.x, dx), moved(start.view.y, dy));
    };
    const stop = () => {
      fig.root.classList.remove("dragging");
      fig.root.removeEventListener("pointermove", onMove);
    };
    fig.root.addEventListener("pointermove", onMove);
    fig.root.addEventListener("pointerup", stop, { once: true });
    fig.root.addEventListener("pointercancel", stop, { once: true });
  };

  const onKey = (fig, event) => {
    const centre = [0.5, 0.5];
    const { x, y } = fig.view;
    const actions = {
      "+": () => zoom(fig, 0.7, centre),
      "=": () => zoom(fig, 0.7, centre),
      "-": () => zoom(fig, 1 / 0.7, centre),
      "0": () => reset(fig),
      Escape: () => reset(fig),
      ArrowLeft: () => change(fig, moved(x, -0.15), y),
      ArrowRight: () => change(fig, moved(x, 0.15), y),
      ArrowUp: () => change(fig, x, moved(y, 0.15)),
      ArrowDown: () => change(fig, x, moved(y, -0.15)),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow") && isFull(fig)) return;
    event.preventDefault();
    action();
  };

  // ---- Hover: the text of a mark, or the nearest point of a curve.

  /** The points of a path in grid steps; of steps only where they have reached their value. */
  const pointsOf = (path) => {
    const steps = path.classList.contains("step");
    const points = [];
    let [x, y] = [0, 0];
    for (const [, command, numbers] of path.getAttribute("d").matchAll(/([Mmlhv])([-\d ]*)/g)) {
      const [a, b] = (numbers.match(/-?\d+/g) || []).map(Number);
      if (command === "M") [x, y] = [a, b];
      else if (command === "m" || command === "l") [x, y] = [x + a, y + b];
      else if (command === "h") x += a;
      else y += a;
      if (!(steps && command === "h")) points.push([x / GRID, 1 - y / GRID]);
    }
    return points;
  };
  const nearest = (fig, event) => {
    fig.points ||= [...fig.curves.querySelectorAll("path[data-n]")].map((path) => [path.dataset.n, pointsOf(path)]);
    const box = plotBox(fig);
    let best = { distance: REACH };
    for (const [name, points] of fig.points) {
      for (const [x, y] of points) {
        const px = box.left + within(x, fig.view.x) * box.width - event.clientX;
        const py = box.top + (1 - within(y, fig.view.y)) * box.height - event.clientY;
        const distance = Math.hypot(px, py);
        if (distance < best.distance) best = { distance, name, x, y };
      }
    }
    return best;
  };
  /** The label of the waterfall's row at the pointer; of two lanes, that of the nearer one's row in its own panel. */
  const rowAt = (fig, event) => {
    const row = event.target.closest(".rows .r");
    if (!row) return null;
    const distance = (lane) => {
      const { top, bottom } = lane.getBoundingClientRect();
      return Math.abs((top + bottom) / 2 - event.clientY);
    };
    const lanes = [...fig.curves.children[fig.rows.indexOf(row)].querySelectorAll("use")];
    if (!lanes.length) return row;
    lanes.sort((a, b) => distance(a) - distance(b));
    return lanes.map((lane) => rowOf.get(lane.getAttribute("href").slice(1))).find((found) => found);
  };
  /** As many digits as the grid of the paths carries. */
  const exact = (a, f) => {
    const v = value(a, f);
    const [divisor, suffix] = a.unit === "B" ? [1, " B"] : prefix(a.unit, Math.abs(v));
    const step = a.log ? v * Math.log(a.high / a.low) / GRID : (a.high - a.low) / GRID;
    const decimals = a.unit === "c" || a.unit === "B"
      ? 0 : Math.max(0, Math.min(6, -Math.ceil(Math.log10(Math.abs(step) / divisor))));
    const [whole, part] = (v / divisor).toFixed(decimals).split(".");
    return whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (part ? "." + part : "") + suffix;
  };
  const hideTip = () => { tip.hidden = true; };
  const showTip = (text, event) => {
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6);
    const below = event.clientY + 16;
    const top = below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below;
    tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  };
  const onHover = (fig, event) => {
    drawCursors(fig, event);
    if (fig.root.classList.contains("dragging")) return;
    const mark = rowAt(fig, event) || event.target.closest("[data-t]");
    if (mark) return showTip(whose(fig, mark) + mark.dataset.t, event);
    const found = fig.y ? nearest(fig, event) : {};
    const shade = event.target.closest("[data-s]");
    const lines = found.name ? [found.name, `${exact(fig.y, found.y)} at ${exact(fig.x, found.x)}`] : [];
    if (shade) lines.push(shade.dataset.s);
    if (!lines.length) return hideTip();
    showTip(lines.join("\n"), event);
  };
  /** Where two schemes are compared, the one whose row it is: that of the panel. */
  const whose = (fig, row) =>
    fig.root.classList.contains("compare") ? `${row.closest("section").getAttribute("aria-label")}\n` : "";
  /** An upright line at the pointer's time in every figure of the same time axis. */
  const drawCursors = (fig, event) => {
    const [fx] = place(fig, event);
    const at = value(fig.x, fig.view.x[0] + fx * (fig.view.x[1] - fig.view.x[0]));
    for (const other of [fig, ...linked(fig)]) {
      other.cursor ||= other.root.querySelector(".axes").appendChild(make("line", { class: "cursor", y2: "100%" }));
      const f = within(fraction(other.x, at), other.view.x);
      const x = percent(f);
      other.cursor.setAttribute("x1", x);
      other.cursor.setAttribute("x2", x);
      other.cursor.setAttribute("visibility", f >= 0 && f <= 1 ? "visible" : "hidden");
    }
  };
  const onLeave = (fig) => {
    hideTip();
    [fig, ...linked(fig)].forEach((f) => f.cursor && f.cursor.setAttribute("visibility", "hidden"));
  };

  // ---- Setting up.

  const part = (element, name) => {
    const text = element.getAttribute(name);
    return text === null ? null : parseFloat(text) / 100;
  };
  const marksOf = (root) => [...root.querySelectorAll(".marks > *, .names > .ref")].map((element) => (
    { element, fx: element.dataset.f === undefined ? part(element, "x") : +element.dataset.f, fy: part(element, "y") }));
  const button = (text, label, action) => {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = text;
    element.setAttribute("aria-label", label);
    element.title = label;
    element.addEventListener("click", action);
    return element;
  };
  const addButtons = (fig) => {
    const bar = document.createElement("div");
    bar.className = "zoom";
    bar.append(
      button("+", "Zoom in", () => zoom(fig, 0.6, [0.5, 0.5])),
      button("−", "Zoom out", () => zoom(fig, 1 / 0.6, [0.5, 0.5])),
      button("reset", "Reset the zoom", () => reset(fig)),
    );
    fig.root.parentNode.append(bar);
  };
  const setUp = (root) => {
    const home = +(root.dataset.home || 1);
    const fig = {
      root,
      home,
      x: axis(root.dataset.x),
      y: root.dataset.y ? axis(root.dataset.y) : null,
      curves: root.querySelector(".curves"),
      rows: [...root.querySelectorAll(".rows .r")],
      marks: marksOf(root),
      view: { x: [0, home], y: [0, 1] },
    };
    // The browser's own tooltips would come late and lie over ours.
    for (const title of root.querySelectorAll("title")) {
      title.parentNode.dataset.t = title.textContent;
      title.remove();
    }
    fig.rows.forEach((row, at) => {
      row.dataset.t = row.title;
      row.removeAttribute("title");
      const bar = fig.curves.children[at].querySelector(".bar");
      if (bar) rowOf.set(bar.id, row);
    });
    root.addEventListener("wheel", (event) => onWheel(fig, event), { passive: false });
    root.addEventListener("pointerdown", (event) => onDown(fig, event));
    root.addEventListener("pointermove", (event) => onHover(fig, event));
    root.addEventListener("pointerleave", () => onLeave(fig));
    // A finger that taps has left before its click; what it has touched stays until the next touch.
    root.addEventListener("click", (event) => { if (event.pointerType !== "mouse") onHover(fig, event); });
    root.addEventListener("dblclick", () => reset(fig));
    root.addEventListener("keydown", (event) => onKey(fig, event));
    // Whoever has moved marks of an unzoomed figure says so (`controls.js`).
    root.addEventListener("marks", () => { fig.marks = marksOf(root); show(fig); });
    addButtons(fig);
    if (home < 1) show(fig);
    const rest = root.querySelector(".rest");
    if (rest) rest.replaceChildren(button(rest.textContent, "Show the whole load", () => change(fig, [0, 1], [0, 1])));
    figures.push(fig);
    return fig;
  };

  document.querySelectorAll(".fig").forEach(setUp);
  document.addEventListener("pointerdown", hideTip);
  const byRoot = new Map(figures.map((fig) => [fig.root, fig]));
  const resized = new ResizeObserver((entries) => {
    for (const entry of entries) {
      if (entry.contentRect.width > 0) drawTicks(byRoot.get(entry.target), true);
    }
  });
  figures.forEach((fig) => resized.observe(fig.root));
})();
