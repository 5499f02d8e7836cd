// Keeps the end of the conversation in view for whoever is there, and lets everyone else read.

const NEAR = 64;

/** Watch `scroller`; `button` leads to the end while the reader is elsewhere. */
export class Following {
  #scroller;
  #button;
  #follows = true;
  #top = 0;

  constructor(scroller, button) {
    this.#scroller = scroller;
    this.#button = button;
    scroller.addEventListener("scroll", () => this.#moved(), { passive: true });
    button.addEventListener("click", () => {
      this.toEnd();
      scroller.focus({ preventScroll: true });
    });
    new ResizeObserver(() => this.grew()).observe(scroller);
  }

  /** Say that something was added. */
  grew() {
    if (this.#follows) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#show();
  }

  /** Go to the end and stay there. */
  toEnd() {
    this.#follows = true;
    this.grew();
  }

  /** Stay where the reader is. */
  rest() {
    this.#follows = false;
    this.#show();
  }

  #moved() {
    const up = this.#scroller.scrollTop < this.#top - 1;
    this.#top = this.#scroller.scrollTop;
    if (this.#distance() < NEAR) this.#follows = true;
    else if (up) this.#follows = false; // what is added moves the end away, and nobody upwards
    this.#show();
  }

  #distance() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  #show() {
    this.#button.hidden = this.#distance() < NEAR;
  }
}
