// The live page's controls: presets as cards, a group for each part, the lock, and help for whatever is pointed at.
(function () {
  const learnscope = window.learnscope, { at, made } = learnscope;
  const BARS = 14; // coordinates of a sketched patch
  let spec, fields, hooks, locked = true;

  // ---- sliders --------------------------------------------------------------------------------

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

  // A number as a box shows it: fractions to four digits, large round numbers as powers of ten.
  function short(words) {
    return words.split(",").map((word) => {
      const value = Number(word), rounded = Number(value.toPrecision(4));
      if (!/^\d{7,}$/.test(word) || value !== rounded) return value % 1 ? String(rounded) : word;
      const power = word.length - 1, factor = rounded / Math.pow(10, power);
      return `${factor === 1 ? "" : Number(factor.toPrecision(4)) + "·"}10${learnscope.raised(power)}`;
    }).join(",");
  }

  learnscope.short = short;

  // A value that was set by hand: what follows the dimension starts from there.
  function set(field, value) {
    field.show(value);
    if (field.shape && locked) follow(field);
    else if (field.shape || field.power) anchor();
    hooks.changed(field);
  }

  const leader = () => fields.find((field) => field.shape);

  function anchor() {
    for (const field of fields) if (field.power && leader()) field.anchor = [Number(leader().value), field.value];
  }

  // The lock: numbers that go with a power of the dimension keep their proportion to it, and sliders their place.
  function follow(dimension) {
    for (const field of fields) {
      if (!field.power || !field.anchor) continue;
      const [from, start] = field.anchor, factor = Math.pow(Number(dimension.value) / from, field.power);
      const scaled = start.split(",").map((value) => Number(value) * factor); // it may be a list
      if (!scaled.every(isFinite)) continue;
      const moved = field.power * Math.log10(Number(dimension.value) / Number(dimension.first));
      if (field.range && field.range.scale === "log") field.shift(moved);
      field.show(factor === 1 ? start : scaled.map((value) => Number(value.toPrecision(4))).join(","));
    }
  }

  // What stays the same: "σ √d", "η d", "overlaps / √d".
  function invariant(field, dimension) {
    const size = Math.abs(field.power), short = (f) => (f.symbol && f.symbol.length < 12 ? f.symbol : f.name);
    const power = { 0.5: "√", 1: "" }[size], d = learnscope.typeset(short(dimension));
    const scale = power === undefined ? [...d, made("sup", String(size))] : [power, ...d];
    return [...learnscope.typeset(short(field)), field.power < 0 ? " " : " / ", ...scale];
  }

  function lock() {
    const dimension = leader(), following = fields.filter((field) => field.power);
    if (!dimension || !following.length) return [];
    const box = made("input", [], { type: "checkbox", id: "lock", checked: locked });
    box.addEventListener("change", () => { locked = box.checked; anchor(); });
    const kept = following.flatMap((field, i) => [i ? ", " : " ", ...invariant(field, dimension)]);
    const names = following.map((field) => field.name).join(" and ");
    const label = made("label", [box, made("span", ["lock: keeps", ...kept])], { className: "lock" });
    const verb = following.length > 1 ? "follow" : "follows";
    label.dataset.tip = `While the lock is on, ${names} ${verb} the dimension, so that norms and learning rates stay in scale.`;
    return [label];
  }

  // ---- elements -------------------------------------------------------------------------------

  function select(options, chosen, id, changed) {
    const menu = made("select", options.map((o) => made("option", o, { value: o })), { id: id });
    menu.value = chosen;
    menu.addEventListener("change", () => changed(menu.value));
    return menu;
  }

  function named(field) {
    const symbol = field.symbol ? [" ", made("i", learnscope.typeset(field.symbol), { className: "symbol" })] : [];
    return made("span", [field.name.replaceAll("_", "_\u200b"), ...symbol]); // a line ends between words
  }

  function control(field) {
    fields.push(field);
    const id = "field-" + field.path, row = made("div", [], { className: "field", id: "row-" + field.path });
    row.dataset.tip = field.tip;
    if (field.options) {
      const menu = select(field.options, field.value, id, (value) => set(field, value));
      field.show = (value) => { field.value = menu.value = value; };
      row.append(made("label", [named(field), menu]));
      return row;
    }
    const box = made("input", [], { type: "text", id: id, value: field.value, spellcheck: false, autocomplete: "off", ariaDescription: field.tip });
    box.addEventListener("change", () => set(field, box.value.trim()));
    // All digits while it is edited (and still selected, as they were), a few while it is looked at.
    const write = () => { box.value = document.activeElement === box ? field.value : short(field.value); };
    box.addEventListener("focus", () => { if (box.value !== field.value) { write(); box.select(); } });
    box.addEventListener("blur", write);
    field.show = (value) => { field.value = value; write(); };
    field.show(field.value);
    const range = field.range;
    if (!range) {
      row.append(made("label", [named(field), box]));
      return row;
    }
    const bar = made("input", [], { type: "range", id: "slider-" + field.path, min: range.low, max: range.high, step: range.step });
    bar.ariaDescription = field.tip;
    field.limit = (most) => { bar.max = Math.min(range.high, most ? Math.floor(100 * Math.log10(most)) / 100 : Infinity); };
    field.shift = (moved) => { [bar.min, bar.max] = [range.low + moved, range.high + moved]; };
    field.show = (value) => {
      field.value = value;
      write();
      bar.value = position(value, { ...range, low: Number(bar.min), high: Number(bar.max) });
      bar.setAttribute("aria-valuetext", value);
    };
    field.show(field.value);
    bar.addEventListener("input", () => set(field, text(bar.value, range)));
    const exact = made("label", [made("span", field.name + ", value", { className: "unseen" }), box], { className: "exact" });
    row.append(made("label", [named(field), bar]), exact);
    return row;
  }

  function group(part) {
    const picker = select(part.kinds, part.kind, "kind-" + part.slot, (kind) => hooks.picked(part.slot, kind));
    const label = made("label", [made("span", part.title), picker], { className: "slot", id: "row-" + part.slot });
    label.dataset.tip = part.tip;
    const rare = part.fields.filter((f) => f.rare), often = part.fields.filter((f) => !f.rare);
    const below = () => made("div", [], { className: "lock-place" }); // filled when the fields that follow are known
    const rows = often.flatMap((field) => (field.shape ? [control(field), below()] : [control(field)]));
    const more = rare.length ? [made("details", [made("summary", "more"), ...rare.map(control)])] : [];
    return made("section", [label, ...rows, ...more], { className: "part" });
  }

  // Every probe that can be watched; the answer says which ones are (none ticked: the presets' own).
  function probes() {
    const field = { path: "probes", value: spec.chosen, first: "" };
    fields.push(field);
    const boxes = spec.probes.map((name) => made("input", [], { type: "checkbox", id: "probe-" + name, value: name }));
    for (const box of boxes) box.addEventListener("change", () => {
      field.value = boxes.filter((b) => b.checked).map((b) => b.value).join(",");
      hooks.changed(field);
    });
    const listed = boxes.map((box) => made("label", [box, box.value], { className: "probe" }));
    return made("details", [made("summary", "probes"), ...listed], { id: "row-probes" });
  }

  // ---- presets --------------------------------------------------------------------------------

  // What an example is made of, each piece in a box of WIDE by the height: bars are coordinates, dots are examples.
  const SKETCHES = {
    direction: (pen) => pen.bars((i) => (i === 4 ? 0.9 : 0), (i) => i === 4),
    noise: (pen) => pen.bars(() => pen.normal() * 0.8),
    sparse: (pen) => pen.bars((i) => (i === 4 ? -0.35 : [1, 7, 8, 12].includes(i) ? Math.sign(pen.normal()) * 0.8 : 0), (i) => i === 4),
    shaped: (pen) => [-1, 1].forEach((side) => {
      for (let i = 0; i < 14; i += 1) {
        const [along, across] = [pen.normal() * 0.3, pen.normal() * 0.08];
        pen.dot(0.5 + side * 0.2 + along * 0.45 - side * across, 0.5 + side * along + across, 0.07, side < 0);
      }
    }),
    labels: (pen) => { for (let i = 0; i < 10; i += 1) pen.box((i % 5) * 0.17 + 0.1, i < 5 ? 0.12 : 0.58, 0.13, 0.3, i !== 7); },
    ball: (pen) => { pen.ring(0.42, 0.5, 0.42); pen.dot(0.42, 0.5, 0.08, true); pen.line(0.42, 0.5, 0.57, 0.18, false); pen.line(0.57, 0.18, 0.92, 0.4, true); },
    clusters: (pen) => [[0, -1], [0, 1], [-1, 0], [1, 0]].forEach(([x, y]) => pen.dot(0.5 + 0.22 * x, 0.5 + 0.36 * y, 0.13, x !== 0)),
    clouds: (pen) => [[-1, -1], [1, 1], [-1, 1], [1, -1]].forEach(([x, y]) => {
      for (let i = 0; i < 7; i += 1) pen.dot(0.5 + 0.24 * x + pen.normal() * 0.1, 0.5 + 0.25 * y + pen.normal() * 0.18, 0.06, x * y > 0);
    }),
    patterns: (pen) => { for (let i = 0; i < 16; i += 1) if (i % 3 !== 1) pen.box((i % 8) * 0.12 + 0.03, i < 8 ? 0.1 : 0.55, 0.1, 0.35, i % 8 < 3); },
    tasks: (pen) => { for (let k = -2; k <= 2; k += 1) pen.line(0.15, 0.5, 0.85, 0.5 + 0.2 * k, k === 0); },
    views: (pen) => [0, 1].forEach((view) => {
      for (let i = 0; i < 6; i += 1) if ([0, 3, 4].includes(i) === Boolean(view)) pen.box(i * 0.15 + 0.07, view ? 0.56 : 0.1, 0.12, 0.36, i < 2);
    }),
    teacher: (pen) => {
      for (const hidden of [0.25, 0.75]) {
        for (const input of [0.1, 0.37, 0.63, 0.9]) pen.line(0.15, input, 0.55, hidden, true);
        pen.line(0.55, hidden, 0.9, 0.5, true);
        pen.dot(0.55, hidden, 0.1, false);
      }
      pen.dot(0.9, 0.5, 0.1, false);
    },
    sphere: (pen) => { pen.ring(0.5, 0.5, 0.46); pen.line(0.5, 0.5, 0.36, 0.16, false); pen.line(0.5, 0.5, 0.5, 0.04, true); pen.dot(0.5, 0.06, 0.08, true); },
  };
  const WIDE = BARS * 5 + 8;

  // Draws shapes at places from 0 to 1 in the box whose left edge is at x; `signal` chooses the colour.
  function penAt(draw, x, height) {
    let state = 7;
    const add = (tag, signal, numbers) => {
      const shape = document.createElementNS(draw.namespaceURI, tag);
      for (const name of Object.keys(numbers)) shape.setAttribute(name, numbers[name]);
      shape.setAttribute("class", signal ? "signal" : "noise");
      draw.append(shape);
    };
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    const [left, top] = [(place) => x + 4 + place * (WIDE - 8), (place) => 1 + place * (height - 2)];
    return {
      normal: () => random() + random() + random() - 1.5,
      dot: (a, b, size, signal) => add("circle", signal, { cx: left(a), cy: top(b), r: size * height }),
      ring: (a, b, size) => add("circle", true, { cx: left(a), cy: top(b), r: size * height, fill: "none", "fill-opacity": 0, stroke: "currentColor", "stroke-width": 1 }),
      line: (a, b, c, d, signal) => add("line", signal, { x1: left(a), y1: top(b), x2: left(c), y2: top(d), "stroke-width": height / 22 }),
      box: (a, b, wide, high, signal) => add("rect", signal, { x: left(a), y: top(b), width: wide * (WIDE - 8), height: high * (height - 2) }),
      bars: (size, signal) => {
        for (let i = 0; i < BARS; i += 1) {
          const high = size(i) * (height / 2 - 1), middle = height / 2;
          add("rect", Boolean(signal && signal(i)), { x: x + 4 + i * 5, y: high < 0 ? middle : middle - Math.max(high, 0.6), width: 3.6, height: Math.max(Math.abs(high), 1.2) });
        }
      },
    };
  }

  function sketch(pieces, height) {
    const draw = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    draw.setAttribute("viewBox", `0 0 ${pieces.length * WIDE} ${height}`);
    draw.setAttribute("class", "sketch");
    draw.setAttribute("aria-hidden", "true");
    pieces.forEach(([, kind], k) => SKETCHES[kind](penAt(draw, k * WIDE, height)));
    return draw;
  }

  // Cards beyond the right edge: the row fades there.
  function more() {
    const row = at("presets");
    if (row) row.classList.toggle("more", row.scrollWidth - row.clientWidth - row.scrollLeft > 4);
  }
  const resized = new ResizeObserver(more);

  function cards() {
    at("presets").replaceChildren(...spec.presets.map((preset) => {
      const card = made("button", [sketch([preset.sketch[0], ...preset.sketch.slice(1).slice(-1)], 26), made("span", preset.title)], { type: "button", className: "card", id: "preset-" + preset.name });
      card.setAttribute("aria-pressed", preset.name === spec.preset);
      card.addEventListener("click", () => hooks.preset(preset.name));
      return card;
    }));
    const now = at("preset-" + spec.preset), row = at("presets");
    if (now) row.scrollLeft = Math.max(0, now.offsetLeft - row.offsetLeft - 40);
    row.onscroll = more;
    resized.observe(row);
    const chosen = spec.presets.find((preset) => preset.name === spec.preset);
    const links = chosen.links.flatMap((link) => [" ", made("a", link.text, { href: link.href, ...(link.href.startsWith("/") ? {} : { target: "_blank", rel: "noopener" }) })]);
    const names = chosen.sketch.map(([name]) => made("span", learnscope.sentence(name)));
    const picture = made("figure", [sketch(chosen.sketch, 44), made("figcaption", names)]);
    at("about").replaceChildren(picture, made("p", [...learnscope.sentence(chosen.about), ...links]));
  }

  function help(event) {
    const about = event.target.closest && event.target.closest("[data-tip]");
    if (about) at("help").replaceChildren(...learnscope.sentence(about.dataset.tip));
  }

  // ---- what the page uses ---------------------------------------------------------------------

  learnscope.controls = {
    build(given, given_hooks) {
      const focused = document.activeElement && document.activeElement.id;
      [spec, hooks, fields] = [given, given_hooks, []];
      const groups = spec.groups.map(group);
      const run = made("section", [...spec.run.map(control), probes()], { className: "part" });
      at("controls").replaceChildren(...groups, run);
      const place = at("controls").querySelector(".lock-place");
      if (place) place.replaceChildren(...lock());
      anchor();
      cards();
      for (const kind of ["focusin", "mouseover"]) at("controls").addEventListener(kind, help);
      if (focused && at(focused)) at(focused).focus();
    },

    // Kinds that fit beside the other parts, as soon as they were tried.
    offer(kinds) {
      for (const part of spec.groups) {
        const menu = at("kind-" + part.slot);
        if (menu && kinds[part.slot]) menu.replaceChildren(...kinds[part.slot].map((kind) => made("option", kind, { value: kind, selected: kind === part.kind })));
      }
    },

    // The largest dimension that a page can afford (none: all cost the same).
    limit(most) {
      const dimension = leader();
      if (dimension && dimension.limit) dimension.limit(most);
    },

    watched(names) {
      for (const name of spec.probes) at("probe-" + name).checked = names.includes(name);
    },

    query() {
      const words = ["preset=" + encodeURIComponent(spec.preset)];
      for (const part of spec.groups) if (part.kind !== part.own) words.push(part.slot + "=" + part.kind);
      for (const field of fields)
        if (field.value !== field.first) words.push(field.path + "=" + encodeURIComponent(field.value).replaceAll("%2C", ","));
      return words.join("&");
    },

    // Another kind of part: what the other parts hold stays, unless it does not go with it.
    picking(slot, kind) {
      const kept = this.query().split("&").filter((word) => !["=", "."].some((end) => word.startsWith(slot + end)) && !word.startsWith("probes="));
      const kinds = spec.groups.map((part) => part.slot + "=" + (part.slot === slot ? kind : part.kind));
      const other = kept.filter((word) => !kinds.some((k) => word.startsWith(k.split("=")[0] + "=")));
      return [[...other, ...kinds].join("&"), ["preset=" + spec.preset, ...kinds].join("&")];
    },
  };
})();
