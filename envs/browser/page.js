// What Rebind adds to every document: a view of it as a compact accessibility tree, elements by number or by role and
// name, and a promise that resolves once the page is quiet. The document itself is never changed.
(() => {
  if (window.__rebind) return;

  const NAME_LIMIT = 120, LABEL_LIMIT = 60, INLINE_LIMIT = 400, OPTIONS_LIMIT = 40;
  const clean = (text) => (text || "").replace(/[\s\u200b]+/g, " ").trim();
  const cut = (text, limit) => (text.length > limit ? text.slice(0, limit - 1) + "…" : text);
  const quote = (text) => '"' + text.replace(/"/g, "'") + '"';

  // --- what pages hide from a reader: listeners, closed shadow roots, traffic -------------------------------------

  const CLICKS = new Set(["click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"]);
  const clickable = new WeakSet(), closed = new WeakMap();
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (CLICKS.has(type) && this instanceof Element) { clickable.add(this); version += 1; }
    return listen.call(this, type, ...rest);
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    const root = attach.call(this, how);
    if (how && how.mode === "closed") closed.set(this, root);
    watch(root);
    return root;
  };
  const shadow = (el) => el.shadowRoot || closed.get(el) || null;

  let changed = performance.now(), traffic = 0, version = 0;
  const touch = () => { changed = performance.now(); };
  const watch = (root) => new MutationObserver(() => { touch(); version += 1; }).observe(
    root, { subtree: true, childList: true, attributes: true, characterData: true });
  watch(document);
  const plainFetch = window.fetch;
  if (plainFetch) {
    window.fetch = function (...args) {
      traffic += 1;
      return plainFetch.apply(this, args).finally(() => { traffic -= 1; touch(); });
    };
  }
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (...args) {
    traffic += 1;
    this.addEventListener("loadend", () => { traffic -= 1; touch(); }, { once: true });
    return send.apply(this, args);
  };

  // Tabs that this document asked for: they appear a moment later, outside of it.
  let asked = 0;
  const open = window.open;
  window.open = function (url, target, ...rest) {
    if (!["_self", "_top", "_parent"].includes(target)) asked += 1;
    return open.call(window, url, target, ...rest);
  };
  const leaves = (e) => {
    const from = e.target instanceof Element && e.target.closest(e.type === "submit" ? "form[target]" : "a[target]");
    if (from && from.target === "_blank") setTimeout(() => { if (!e.defaultPrevented) asked += 1; });
  };
  listen.call(window, "click", leaves);
  listen.call(window, "submit", leaves);

  const quiet = (still, most) => new Promise((resolve) => {
    const began = performance.now();
    touch();
    const look = () => {
      const at = performance.now();
      const done = document.readyState !== "loading" && traffic === 0 && at - changed >= still;
      if (done || at - began >= most) resolve(asked);
      else setTimeout(look, 8);
    };
    setTimeout(look, still);
  });

  // --- roles ------------------------------------------------------------------------------------------------------

  const INPUTS = {
    button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
    range: "slider", number: "spinbutton", search: "searchbox", file: "file", color: "color", date: "date",
    time: "time", "datetime-local": "datetime", month: "month", week: "week", hidden: null,
  };
  const TAGS = {
    BUTTON: "button", SELECT: "combobox", TEXTAREA: "textbox", IMG: "img", H1: "heading", H2: "heading", H3: "heading",
    H4: "heading", H5: "heading", H6: "heading", NAV: "navigation", MAIN: "main", ASIDE: "complementary",
    ARTICLE: "article", UL: "list", OL: "list", LI: "listitem", TABLE: "table", TR: "row", TD: "cell",
    TH: "columnheader", DIALOG: "dialog", FIELDSET: "group", SUMMARY: "disclosure", DETAILS: "details",
    IFRAME: "iframe", FRAME: "iframe", OPTION: "option", METER: "meter", PROGRESS: "progressbar", DT: "term",
    DD: "definition", P: "paragraph", FORM: "form", VIDEO: "video", AUDIO: "audio", CANVAS: "canvas", HR: "separator",
    LABEL: "label", CAPTION: "caption",
  };
  const ACTIVE = new Set(["button", "link", "checkbox", "radio", "switch", "slider", "spinbutton", "searchbox", "file",
    "color", "date", "time", "datetime", "month", "week", "combobox", "listbox", "textbox", "option", "tab", "menuitem",
    "menuitemcheckbox", "menuitemradio", "treeitem", "disclosure", "clickable", "video", "audio", "gridcell"]);
  const FROM_CONTENT = new Set(["button", "link", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
    "treeitem", "disclosure", "clickable", "switch", "checkbox", "radio", "heading", "tooltip", "caption"]);
  const INLINE = new Set(["listitem", "row", "cell", "columnheader", "rowheader", "gridcell", "paragraph", "term",
    "definition", "label", "heading"]);
  const SHAPES = new Set(["circle", "rect", "polygon", "ellipse", "path", "line", "text", "g"]);

  const role = (el) => {
    const given = (el.getAttribute("role") || "").trim().split(/\s+/)[0];
    if (given && given !== "presentation" && given !== "none" && given !== "generic") return given;
    const tag = el.tagName.toUpperCase();
    if (tag === "INPUT") {
      const type = el.type;
      if (type in INPUTS) return INPUTS[type];
      return el.getAttribute("list") ? "combobox" : "textbox";
    }
    if (tag === "A") return el.hasAttribute("href") ? "link" : pressable(el) ? "clickable" : null;
    if (tag === "SELECT") return el.multiple || el.size > 1 ? "listbox" : "combobox";
    if (tag === "SECTION") return el.hasAttribute("aria-label") || el.hasAttribute("aria-labelledby") ? "region" : null;
    if (tag === "HEADER" || tag === "FOOTER") return null;
    if (given && !pressable(el)) return null;
    if (el.isContentEditable && !(el.parentElement && el.parentElement.isContentEditable)) return "textbox";
    const own = TAGS[tag] || null;
    if ((own === null || INLINE.has(own) || own === "label") && pressable(el) && tag !== "LABEL") return "clickable";
    return own;
  };
  // A listener on one of these waits for clicks on what is in it.
  const HOLDERS = new Set(["TABLE", "THEAD", "TBODY", "TFOOT", "UL", "OL", "DL", "FORM", "FIELDSET", "MAIN", "SECTION", "NAV",
    "ASIDE", "HEADER", "FOOTER"]);
  const pressable = (el) => {
    if (el === document.body || el === document.documentElement) return false;
    if (clickable.has(el) && !HOLDERS.has(el.tagName)) return true;
    if (el.hasAttribute("onclick") || typeof el.onclick === "function") return true;
    return el.hasAttribute("tabindex") && el.tabIndex >= 0;
  };

  // --- visibility and children ------------------------------------------------------------------------------------

  // Asked for several times an element: what is found out holds until the pass over the document ends.
  let seen = new Map();
  const shown = (el) => {
    let is = seen.get(el);
    if (is === undefined) { is = visible(el); seen.set(el, is); }
    return is;
  };
  const visible = (el) => {
    if (el.getAttribute("aria-hidden") === "true" && !el.contains(document.activeElement)) return false;
    if (el.checkVisibility({ checkVisibilityCSS: true })) return true;
    return getComputedStyle(el).display === "contents";
  };
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "BR", "WBR", "DATALIST"]);
  const children = (el) => {
    const root = shadow(el);
    if (root) return root.childNodes;
    if (el.tagName === "SLOT") {
      const assigned = el.assignedNodes();
      if (assigned.length) return assigned;
    }
    return el.childNodes;
  };
  const generated = (el, which) => {
    const text = getComputedStyle(el, which).content;
    return text && text[0] === '"' ? text.slice(1, -1).replace(/[\ue000-\uf8ff]/g, "") : "";
  };
  const text = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(node.tagName.toUpperCase()) || !shown(node)) return "";
    if (node.tagName === "IMG") return " " + (node.getAttribute("alt") || "") + " ";
    if (node.tagName === "INPUT" || node.tagName === "SELECT" || node.tagName === "TEXTAREA") return " ";
    const label = node.getAttribute("aria-label");
    if (label) return " " + label + " ";
    let all = "";
    for (const child of children(node)) all += text(child);
    return isInline(node) ? all : " " + all + " ";
  };
  const INLINE_TAGS = new Set(["A", "B", "I", "EM", "STRONG", "SPAN", "SMALL", "CODE", "U", "S", "SUB", "SUP", "MARK",
    "ABBR", "Q", "CITE", "TIME", "FONT", "TT"]);
  const isInline = (el) => INLINE_TAGS.has(el.tagName.toUpperCase());

  // --- names (a working part of the W3C accessible name computation) ----------------------------------------------

  const byIds = (el, attribute) => {
    const ids = clean(el.getAttribute(attribute));
    if (!ids) return "";
    const root = el.getRootNode();
    return clean(ids.split(" ").map((id) => {
      const found = root.getElementById ? root.getElementById(id) : null;
      return found ? found.textContent : "";
    }).join(" "));
  };
  const labelled = (el) => {
    if (!el.labels || !el.labels.length) return "";
    return clean(Array.from(el.labels).map((label) => text(label) || label.textContent).join(" "));
  };
  const shape = (el) => {
    const fill = el.getAttribute("fill") || (el.style && el.style.fill) || "";
    return clean([fill, el.tagName.toLowerCase(), clean(el.textContent)].join(" "));
  };
  const name = (el, kind) => {
    const plain = byIds(el, "aria-labelledby") || clean(el.getAttribute("aria-label"));
    if (plain) return cut(plain, NAME_LIMIT);
    return cut(native(el, kind) || clean(el.getAttribute("title")) || clean(el.getAttribute("placeholder"))
      || (ACTIVE.has(kind) ? hint(el, kind) : ""), NAME_LIMIT);
  };
  const native = (el, kind) => {
    const tag = el.tagName.toUpperCase();
    if (tag === "INPUT" && kind === "button") {
      const fallback = { submit: "Submit", reset: "Reset", image: clean(el.alt) }[el.type] || "";
      return labelled(el) || clean(el.value) || fallback;
    }
    if (tag === "INPUT" || tag === "SELECT" || tag === "TEXTAREA" || tag === "METER") return labelled(el);
    if (tag === "IMG") return clean(el.alt);
    if (tag === "FIELDSET") return clean((el.querySelector("legend") || {}).textContent);
    if (tag === "TABLE") return clean((el.caption || {}).textContent);
    if (tag === "IFRAME") return clean(el.title || el.name);
    if (el.namespaceURI === "http://www.w3.org/2000/svg" && SHAPES.has(tag.toLowerCase())) return shape(el);
    if (FROM_CONTENT.has(kind)) {
      return clean(text(el)) || clean(generated(el, "::before") + " " + generated(el, "::after")) || inner(el);
    }
    return "";
  };
  const inner = (el) => {
    const titled = el.querySelector("[title], [aria-label], svg title");
    return titled ? clean(titled.getAttribute("aria-label") || titled.getAttribute("title") || titled.textContent) : "";
  };
  // What is left to tell nameless controls apart: their form names, or an icon's class.
  const hint = (el, kind) => {
    const plain = clean(el.getAttribute("name")) || clean(el.id);
    if (plain) return plain.replace(/[-_]+/g, " ");
    if (kind === "textbox" || kind === "combobox") return "";
    const icon = clean(el.getAttribute("class")) || clean((el.querySelector("i, svg") || el).getAttribute("class"));
    return icon.split(" ").slice(-1)[0].replace(/[-_]+/g, " ");
  };

  // What a container is called when a path needs it: its name, or the first thing in it that reads like a title.
  const label = (el, kind) => {
    const own = kind === "row" || kind === "listitem" ? "" : name(el, kind);
    if (own) return cut(own, LABEL_LIMIT);
    if (kind === "row") {
      for (const cell of el.children) { const words = clean(text(cell)); if (words) return cut(words, LABEL_LIMIT); }
      return "";
    }
    const title = el.querySelector("h1, h2, h3, h4, h5, h6, legend, dt, strong");
    const words = title ? clean(text(title)) : "";
    if (words) return cut(words, LABEL_LIMIT);
    return kind === "listitem" || kind === "article" ? cut(clean(text(el)), LABEL_LIMIT) : "";
  };

  // --- states -----------------------------------------------------------------------------------------------------

  const option = (o) => (o.selected ? "*" : "") + quote(cut(clean(o.label || o.textContent), LABEL_LIMIT));
  const options = (el) => {
    const all = Array.from(el.options), more = all.length - OPTIONS_LIMIT;
    return " options=" + all.slice(0, OPTIONS_LIMIT).map(option).join("|") + (more > 0 ? `|(${more} more)` : "");
  };
  const state = (el, kind) => {
    const said = [], on = (attribute) => el.getAttribute(attribute) === "true";
    const tag = el.tagName.toUpperCase();
    if (tag === "SELECT") said.push(options(el).trim());
    else if (el.isContentEditable && kind === "textbox") said.push("value=" + quote(cut(clean(el.innerText), INLINE_LIMIT)));
    else if ((tag === "INPUT" || tag === "TEXTAREA") && !["checkbox", "radio", "button"].includes(kind) && el.value !== "") {
      said.push("value=" + quote(el.type === "password" ? "•".repeat(el.value.length) : cut(el.value, INLINE_LIMIT)));
    } else if (el.hasAttribute("aria-valuenow")) said.push("value=" + quote(el.getAttribute("aria-valuenow")));
    else if (kind === "meter" || kind === "progressbar") said.push("value=" + quote(String(el.value)));
    if (kind === "checkbox" || kind === "radio" || kind === "switch") {
      if (el.checked || on("aria-checked")) said.push("checked");
    }
    if (el.disabled || on("aria-disabled")) said.push("disabled");
    if (el.readOnly && tag !== "SELECT") said.push("readonly");
    if (el.required || on("aria-required")) said.push("required");
    if (on("aria-selected")) said.push("selected");
    if (on("aria-pressed")) said.push("pressed");
    if (on("aria-invalid")) said.push("invalid");
    if (el.getAttribute("aria-current") && !el.matches('[aria-current="false"]')) said.push("current");
    if (el.hasAttribute("aria-expanded")) said.push(on("aria-expanded") ? "expanded" : "collapsed");
    if (kind === "disclosure" && el.parentElement) said.push(el.parentElement.open ? "expanded" : "collapsed");
    return said.length ? " " + said.join(" ") : "";
  };
  const outside = (el) => {
    const box = el.getBoundingClientRect();
    if (box.width === 0 && box.height === 0) return "";
    if (box.bottom <= 0 || box.right <= 0) return " ↑";
    return box.top >= innerHeight || box.left >= innerWidth ? " ↓" : "";
  };

  // --- numbers ----------------------------------------------------------------------------------------------------

  const numbers = new WeakMap(), elements = new Map();
  let given = 0;
  const number = (el) => {
    let n = numbers.get(el);
    if (n === undefined) { n = ++given; numbers.set(el, n); elements.set(n, new WeakRef(el)); }
    return n;
  };
  const get = (n) => {
    const ref = elements.get(n), el = ref && ref.deref();
    return el && el.isConnected ? el : null;
  };

  // --- the view ---------------------------------------------------------------------------------------------------
  // A line is {d: depth, s: text, e: whether elements with a number are in it}. `known` collects every element that can be acted on, with its role and name.

  const walk = (el, depth, known) => {
    if (SKIPPED.has(el.tagName.toUpperCase()) || !shown(el)) return [];
    const kind = role(el);
    if (kind === null) return inside(el, depth, known);
    if (kind === "label" && el.control && !el.control.matches("[type=hidden]") && !el.querySelector("input,select,textarea")) {
      return el.control.checkVisibility() ? [] : entry(el, "clickable", depth, known);
    }
    if (kind === "label") return inside(el, depth, known, el.control);
    if (kind === "separator" || kind === "caption" || (kind === "canvas" && !name(el, kind))) return [];
    if (ACTIVE.has(kind)) return entry(el, kind, depth, known);
    if (kind === "img") return name(el, kind) ? [{ d: depth, s: `img ${quote(name(el, kind))}` }] : [];
    if (kind === "iframe") return [{ d: depth, s: `iframe ${quote(name(el, kind))}`, frame: number(el) }];
    return container(el, kind, depth, known);
  };
  const entry = (el, kind, depth, known) => {
    const called = name(el, kind), n = number(el);
    known.push({ el, kind, name: called });
    const line = { d: depth, s: `[${n}] ${kind} ${quote(called)}${state(el, kind)}${outside(el)}`, e: true };
    if (!FROM_CONTENT.has(kind) && !el.childElementCount) return [line];
    if (el.tagName === "SELECT" || el.isContentEditable) return [line];
    const before = known.length;
    const whole = inside(el, depth + 1, known);
    // The name says what the text within says, as long as it is not cut.
    const within = called.endsWith("…") ? whole : whole.filter((l) => l.e || l.frame);
    if (within.length === 1 && known.length === before + 1 && known[before].name === called) {
      // A wrapper and what it wraps are one to the reader: a tab and the link in it, a title bar and its one button.
      if (kind === "clickable") { known.splice(before - 1, 1); return within.map((l) => ({ ...l, d: depth })); }
      known.pop();
      return [line];
    }
    return [line, ...within];
  };
  const container = (el, kind, depth, known) => {
    const within = inside(el, depth + 1, known);
    if (INLINE.has(kind)) return inline(el, kind, depth, within);
    if (kind === "list" && !within.length) return [];
    const called = name(el, kind);
    if ((kind === "form" || kind === "article" || kind === "list" || kind === "group" || kind === "main"
      || kind === "details" || kind === "rowgroup") && !called) {
      return kind === "article" ? [{ d: depth, s: "article" }, ...within] : within.map((l) => ({ ...l, d: l.d - 1 }));
    }
    return [{ d: depth, s: called ? `${kind} ${quote(called)}` : kind }, ...within];
  };
  const inline = (el, kind, depth, within) => {
    if (!within.length) return kind === "cell" || kind === "columnheader" ? [{ d: depth, s: "-" }] : [];
    const flat = within.every((l) => l.d === depth + 1 && !l.frame);
    const size = within.reduce((sum, l) => sum + l.s.length, 0);
    const joint = kind === "row" ? " | " : " ";
    const mark = { listitem: "- ", heading: "#".repeat(Number(el.tagName[1]) || 2) + " ", row: "row: " }[kind] || "";
    if (flat && size <= INLINE_LIMIT) {
      return [{ d: depth, s: mark + within.map((l) => l.s).join(joint), e: within.some((l) => l.e) }];
    }
    if (mark && flat) return [{ ...within[0], d: depth, s: mark + within[0].s }, ...within.slice(1)];
    if (kind === "row" || kind === "listitem") return [{ d: depth, s: kind }, ...within];
    return within.map((l) => ({ ...l, d: l.d - 1 }));
  };
  const inside = (el, depth, known, but) => {
    const lines = [];
    let words = "";
    const flush = () => {
      const said = clean(words);
      if (said) lines.push({ d: depth, s: said });
      words = "";
    };
    const visit = (node) => {
      if (node.nodeType === Node.TEXT_NODE) { words += node.data; return; }
      if (node.nodeType !== Node.ELEMENT_NODE) return;
      if (node.tagName === "BR") { flush(); return; }
      if (isInline(node) && role(node) === null && !shadow(node)) {
        if (shown(node)) for (const child of children(node)) visit(child);
        return;
      }
      const more = walk(node, depth, known);
      if (!more.length) { words += " "; return; }
      flush();
      lines.push(...more);
    };
    for (const node of children(el)) visit(node);
    flush();
    return but ? lines.filter((l) => l.e) : lines;
  };

  // The last pass over the document. It holds until the document changes: what acts on the page looks at it afterwards.
  let last = { version: -1, known: [], places: new Map(), paths: new Map() };
  const pass = () => {
    const known = [];
    seen = new Map();
    const lines = document.body ? walk(document.body, 0, known) : [];
    last = { version, known, places: new Map(), paths: new Map() };
    return lines;
  };
  const survey = (again) => {
    if (again || last.version !== version) pass();
    return last.known;
  };
  const view = () => {
    const lines = pass();
    let focus = document.activeElement;
    while (focus && shadow(focus) && shadow(focus).activeElement) focus = shadow(focus).activeElement;
    const held = last.known.find((k) => k.el === focus);
    return JSON.stringify({
      title: document.title,
      lines: lines.map((l) => (l.frame ? [l.d, l.s, l.frame] : [l.d, l.s])),
      focused: held ? `[${number(held.el)}] ${held.kind} ${quote(held.name)}` : "",
      scroll: [Math.round(scrollY), Math.max(0, Math.round(document.documentElement.scrollHeight - innerHeight - scrollY))],
    });
  };

  // --- elements by role, name and path ----------------------------------------------------------------------------

  const around = (el) => {
    let path = last.paths.get(el);
    if (path === undefined) { path = containers(el); last.paths.set(el, path); }
    return path;
  };
  const containers = (el) => {
    const path = [];
    for (let up = el.parentNode; up && up !== document.body; up = up.parentNode || up.host) {
      if (up.nodeType === Node.DOCUMENT_FRAGMENT_NODE) { if (!up.host) break; up = up.host; }
      if (up.nodeType !== Node.ELEMENT_NODE) break;
      let place = last.places.get(up);
      if (place === undefined) { place = placed(up); last.places.set(up, place); }
      if (place) path.push(place);
    }
    return path;
  };
  // What a container is to the elements in it: role and name; empty where it sets nothing apart.
  const placed = (el) => {
    const kind = role(el);
    if (!kind || (ACTIVE.has(kind) && kind !== "gridcell" && kind !== "clickable")) return "";
    if (["cell", "columnheader", "paragraph", "list", "heading", "rowgroup", "label"].includes(kind)) return "";
    const called = label(el, kind);
    return called ? `${kind} ${quote(called)}` : "";
  };
  const same = (a, b) => a.kind === b.kind && a.name === b.name;

  // The shortest text that names one element: role and name, then the containers that set it apart, then a count.
  const describe = (n) => {
    const el = get(n);
    if (!el) return null;
    const its = (k) => k.el === el;
    const own = survey().find(its) || survey(true).find(its);
    if (!own) return null;
    const known = last.known;
    let rivals = known.filter((k) => same(k, own)), said = `${own.kind} ${quote(own.name)}`;
    for (const part of around(el)) {
      if (rivals.length === 1) break;
      const left = rivals.filter((k) => around(k.el).includes(part));
      if (left.length < rivals.length) { rivals = left; said += ` in ${part}`; }
    }
    return rivals.length === 1 ? said : `${said} #${rivals.findIndex((k) => k.el === el) + 1}`;
  };

  // The elements a description fits: [{n, said}]. `parts` is [{kind, name}], the element first, then its containers.
  const find = (parts, count) => {
    let found = among(survey(), parts);
    if (!found.length) found = among(survey(true), parts);
    const picked = count ? found.slice(count - 1, count) : found;
    return picked.slice(0, 20).map((k) => ({ n: number(k.el), said: describe(number(k.el)) }));
  };
  const among = (known, parts) => {
    const fold = (s) => s.toLowerCase();
    const [own, ...path] = parts;
    const fits = (k, equal) => (!own.kind || k.kind === own.kind) && equal(k.name);
    let found = known.filter((k) => fits(k, (s) => s.replace(/"/g, "'") === own.name));
    if (!found.length) found = known.filter((k) => fits(k, (s) => fold(s.replace(/"/g, "'")) === fold(own.name)));
    for (const part of path) {
      const said = `${part.kind} ${quote(part.name)}`;
      found = found.filter((k) => around(k.el).includes(said));
    }
    return found;
  };
  const similar = (words) => survey().map((k) => `${k.kind} ${quote(k.name)}`)
    .filter((said) => said.toLowerCase().includes(words.toLowerCase())).slice(0, 5);

  Object.defineProperty(window, "__rebind", {
    value: Object.freeze({ view, get, number, describe, find, similar, quiet }),
  });
})();
