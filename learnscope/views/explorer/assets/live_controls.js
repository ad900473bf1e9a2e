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

  // A value that was set by hand: what follows the dimension starts from there.
  function set(field, value) {
    field.show(value);
    if (field.shape && locked) follow(field);
    else if (field.shape || field.power) anchor();
    hooks.changed(field);
  }

  const leader = () => fields.find((field) => field.shape);

  function anchor() {
    for (const field of fields) if (field.power && leader()) field.anchor = [Number(leader().value), Number(field.value)];
  }

  // The lock: numbers that go with a power of the dimension keep their proportion to it, and sliders their place.
  function follow(dimension) {
    for (const field of fields) {
      const [from, start] = field.anchor || [];
      const factor = Math.pow(Number(dimension.value) / from, field.power);
      if (!field.power || !isFinite(factor * start)) continue;
      const moved = field.power * Math.log10(Number(dimension.value) / Number(dimension.first));
      if (field.range && field.range.scale === "log") field.shift(moved);
      field.show(String(Number((start * factor).toPrecision(4))));
    }
  }

  function lock() {
    const dimension = leader(), following = fields.filter((field) => field.power);
    if (!dimension || !following.length) return [];
    const box = made("input", [], { type: "checkbox", id: "lock", checked: locked });
    box.addEventListener("change", () => { locked = box.checked; anchor(); });
    const kept = following.flatMap((field) => [" ", ...learnscope.typeset(field.symbol || field.name),
      ...(field.power === -0.5 ? [" √"] : [` × 1/(power ${field.power}) `]), ...learnscope.typeset(dimension.symbol || dimension.name)]);
    const names = following.map((field) => field.name).join(", ");
    const label = made("label", [box, made("span", ["lock: keeps", ...kept])], { className: "lock" });
    label.dataset.tip = `While the lock is on, ${names} follows the dimension, so that norms and learning rates stay in scale.`;
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
    return made("span", [field.name, ...symbol]);
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
    field.show = (value) => { field.value = box.value = value; };
    const range = field.range;
    if (!range) {
      row.append(made("label", [named(field), box]));
      return row;
    }
    const bar = made("input", [], { type: "range", id: "slider-" + field.path, min: range.low, max: range.high, step: range.step });
    bar.ariaDescription = field.tip;
    field.shift = (moved) => { [bar.min, bar.max] = [range.low + moved, range.high + moved]; };
    field.show = (value) => {
      field.value = box.value = value;
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

  // One example as rows of bars: a "direction" has one large coordinate, a "mixture" a few, "noise" small random ones.
  function sketch(patches, height) {
    const wide = BARS * 5 + 8, draw = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    draw.setAttribute("viewBox", `0 0 ${patches.length * wide} ${height}`);
    draw.setAttribute("class", "sketch");
    draw.setAttribute("aria-hidden", "true");
    let state = 7;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    patches.forEach(([, kind], k) => {
      const places = { direction: [4], noisy: [4], mixture: [2, 6, 7, 11] }[kind] || [];
      for (let i = 0; i < BARS; i += 1) {
        const noise = kind === "noise" || kind === "noisy" ? (random() + random() + random() - 1.5) * 0.8 : 0;
        const high = (places.includes(i) ? 0.9 : noise) * (height / 2 - 1), bar = document.createElementNS(draw.namespaceURI, "rect");
        const size = { x: k * wide + 4 + i * 5, y: height / 2 - Math.max(high, 0.6), width: 3.6, height: Math.max(Math.abs(high), 1.2) };
        if (high < 0) size.y = height / 2;
        for (const name of Object.keys(size)) bar.setAttribute(name, size[name]);
        bar.setAttribute("class", places.includes(i) ? "signal" : "noise");
        draw.append(bar);
      }
    });
    return draw;
  }

  function cards() {
    at("presets").replaceChildren(...spec.presets.map((preset) => {
      const card = made("button", [sketch([preset.sketch[0], ...preset.sketch.slice(1).slice(-1)], 26), made("span", preset.title)], { type: "button", className: "card", id: "preset-" + preset.name });
      card.setAttribute("aria-pressed", preset.name === spec.preset);
      card.addEventListener("click", () => hooks.preset(preset.name));
      return card;
    }));
    const now = at("preset-" + spec.preset);
    if (now) at("presets").scrollLeft = Math.max(0, now.offsetLeft - at("presets").offsetLeft - 40);
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
