interface Entry<T> {
  at: number;
  order: number;
  what: T;
  cancelled?: boolean;
}

/** Planned actions in the order of their times; those of one time in the order in which they were added. */
export function createAgenda<T>() {
  const heap: Entry<T>[] = [];
  let added = 0;
  const before = (a: number, b: number) =>
    heap[a]!.at < heap[b]!.at || (heap[a]!.at === heap[b]!.at && heap[a]!.order < heap[b]!.order);
  const swap = (a: number, b: number) => ([heap[a], heap[b]] = [heap[b]!, heap[a]!]);

  const rise = (n: number): void => {
    for (let up = (n - 1) >> 1; n > 0 && before(n, up); n = up, up = (n - 1) >> 1) swap(n, up);
  };
  const sink = (n: number): void => {
    for (;;) {
      let least = n;
      for (const child of [2 * n + 1, 2 * n + 2]) if (child < heap.length && before(child, least)) least = child;
      if (least === n) return;
      swap(n, least);
      n = least;
    }
  };
  const pop = (): Entry<T> | undefined => {
    const top = heap[0];
    const last = heap.pop();
    if (heap.length > 0) {
      heap[0] = last!;
      sink(0);
    }
    return top;
  };

  return {
    /** Returns a function that cancels it. */
    add(at: number, what: T): () => void {
      const entry: Entry<T> = { at, order: added++, what };
      rise(heap.push(entry) - 1);
      return () => void (entry.cancelled = true);
    },
    take(): { at: number; what: T } | undefined {
      let next = pop();
      while (next?.cancelled) next = pop();
      return next;
    },
  };
}
