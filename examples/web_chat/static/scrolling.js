// Keeps the end of the conversation in view for whoever is there, and lets everyone else read. The
// end is that of the words: a list of sources under them grows below what is seen.

const NEAR = 64;
const ROOM = 32; // under the last words, as while they stream

/**
 * Watch `scroller`; `button` leads to the end while the reader is elsewhere. `tail()` returns the
 * element that the end is above, null where it is the end of all.
 */
export class Following {
  #scroller;
  #button;
  #tail;
  #last = null;
  #follows = true;
  #top = 0;

  constructor(scroller, button, tail) {
    this.#scroller = scroller;
    this.#button = button;
    this.#tail = tail;
    scroller.addEventListener("scroll", () => this.#moved(), { passive: true });
    button.addEventListener("click", () => {
      this.toEnd();
      scroller.focus({ preventScroll: true });
    });
    let height = 0;
    new ResizeObserver(() => {
      if (scroller.clientHeight === height) this.#show(); // a panel beside it moves nothing away
      else this.grew();
      height = scroller.clientHeight;
    }).observe(scroller);
  }

  /** Say that something was added. */
  grew() {
    const distance = this.#distance();
    const finished = this.#tail() !== this.#last; // what was written anew may be shorter
    this.#last = this.#tail();
    // Never back otherwise: the sources may be read.
    if (this.#follows && (distance > 0 || finished)) this.#scroller.scrollTop += distance;
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
    const below = scrollHeight - scrollTop - clientHeight;
    const tail = this.#tail();
    if (!tail) return below;
    const bottom = this.#scroller.getBoundingClientRect().top + clientHeight;
    return Math.min(below, tail.getBoundingClientRect().top + ROOM - bottom);
  }

  #show() {
    this.#button.hidden = this.#distance() < NEAR;
  }
}
