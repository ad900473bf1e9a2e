// The live page's own work: sliders and boxes in step, one request at a time, the step looked at.
window.dash_clientside = window.dash_clientside || {};
(function () {
  const none = () => window.dash_clientside.no_update;
  const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
  const PATIENCE = 30000; // ms after which a request is taken for lost
  let sentAt = 0;

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

  let asking = "", step = null;

  window.dash_clientside.learnscope = {
    // A slider and its box hold the same value; whichever moved leads.
    sync: function (at, text, scale) {
      const from = window.dash_clientside.callback_context.triggered_id;
      if (from && from.type === "slider") return [none(), shown(at, scale.scale)];
      return [position(text, scale.scale, scale.low, scale.high), none()];
    },

    // Ask for what the controls hold, unless an answer is awaited: then as soon as it is there.
    ask: function (values, answered, ids, defaults, asked) {
      if (!defaults || !ids.length) return none();
      const wanted = query(ids, values, defaults);
      const waiting = asked && (!answered || answered.id !== asked.id);
      if (waiting && Date.now() - sentAt < PATIENCE) return none();
      if (asked && asked.query === wanted) return none();
      sentAt = Date.now();
      const first = !asked;
      if (!first) {
        asking = wanted;
        step = null;
        window.history.replaceState(null, "", address(asking, step));
      } else asking = wanted;
      return { id: sentAt + Math.random(), query: wanted, dark: dark(), first: first };
    },

    links: (asked) => ["py", "toml", "pdf", "nc"].map((kind) => "export/live." + kind + "?" + asked.query),

    address: () => window.location.href,

    // The step slider reaches as far as the curves; playing moves it on.
    range: function (figure, ticks, at, max) {
      const steps = figure && figure.layout.meta ? figure.layout.meta.steps : [];
      if (!steps.length) return [none(), none()];
      const last = steps.length - 1;
      const from = window.dash_clientside.callback_context.triggered_id;
      if (from === "tick") return [none(), Number(at) >= last ? 0 : Number(at) + 1];
      return [last, Number(at) >= Number(max) || Number(at) > last ? last : none()];
    },

    play: (clicks, stopped) => [!stopped, stopped ? "Pause" : "Play"],

    // The curves' line at the step that is looked at, and the weights' picture there.
    look: function (at, frames, figure, asked) {
      const steps = figure && figure.layout.meta ? figure.layout.meta.steps : [];
      if (!steps.length) return [none(), none(), ""];
      const place = Math.min(Number(at), steps.length - 1), now = steps[place];
      const plot = document.querySelector("#curves .js-plotly-plot");
      if (plot && plot.layout && plot.layout.shapes && window.Plotly) {
        const change = {};
        plot.layout.shapes.forEach((shape, i) => {
          if (shape.name === "now") change[`shapes[${i}].x0`] = change[`shapes[${i}].x1`] = now;
        });
        if (plot.layout.shapes.some((s) => s.name === "now" && s.x0 !== now)) Plotly.relayout(plot, change);
      }
      const moved = place === steps.length - 1 ? null : now;
      if (asked && !asked.first && moved !== step || (moved !== null && moved !== step)) {
        step = moved;
        window.history.replaceState(null, "", address(asking, step));
      }
      return [...weights(frames, place, figure.layout.font.color), "step " + now];
    },
  };

  function weights(frames, place, colour) {
    if (!frames) return [none(), none()];
    if (frames.kind === "none") return [{ data: [], layout: {} }, frames.why];
    const values = frames.values[Math.min(place, frames.values.length - 1)];
    const look = {
      font: { color: colour, size: 12 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 45, r: 10, t: 10, b: 40 }, height: 340, uirevision: "same",
    };
    if (frames.kind === "head") {
      const most = Math.max(1e-9, ...frames.values.flat(2).map(Math.abs));
      const n = values.map((_, i) => i + 1);
      const map = { type: "heatmap", x: n, y: n, z: values, zmin: -most, zmax: most, colorscale: "RdBu",
        colorbar: { title: { text: "entry" } } };
      look.xaxis = { title: { text: "to neuron" }, dtick: 1 };
      look.yaxis = { title: { text: "from neuron" }, dtick: 1, autorange: "reversed" };
      return [{ data: [map], layout: look }, "The head's off-diagonal, first seed."];
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
    const outputs = frames.outputs > 1 ? `, a colour an output` : "";
    return [{ data: [points], layout: look },
      `Directions of ${some} filters, first seed, by classical scaling${outputs}.`];
  }
})();
