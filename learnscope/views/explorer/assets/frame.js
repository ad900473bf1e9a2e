// What all pages share: elements, mathematics, the frame's links.
window.dash_clientside = window.dash_clientside || {};
window.learnscope = window.learnscope || {};
(function () {
  const learnscope = window.learnscope;
  const SIGNS = {
    alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", varepsilon: "ε", zeta: "ζ", eta: "η", theta: "θ", lambda: "λ", mu: "μ", nu: "ν",
    xi: "ξ", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", ell: "ℓ", pm: "±", Gamma: "Γ", sqrt: "√", dots: "…", infty: "∞", lvert: "|", rvert: "|",
  };
  // After a backslash only: some are words, too.
  const COMMANDS = { sim: "∼", approx: "≈", le: "≤", ge: "≥", cdot: "·", times: "×", perp: "⊥", langle: "⟨", rangle: "⟩", log: "log", cos: "cos", in: "∈", sum: "Σ", prod: "Π", nabla: "∇", leftarrow: "←", Pr: "Pr", mathcal: "", tilde: "" };

  learnscope.at = (id) => document.getElementById(id);

  learnscope.made = function (tag, words, properties) {
    const element = Object.assign(document.createElement(tag), properties || {});
    element.append(...(Array.isArray(words) ? words : [words]));
    return element;
  };

  // Plain or LaTeX mathematics (sigma_p^2, \|\mu\|) as text with subscripts and superscripts. Exponents and factors of 1 are left out; 2e+05 is 2·10^5.
  learnscope.typeset = function (text) {
    const plain = text.replaceAll("\\|", "‖").replaceAll(">=", "≥").replaceAll(" != ", "≠").replaceAll("<=", "≤").replace(/\^1(?![\d.])/g, "").replace(/<([^<>=]*)>/g, "⟨$1⟩")
      .replace(/(^|[≥≤(] ?)1 (?=[\w|√(])/g, "$1").replace(/ 1 (?=max\()/g, " ").replace(/(\d)e\+?(-?)0*(\d+)/g, "$1·10^{$2$3}").replace(/\\?([A-Za-z]+)/g, (all, word) => SIGNS[word] || (all[0] === "\\" ? COMMANDS[word] || "" : all))
      .replace(/(?<![\wα-ωΓ])([A-Zα-ωΓ])(\d)(?![\w.])/g, "$1_$2");
    const nodes = [], pattern = /([_^])(\{[^}]*\}|\((?:[^()]|\([^()]*\))*\)|-?[\wα-ωΓ.*]+|\S)/g;
    let from = 0;
    for (const found of plain.matchAll(pattern)) {
      nodes.push(plain.slice(from, found.index));
      nodes.push(learnscope.made(found[1] === "_" ? "sub" : "sup", /^[{(]/.test(found[2]) ? found[2].slice(1, -1) : found[2]));
      from = found.index + found[0].length;
    }
    return [...nodes, plain.slice(from)].map((node) => (typeof node === "string" ? node.replace(/[{}]/g, "") : node));
  };

  learnscope.raised = (power) => String(power).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

  // A sentence with mathematics between dollar signs and code between backquotes.
  learnscope.sentence = (text) => text.split("$").flatMap((piece, i) => (i % 2 ? learnscope.typeset(piece) : [piece.replaceAll("`", "")]));

  learnscope.plotly = async function () {
    while (!window.Plotly) await new Promise((done) => setTimeout(done, 20));
    return window.Plotly;
  };

  // The link to the page that is open, or that it belongs to, is marked.
  window.dash_clientside.frame = {
    mark(path) {
      for (const link of document.querySelectorAll("nav.pages a")) {
        const open = link.pathname === "/" ? path === "/" : (path || "").startsWith(link.pathname);
        if (open) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    },
  };

  // A link to the page that is open would only take its state out of the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("nav.pages a");
    if (link && link.pathname === window.location.pathname) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);

  // The address holds what is shown: in other colours, it is drawn again.
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => window.location.reload());
})();
