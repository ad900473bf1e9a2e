// Panels of curves: one Plotly figure, which is faster than several, placed in pixels of its width.
(function () {
  const learnscope = window.learnscope, { made } = learnscope;
  const LEAST = 290, MOST = 3; // pixels of a panel, and panels side by side
  const LEFT = 50, RIGHT = 18, BOLD = 8, TITLE = 20, KEY = 18, GAP = 6, PLOT = 180, BELOW = 50;
  const WIDE = 1e3; // a range beyond which an axis is logarithmic
  const shownIn = new WeakMap(), widths = new WeakMap(), turns = new WeakMap();

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  learnscope.colours = () => [1, 2, 3, 4, 5, 6].map((k) => style("--curve-" + k));

  // What Plotly's own defaults are replaced by, in the page's colours.
  learnscope.look = function () {
    const axis = { gridcolor: style("--grid"), zerolinecolor: style("--grid"), linecolor: style("--grid"), automargin: false };
    return {
      font: { color: style("--text"), size: 12, family: style("--type") }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      template: { layout: { xaxis: axis, yaxis: axis } }, showlegend: false, uirevision: "same",
    };
  };

  function places(shown, width) {
    const count = shown.panels.length, even = count === 2 || count === 4 ? 2 : MOST;
    const columns = Math.max(1, Math.min(even, count, Math.floor(width / LEAST)));
    const found = [];
    const inside = width / columns - LEFT - RIGHT, lines = (panel) => (BOLD * panel.title.length > inside ? 2 : 1);
    let top = 0;
    for (let first = 0; first < count; first += columns) {
      const row = shown.panels.slice(first, first + columns);
      const above = Math.max(...row.map((panel) => TITLE * lines(panel) + KEY * keys(panel).length)) + 4 + GAP;
      row.forEach((_, k) => found.push({ left: (k * width) / columns, width: width / columns, title: top, top: top + above }));
      top += above + PLOT + BELOW;
    }
    return { found, height: top };
  }

  const keys = (panel) => (panel.lines.length === 1 && panel.lines[0].name === panel.title ? [] : panel.lines);

  // The pinned panel of the same title, with the lines of the same names.
  function pinnedOf(shown, panel) {
    const other = shown.pinned && shown.pinned.panels.find((p) => p.title === panel.title);
    return panel.lines.map((line) => (other ? other.lines.find((l) => l.name === line.name) : null));
  }

  function traces(shown, number, panel, colours) {
    const axes = { xaxis: "x" + number, yaxis: "y" + number, type: "scatter" };
    const dotted = pinnedOf(shown, panel).flatMap((line, k) => {
      if (!line) return [];
      const dash = { color: colours[k % colours.length], width: 2, dash: "dash" };
      return [{ ...axes, mode: "lines", x: shown.pinned.steps, y: line.middle, name: "pinned: " + line.name, opacity: 0.65, line: dash }];
    });
    const own = panel.lines.flatMap((line, k) => {
      const colour = colours[k % colours.length], there = shown.steps.map((_, i) => i).filter((i) => line.middle[i] !== null);
      const x = there.map((i) => shown.steps[i]), of = (values) => there.map((i) => values[i]);
      const band = { ...axes, mode: "lines", x: [...x, ...x.slice().reverse()], y: [...of(line.low), ...of(line.high).reverse()],
        fill: "toself", fillcolor: colour + "33", line: { width: 0 }, hoverinfo: "skip" };
      return [band, { ...axes, mode: x.length === 1 ? "markers" : "lines", x: x, y: of(line.middle), name: line.name, line: { color: colour, width: 2 } }];
    });
    const floor = { ...axes, mode: "lines", x: shown.steps, y: panel.floor, name: "rounding error", line: { color: style("--mark"), width: 1, dash: "dot" } };
    return [panel.floor ? [...own, floor] : own, dotted];
  }

  // A wide range of positive values makes an axis logarithmic, with about five powers of ten on it.
  function scale(shown, panel) {
    const lines = [...panel.lines, ...pinnedOf(shown, panel).filter(Boolean)];
    const values = lines.flatMap((line) => [...line.low, ...line.high]).filter((value) => value !== null);
    const least = Math.min(...values), most = Math.max(...values);
    if (!(least > 0 && most > WIDE * least)) return { type: "linear", nticks: 6 };
    return { type: "log", dtick: Math.ceil(Math.log10(most / least) / 5) };
  }

  function figure(shown, width) {
    const { found, height } = places(shown, width), colours = learnscope.colours(), ink = style("--mark"), own = [], dotted = [];
    const layout = { ...learnscope.look(), hovermode: "x", width: width, height: height, margin: { l: 0, r: 0, t: 0, b: 0 }, shapes: [] };
    shown.panels.forEach((panel, i) => {
      const number = i ? String(i + 1) : "", place = found[i];
      const [solid, dashed] = traces(shown, number, panel, colours);
      own.push(...solid);
      dotted.push(...dashed);
      layout["xaxis" + number] = { domain: [(place.left + LEFT) / width, (place.left + place.width - RIGHT) / width], anchor: "y" + number,
        title: { text: "step", standoff: 4 }, nticks: 6, ...(shown.steps.at(-1) - shown.steps[0] < 6 ? { dtick: 1 } : {}) };
      layout["yaxis" + number] = { domain: [1 - (place.top + PLOT) / height, 1 - place.top / height], anchor: "x" + number,
        exponentformat: "power", ...scale(shown, panel) };
      const line = { type: "line", xref: "x" + number, yref: `y${number} domain`, y0: 0, y1: 1 };
      const mark = (x, name, dash) => ({ ...line, x0: x, x1: x, name: name, line: { color: ink, width: 1, dash: dash } });
      layout.shapes.push(mark(shown.steps[shown.at], "now", "solid"), ...Object.values(shown.times).map((time) => mark(time, "time", "dot")));
    });
    return { data: [...own, ...dotted], layout, found };
  }

  // A name without the formula at its end, where there is no room for both.
  const LETTER = 6.4, SIGN = 26; // pixels of a letter, and of the coloured line before a name
  const fitting = (name, width) => (LETTER * name.length + SIGN > width ? name.replace(/, (max|min|mean|rms)[ _].*$/, "") : name);

  function legend(panel, place, colours) {
    const listed = keys(panel).map((line, k) => {
      const key = made("i", []);
      key.style.background = colours[k % colours.length];
      return made("span", [key, ...learnscope.typeset(fitting(line.name, place.width - LEFT - RIGHT))]);
    });
    const box = made("div", [made("b", learnscope.typeset(panel.title)), ...listed], { className: "legend" });
    Object.assign(box.style, { left: place.left + LEFT + "px", top: place.title + "px", width: place.width - LEFT - RIGHT + "px" });
    return box;
  }

  async function paint(box) {
    const shown = shownIn.get(box), width = box.clientWidth;
    if (!shown || !width) return;
    widths.set(box, width);
    const picture = figure(shown, width), [plot, legends] = box.children, colours = learnscope.colours();
    await (await learnscope.plotly()).react(plot, picture.data, picture.layout, { displayModeBar: false });
    const words = JSON.stringify([width, picture.found, shown.panels.map((p) => [p.title, p.lines.map((l) => l.name)])]);
    if (legends.dataset.words !== words) legends.replaceChildren(...shown.panels.map((panel, i) => legend(panel, picture.found[i], colours)));
    legends.dataset.words = words;
  }

  // One drawing after the other: Plotly does not mend two at once.
  function drawn(box) {
    const turn = (turns.get(box) || Promise.resolve()).then(() => paint(box));
    turns.set(box, turn.catch(() => {}));
    return turn;
  }

  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.clientWidth !== widths.get(target)) drawn(target);
  });

  // Draw { steps, panels, times, at (a position in steps), pinned } in a box that holds a plot and its legends; again whenever its width changes.
  learnscope.panels = function (box, shown) {
    shownIn.set(box, shown);
    watcher.observe(box);
    return drawn(box);
  };

  // Move the line of the step that is looked at.
  learnscope.lookAt = function (box, at) {
    const shown = shownIn.get(box), plot = box.children[0], change = {};
    shown.at = at;
    plot.layout.shapes.forEach((shape, i) => {
      if (shape.name === "now" && shape.x0 !== shown.steps[at]) change[`shapes[${i}].x0`] = change[`shapes[${i}].x1`] = shown.steps[at];
    });
    if (Object.keys(change).length) window.Plotly.relayout(plot, change);
  };
})();
