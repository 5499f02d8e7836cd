// A document as lines, with what is cited marked to the character and numbered in the margin.

const GROUP = 200; // lines that the browser lays out at once, when they come into view

/**
 * Return the lines of `found`. `cited` has by number `{places: [{first, last, from, to}]}`: lines
 * from 1, both ends inclusive, and columns in UTF-16 code units. `active` is the number that was
 * followed.
 */
export function layLines(found, cited, active) {
  const marks = marksByLine(cited, found.text);
  const pages = new Map(found.starts.map((line, index) => [line, index + 1]));
  const all = document.createDocumentFragment();
  let group = null;
  found.text.forEach((text, index) => {
    if (index % GROUP === 0) {
      group = element("div", "group");
      all.append(group);
    }
    const number = index + 1;
    if (pages.has(number)) group.append(element("p", "page", `Page ${pages.get(number)}`));
    group.append(line(text, number, marks.get(number) ?? [], active));
  });
  return all;
}

function marksByLine(cited, lines) {
  const marks = new Map();
  for (const [number, { places }] of Object.entries(cited)) {
    for (const { first, last, from, to } of places) {
      for (let at = first; at <= last; at += 1) {
        const indent = lines[at - 1].search(/\S|$/);
        const start = Math.max(at === first ? from : 0, indent);
        const end = at === last ? to : lines[at - 1].length;
        if (!marks.has(at)) marks.set(at, []);
        marks.get(at).push({ number, start, end, begins: at === first });
      }
    }
  }
  return marks;
}

function line(text, number, marks, active) {
  const row = element("div", "line");
  row.dataset.line = number;
  const margin = element("span", "margin");
  const count = element("span", "count", String(number));
  count.setAttribute("aria-hidden", "true");
  margin.append(count);
  const words = element("span", "text");
  words.dir = "auto";
  words.append(...pieces(text, marks));
  row.append(margin, words);
  if (/^#{1,6} /.test(text)) row.classList.add("heading");
  if (!marks.length) return row;
  row.classList.add("cited");
  row.dataset.sources = marks.map((mark) => mark.number).join(" ");
  if (marks.some((mark) => mark.number === active)) {
    row.classList.add("active");
    row.tabIndex = -1;
  }
  for (const mark of marks.filter(({ begins }) => begins)) margin.prepend(badge(mark.number));
  return row;
}

function badge(number) {
  const button = element("button", "badge", number);
  button.type = "button";
  button.dataset.number = number;
  button.setAttribute("aria-label", `Back to number ${number} in the answer`);
  return button;
}

/** Cut a line where what is cited begins or ends. */
function pieces(text, marks) {
  const cuts = [0, text.length, ...marks.flatMap(({ start, end }) => [start, end])];
  const bounds = [...new Set(cuts)].filter((cut) => cut <= text.length).sort((a, b) => a - b);
  const made = [];
  for (let index = 0; index + 1 < bounds.length; index += 1) {
    const [start, end] = [bounds[index], bounds[index + 1]];
    const numbers = marks.filter((mark) => mark.start <= start && end <= mark.end).map((mark) => mark.number);
    const words = text.slice(start, end);
    if (numbers.length && words.trim()) {
      const mark = element("mark", "", words);
      mark.dataset.sources = [...new Set(numbers)].join(" ");
      made.push(mark);
    } else {
      made.push(words);
    }
  }
  return made;
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}
