// Fills the page with what the gateway tells each second (server-sent events). Text is set as text: what comes from hosts is never markup.
"use strict";

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const prefix = location.pathname.startsWith("/network/") ? decodeURIComponent(location.pathname.slice("/network/".length)) : null;
const wanted = new URLSearchParams(location.search);

function text(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function cell(value, kind) {
  const td = document.createElement("td");
  if (value instanceof Node) td.append(value); else td.textContent = value;
  if (kind) td.className = kind;
  return td;
}

function fill(id, rows, none) {
  const body = at(id).querySelector("tbody");
  const made = rows.map((cells) => {
    const tr = document.createElement("tr");
    tr.append(...cells);
    return tr;
  });
  if (made.length === 0) {
    const tr = document.createElement("tr");
    const td = cell(none, "");
    td.colSpan = 12;
    tr.append(td);
    made.push(tr);
  }
  body.replaceChildren(...made);
}

function facts(id, pairs) {
  const made = pairs.map(([name, value, kind]) => {
    const div = document.createElement("div");
    const dt = document.createElement("dt");
    const dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    if (kind) dd.className = kind;
    div.append(dt, dd);
    return div;
  });
  at(id).replaceChildren(...made);
}

function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

// A ratio and its interval on a logarithmic scale from 0.25 to 2.
function interval(ratio) {
  const svg = shape("svg", { class: "bar", viewBox: "0 0 192 16" });
  const x = (value) => 192 * Math.min(1, Math.max(0, Math.log2(value / 0.25) / 3));
  svg.append(shape("line", { class: "even", x1: x(1), x2: x(1), y1: 0, y2: 16 }));
  svg.append(shape("line", { class: "whisker", x1: x(ratio.low), x2: Math.max(x(ratio.high), x(ratio.low) + 1), y1: 8, y2: 8 }));
  svg.append(shape("circle", { class: "dot", cx: x(ratio.estimate), cy: 8, r: 3 }));
  return svg;
}

function plot(id, points, value) {
  const svg = at(id);
  const caption = svg.previousElementSibling;
  caption.dataset.name ||= caption.textContent;
  caption.textContent = caption.dataset.name;
  const known = points.map((point) => [point.at_s, value(point)]).filter((pair) => pair[1] !== null);
  svg.setAttribute("viewBox", "0 0 400 120");
  svg.setAttribute("preserveAspectRatio", "none");
  if (known.length === 0) { svg.replaceChildren(); return; }
  const begin = known[0][0], end = Math.max(known[known.length - 1][0], begin + 1);
  const most = Math.max(...known.map((pair) => pair[1])) * 1.1 || 1;
  const place = ([time, height]) => `${(8 + 384 * (time - begin) / (end - begin)).toFixed(1)},${(112 - 100 * height / most).toFixed(1)}`;
  const latest = text(known[known.length - 1][1], 1);
  caption.textContent += `: ${latest} last, ${text(most / 1.1, 1)} at most, over ${text(known[known.length - 1][0] - begin)} s`;
  const [x, y] = place(known[known.length - 1]).split(",");
  const last = shape("circle", { class: "dot", cx: x, cy: y, r: 2.5 });
  svg.replaceChildren(last, shape("polyline", { class: "line", points: known.map(place).join(" ") }));
}

const size = (bytes) => bytes === null ? "more" : bytes >= 1048576 ? `${bytes / 1048576} MiB` : `${bytes / 1024} KiB`;
const kb = (bytes) => text(bytes / 1000, 1);
const mbit = (rate) => rate === null ? "–" : text(rate / 1e6, 2);
const query = () => wanted.get("tenant") ? `?tenant=${encodeURIComponent(wanted.get("tenant"))}` : "";

function network(row) {
  const link = document.createElement("a");
  link.textContent = row.network;
  link.href = `/network/${row.network}${query()}`;
  const estimate = row.estimate;
  const figures = estimate === null ? Array(7).fill("–") : [kb(estimate.window), mbit(estimate.rate), text(estimate.min_rtt_ms, 1),
    text(estimate.confidence, 2), text(estimate.age_s), text(estimate.reporters), estimate.source];
  return [cell(link), cell(text(row.reports), "n"), ...figures.map((value, i) => cell(value, i < 6 ? "n" : ""))];
}

function counted(object) {
  return Object.entries(object).map(([name, count]) => [cell(name), cell(text(count), "n")]);
}

function one(row) {
  at("one").hidden = false;
  at("one-name").textContent = row.network;
  document.title = `${row.network} · headstart gateway`;
  const estimate = row.estimate;
  facts("one-facts", estimate === null ? [["known", "nothing"]] : [
    ["window", `${kb(estimate.window)} KB`], ["rate", `${mbit(estimate.rate)} Mbit/s`], ["lowest round trip", `${text(estimate.min_rtt_ms, 1)} ms`],
    ["confidence", text(estimate.confidence, 2)], ["newest sample", `${text(estimate.age_s)} s ago`], ["samples", text(estimate.samples)],
    ["hosts", text(estimate.reporters)], ["answered by", estimate.network ? `${estimate.source} ${estimate.network}` : estimate.source], ["reports", text(row.reports)],
  ]);
  plot("plot-window", row.history, (point) => point.window / 1000);
  plot("plot-rate", row.history, (point) => point.rate === null ? null : point.rate / 1e6);
  plot("plot-rtt", row.history, (point) => point.min_rtt_ms);
  at("one-note").textContent = row.history.length > 0 ? "" : "No history: only networks with reports since the gateway started have one.";
}

function show(told) {
  const status = told.status;
  document.querySelector("main").hidden = false;
  const tenant = status.tenants.find((each) => each.name === told.tenant);
  at("state").textContent = status.ready ? "ready" : "not ready";
  at("state").className = status.ready ? "good" : "bad";
  at("version").textContent = `version ${status.version}`;
  at("tenants").hidden = status.tenants.length < 2;
  const names = status.tenants.map((each) => each.name);
  if (at("tenant").children.length !== names.length) {
    at("tenant").replaceChildren(...names.map((name) => new Option(name, name, false, name === told.tenant)));
  }
  const taken = Object.values(status.taken).reduce((sum, count) => sum + count, 0);
  const answers = Object.values(status.answered).reduce((sum, count) => sum + count, 0);
  facts("facts", [
    ["up for", `${text(status.uptime_s)} s`], ["hosts alive", text(tenant.alive)], ["gateways alive", text(status.gateways.filter((gateway) => gateway.alive).length)], ["connections", text(status.connections)],
    ["prefixes known", text(tenant.prefixes)], ["reports", text(taken)], ["answers", text(answers)],
    ["time to answer", status.answer_mean_us === null ? "–" : `${text(status.answer_mean_us, 1)} µs`],
  ]);
  fill("gains", tenant.gains.map((gain) => [cell(size(gain.up_to_bytes)), cell(text(gain.chosen), "n"), cell(text(gain.control), "n"),
    cell(text(gain.control_s, 3), "n"), cell(gain.time_ratio ? text(gain.time_ratio.estimate, 3) : "–", "n"),
    cell(gain.time_ratio ? interval(gain.time_ratio) : "too few")]), "nothing compared yet");
  fill("answers", counted({ ...status.answered, ...Object.fromEntries(Object.entries(status.unanswered).map(([why, n]) => [`none: ${why}`, n])) }));
  fill("questions", counted({ "in time": tenant.questions.in_time, late: tenant.questions.late, none: tenant.questions.none }));
  fill("networks", told.networks.map(network), "no reports yet");
  fill("reporters", tenant.reporters.map((host) => [cell(host.role === "agent" ? host.name : `${host.role} ${host.name}`), cell(host.alive ? "alive" : "silent", host.alive ? "good" : "bad"),
    cell(text(host.heard_s), "n"), cell(text(host.taken), "n"), cell(text(host.refused), "n"), cell(host.version || "–")]), "nobody yet");
  fill("gateways", status.gateways.map((gateway) => [cell(gateway.this ? `${gateway.name} (this one)` : gateway.name),
    cell(gateway.alive ? "alive" : "silent", gateway.alive ? "good" : "bad"), cell(text(gateway.wrote_s), "n"), cell(String(gateway.origin), "n")]), "none");
  fill("refused", counted(status.refused));
  fill("connections", counted(status.refused_connections));
  if (told.network) one(told.network);
}

at("tenant").addEventListener("change", (event) => {
  wanted.set("tenant", event.target.value);
  location.search = wanted.toString();
});

const asked = new URLSearchParams();
if (wanted.get("tenant")) asked.set("tenant", wanted.get("tenant"));
if (prefix) asked.set("prefix", prefix);

// What is so now, before the first event: the page is shown once it has something to show.
async function first() {
  const json = async (path) => (await fetch(`/api/v1/${path}${asked}`)).json();
  const [status, networks, network] = await Promise.all([json("status?"), json("networks?limit=25&"), prefix ? json("network?") : null]);
  if (isHeard) return;
  show({ status, tenant: wanted.get("tenant") || status.tenants[0].name, networks, network });
}

let isHeard = false;
first().catch(() => {});
const events = new EventSource(`/api/v1/events?${asked}`);
events.onmessage = (event) => { isHeard = true; show(JSON.parse(event.data)); };
events.onerror = () => { at("state").textContent = "the gateway does not answer; trying again"; at("state").className = "bad"; };
