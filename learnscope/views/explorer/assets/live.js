// The live page: builds the controls, asks one question at a time, draws the answers.
window.dash_clientside = window.dash_clientside || {};
(function () {
  const EXPORTS = ["py", "toml", "pdf", "nc"], COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"];
  const NARROW = 640; // pixels, below which curves are drawn one below the other
  const FRAME = 120, PAUSE = 150, SLOW = 400; // ms: of playing, before weights are asked for, until a wait is shown
  const at = (id) => document.getElementById(id);

  // What the server answers, which may be a refusal.
  async function answer(question, query) {
    const colours = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const width = window.innerWidth < NARROW ? "narrow" : "wide";
    const found = await fetch(`live/${question}?${query}`, { headers: { "X-Page": `${colours} ${width}` } });
    return found.ok ? found.json() : { refusal: await found.text() };
  }

  let spec, fields, shownQuery, busy, steps, place, drawnQuery, frames, playing, later, legends, entry, visit = 0;

  function made(tag, words, properties) {
    const element = Object.assign(document.createElement(tag), properties || {});
    element.append(...(Array.isArray(words) ? words : [words]));
    return element;
  }

  // ---- controls -------------------------------------------------------------------------------

  // The text that a slider's position stands for.
  function text(given, range) {
    const position = Number(given); // a control's value is a string
    if (range.scale === "linear") return String(Number(position.toPrecision(4)));
    if (range.scale === "stops") {
      const power = Math.pow(10, Math.floor(position + 1e-9));
      const apart = (m) => Math.abs(Math.log10(m * power) - position);
      return String(Math.round([1, 2, 5, 10].reduce((a, b) => (apart(b) < apart(a) ? b : a)) * power));
    }
    const number = Number(Math.pow(10, position).toPrecision(3));
    return String(range.scale === "whole" ? Math.round(number) : number);
  }

  function position(words, range) {
    const value = Number(words);
    if (!isFinite(value) || (range.scale !== "linear" && value <= 0)) return range.low;
    return Math.min(Math.max(range.scale === "linear" ? value : Math.log10(value), range.low), range.high);
  }

  function select(options, chosen, id, changed) {
    const menu = made("select", options.map((o) => made("option", o.title || o, { value: o.name || o })), { id: id });
    menu.value = chosen;
    menu.addEventListener("change", () => changed(menu.value));
    return menu;
  }

  function control(field) {
    fields.push(field);
    const id = "field-" + field.path;
    if (field.options) {
      const menu = select(field.options, field.value, id, (value) => { field.value = value; ask(); });
      return made("div", made("label", [field.name, menu]), { className: "field" });
    }
    const box = made("input", [], { type: "text", id: id, value: field.value, spellcheck: false, autocomplete: "off" });
    const range = field.range;
    if (!range) {
      box.addEventListener("change", () => { field.value = box.value.trim(); ask(); });
      return made("div", made("label", [field.name, box]), { className: "field" });
    }
    const bar = made("input", [], { type: "range", id: "slider-" + field.path, min: range.low, max: range.high, step: range.step });
    const tell = () => bar.setAttribute("aria-valuetext", field.value);
    bar.value = position(field.value, range);
    tell();
    bar.addEventListener("input", () => { field.value = box.value = text(bar.value, range); tell(); ask(); });
    box.addEventListener("change", () => { field.value = box.value.trim(); bar.value = position(field.value, range); tell(); ask(); });
    const exact = made("label", [field.name + ", value", box], { className: "exact" });
    return made("div", [made("label", [field.name, bar]), exact], { className: "field" });
  }

  function group(part) {
    const picker = select(part.kinds, part.kind, "kind-" + part.slot, (kind) => pick(part.slot, kind));
    const label = made("label", [made("span", part.title), picker], { className: "slot" });
    const rare = part.fields.filter((f) => f.rare), often = part.fields.filter((f) => !f.rare);
    const more = rare.length ? [made("details", [made("summary", "more"), ...rare.map(control)])] : [];
    return made("section", [label, ...often.map(control), ...more], { className: "part" });
  }

  // Every probe that can be watched; the answer says which ones are (none ticked: the presets' own).
  function probes() {
    const field = { path: "probes", value: spec.chosen, first: "" };
    fields.push(field);
    const boxes = spec.probes.map((name) => made("input", [], { type: "checkbox", id: "probe-" + name, value: name }));
    for (const box of boxes) box.addEventListener("change", () => {
      field.value = boxes.filter((b) => b.checked).map((b) => b.value).join(",");
      ask();
    });
    return made("details", [made("summary", "probes"), ...boxes.map((box) => made("label", [box, box.value], { className: "probe" }))]);
  }

  function build(given) {
    const focused = document.activeElement && document.activeElement.id;
    spec = given;
    fields = [];
    const start = select(spec.presets, spec.preset, "preset", (name) => rebuild("preset=" + name));
    const label = made("label", [made("span", "Start from"), start], { className: "slot" });
    const run = made("section", [...spec.run.map(control), probes()], { className: "part" });
    at("controls").replaceChildren(label, ...spec.groups.map(group), run);
    if (focused && at(focused)) at(focused).focus();
  }

  function query() {
    const words = ["preset=" + encodeURIComponent(spec.preset)];
    for (const part of spec.groups) if (part.kind !== part.own) words.push(part.slot + "=" + part.kind);
    for (const field of fields)
      if (field.value !== field.first) words.push(field.path + "=" + encodeURIComponent(field.value).replaceAll("%2C", ","));
    return words.join("&");
  }

  // Another kind of part: what the other parts hold stays, unless it does not go with it.
  async function pick(slot, kind) {
    const kept = query().split("&").filter((word) => !["=", "."].some((end) => word.startsWith(slot + end)) && !word.startsWith("probes="));
    const kinds = spec.groups.map((part) => part.slot + "=" + (part.slot === slot ? kind : part.kind));
    const other = kept.filter((word) => !kinds.some((k) => word.startsWith(k.split("=")[0] + "=")));
    await rebuild([...other, ...kinds].join("&"), ["preset=" + spec.preset, ...kinds].join("&"));
  }

  async function rebuild(wanted, otherwise, back) {
    let found = await answer("controls", wanted);
    if (found.refusal && otherwise) found = await answer("controls", otherwise);
    if (found.refusal) return refuse(found.refusal);
    build(found);
    entry = !back; // another part is a step that "back" undoes; a slider's move is not
    place = null;
    ask();
  }

  window.addEventListener("popstate", () => {
    if (at("curves") && spec && window.location.search) rebuild(window.location.search.slice(1), null, true);
  });

  // ---- questions ------------------------------------------------------------------------------

  function refuse(words) {
    at("refusal").textContent = words;
    at("refusal").className = words ? "message" : "";
  }

  function remember() {
    const last = !steps.length || place === steps.length - 1;
    const address = "?" + drawnQuery + (last ? "" : "&step=" + steps[place]);
    if (entry) window.history.pushState(window.history.state, "", address);
    else window.history.replaceState(window.history.state, "", address);
    entry = false;
  }

  // Ask for what the controls hold; while an answer is awaited, only as soon as it is there.
  async function ask(first) {
    const wanted = query(), mine = visit;
    if (busy || wanted === shownQuery) return;
    busy = true;
    clearTimeout(later);
    if (!first) at("trouble").hidden = true;
    const slow = setTimeout(() => { at("status").textContent =
      "Training … (other shapes or rules are compiled first, which takes seconds)"; }, SLOW);
    try {
      const found = await answer("answer", wanted);
      clearTimeout(slow);
      if (mine !== visit || !at("curves")) return;
      shownQuery = wanted;
      refuse(found.refusal || "");
      at("results").classList.toggle("old", Boolean(found.refusal));
      at("status").textContent = found.refusal ? "Refused (see above): this is what was shown before." : found.status;
      if (found.refusal) return;
      await draw(found);
      drawnQuery = wanted;
      if (!first) remember();
      for (const kind of EXPORTS) at("export-" + kind).href = "export/live." + kind + "?" + wanted;
      later = setTimeout(() => askWeights(wanted, mine), PAUSE);
    } catch (error) {
      if (mine === visit && at("refusal")) refuse("The explorer does not answer: is it still running?");
      shownQuery = wanted;
    } finally {
      clearTimeout(slow);
      if (mine === visit) {
        busy = false;
        if (at("curves")) ask();
      }
    }
  }

  async function askWeights(wanted, mine) {
    const found = await answer("weights", wanted).catch(() => null);
    if (!found || mine !== visit || wanted !== shownQuery || !at("weights")) return;
    frames = found.refusal ? { kind: "none", why: found.refusal } : found;
    look();
  }

  // ---- answers --------------------------------------------------------------------------------

  async function plotly() {
    while (!window.Plotly) await new Promise((done) => setTimeout(done, 20));
    return window.Plotly;
  }

  async function draw(found) {
    at("warning").textContent = found.warning;
    at("warning").className = found.warning ? "message" : "";
    for (const name of spec.probes) at("probe-" + name).checked = found.watched.includes(name);
    frames = null;
    at("weights").classList.add("old"); // until theirs are there
    const before = steps.length - 1;
    steps = found.figure.layout.meta.steps;
    place = place === null || place >= before ? steps.length - 1 : Math.min(place, steps.length - 1);
    at("at").max = steps.length - 1;
    for (const shape of found.figure.layout.shapes) if (shape.name === "now") shape.x0 = shape.x1 = steps[place];
    await (await plotly()).react(at("curves"), found.figure.data, found.figure.layout, { displayModeBar: false, responsive: true });
    const words = JSON.stringify(found.legends);
    if (words !== legends || !at("legends").hasChildNodes()) at("legends").replaceChildren(...found.legends.map(legend));
    legends = words;
    showStep();
    setTimeout(() => { if (at("theory")) at("theory").replaceChildren(...found.theory.flatMap(table)); }); // after the curves are seen
  }

  function legend(panel) {
    const keys = panel.keys.map((key) => {
      const line = made("i", []);
      line.style.background = key.colour;
      return made("span", [line, key.name]);
    });
    const box = made("div", [made("b", panel.title), ...keys], { className: "legend" });
    Object.assign(box.style, { left: panel.left, top: panel.top, width: panel.width });
    return box;
  }

  function table(found) {
    const cell = (words, tag) => made(tag, words, words === "holds" || words === "fails" ? { className: words } : {});
    const row = (cells, tag) => made("tr", cells.map((words) => cell(words, tag)));
    if (!found.rows.length) return [made("h2", found.title), made("p", found.names[0])];
    const rows = [made("thead", row(found.names, "th")), made("tbody", found.rows.map((r) => row(r, "td")))];
    return [made("h2", found.title), made("div", made("table", rows), { className: "scroll" })];
  }

  // ---- the step looked at ---------------------------------------------------------------------

  function showStep() {
    at("at").value = place;
    at("at-text").textContent = "step " + steps[place];
    at("at").setAttribute("aria-valuetext", "step " + steps[place]);
  }

  async function look() {
    if (!steps.length) return;
    showStep();
    remember();
    const shapes = at("curves").layout.shapes, change = {};
    shapes.forEach((shape, i) => {
      if (shape.name === "now" && shape.x0 !== steps[place]) change[`shapes[${i}].x0`] = change[`shapes[${i}].x1`] = steps[place];
    });
    if (Object.keys(change).length) window.Plotly.relayout(at("curves"), change);
    if (frames) {
      at("weights").classList.remove("old");
      const figure = weights();
      (await plotly()).react(at("weights"), figure.data, figure.layout, { displayModeBar: false, responsive: true });
    }
  }

  function play() {
    clearInterval(playing);
    playing = playing ? null : setInterval(() => {
      if (!at("curves")) return play();
      if (steps.length) { place = place >= steps.length - 1 ? 0 : place + 1; look(); }
    }, FRAME);
    if (at("play")) at("play").textContent = playing ? "Pause" : "Play";
  }

  function weights() {
    const layout = {
      font: { color: getComputedStyle(document.body).color, size: 12 }, paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 50, r: 10, t: 10, b: 45 }, height: 340, uirevision: "same",
    };
    const note = (words) => { at("weights-text").textContent = words; };
    if (frames.kind === "none") { note(frames.why); return { data: [], layout: layout }; }
    const values = frames.values[Math.min(place, frames.values.length - 1)];
    if (frames.kind === "matrix") {
      note(`First seed: ${frames.text}.`);
      const most = Math.max(1e-9, ...frames.values.flat(2).map(Math.abs)), n = values.map((_, i) => i + 1);
      layout.xaxis = { title: { text: "to " + frames.of }, dtick: 1 };
      layout.yaxis = { title: { text: "from " + frames.of }, dtick: 1, autorange: "reversed" };
      return { data: [{ type: "heatmap", x: n, y: n, z: values, zmin: -most, zmax: most, colorscale: "RdBu",
        colorbar: { title: { text: "entry" } } }], layout: layout };
    }
    const some = frames.points.length < frames.count ? `${frames.points.length} of ${frames.count}` : frames.count;
    note(`Directions of ${some} ${frames.of}s, first seed, by classical scaling${frames.outputs > 1 ? ", one colour per output" : ""}.`);
    const axis = { range: [-1.3, 1.3], zeroline: false, gridcolor: "rgba(128,128,128,.3)" };
    layout.xaxis = { ...axis, title: { text: "first axis" } };
    layout.yaxis = { ...axis, title: { text: "second axis" }, scaleanchor: "x" };
    const each = frames.count / frames.outputs;
    return { data: [{ type: "scatter", mode: "markers", x: values.map((v) => v[0]), y: values.map((v) => v[1]),
      text: frames.points.map((f) => frames.of + " " + (f + 1)), hoverinfo: "text",
      marker: { size: 9, opacity: 0.75, color: frames.points.map((f) => COLOURS[Math.floor(f / each) % 6]) } }], layout: layout };
  }

  async function copy() {
    let words = "Copied";
    // Browsers give pages of other machines no clipboard.
    if (!navigator.clipboard) words = "Copy the address above";
    else await navigator.clipboard.writeText(window.location.href).catch(() => { words = "Copy the address above"; });
    at("copy").textContent = words;
    setTimeout(() => { if (at("copy")) at("copy").textContent = "Copy link"; }, 1500);
  }

  // ---- the page is there ----------------------------------------------------------------------

  window.dash_clientside.learnscope = {
    live: function (start) {
      visit += 1;
      clearInterval(playing);
      [shownQuery, drawnQuery, busy, steps, frames, playing, place, entry] = [null, null, false, [], null, null, null, false];
      build(start);
      at("play").addEventListener("click", play);
      const bar = made("input", [], { type: "range", id: "at", min: 0, max: 1, step: 1, value: 1 });
      bar.addEventListener("input", () => { if (steps.length) { place = Number(bar.value); look(); } });
      at("at-label").replaceChildren("step", bar);
      at("copy").addEventListener("click", copy);
      const wanted = start.step;
      ask(true).then(() => {
        if (wanted === null || !steps.length) return;
        place = steps.findIndex((step) => step >= wanted);
        look();
      });
      return window.dash_clientside.no_update;
    },
  };
})();
