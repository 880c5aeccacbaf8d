import { isDeepStrictEqual } from "node:util";
import { Validator } from "@cfworker/json-schema";
import type { RecordedEvent } from "#events/envelope.ts";
import { isPublished, publishedData, schemaVersion, type FeedEvent } from "#events/published.ts";
import { asyncApi } from "#http/meta/asyncapi.ts";
import { namesFor } from "#infra/nats/names.ts";
import type { FeedEnd, FeedMessage } from "../journal.ts";
import { CANARY, PERSONAL } from "../topology.ts";
import type { Evidence } from "./evidence.ts";
import { different, lost, type Finding } from "./finding.ts";

interface ReceivedMessage extends FeedMessage {
  event: FeedEvent;
}

const PREFIX = "svc";
/** Matches fields with hashes of secrets or unique names, or places of sealed bytes. They must never be published, even if the code declares them public. */
const UNPUBLISHED = /"(?:[a-z_]*_(?:hash|hint|claim|token)|sha256|blob|frames|worker)":/;
const about = ({ event }: ReceivedMessage): string => `feed ${event.position} ${event.type}`;

/** The message that an event must produce. */
const messageOf = ({ position, stream, version, organization_id, type, recorded_at, data }: RecordedEvent): FeedEvent =>
  JSON.parse(
    JSON.stringify({
      position,
      stream,
      version,
      organization_id,
      type,
      schema_version: schemaVersion(type),
      recorded_at,
      data: publishedData(data as Record<string, unknown>),
    }),
  );

/** The messages that remain for a subscriber which skips positions that are not higher. */
function positionsHandled(received: ReceivedMessage[]): Set<number> {
  let highest = 0;
  const handled = new Set<number>();
  for (const { event } of received)
    if (event.position > highest) {
      highest = event.position;
      handled.add(highest);
    }
  return handled;
}

/** Every published event up to the end of listening arrived at least once, and none after a later one. */
function checkComplete(received: ReceivedMessage[], events: RecordedEvent[], { until }: FeedEnd): Finding[] {
  const handled = positionsHandled(received);
  const positions = new Set(received.map(({ event }) => event.position));
  return events
    .filter(({ position, type }) => position <= until && isPublished(type) && !handled.has(position))
    .map(({ position, type }) =>
      positions.has(position)
        ? different("I17", `feed ${position} ${type}`, "was published after a later event")
        : lost("I17", `feed ${position} ${type}`, "was not published"),
    );
}

/** The described schema of each message type. */
function validators() {
  const { messages } = asyncApi(PREFIX).components as { messages: Record<string, { payload: object }> };
  const known = new Map<string, Validator>();
  return (type: string): Validator | undefined => {
    const described = messages[type];
    if (described && !known.has(type)) known.set(type, new Validator(described.payload, "2020-12"));
    return known.get(type);
  };
}

/** A message matches the log, its schema and its subject, and contains nothing personal. */
function checkMessages(received: ReceivedMessage[], events: RecordedEvent[]): Finding[] {
  const logged = new Map(events.map((event) => [event.position, event]));
  const validatorOf = validators();
  const names = namesFor(PREFIX);
  return received.flatMap((message): Finding[] => {
    const { event, subject, text } = message;
    const name = about(message);
    const personal = [PERSONAL, CANARY].filter((word) => text.includes(word));
    const findings = personal.map((word) => different("I17", name, `contains personal data (${word})`));
    const [unpublished] = UNPUBLISHED.exec(JSON.stringify(event.data)) ?? [];
    if (unpublished)
      findings.push(different("I17", name, `contains ${unpublished.slice(1, -2)}, which is not published`));
    const recorded = logged.get(event.position);
    if (!recorded || !isPublished(recorded.type)) return [...findings, different("I17", name, "must not be published")];
    if (!isDeepStrictEqual(event, messageOf(recorded)))
      findings.push(different("I17", name, `differs from the log: ${text.slice(0, 300)}`));
    if (validatorOf(event.type)?.validate(event).valid !== true)
      findings.push(different("I17", name, "is not what /asyncapi.json describes"));
    if (subject !== names.event(recorded)) findings.push(different("I17", name, `was published on ${subject}`));
    return findings;
  });
}

/** I17: a subscriber that stores the highest position receives every published event in log order, unchanged, and nothing personal. */
export function checkFeed({ feed, feedEnd, events }: Pick<Evidence, "feed" | "feedEnd" | "events">): Finding[] {
  if (!feedEnd) return [lost("I17", "feed", "nobody has listened to its end")];
  const received = feed.map((one): ReceivedMessage => ({ ...one, event: JSON.parse(one.text) }));
  return [...checkComplete(received, events, feedEnd), ...checkMessages(received, events)];
}
