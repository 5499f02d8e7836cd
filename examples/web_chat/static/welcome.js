// What a new chat shows: the documents that it may cite, and questions to begin with.

const byId = (id) => document.getElementById(id);

export class Welcome {
  #on;

  /** `onAsk(text)` is called for a question, `onRead(number, opener)` for a document to show. */
  constructor(on) {
    this.#on = on;
  }

  set shown(shown) {
    byId("welcome").hidden = !shown;
  }

  fill(documents, suggestions) {
    byId("welcome-documents").replaceChildren(
      ...documents.map((one, number) => {
        const [item, button] = itemButton();
        const name = document.createElement("bdi");
        name.textContent = one.title;
        const size = document.createElement("small");
        size.textContent = one.pages ? counted(one.pages, "page") : counted(one.lines, "line");
        button.append(name, size);
        button.addEventListener("click", () => this.#on.onRead(String(number), button));
        return item;
      }),
    );
    byId("suggestions").replaceChildren(
      ...suggestions.map((text) => {
        const [item, button] = itemButton();
        button.textContent = text;
        button.addEventListener("click", () => this.#on.onAsk(text));
        return item;
      }),
    );
  }
}

function counted(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

function itemButton() {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  item.append(button);
  return [item, button];
}
