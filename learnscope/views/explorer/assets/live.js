// The live page's own work: sliders and boxes in step, one request at a time, the step looked at.
window.dash_clientside = window.dash_clientside || {};
(function () {
  const none = () => window.dash_clientside.no_update;
  const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
  const PATIENCE = 30000; // ms after which a request is taken for lost
  let sentAt = 0, waitingFor = null;

  function shown(value, scale) {
    if (scale === "linear") return String(Number(Number(value).toPrecision(4)));
    let number = Math.pow(10, value);
    if (scale === "stops") {
      const power = Math.pow(10, Math.floor(value + 1e-9));
      const stop = [1, 2, 5, 10].reduce((a, b) =>
        Math.abs(Math.log10(b * power) - value) < Math.abs(Math.log10(a * power) - value) ? b : a);
      return String(Math.round(stop * power));
    }
    number = Number(number.toPrecision(3));
    return String(scale === "whole" ? Math.round(number) : number);
  }

  function position(text, scale, low, high) {
    let value = Number(text);
    if (!isFinite(value) || (scale !== "linear" && value <= 0)) return none();
    value = scale === "linear" ? value : Math.log10(value);
    return Math.min(Math.max(value, low), high);
  }

  // What the boxes hold, or will as soon as they have followed their sliders.
  const sliders = {}; // path: the position that was last seen
  function held(bars, barIds, values, ids, scales) {
    const moved = {};
    barIds.forEach((id, i) => {
      const at = Number(bars[i]);
      if (id.path in sliders && sliders[id.path] !== at) moved[id.path] = shown(at, scales[id.path].scale);
      sliders[id.path] = at;
    });
    const from = window.dash_clientside.callback_context.triggered_id;
    const led = from && from.type === "slider";
    return ids.map((id, i) => (led && id.path in moved ? moved[id.path] : values[i]));
  }

  function query(ids, values, defaults) {
    const words = ["preset=" + encodeURIComponent(defaults.preset)];
    for (const slot of Object.keys(defaults.kinds))
      if (defaults.kinds[slot] !== defaults.own[slot]) words.push(slot + "=" + defaults.kinds[slot]);
    ids.forEach((id, i) => {
      const value = String(values[i]).trim();
      if (value !== defaults.values[id.path])
        words.push(id.path + "=" + encodeURIComponent(value).replaceAll("%2C", ","));
    });
    return words.join("&");
  }

  function address(asked, step) {
    return "?" + asked + (step === null ? "" : "&step=" + step);
  }

  let asking = "", step = null, steps = [];
  const at = (id) => document.getElementById(id);

  function made(tag, words, name) {
    const element = document.createElement(tag);
    if (typeof words === "string") element.textContent = words;
    else element.append(...words);
    if (name) element.className = name;
    return element;
  }

  function table(told) {
    const row = (cells, tag) => made("tr", cells.map((c) => made(tag, c, c === "holds" || c === "fails" ? c : "")));
    if (!told.rows.length) return [made("h2", told.title), made("p", told.names[0])];
    const rows = [made("thead", [row(told.names, "th")]), made("tbody", told.rows.map((r) => row(r, "td")))];
    return [made("h2", told.title), made("div", [made("table", rows)], "scroll")];
  }

  function legend(panel) {
    const keys = panel.keys.map((key) => {
      const line = made("i", "");
      line.style.background = key.colour;
      return made("span", [line, key.name]);
    });
    const box = made("div", [made("b", panel.title), ...keys], "legend");
    Object.assign(box.style, { left: panel.left, top: panel.top, width: panel.width });
    return box;
  }

  // Plotly comes with the weights' plot, perhaps after the first answer.
  function plot(figure, tries) {
    if (window.Plotly) Plotly.react(at("curves"), figure.data, figure.layout, { displayModeBar: false, responsive: true });
    else if (tries) setTimeout(() => plot(figure, tries - 1), 100);
  }

  function mark(now) {
    const shapes = (at("curves").layout || {}).shapes || [], change = {};
    shapes.forEach((shape, i) => {
      if (shape.name === "now" && shape.x0 !== now) change[`shapes[${i}].x0`] = change[`shapes[${i}].x1`] = now;
    });
    if (Object.keys(change).length) Plotly.relayout(at("curves"), change);
  }

  window.dash_clientside.learnscope = {
    // A slider and its box hold the same value; whichever moved leads.
    sync: function (bar, text, id, defaults) {
      const from = window.dash_clientside.callback_context.triggered_id;
      const scale = defaults.scales[id.path];
      if (from && from.type === "slider") return [none(), shown(bar, scale.scale)];
      return [position(text, scale.scale, scale.low, scale.high), none()];
    },

    // Ask for what the controls hold, unless an answer is awaited: then as soon as it is there.
    ask: function (bars, boxes, answered, barIds, ids, defaults, asked) {
      if (!defaults || !ids.length) return none();
      const wanted = query(ids, held(bars, barIds, boxes, ids, defaults.scales), defaults);
      const waiting = asked && (!answered || answered.id !== asked.id);
      if (waiting && Date.now() - sentAt < PATIENCE) return none();
      if (asked && asked.query === wanted) return none();
      sentAt = Date.now();
      asking = wanted;
      if (asked) {
        step = null;
        window.history.replaceState(null, "", address(asking, step));
        at("trouble").hidden = true;
      } else step = new URLSearchParams(window.location.search).get("step");
      for (const kind of ["py", "toml", "pdf", "nc"]) at("export-" + kind).href = `export/live.${kind}?${wanted}`;
      const id = sentAt + Math.random();
      setTimeout(() => waitingFor === id && (at("status").textContent =
        "Training … (other shapes or rules are compiled first, which takes seconds)"), 400);
      waitingFor = id;
      return { id: id, query: wanted, dark: dark() };
    },

    // What was answered; the step slider reaches as far as the curves, and playing moves it on.
    draw: function (answered, ticks, place, max) {
      if (window.dash_clientside.callback_context.triggered_id === "tick")
        return [none(), Number(place) >= steps.length - 1 ? 0 : Number(place) + 1];
      waitingFor = null;
      at("refusal").textContent = answered.refusal || "";
      at("refusal").className = answered.refusal ? "message" : "";
      at("status").textContent = answered.status || "";
      if (answered.refusal) return [none(), none()];
      steps = answered.figure.layout.meta.steps;
      const last = steps.length - 1, kept = Number(place) >= Number(max) || Number(place) > last ? last : Number(place);
      for (const shape of answered.figure.layout.shapes)
        if (shape.name === "now") shape.x0 = shape.x1 = steps[kept];
      plot(answered.figure, 100);
      at("legends").replaceChildren(...answered.legends.map(legend));
      at("theory").replaceChildren(...answered.theory.flatMap(table));
      return [last === Number(max) ? none() : last, kept === Number(place) ? none() : kept];
    },

    play: (clicks, stopped) => [!stopped, stopped ? "Pause" : "Play"],

    // The curves' line at the step that is looked at, and the weights' picture there.
    look: function (value, frames) {
      if (!steps.length) return [none(), ""];
      const place = Math.min(Number(value), steps.length - 1), now = steps[place];
      mark(now);
      const moved = place === steps.length - 1 ? null : String(now);
      if (moved !== step) {
        step = moved;
        window.history.replaceState(null, "", address(asking, step));
      }
      const text = getComputedStyle(document.body).color;
      return [frames ? weights(frames, place, text) : none(), "step " + now];
    },

    address: () => window.location.href,
  };

  function weights(frames, place, colour) {
    const look = {
      font: { color: colour, size: 12 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 45, r: 10, t: 10, b: 40 }, height: 340, uirevision: "same",
    };
    at("weights-text").textContent = frames.why || "";
    if (frames.kind === "none") return { data: [], layout: look };
    const values = frames.values[Math.min(place, frames.values.length - 1)];
    if (frames.kind === "head") {
      const most = Math.max(1e-9, ...frames.values.flat(2).map(Math.abs));
      const n = values.map((_, i) => i + 1);
      const map = { type: "heatmap", x: n, y: n, z: values, zmin: -most, zmax: most, colorscale: "RdBu",
        colorbar: { title: { text: "entry" } } };
      look.xaxis = { title: { text: "to neuron" }, dtick: 1 };
      look.yaxis = { title: { text: "from neuron" }, dtick: 1, autorange: "reversed" };
      at("weights-text").textContent = "The head's off-diagonal, first seed.";
      return { data: [map], layout: look };
    }
    const colours = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"];
    const each = frames.of / frames.outputs;
    const points = { type: "scatter", mode: "markers", x: values.map((v) => v[0]), y: values.map((v) => v[1]),
      text: frames.filters.map((f) => "filter " + (f + 1)), hoverinfo: "text",
      marker: { size: 9, opacity: 0.75, color: frames.filters.map((f) => colours[Math.floor(f / each) % 6]) } };
    const axis = { range: [-1.3, 1.3], zeroline: false, gridcolor: "rgba(128,128,128,.3)" };
    look.xaxis = { ...axis, title: { text: "first axis" } };
    look.yaxis = { ...axis, title: { text: "second axis" }, scaleanchor: "x" };
    const some = frames.filters.length < frames.of ? `${frames.filters.length} of ${frames.of}` : frames.of;
    const outputs = frames.outputs > 1 ? ", a colour an output" : "";
    at("weights-text").textContent = `Directions of ${some} filters, first seed, by classical scaling${outputs}.`;
    return { data: [points], layout: look };
  }
})();
