// Streams of what pages bring, and of what becomes of other streams.

/** A page, and what asks for the next one; empty on the last. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string;
}

/** What all pages bring, one after the other; a page is asked for when it is come to. */
export async function* pages<T>(ask: (token: string) => Promise<Page<T>>): AsyncGenerator<T, void, undefined> {
  let token = "";
  do {
    const page = await ask(token);
    yield* page.items;
    token = page.next;
  } while (token !== "");
}

/** What `change` makes of each item. */
export async function* mapped<T, U>(
  items: AsyncIterable<T> | Iterable<T>,
  change: (item: T) => U,
): AsyncGenerator<U, void, undefined> {
  for await (const item of items) yield change(item);
}
