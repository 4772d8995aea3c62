// The script of a report: sorting and searching its tables, the rows behind its bars, and the panel in which
// the joint distribution of the columns is asked, see mixture.js, which stands before this. It fetches nothing,
// and writes text as text alone.
{
  const data = JSON.parse(document.getElementById("page-data").textContent);

  // Elements and texts ----------------------------------------------------------------------------------

  // The place of the panel has an empty drawing, which knows the namespace of drawings.
  const place = document.querySelector("[data-panel]");
  const SVG = place?.querySelector("svg").namespaceURI;

  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "path", "rect", "line"].includes(tag);
    const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  const button = (text, onclick, more = {}) => make("button", { type: "button", onclick, ...more }, text);

  // So many digits, no trailing zeros, and commas between thousands.
  function numberText(x, digits = 4, commas = true) {
    if (x === 0 || !Number.isFinite(x)) return String(x);
    if (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e9) return String(Number(x.toPrecision(digits)));
    const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(x))));
    return x.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, 20), useGrouping: commas });
  }

  function percentText(p) {
    if (p > 0 && p < 0.001) return "<0.1%";
    if (p < 1 && p > 0.999) return ">99.9%";
    return `${(100 * p).toFixed(p < 0.1 || p > 0.9 ? 1 : 0)}%`.replace(".0%", "%");
  }

  const counted = (n, one, many = `${one}s`) => `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;

  // Rows ------------------------------------------------------------------------------------------------

  const rows = data.rows ?? { total: 0, numbers: [], columns: [] };
  const rowColumns = new Map(rows.columns.map((column) => [column.name, column]));
  const clusters = rows.columns.find((column) => column.kind === "cluster");
  let vary = null; // how the panel takes a row, if there is a panel

  function entryText({ kind, levels, year, values }, i) {
    if (values[i] === null) return "";
    if (kind === "number") return numberText(values[i], 8, !year);
    return levels ? levels[values[i]] : values[i];
  }

  function exactText({ kind, levels, values }, i) {
    if (values[i] === null) return "";
    return kind !== "number" && levels ? levels[values[i]] : String(values[i]);
  }

  // The value by which a row is sorted: what is missing comes last.
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  };

  function quoted(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function download(positions) {
    const head = ["row", ...rows.columns.map((column) => column.name)];
    const entries = (i) => rows.columns.map((column) => exactText(column, i));
    const lines = [head, ...positions.map((i) => [String(rows.numbers[i]), ...entries(i)])];
    const text = lines.map((line) => line.map(quoted).join(",")).join("\r\n");
    const url = URL.createObjectURL(new Blob([`${text}\r\n`], { type: "text/csv" }));
    const link = make("a", { href: url, download: "rows.csv" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  const MOST_SHOWN = 200;

  // One dialog for all lists of rows, made when it is first asked for.
  class RowsDialog {
    constructor() {
      this.title = make("h2", { id: "rows-title" });
      this.search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search these rows",
        oninput: () => this.show() });
      this.status = make("p", { class: "small", role: "status" });
      this.head = make("tr");
      this.body = make("tbody");
      const table = make("table", {}, make("thead", {}, this.head), this.body);
      this.dialog = make("dialog", { class: "rows", "aria-labelledby": "rows-title" },
        make("div", { class: "bar" }, this.title, button("Close", () => this.dialog.close())),
        make("div", { class: "bar" }, this.search, button("Download as CSV", () => download(this.found))),
        this.status, make("div", { class: "scroll", tabindex: 0 }, table));
      document.body.append(this.dialog);
      const names = ["row", ...rows.columns.map((column) => column.name)];
      const heads = names.map((name, j) => button(name, () => this.sort(j)));
      this.head.append(...heads.map((head) => make("th", { scope: "col" }, head)));
    }

    open(title, positions) {
      Object.assign(this, { positions, column: 0, down: false });
      this.title.textContent = title;
      this.search.value = "";
      this.show();
      this.dialog.showModal();
    }

    sort(j) {
      this.down = this.column === j && !this.down;
      this.column = j;
      this.show();
    }

    show() {
      const words = this.search.value.toLowerCase();
      const says = (i) => [String(rows.numbers[i]), ...rows.columns.map((column) => entryText(column, i))]
        .some((text) => text.toLowerCase().includes(words));
      const column = rows.columns[this.column - 1];
      const key = column ? (i) => column.values[i] : (i) => rows.numbers[i];
      const sign = this.down ? -1 : 1;
      this.found = this.positions.filter((i) => !words || says(i)).sort((a, b) => {
        const gaps = (key(a) === null) - (key(b) === null);
        return gaps || sign * compare(key(a), key(b)) || a - b;
      });
      [...this.head.cells].forEach((cell, j) => {
        if (j === this.column) cell.setAttribute("aria-sort", this.down ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      });
      this.body.replaceChildren(...this.found.slice(0, MOST_SHOWN).map((i) => this.line(i)));
      const n = rows.numbers.length.toLocaleString("en-US");
      const part = ` (this page has ${n} of ${counted(rows.total, "row")})`;
      const of = rows.numbers.length < rows.total ? part : "";
      const first = `; the first ${MOST_SHOWN} are shown, a download has all`;
      const how = " The number of a row takes it to the panel, where it can be varied.";
      this.status.textContent = `${counted(this.found.length, "row")}${of}`
        + `${this.found.length > MOST_SHOWN ? first : ""}.${vary && this.found.length ? how : ""}`;
    }

    line(i) {
      const text = String(rows.numbers[i]);
      const number = vary ? button(text, () => this.choose(i), { "aria-label": `vary row ${text}` }) : text;
      return make("tr", {}, make("td", { class: "n" }, number), ...rows.columns.map((column) =>
        make("td", { class: column.kind === "number" ? "n" : null }, entryText(column, i))));
    }

    choose(i) {
      this.dialog.close();
      vary(i);
    }
  }

  let dialog = null;

  function showRows(title, positions) {
    dialog ??= new RowsDialog();
    dialog.open(title, positions);
  }

  // Which rows a bar stands for: a category, or numbers from low to below high (or equal, of the last bar).
  function rowsOf(name, bar, last) {
    const column = rowColumns.get(name);
    const code = typeof bar === "string" ? column.levels?.indexOf(bar) : null;
    const closed = last || bar[0] === bar[1];
    const between = (x) => x >= bar[0] && (x < bar[1] || (closed && x <= bar[1]));
    const inside = (x) => (code !== null ? x === code : between(x));
    return range(rows.numbers.length).filter((i) => column.values[i] !== null && inside(column.values[i]));
  }

  function barText(name, bar) {
    if (typeof bar === "string") return `${name}: ${bar}`;
    const commas = !rowColumns.get(name).year;
    const ends = bar.map((x) => numberText(x, 4, commas));
    return bar[0] === bar[1] ? `${name}: ${ends[0]}` : `${name}: ${ends[0]} to ${ends[1]}`;
  }

  // Bars that list their rows: one stop of the tabulator, arrows from bar to bar.
  function makeBars(elements, name, bars) {
    const go = (i) => {
      elements.forEach((e, k) => e.setAttribute("tabindex", k === i ? 0 : -1));
      elements[i].focus();
    };
    elements.forEach((element, i) => {
      const open = () => showRows(barText(name, bars[i]), rowsOf(name, bars[i], i === bars.length - 1));
      element.classList.add("bar-of-rows");
      element.setAttribute("role", "button");
      element.setAttribute("tabindex", i === 0 ? 0 : -1);
      element.setAttribute("aria-label", `${barText(name, bars[i])}: list the rows`);
      element.addEventListener("click", open);
      element.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) go((i + step + elements.length) % elements.length);
        else if (event.key === "Enter" || event.key === " ") open();
        else return;
        event.preventDefault();
      });
    });
  }

  for (const figure of document.querySelectorAll("figure[data-bars]")) {
    const { column, bars } = JSON.parse(figure.dataset.bars);
    const elements = bars.map((_, i) => figure.querySelector(`[id$="-bar-${i}"]`));
    if (rowColumns.has(column) && elements.every(Boolean)) {
      figure.querySelector(".drawing").setAttribute("role", "group");
      makeBars(elements, column, bars);
    }
  }

  // Tables ----------------------------------------------------------------------------------------------

  // The number at the beginning of an entry such as "1,234 (5.6%)" or "1 in 500", else null.
  function leadingNumber(text) {
    const odds = /^(?:less than )?1 in ([\d,]+)$/.exec(text);
    if (odds) return 1 / Number(odds[1].replaceAll(",", ""));
    const found = /^[<>≈~\s]*([-−+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)/i.exec(text);
    return found ? Number(found[1].replaceAll(",", "").replace("−", "-")) : null;
  }

  function sortable(table) {
    const body = table.tBodies[0], lines = [...body.rows];
    if (lines.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((cell, j) => {
      const texts = lines.map((line) => line.cells[j].textContent.trim());
      const numbers = texts.map(leadingNumber);
      const numeric = numbers.every((x, i) => x !== null || texts[i] === "");
      const keys = new Map(lines.map((line, i) => [line, numeric ? numbers[i] : texts[i] || null]));
      cell.replaceChildren(button(cell.textContent, () => {
        const order = { ascending: "descending", descending: null }[cell.ariaSort] ?? "ascending";
        const back = cell.ariaSort === "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        if (!back) cell.setAttribute("aria-sort", order);
        const sign = order === "descending" ? -1 : 1;
        const sorted = back ? lines : [...lines].sort((a, b) => {
          const gaps = (keys.get(a) === null) - (keys.get(b) === null);
          return gaps || sign * compare(keys.get(a), keys.get(b));
        });
        body.append(...sorted);
      }));
    });
    if (lines.length < 10) return;
    const words = make("input", { type: "search", class: "search",
      placeholder: `Search ${lines.length} lines`,
      "aria-label": `Search the table ${table.caption?.textContent ?? ""}` });
    words.addEventListener("input", () => {
      const wanted = words.value.toLowerCase();
      for (const line of lines) line.hidden = !line.textContent.toLowerCase().includes(wanted);
    });
    table.parentElement.before(words);
  }

  // Numbers of clusters and of rows, in the first entries of tables, become buttons.
  function linkFirst(table) {
    for (const { cells: [cell] } of table.tBodies[0].rows) {
      const name = cell.textContent, i = rows.numbers.indexOf(leadingNumber(name));
      if (table.dataset.first === "cluster" && clusters) {
        const open = () => showRows(`Cluster ${name}`, rowsOf(clusters.name, name));
        cell.replaceChildren(button(name, open, { "aria-label": `list the rows of cluster ${name}` }));
      } else if (table.dataset.first === "row" && vary && i >= 0) {
        cell.replaceChildren(button(name, () => vary(i), { "aria-label": `vary row ${name}` }));
      }
    }
  }

  // The panel -------------------------------------------------------------------------------------------

  const LEVEL = 0.9, POINTS = 120, BINS = 24, TALL = 60, WIDE = 240;

  // Numbers as they are, for programs, and rounded, for readers.
  const machine = (value, text) => make("data", { value }, text);
  const share = (p) => machine(p, percentText(p));

  const canvas = (tall, more = "") =>
    make("svg", { viewBox: `0 0 ${WIDE} ${tall}`, preserveAspectRatio: "none", class: `density ${more}` });

  // One column: its control, and its distribution given the others.
  class Card {
    constructor(panel, column, j) {
      Object.assign(this, { panel, column, j, value: NaN });
      // Long names are broken after underscores.
      const parts = column.name.split(/(?<=_)/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
      this.label = make("label", { for: `fix-${j}`, class: "name" }, ...parts);
      this.release = button("×", () => this.set(NaN),
        { class: "quiet", title: "release", "aria-label": `release ${column.name}` });
      this.says = make("p", { class: "small" });
      this.element = make("div", { class: "card", role: "group", "aria-label": column.name },
        make("div", { class: "bar" }, this.label, this.release));
    }

    get isFixed() {
      return isKnown(this.value);
    }

    set(value) {
      this.value = value;
      this.panel.changed();
    }

    mark(was) {
      this.element.classList.toggle("fixed", this.isFixed);
      this.release.hidden = !this.isFixed;
      const other = isKnown(was) && this.isFixed && was !== this.value;
      return other ? `; was ${this.text(was)}` : "";
    }
  }

  class NumberCard extends Card {
    constructor(panel, column, j) {
      super(panel, column, j);
      const { logged, low, high, step } = column;
      this.inner = logged ? Math.log : (x) => x;
      this.outer = logged ? Math.exp : (x) => x;
      const margin = 0.08 * (this.inner(high) - this.inner(low));
      const least = low >= 0 ? Math.max(0, low - margin) : low - margin;
      this.low = logged ? this.inner(low) - margin : step * Math.floor(least / step);
      this.high = logged ? this.inner(high) + margin : step * Math.ceil((high + margin) / step);
      this.number = make("input", { id: `fix-${j}`, type: "number", step: "any", placeholder: "not fixed",
        oninput: () => this.read() });
      this.slider = make("input", { type: "range", min: this.low, max: this.high,
        step: logged ? (this.high - this.low) / 200 : step, "aria-label": `${column.name}, slider`,
        oninput: () => this.slide() });
      this.element.append(this.drawing(), this.slider,
        make("div", { class: "ends small" }, make("span", {}, this.text(this.outer(this.low))), this.number,
          make("span", {}, this.text(this.outer(this.high)))), this.says);
    }

    text(x) {
      return numberText(x, 4, !this.column.year);
    }

    drawing() {
      const svg = canvas(TALL);
      this.grid = range(POINTS + 1).map((i) => this.low + ((this.high - this.low) * i) / POINTS);
      const before = this.panel.model.conditionOthers(this.panel.nothing, this.j);
      this.usual = this.grid.map((x) => before.density(x));
      this.curve = make("path", { class: "given" });
      this.before = make("path", { class: "usual" });
      this.marker = make("line", { class: "marker", y1: 0, y2: TALL });
      const bars = this.histogram();
      this.bars = make("g", {}, ...bars.map(({ element }) => element));
      svg.append(this.bars, this.before, this.curve, this.marker);
      makeBars(bars.map(({ element }) => element), this.column.name, bars.map(({ ends }) => ends));
      return svg;
    }

    // The rows of the page as bars, their heights densities.
    histogram() {
      const known = rowColumns.get(this.column.name)?.values.filter((x) => x !== null).map(this.inner) ?? [];
      const width = (this.high - this.low) / BINS, counts = new Array(BINS).fill(0);
      for (const x of known) {
        const bin = Math.floor((x - this.low) / width);
        if (bin >= 0 && bin < BINS) counts[bin]++;
      }
      const heights = counts.map((n) => n / (known.length * width || 1));
      this.highest = Math.max(0, ...heights, ...this.usual);
      return range(BINS).filter((i) => counts[i]).map((i) => ({
        element: make("rect",
          { x: (WIDE * i) / BINS, y: 0, width: WIDE / BINS, height: heights[i] / this.highest }),
        ends: [this.low + i * width, this.low + (i + 1) * width].map(this.outer),
      }));
    }

    read() {
      const x = this.number.value === "" ? NaN : this.number.valueAsNumber;
      const wrong = (this.column.logged && x <= 0) || Math.abs(x) > 1e150 || this.number.validity.badInput;
      const needed = `a ${this.column.logged ? "positive " : ""}number below 1e150 is needed`;
      this.number.setCustomValidity(wrong ? needed : "");
      this.set(wrong ? NaN : x);
    }

    slide() {
      const x = this.slider.valueAsNumber;
      this.set(this.column.logged ? Number(Math.exp(x).toPrecision(3)) : Number(x.toPrecision(12)));
    }

    get code() {
      return this.isFixed ? this.inner(this.value) : NaN;
    }

    show(of, was) {
      const note = this.mark(was);
      const quantiles = [0.5 - LEVEL / 2, 0.5, 0.5 + LEVEL / 2].map((q) => of.quantile(q));
      const [low, middle, high] = quantiles.map(this.outer);
      // The marker stays within the axis.
      const at = Math.min(this.high, Math.max(this.low, this.isFixed ? this.code : quantiles[1]));
      Object.assign(this, { answer: { low, middle, high, mean: of.mean } });
      if (document.activeElement !== this.number) this.number.value = this.isFixed ? this.value : "";
      this.slider.value = at;
      const heights = this.grid.map((x) => of.density(x));
      // One scale for both, unless the column is so narrow given the others that all rows would be flat.
      const top = 1.04 * Math.max(this.highest, ...heights), usually = Math.min(top, 3 * this.highest);
      const path = (ys, one) => ys.map((y, i) =>
        `${i ? "L" : "M"}${(WIDE * i) / POINTS} ${(TALL * (1 - y / one)).toFixed(2)}`).join("");
      this.curve.setAttribute("d", `${path(heights, top)}L${WIDE} ${TALL}L0 ${TALL}Z`);
      this.before.setAttribute("d", path(this.usual, usually));
      const unit = (-TALL * this.highest) / usually;
      this.bars.setAttribute("transform", `translate(0 ${TALL}) scale(1 ${unit})`);
      const x = (WIDE * (at - this.low)) / (this.high - this.low);
      for (const end of ["x1", "x2"]) this.marker.setAttribute(end, x);
      const ends = [this.said(low), " to ", this.said(high)];
      if (this.isFixed) {
        const lower = share(of.cdf(this.code));
        this.says.replaceChildren("the others expect ", ...ends, "; ", lower, " would be lower", note);
      } else this.says.replaceChildren("median ", this.said(middle), ", 90% from ", ...ends);
      const spoken = this.isFixed ? this.text(this.value) : `not fixed, median ${this.text(middle)}`;
      this.slider.setAttribute("aria-valuetext", spoken);
    }

    said(x) {
      return machine(x, this.text(x));
    }

    get short() {
      const { low, middle, high } = this.answer;
      return [this.said(middle), " (90% from ", this.said(low), " to ", this.said(high), ")"];
    }
  }

  class CategoryCard extends Card {
    constructor(panel, column, j) {
      super(panel, column, j);
      this.select = make("select", { id: `fix-${j}`, onchange: () => this.read() },
        make("option", { value: "" }, "not fixed"),
        ...column.levels.map((level, c) => make("option", { value: c }, level)));
      this.bars = column.levels.map((level) => {
        const filled = make("span", { class: "share" }), text = machine(0, "");
        const one = make("div", { class: "level" }, make("span", { class: "text", title: level }, level),
          make("span", { class: "track" }, filled), text);
        return { one, filled, text };
      });
      const list = make("div", { class: "levels" }, ...this.bars.map(({ one }) => one));
      if (rowColumns.has(column.name)) makeBars(this.bars.map(({ one }) => one), column.name, column.levels);
      this.element.append(list, this.select, this.says);
    }

    read() {
      this.set(this.select.value === "" ? NaN : Number(this.select.value));
    }

    text(code) {
      return this.column.levels[code];
    }

    get code() {
      return this.value;
    }

    show(of, was) {
      const note = this.mark(was);
      this.answer = { probabilities: of };
      this.select.value = this.isFixed ? this.value : "";
      this.bars.forEach(({ one, filled, text }, c) => {
        one.classList.toggle("chosen", c === this.value);
        filled.style.width = `${100 * of[c]}%`;
        text.value = of[c];
        text.textContent = percentText(of[c]);
      });
      this.says.replaceChildren();
      if (this.isFixed) this.says.replaceChildren("the others give it ", share(of[this.value]), note);
    }

    get short() {
      const { probabilities } = this.answer;
      const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]).slice(0, 3);
      return order.flatMap((c, i) => [`${i ? ", " : ""}${this.text(c)} `, share(probabilities[c])]);
    }
  }

  class Panel {
    constructor(place, spec) {
      this.columns = spec.columns;
      this.model = new JointModel(spec, spec.columns);
      this.nothing = this.columns.map(() => NaN);
      this.row = null;
      this.cards = this.columns.map((column, j) =>
        new (column.levels ? CategoryCard : NumberCard)(this, column, j));
      this.coded = this.rowsAsCodes();
      const asked = Math.max(0, this.columns.findIndex((column) => column.name === spec.target));
      this.asked = make("select", { id: "asked", onchange: () => this.changed() },
        ...this.columns.map((column, j) => make("option", { value: j, selected: j === asked }, column.name)));
      const cards = this.cards.map((card) => card.element);
      place.append(this.toolbar(), this.answers(), make("div", { class: "cards" }, ...cards));
      if (rows.numbers.length) vary = (i) => this.choose(i, true);
      this.update();
    }

    // The rows of the page as the model takes them.
    rowsAsCodes() {
      const of = this.columns.map((column) => rowColumns.get(column.name));
      const codes = this.columns.map((column) => new Map(column.levels?.map((level, c) => [level, c])));
      return range(rows.numbers.length).map((i) => this.columns.map((column, j) => {
        const x = of[j]?.values[i] ?? null;
        if (x === null) return NaN;
        if (column.levels) return codes[j].get(of[j].levels[x]) ?? NaN;
        return column.logged ? Math.log(x) : x;
      }));
    }

    toolbar() {
      this.number = make("input",
        { id: "row", type: "number", min: 1, placeholder: "none", onchange: () => this.seek() });
      const count = rows.numbers.length;
      const step = (by) => () => this.choose(this.row === null ? 0 : (this.row + by + count) % count);
      const ofRows = [make("label", { for: "row" }, "Row"), this.number,
        button("Previous", step(-1)), button("Next", step(1)),
        button("Any row", () => this.choose(Math.floor(Math.random() * count))),
        button("Choose from the rows", () => showRows("Rows of the table", range(count)))];
      const release = button("Release all", () => this.clear());
      return make("div", { class: "bar tools" }, ...(count ? ofRows : []), release);
    }

    answers() {
      this.given = make("p", { class: "given" });
      this.answer = make("p", { class: "large" });
      this.unusual = make("p", { class: "large" });
      this.scale = canvas(30, "low");
      this.log = make("p", { class: "small" });
      this.completion = make("dl", { class: "completion" });
      this.fill = button("Fix these too", () => this.fix(this.completed));
      this.spoken = make("p", { class: "unseen", role: "status" });
      const box = (title, ...inside) => make("div", { class: "answer" }, make("h3", {}, title), ...inside);
      return make("div", { class: "answers" },
        make("div", { class: "answer" },
          make("h3", {}, make("label", { for: "asked" }, "What is to be expected of "), this.asked),
          this.answer, this.given),
        box("How unusual is this row?", this.unusual, this.scale, this.log),
        box("Most likely completion", this.completion, this.fill), this.spoken);
    }

    seek() {
      const wanted = this.number.valueAsNumber;
      if (Number.isNaN(wanted)) return this.clear();
      const gaps = rows.numbers.map((n) => Math.abs(n - wanted));
      return this.choose(gaps.indexOf(Math.min(...gaps)));
    }

    choose(i, away = false) {
      this.row = i;
      this.cards.forEach((card, j) => { card.value = this.valueOf(i, j); });
      this.changed();
      if (away) {
        this.number.scrollIntoView({ block: "center" });
        this.number.focus();
      }
    }

    // The entry of a row as a control has it: a number in the units of the table, or a code.
    valueOf(i, j) {
      const { name, levels } = this.columns[j];
      return levels ? this.coded[i][j] : rowColumns.get(name)?.values[i] ?? NaN;
    }

    clear() {
      this.row = null;
      for (const card of this.cards) card.value = NaN;
      this.changed();
    }

    fix(row) {
      this.cards.forEach((card, j) => {
        if (!card.isFixed) card.value = card.column.levels ? row[j] : card.outer(row[j]);
      });
      this.changed();
    }

    // Changes that come together are answered once.
    changed() {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = null;
        this.update();
      });
    }

    get codes() {
      return this.cards.map((card) => card.code);
    }

    update() {
      const codes = this.codes, { logDensity, of } = this.model.condition(codes);
      this.cards.forEach((card, j) => {
        const was = this.row === null ? NaN : this.valueOf(this.row, j);
        card.show(of[j] ?? this.model.conditionOthers(codes, j), was);
      });
      this.number.value = this.row === null ? "" : rows.numbers[this.row];
      this.showAnswer();
      this.showUnusualness(codes, logDensity);
      this.showCompletion(codes);
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => {
        const { name } = this.columns[this.asked.value];
        this.spoken.textContent = `${name}: ${this.answer.textContent}. ${this.unusual.textContent}`;
      }, 700);
    }

    showAnswer() {
      const asked = this.cards[this.asked.value];
      this.answer.replaceChildren(...asked.short);
      const fixed = this.cards.filter((card) => card.isFixed && card !== asked);
      const list = fixed.slice(0, 4).map((card) => `${card.column.name} ${card.text(card.value)}`).join(", ");
      const more = fixed.length > 4 ? ` and ${counted(fixed.length - 4, "other")}` : "";
      const nothing = "given nothing: fix a column below, or choose a row";
      this.given.textContent = fixed.length ? `given ${list}${more}` : nothing;
    }

    // The log densities of the page's rows in the columns that are fixed, of the rows that have them all.
    logDensities(codes) {
      const where = range(codes.length).filter((j) => isKnown(codes[j])), key = where.join();
      if (this.known?.key !== key) {
        const complete = this.coded.filter((row) => where.every((j) => isKnown(row[j])));
        this.known = { key, logs: this.model.logDensities(complete, where).sort() };
      }
      return this.known.logs;
    }

    showUnusualness(codes, logDensity) {
      const fixed = codes.filter(isKnown).length;
      this.scale.replaceChildren();
      this.log.textContent = "";
      if (!fixed) {
        this.unusual.textContent = "Nothing is fixed.";
        return;
      }
      const logs = this.logDensities(codes);
      // Rows of the same entries are not lower.
      const limit = logDensity - 1e-9 * Math.max(1, Math.abs(logDensity));
      const lower = logs.filter((x) => x < limit).length / logs.length;
      const said = [share(lower), ` of ${counted(logs.length, "row")} are more unusual`];
      this.unusual.replaceChildren(...(logs.length ? said : ["No row has all these entries."]));
      this.log.replaceChildren("log density ", machine(logDensity, numberText(logDensity, 5)),
        ` of ${counted(fixed, "entry", "entries")}`);
      if (logs.length) this.drawScale(logs, logDensity);
    }

    // A histogram of the log densities, in order, from their first percent on, with a marker.
    drawScale(logs, logDensity) {
      const low = Math.min(logs[Math.floor(0.01 * logs.length)], Math.max(logDensity, logs[0] - 20));
      const high = Math.max(logs[logs.length - 1], logDensity);
      const bins = 40, width = (high - low) / bins || 1, counts = new Array(bins).fill(0);
      for (const x of logs) counts[Math.min(bins - 1, Math.max(0, Math.floor((x - low) / width)))]++;
      const unit = 28 / Math.max(...counts);
      const at = WIDE * Math.min(1, Math.max(0, (logDensity - low) / (width * bins)));
      this.scale.append(
        ...counts.map((n, i) => make("rect",
          { x: (WIDE * i) / bins, width: WIDE / bins, y: 30 - unit * n, height: unit * n })),
        make("line", { class: "marker", x1: at, x2: at, y1: 0, y2: 30 }));
    }

    showCompletion(codes) {
      const free = this.cards.filter((card) => !card.isFixed);
      this.fill.hidden = !free.length;
      if (!free.length) {
        this.completion.replaceChildren(make("dt", {}, "Nothing is left to complete."));
        return;
      }
      const { row, log } = this.model.complete(codes);
      Object.assign(this, { completed: row, completedLog: log });
      this.completion.replaceChildren(...free.flatMap((card) => {
        const x = card.column.levels ? row[card.j] : card.outer(row[card.j]);
        return [make("dt", {}, card.column.name), make("dd", {}, machine(x, card.text(x)))];
      }));
    }
  }

  if (place && data.model) window.tractable = new Panel(place, data.model);
  for (const table of document.querySelectorAll("main .scroll > table")) {
    linkFirst(table);
    sortable(table);
  }
}
