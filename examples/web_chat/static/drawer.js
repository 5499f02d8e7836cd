// The list of chats on a narrow screen: a drawer over the page, which waits until it is closed.

const byId = (id) => document.getElementById(id);

export class Drawer {
  #nav = byId("chats");
  #opener = byId("chats-open");
  #shade = byId("shade");

  constructor() {
    this.#opener.addEventListener("click", () => this.#open());
    byId("chats-close").addEventListener("click", () => this.close());
    this.#shade.addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOpen || document.querySelector("dialog[open]")) return;
      event.preventDefault(); // what it lies over stays
      this.close();
    });
    matchMedia("(min-width: 64.0625rem)").addEventListener("change", () => this.close());
  }

  get isOpen() {
    return this.#nav.classList.contains("open");
  }

  close() {
    if (!this.isOpen) return;
    this.#set(false);
    this.#opener.focus();
  }

  #open() {
    this.#set(true);
    byId("new-chat").focus();
  }

  #set(open) {
    this.#nav.classList.toggle("open", open);
    this.#shade.hidden = !open;
    this.#opener.setAttribute("aria-expanded", open);
    byId("main").inert = open;
    byId("panel").inert = open;
  }
}
