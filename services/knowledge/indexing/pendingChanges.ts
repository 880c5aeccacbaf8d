import type { PublicEvent } from "#events/ports.ts";
import { FOLLOWED_EVENTS } from "./planChanges.ts";

/** Events of one round that put texts. */
const MAX_OF_ROUND = 500;
/** Events that are held in memory. Beyond them, the organization that has the most drops its newest ones and reads them again later. */
const MAX_PENDING = 50_000;
/** Organizations that read dropped events again in one round. */
const MAX_RESTORED = 10;

/** They are cheap and remove what search must not show, so they do not wait for their organization's turn. */
const PLANNED_AT_ONCE: ReadonlySet<string> = new Set(["DocumentIndexed", "DocumentDeleted"]);
/** The events that put texts into the index. */
export const PUTTING_EVENTS = FOLLOWED_EVENTS.filter((type) => !PLANNED_AT_ONCE.has(type));

export type PendingChanges = ReturnType<typeof createPendingChanges>;
type Queue = Map<string, PublicEvent>;
const keyOf = ({ stream, type, data }: PublicEvent): string => `${stream}/${type}/${data.generation ?? ""}`;
const byPosition = (a: PublicEvent, b: PublicEvent): number => a.position - b.position;

/** The queue without its newer half. `last`: the position after which the others are read again. */
function dropNewest(queue: Queue): { kept: Queue; last: number } {
  const ordered = [...queue].toSorted(([, a], [, b]) => byPosition(a, b));
  const half = Math.floor(ordered.length / 2);
  return { kept: new Map(ordered.slice(0, half)), last: ordered[half]![1].position - 1 };
}

/** The first `limit` events, one of each queue after the other. */
function takeTurns(queues: Iterable<Queue>, limit: number): PublicEvent[] {
  const taken: PublicEvent[] = [];
  let open = [...queues].map((queue) => queue.values());
  while (open.length > 0 && taken.length < limit)
    open = open.filter((events) => {
      const { value } = events.next();
      if (value && taken.length < limit) taken.push(value);
      return value !== undefined;
    });
  return taken;
}

function remove(queue: Queue, event: PublicEvent): void {
  const key = keyOf(event);
  if ((queue.get(key)?.position ?? Infinity) <= event.position) queue.delete(key);
}

/** Queues of organizations, with at most `maxPending` events in all. */
function createQueues(maxPending: number) {
  /** By organization. Those that have waited longest for their turn come first. */
  const queues = new Map<string, Queue>();
  /** The organizations with dropped events, and the position after which these are read again. */
  const dropped = new Map<string, number>();
  const count = (): number => queues.values().reduce((sum, { size }) => sum + size, 0);

  function add(events: PublicEvent[]): void {
    for (const event of events) {
      const queue = queues.get(event.organization_id) ?? new Map();
      queues.set(event.organization_id, queue.set(keyOf(event), event));
    }
    while (count() > maxPending) {
      const [organization, queue] = [...queues].reduce((most, one) => (one[1].size > most[1].size ? one : most));
      const { kept, last } = dropNewest(queue);
      replace(organization, kept);
      dropped.set(organization, Math.min(last, dropped.get(organization) ?? Infinity));
    }
  }

  /** It is the last one then. */
  function replace(organization: string, queue: Queue): void {
    queues.delete(organization);
    if (queue.size > 0) queues.set(organization, queue);
  }

  return {
    add,
    dropped,
    isEmpty: (): boolean => queues.size + dropped.size === 0,
    all: (): Queue[] => [...queues.values()],
    of: (organization: string): Queue => queues.get(organization) ?? new Map(),
    /** Others have their turn before it. */
    endTurn: (organization: string): void => replace(organization, queues.get(organization) ?? new Map()),
  };
}

/**
 * The events that were read and are not in the index yet. Organizations take turns, so that one that changes a million documents
 * delays no other. Of equal ones the newest stays: a plan uses the current state of a document.
 */
export function createPendingChanges(maxPending = MAX_PENDING) {
  const atOnce: Queue = new Map();
  const queues = createQueues(maxPending);
  const { dropped } = queues;

  return {
    hasAny: (): boolean => atOnce.size > 0 || !queues.isEmpty(),
    /** The checkpoint must stay before it, because all this is lost with the process. */
    firstPosition(): number {
      let first = Infinity;
      for (const queue of [atOnce, ...queues.all()])
        for (const { position } of queue.values()) first = Math.min(first, position);
      for (const position of dropped.values()) first = Math.min(first, position + 1);
      return first;
    },
    /** Adds events that the log has after those that were added before. */
    add(events: PublicEvent[]): void {
      for (const event of events) if (PLANNED_AT_ONCE.has(event.type)) atOnce.set(keyOf(event), event);
      queues.add(
        events.filter(({ type, organization_id }) => !PLANNED_AT_ONCE.has(type) && !dropped.has(organization_id)),
      );
    },
    /** Organizations with dropped events that have nearly done the others. */
    restorable: (): { organization: string; after: number }[] =>
      [...dropped]
        .filter(([organization]) => queues.of(organization).size < MAX_OF_ROUND)
        .slice(0, MAX_RESTORED)
        .map(([organization, after]) => ({ organization, after })),
    /** Adds dropped events of an organization. `after`: where it goes on; undefined: these were all. */
    restore(organization: string, events: PublicEvent[], after: number | undefined): void {
      dropped.delete(organization);
      if (after !== undefined) dropped.set(organization, after);
      queues.add(events);
    },
    /** The events to plan next, in their order. */
    next: (): PublicEvent[] => [...atOnce.values(), ...takeTurns(queues.all(), MAX_OF_ROUND)].toSorted(byPosition),
    /** Removes the events of a round. `deferred`: the streams of documents that did not fit into it. */
    settle(planned: PublicEvent[], deferred: ReadonlySet<string>): void {
      for (const event of planned) {
        if (PLANNED_AT_ONCE.has(event.type)) remove(atOnce, event);
        else if (!deferred.has(event.stream)) remove(queues.of(event.organization_id), event);
      }
      for (const { organization_id } of planned) queues.endTurn(organization_id);
    },
  };
}
