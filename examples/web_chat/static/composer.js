// Where questions are written: grows with its text, Enter sends, and stops what is being answered.

const TALLEST = 200;

export class Composer {
  #form = document.getElementById("composer");
  #box = document.getElementById("question");
  #send = document.getElementById("send");
  #stop = document.getElementById("stop");
  #problem = document.getElementById("problem");
  #busy = false;
  #chat = null;
  #drafts = new Map(); // of the other chats
  #onAsk;

  /** `onAsk(text)` is called with a question, `onStop()` when the answer is to stop. */
  constructor({ onAsk, onStop }) {
    this.#onAsk = onAsk;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    this.#box.addEventListener("input", () => this.#fit());
    this.#stop.addEventListener("click", onStop);
    // A tap on the frame is meant for the box in it.
    this.#form.addEventListener("pointerdown", (event) => {
      if (event.target === this.#form) requestAnimationFrame(() => this.focus());
    });
  }

  /** Show what was typed in a chat, null for a new one, and keep what was in the one before. */
  set chat(id) {
    if (id === this.#chat) return;
    this.#drafts.set(this.#chat, this.#box.value);
    this.#box.value = this.#drafts.get(id) ?? "";
    this.#chat = id;
    this.#fit();
  }

  /** Say that the new chat is the one called `id` now; what is typed stays. */
  begin(id) {
    this.#chat = id;
  }

  focus() {
    this.#box.focus();
  }

  /** Show that an answer is in progress, or that none is. */
  set busy(busy) {
    this.#busy = busy;
    const focused = document.activeElement === this.#stop || document.activeElement === this.#send;
    this.#stop.hidden = !busy;
    this.#send.hidden = busy;
    if (focused) this.#box.focus();
    this.#fit();
  }

  /** Put a question back that could not be asked in a chat. */
  restore(text, chat) {
    if (chat !== this.#chat) this.#drafts.set(chat, this.#drafts.get(chat) || text);
    else if (!this.#box.value) this.#box.value = text;
    this.#fit();
  }

  /** Say what went wrong, "" for nothing. */
  set problem(message) {
    this.#problem.textContent = message;
    this.#problem.hidden = !message;
  }

  #submit() {
    const text = this.#box.value.trim();
    if (!text || this.#busy) return;
    this.#box.value = "";
    this.#fit();
    this.#onAsk(text);
  }

  #fit() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${Math.min(this.#box.scrollHeight, TALLEST)}px`;
    this.#send.disabled = !this.#box.value.trim();
  }
}
