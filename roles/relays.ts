import type { Reactions, ScannedEvent } from "#events/ports.ts";
import { publishedData, publishedTypes, versionOf } from "#events/published.ts";
import { failpoint } from "#infra/failpoint.ts";
import type { Told } from "#infra/nats/feed.ts";
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
