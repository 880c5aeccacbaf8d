import type { Hints } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

interface Hint {
  position: number;
  projection?: string;
}

/** Sends one hint per turn of the event loop: the one with the highest position. */
export function createHints({ nc, pubSub }: Connection, names: Names): Hints {
  const highest = new Map<string | undefined, number>();
  const committed = new Set<(position: number) => void>();
  const requested = new Set<(position: number) => void>();
  const projected = new Set<(projection: string, position: number) => void>();
  pubSub.subscribe(names.hint.committed, ({ position }: Hint) => committed.forEach((listener) => listener(position)));
  pubSub.subscribe(names.hint.wanted, ({ position }: Hint) => requested.forEach((listener) => listener(position)));
  pubSub.subscribe(names.hint.projected, ({ projection, position }: Hint) =>
    projected.forEach((listener) => listener(projection!, position)),
  );

  const flush = () => {
    const hints = [...highest];
    highest.clear();
    if (nc.isClosed() || nc.isDraining()) return;
    for (const [projection, position] of hints)
      pubSub.publish(projection === undefined ? names.hint.committed : names.hint.projected, { projection, position });
  };
  const schedule = (projection: string | undefined, position: number) => {
    if (highest.size === 0) setImmediate(flush);
    highest.set(projection, Math.max(position, highest.get(projection) ?? 0));
  };
  return {
    announceCommitted: (position) => schedule(undefined, position),
    onCommitted: (listener) => addTo(committed, listener),
    requestProjected: (position) => pubSub.publish(names.hint.wanted, { position } satisfies Hint),
    onRequested: (listener) => addTo(requested, listener),
    announceProjected: schedule,
    onProjected: (listener) => addTo(projected, listener),
  };
}

function addTo<T>(set: Set<T>, item: T): () => void {
  set.add(item);
  return () => set.delete(item);
}
