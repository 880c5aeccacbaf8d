import type { PublicEvent } from "#events/ports.ts";

/** Events of an organization that wait for their share and are planned again in one round. */
const NEXT_OF_ORGANIZATION = 100;
/** Beyond this many that wait, no further events are read, because they are held in memory. */
const MAX_WAITING = 50_000;

const keyOf = ({ stream, type, data }: PublicEvent): string => `${stream}/${type}/${data.generation ?? ""}`;

/**
 * Events whose documents did not fit into their organization's share of a round. Of equal ones the newest stays: a plan uses the
 * current state of a document.
 */
export function createDeferredChanges(maxWaiting = MAX_WAITING) {
  const waiting = new Map<string, PublicEvent>();
  return {
    hasAny: (): boolean => waiting.size > 0,
    isFull: (): boolean => waiting.size >= maxWaiting,
    /** The checkpoint must stay before it, because it is lost with the process. */
    firstPosition: (): number => waiting.values().reduce((least, { position }) => Math.min(least, position), Infinity),
    /** The events to plan next, the oldest of each organization. */
    next(): PublicEvent[] {
      const counts = new Map<string, number>();
      return [...waiting.values()].filter(({ organization_id }) => {
        const count = (counts.get(organization_id) ?? 0) + 1;
        counts.set(organization_id, count);
        return count <= NEXT_OF_ORGANIZATION;
      });
    },
    /** Records a round with these events. `deferred`: the streams of the documents that did not fit. */
    settle(planned: PublicEvent[], deferred: ReadonlySet<string>): void {
      for (const event of planned) {
        const key = keyOf(event);
        if (deferred.has(event.stream) && event.type !== "DocumentIndexed") waiting.set(key, event);
        else if ((waiting.get(key)?.position ?? Infinity) <= event.position) waiting.delete(key);
      }
    },
  };
}
