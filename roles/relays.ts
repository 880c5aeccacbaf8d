import type { EventLog, Reactions, ScannedEvent } from "#events/ports.ts";
import { publishedData, publishedTypes, versionOf } from "#events/published.ts";
import { failpoint } from "#infra/failpoint.ts";
import { messageId, type Feed, type Told } from "#infra/nats/feed.ts";
import { FEED_KEPT_MS } from "#infra/nats/streams.ts";
import { lastBefore } from "#infra/postgres/lastBefore.ts";
import { lead } from "#infra/postgres/leader.ts";
import { relay } from "#infra/postgres/relay.ts";
import { reactors, wakes } from "#services/reactors/index.ts";
import type { Opened } from "./open.ts";

const REACTIONS = 1_000;
/** On their way at once; a few hundred bytes each. */
const FEED = 500;

const told = ({ data, traceparent, ...event }: ScannedEvent): Told => ({
  event: { ...event, schema_version: versionOf(event.type), data: publishedData(data) },
  traceparent,
});

/** Publishes those events that call for somebody. */
export const wakeUps =
  (reactions: Pick<Reactions, "publish">) =>
  async (events: ScannedEvent[]): Promise<void> => {
    for (const event of events.filter(wakes)) {
      await reactions.publish(event);
      failpoint("after-reaction-published");
    }
  };

/**
 * The feed goes on behind the last event that its stream holds. One that never held any is a new one, and is told all that it
 * would still hold; one whose last event is not in the log is of before the log was restored, and says nothing.
 */
export const resumeFeed =
  ({ pool, log, feed }: { pool: Opened["pool"]; log: Pick<EventLog, "scan">; feed: Pick<Feed, "last"> }) =>
  async (position: number): Promise<number> => {
    const last = await feed.last();
    if (last === "nothing") return Math.min(position, await lastBefore(pool, new Date(Date.now() - FEED_KEPT_MS)));
    if (!last) return position;
    const { events } = await log.scan(last.position - 1, publishedTypes(), 1);
    return events[0] && messageId(events[0]) === messageId(last) ? last.position : position;
  };

/** What leads out of the log: wake-ups for slow work, and the feed for other services. One process of the deployment does each. */
export function startRelays({ pool, log, bus }: Opened, onError: (error: unknown) => void) {
  const reactions = lead(
    pool,
    "relay",
    (signal) =>
      relay(
        {
          pool,
          log,
          name: "reactions",
          types: Object.keys(reactors),
          batch: REACTIONS,
          onError,
          publish: wakeUps(bus.reactions),
        },
        signal,
      ),
    onError,
  );
  const feed = lead(
    pool,
    "feed",
    (signal) =>
      relay(
        {
          pool,
          log,
          name: "feed",
          types: publishedTypes(),
          batch: FEED,
          onCommitted: bus.hints.onCommitted,
          onError,
          resume: resumeFeed({ pool, log, feed: bus.feed }),
          async publish(events) {
            await bus.feed.publish(events.map(told));
            if (events.length > 0) failpoint("after-feed-published");
          },
        },
        signal,
      ),
    onError,
  );
  return { stop: async () => void (await Promise.all([reactions.stop(), feed.stop()])) };
}
