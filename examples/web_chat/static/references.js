// Numbers and cited words in the answers, and the lines behind them: what belongs together lights
// up together, and following a number opens its lines.

const CITING = "sup.citation a, mark[data-sources], section.sources li[data-number], #panel [data-sources]";

/** Return the numbers that an element stands for. */
function numbersOf(element) {
  const { sources, number } = element.dataset;
  if (sources) return sources.split(" ");
  return [number ?? element.textContent.trim()];
}

export class References {
  #conversation;
  #panel;
  #pointer = ""; // where it is
  #unmoved = false; // the page has moved under it

  constructor(conversation, panel) {
    this.#conversation = conversation;
    this.#panel = panel;
    for (const [type, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
      document.addEventListener(type, (event) => {
        if (type.startsWith("pointer") && place(event) === this.#pointer) this.#unmoved = true;
        else this.#reach(event.target, on);
      });
    }
    document.addEventListener("pointermove", (event) => this.#moved(event));
    document.addEventListener("click", (event) => this.#clicked(event));
  }

  #moved(event) {
    if (place(event) === this.#pointer) return;
    this.#pointer = place(event);
    if (!this.#unmoved) return;
    this.#unmoved = false;
    document.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
    this.#reach(event.target, true);
  }

  #reach(target, on) {
    const element = target.closest?.(CITING);
    if (element) this.#light(element, on);
  }

  #light(element, on) {
    const panel = element.closest("#panel");
    const article = panel ? this.#panel.article : element.closest("article.answer");
    if (!article) return;
    const scopes = this.#panel.article === article ? [article, this.#panel.lines] : [article];
    for (const scope of scopes) {
      scope.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
      if (on) for (const number of numbersOf(element)) light(scope, number);
    }
  }

  #clicked(event) {
    const link = event.target.closest('article.answer a[href^="#"]');
    if (link) event.preventDefault();
    if (link?.matches(".back")) {
      focusOn(link.closest("article").querySelector(`[id="${CSS.escape(link.hash.slice(1))}"]`));
      return;
    }
    const button = event.target.closest("section.sources li button.show");
    const words = !link && getSelection().isCollapsed && event.target.closest("mark[data-sources]");
    const element = link ?? button?.closest("li") ?? (words || null);
    if (!element || element.closest("#panel")) return;
    const found = this.#conversation.citedIn(element);
    if (found) this.#panel.open(found.article, found.cited, numbersOf(element)[0], link ?? button ?? element);
  }
}

function place({ screenX, screenY }) {
  return `${screenX} ${screenY}`;
}

function light(scope, number) {
  const all = `[data-sources~="${CSS.escape(number)}"], [data-number="${CSS.escape(number)}"]`;
  scope.querySelectorAll(all).forEach((one) => one.classList.add("lit"));
  scope.querySelectorAll("sup.citation a").forEach((one) => {
    if (one.textContent.trim() === number) one.classList.add("lit");
  });
}

/** Give the focus to an element in the conversation and show it. */
export function focusOn(element) {
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "nearest" });
}
