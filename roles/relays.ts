import type { Reactions, ScannedEvent } from "#events/ports.ts";
import { publishedData, publishedTypes, schemaVersion } from "#events/published.ts";
import { failpoint } from "#infra/failpoint.ts";
import { messageId, type Feed, type FeedMessage } from "#infra/nats/feed.ts";
import { FEED_RETENTION_MS } from "#infra/nats/streamSpecs.ts";
import { lastPositionBefore } from "#infra/postgres/lastPositionBefore.ts";
import { runAsLeader } from "#infra/postgres/leader.ts";
import { relay } from "#infra/postgres/relay.ts";
import { reactors, hasReaction } from "#services/reactors/index.ts";
import type { Resources } from "./resources.ts";

const REACTION_BATCH = 1_000;
/** Events per publication, a few hundred bytes each. */
const FEED_BATCH = 500;

const feedMessage = ({ data, traceparent, ...event }: ScannedEvent): FeedMessage => ({
  event: { ...event, schema_version: schemaVersion(event.type), data: publishedData(data) },
  traceparent,
});

/** Publishes the events that have a reactor. */
export const publishReactions =
  (reactions: Pick<Reactions, "publish">) =>
  async (events: ScannedEvent[]): Promise<void> => {
    for (const event of events.filter(hasReaction)) {
      await reactions.publish(event);
      failpoint("after-reaction-published");
    }
  };

/**
 * The position after which the feed continues: that of the last event in its stream. An empty stream gets all events that it would
 * still hold. If its last event is not in the log, the stream belongs to a time before the log was restored, and the checkpoint
 * counts.
 */
const findFeedPosition =
  ({ db, log, feed, now }: Pick<Resources, "db" | "log"> & { feed: Pick<Feed, "last">; now(): number }) =>
  async (position: number): Promise<number> => {
    const last = await feed.last();
    if (last === "nothing")
      return Math.min(position, await lastPositionBefore(db, new Date(now() - FEED_RETENTION_MS)));
    if (!last) return position;
    const { events } = await log.scan(last.position - 1, publishedTypes(), 1);
    return events[0] && messageId(events[0]) === messageId(last) ? last.position : position;
  };

/** Publishes events of the log to the reactors and to the feed for other services, each in one process of the deployment. */
export function startRelays({ pool, db, log, bus, sameBus, clock }: Resources, onError: (error: unknown) => void) {
  const reactions = runAsLeader(
    pool,
    "relay",
    (signal) =>
      relay(
        {
          pool,
          log,
          name: "reactions",
          types: Object.keys(reactors),
          batch: REACTION_BATCH,
          onError,
          publish: publishReactions(bus.reactions),
        },
        signal,
      ),
    onError,
    { gate: sameBus },
  );
  const feed = runAsLeader(
    pool,
    "feed",
    (signal) =>
      relay(
        {
          pool,
          log,
          name: "feed",
          types: publishedTypes(),
          batch: FEED_BATCH,
          onCommitted: bus.hints.onCommitted,
          isAwaited: bus.feed.hasConsumers,
          onError,
          resume: findFeedPosition({ db, log, feed: bus.feed, now: clock.now }),
          async publish(events) {
            await bus.feed.publish(events.map(feedMessage));
            if (events.length > 0) failpoint("after-feed-published");
          },
        },
        signal,
      ),
    onError,
    { gate: sameBus },
  );
  return { stop: async () => void (await Promise.all([reactions.stop(), feed.stop()])) };
}
