// How many calls one connection carries at once; what exceeds that waits here, and not for the service to refuse it.

/** Servers take some 100 streams on a connection, and refuse what is begun beyond that. */
const AT_ONCE = 64;

/** Places for calls, taken in the order in which they are asked for. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(many: number = AT_ONCE) {
    this.#free = many;
  }

  /**
   * Takes a place, which `leave` gives back.
   *
   * @param limit - gives up waiting: rejects where the time is over or the call was cancelled
   */
  async take(limit: (turn: Promise<void>) => Promise<void>): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { turn, begin } = pending();
    this.#waiting.push(begin);
    try {
      await limit(turn);
    } catch (error) {
      const place = this.#waiting.indexOf(begin);
      if (place < 0)
        this.leave(); // its turn came as it gave up
      else this.#waiting.splice(place, 1);
      throw error;
    }
  }

  /** The call is over: it is the next one's turn. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

function pending(): { turn: Promise<void>; begin: () => void } {
  let begin = (): void => undefined;
  const turn = new Promise<void>((resolve) => {
    begin = resolve;
  });
  return { turn, begin };
}
