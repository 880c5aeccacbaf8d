import type { Hints } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

interface Hint {
  position: number;
  projection?: string;
}

/** Hints of one turn of the event loop leave as one, the highest; listeners of this process hear them without the network. */
export function createHints({ nc, wire }: Connection, names: Names): Hints {
  const highest = new Map<string | undefined, number>();
  const committed = new Set<(position: number) => void>();
  const wanted = new Set<(position: number) => void>();
  const projected = new Set<(projection: string, position: number) => void>();
  wire.listen(names.hint.committed, ({ position }: Hint) => committed.forEach((listener) => listener(position)));
  wire.listen(names.hint.wanted, ({ position }: Hint) => wanted.forEach((listener) => listener(position)));
  wire.listen(names.hint.projected, ({ projection, position }: Hint) =>
    projected.forEach((listener) => listener(projection!, position)),
  );

  const flush = () => {
    const hints = [...highest];
    highest.clear();
    if (nc.isClosed() || nc.isDraining()) return;
    for (const [projection, position] of hints)
      wire.tell(projection === undefined ? names.hint.committed : names.hint.projected, { projection, position });
  };
  const note = (projection: string | undefined, position: number) => {
    if (highest.size === 0) setImmediate(flush);
    highest.set(projection, Math.max(position, highest.get(projection) ?? 0));
  };
  return {
    committed: (position) => note(undefined, position),
    onCommitted: (listener) => added(committed, listener),
    wanted: (position) => wire.tell(names.hint.wanted, { position } satisfies Hint),
    onWanted: (listener) => added(wanted, listener),
    projected: note,
    onProjected: (listener) => added(projected, listener),
  };
}

function added<T>(set: Set<T>, item: T): () => void {
  set.add(item);
  return () => set.delete(item);
}
