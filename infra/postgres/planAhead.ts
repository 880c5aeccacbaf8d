import type { RecordedEvent } from "#events/envelope.ts";
import type { Follower } from "./advance.ts";

interface PreparedPlan<F, P> {
  followers: F[];
  events: RecordedEvent[];
  plan: P;
}

/**
 * Plans the writes of a batch while the previous one is being written, so that this process and PostgreSQL work in parallel. A plan
 * is used only once, and only for the same followers and events.
 */
export function createPlanner<F extends Follower, P>(make: (followers: F[], events: RecordedEvent[]) => P) {
  let ahead: PreparedPlan<F, P> | undefined;
  const isSame = (planned: PreparedPlan<F, P>, followers: F[], events: RecordedEvent[]): boolean =>
    planned.events === events &&
    planned.followers.length === followers.length &&
    planned.followers.every((one, n) => one === followers[n]);

  return {
    /** An event that cannot be planned is reported when the batch is written. */
    planAhead(followers: F[], events: RecordedEvent[]): void {
      try {
        ahead = events.length > 0 ? { followers, events, plan: make(followers, events) } : undefined;
      } catch {
        ahead = undefined;
      }
    },
    plan(followers: F[], events: RecordedEvent[]): P {
      if (!ahead || !isSame(ahead, followers, events)) return make(followers, events);
      const { plan } = ahead;
      ahead = undefined;
      return plan;
    },
    /** Call it when a stream is parked or a table has changed. */
    forget(): void {
      ahead = undefined;
    },
  };
}
export interface Planner<F extends Follower, P> extends ReturnType<typeof createPlanner<F, P>> {}
