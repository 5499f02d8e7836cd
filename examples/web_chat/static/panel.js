// The source beside the conversation: a document, line by line, with what an answer cites of it.

import { layLines } from "./lines.js";
import { focusOn } from "./references.js";

const MANY = 3; // lines that are named at the most

export class Panel {
  article = null; // the answer whose numbers are shown
  lines = document.getElementById("document");
  #panel = document.getElementById("panel");
  #title = document.getElementById("panel-title");
  #about = document.getElementById("panel-about");
  #choice = document.getElementById("panel-choice");
  #steps = document.getElementById("panel-steps");
  #opener = null;
  #cited = {};
  #number = null;
  #source = null;
  #known = new Map(); // documents by name
  #library;
  #on;

  /** `on` has `toggled(boolean)` and `problem(error)`. */
  constructor(on) {
    this.#on = on;
    document.getElementById("panel-close").addEventListener("click", () => this.close());
    document.getElementById("panel-before").addEventListener("click", () => this.#step(-1));
    document.getElementById("panel-after").addEventListener("click", () => this.#step(1));
    this.#choice.addEventListener("change", () => this.#show(this.#choice.value, null));
    this.lines.addEventListener("click", (event) => {
      const badge = event.target.closest("button.badge");
      if (badge) this.#back(badge.textContent);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return; // what lies over it has gone
      if (this.isOpen && !document.querySelector("dialog[open]")) this.close();
    });
  }

  get isOpen() {
    return !this.#panel.hidden;
  }

  /** Show documents of `library`, which has `list()` and `load(name)`. What was shown goes. */
  use(library) {
    this.close({ focus: false });
    this.#known.clear();
    this.#library = library;
  }

  /** Show what stands behind `number` of an answer; the focus goes back to `opener`. */
  async open(article, cited, number, opener) {
    this.article = article;
    this.#cited = cited;
    this.#opener = opener;
    const source = cited[number]?.source;
    if (source) await this.#show(source, number);
    else focusOn(article.querySelector(`li[data-number="${CSS.escape(number)}"]`));
  }

  /** Show the documents, the one called `name` or the first. */
  async browse(opener, name) {
    this.#opener = opener;
    this.article = null;
    this.#cited = {};
    try {
      const [first] = await this.#library.list();
      if (first) await this.#show(name ?? first.id, null);
    } catch (error) {
      this.#on.problem(error);
    }
  }

  close({ focus = true } = {}) {
    if (this.#panel.hidden) return;
    this.#toggle(false);
    document.querySelectorAll(".lit, .chosen").forEach((one) => one.classList.remove("lit", "chosen"));
    this.lines.replaceChildren();
    this.#source = null;
    this.article = null;
    if (focus) focusOn(this.#opener);
  }

  async #show(source, number) {
    let found;
    try {
      found = this.#known.get(source) ?? (await this.#library.load(source));
      this.#known.set(source, found);
      await this.#listChoices(source);
    } catch (error) {
      this.#on.problem(error);
      return;
    }
    this.#source = source;
    this.#number = number;
    this.#title.textContent = found.title;
    this.#toggle(true);
    const here = Object.entries(this.#cited).filter(([, one]) => one.source === source);
    this.lines.replaceChildren(layLines(found, Object.fromEntries(here), number));
    this.#steps.hidden = this.#order().length < 2;
    this.#about.textContent = about(found, this.#cited[number]?.places ?? []);
    this.#choose(number);
    this.#opener?.scrollIntoView({ block: "nearest" }); // a sheet may lie over it
    const target = this.lines.querySelector(".line.active") ?? this.lines;
    if (target === this.lines) target.scrollTop = 0;
    else target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  }

  /** Show or hide the panel; what it was opened from stays where it is, however wide its column. */
  #toggle(open) {
    const scroller = this.#opener?.closest("#scroller");
    const top = () => this.#opener.getBoundingClientRect().top;
    const before = scroller && top();
    this.#panel.hidden = !open;
    this.#on.toggled(open);
    if (scroller) scroller.scrollTop += top() - before;
  }

  async #listChoices(source) {
    const all = await this.#library.list();
    this.#choice.replaceChildren(...all.map(({ id, title }) => new Option(title, id)));
    this.#choice.value = source;
    this.#choice.hidden = all.length < 2;
    this.#title.classList.toggle("unseen", all.length > 1);
  }

  /** Mark the number in the answer whose lines are shown. */
  #choose(number) {
    document.querySelectorAll("sup.citation .chosen").forEach((one) => one.classList.remove("chosen"));
    this.article?.querySelectorAll("sup.citation a").forEach((one) => {
      one.classList.toggle("chosen", one.textContent.trim() === number);
    });
  }

  #order() {
    return Object.keys(this.#cited)
      .filter((number) => this.#cited[number].source)
      .sort((a, b) => a - b);
  }

  #step(by) {
    const order = this.#order();
    const place = order.indexOf(this.#number);
    const next = order[(Math.max(place, 0) + by + order.length) % order.length];
    this.#show(this.#cited[next].source, next);
  }

  #back(number) {
    const links = [...(this.article?.querySelectorAll("sup.citation a") ?? [])];
    focusOn(links.find((one) => one.textContent.trim() === number));
  }
}

function about(found, places) {
  const named = places.slice(0, MANY).map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
  if (!named.length) return `${found.lines} lines${found.pages ? `, ${found.pages} pages` : ""}`;
  const word = places.length > 1 || places[0].first !== places[0].last ? "Lines" : "Line";
  return `${word} ${named.join(", ")}${places.length > MANY ? "…" : ""} of ${found.lines}`;
}
