import { randomUUID } from "node:crypto";
import type { Hints } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

interface Hint {
  from: string;
  position: number;
  projection?: string;
}

/** Hints of one turn of the event loop leave as one, the highest; listeners of this process hear them without the network. */
export function createHints({ nc, log }: Connection, names: Names): Hints {
  const from = randomUUID();
  const committed = new Set<(position: number) => void>();
  const projected = new Set<(projection: string, position: number) => void>();
  const highest = new Map<string | undefined, number>();

  const tell = ({ projection, position }: Pick<Hint, "projection" | "position">) => {
    try {
      if (projection === undefined) for (const listener of committed) listener(position);
      else for (const listener of projected) listener(projection, position);
    } catch (err) {
      log.error({ err }, "bus: a listener to hints failed");
    }
  };
  const flush = () => {
    const hints = [...highest];
    highest.clear();
    for (const [projection, position] of hints) {
      tell({ projection, position });
      if (nc.isClosed() || nc.isDraining()) continue;
      const subject = projection === undefined ? names.hint.committed : names.hint.projected;
      nc.publish(subject, JSON.stringify({ from, position, projection } satisfies Hint));
    }
  };
  const note = (projection: string | undefined, position: number) => {
    if (highest.size === 0) setImmediate(flush);
    highest.set(projection, Math.max(position, highest.get(projection) ?? 0));
  };
  for (const subject of Object.values(names.hint)) {
    nc.subscribe(subject, {
      callback(error, message) {
        const hint = error ? undefined : message.json<Hint>();
        if (hint && hint.from !== from) tell(hint);
      },
    });
  }
  return {
    committed: (position) => note(undefined, position),
    onCommitted: (listener) => added(committed, listener),
    projected: note,
    onProjected: (listener) => added(projected, listener),
  };
}

function added<T>(set: Set<T>, item: T): () => void {
  set.add(item);
  return () => set.delete(item);
}
