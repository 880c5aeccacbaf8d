import type { Hints } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";

interface Hint {
  position: number;
}
/** Older versions name one projection per hint, and poll if they do not understand a hint. */
interface ProjectedHint extends Hint {
  projections?: string[];
  projection?: string;
}

/**
 * Sends one hint per turn of the event loop, with the highest position. A batch moves all projections to one position, so one
 * message covers all; with one per projection, hints were most of what a process published.
 */
export function createHints({ nc, pubSub }: Connection, names: Names): Hints {
  const highest = new Map<string | undefined, number>();
  const committed = new Set<(position: number) => void>();
  const requested = new Set<(position: number) => void>();
  const projected = new Set<(projection: string, position: number) => void>();
  pubSub.subscribe(names.hint.committed, ({ position }: Hint) => committed.forEach((listener) => listener(position)));
  pubSub.subscribe(names.hint.wanted, ({ position }: Hint) => requested.forEach((listener) => listener(position)));
  pubSub.subscribe(names.hint.projected, ({ projection, projections = [projection!], position }: ProjectedHint) => {
    for (const name of projections) projected.forEach((listener) => listener(name, position));
  });

  const flush = () => {
    const hints = [...highest];
    highest.clear();
    if (nc.isClosed() || nc.isDraining()) return;
    const projections = new Map<number, string[]>();
    for (const [projection, position] of hints)
      if (projection === undefined) pubSub.publish(names.hint.committed, { position } satisfies Hint);
      else projections.set(position, [...(projections.get(position) ?? []), projection]);
    for (const [position, moved] of projections)
      pubSub.publish(names.hint.projected, { position, projections: moved } satisfies ProjectedHint);
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
