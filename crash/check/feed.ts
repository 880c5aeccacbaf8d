import { isDeepStrictEqual } from "node:util";
import { Validator } from "@cfworker/json-schema";
import type { Recorded } from "#events/envelope.ts";
import { isPublished, publishedData, versionOf, type FeedEvent } from "#events/published.ts";
import { asyncApi } from "#http/face/asyncapi.ts";
import { namesFor } from "#infra/nats/names.ts";
import type { Listened, Told } from "../journal.ts";
import { CANARY, PERSONAL } from "../topology.ts";
import type { Evidence } from "./evidence.ts";
import { different, lost, type Finding } from "./finding.ts";

interface Heard extends Told {
  event: FeedEvent;
}

const PREFIX = "svc";
/** What is kept of secrets and unique names, and where sealed bytes lie: whatever the code says that it publishes. */
const KEPT = /"(?:[a-z_]*_(?:hash|hint|claim|token)|sha256|blob|frames|worker)":/;
const about = ({ event }: Heard): string => `feed ${event.position} ${event.type}`;

/** What must be told of an event. */
const messageOf = ({ position, stream, version, organization_id, type, recorded_at, data }: Recorded): FeedEvent =>
  JSON.parse(
    JSON.stringify({
      position,
      stream,
      version,
      organization_id,
      type,
      schema_version: versionOf(type),
      recorded_at,
      data: publishedData(data as Record<string, unknown>),
    }),
  );

/** What is left for who passes over all that is not higher than what came before. */
function handledOf(heard: Heard[]): Set<number> {
  let highest = 0;
  const handled = new Set<number>();
  for (const { event } of heard)
    if (event.position > highest) {
      highest = event.position;
      handled.add(highest);
    }
  return handled;
}

/** All that is published up to where the feed was listened to, each at least once, and none after a later one. */
function checkComplete(heard: Heard[], events: Recorded[], { until }: Listened): Finding[] {
  const handled = handledOf(heard);
  const told = new Set(heard.map(({ event }) => event.position));
  return events
    .filter(({ position, type }) => position <= until && isPublished(type) && !handled.has(position))
    .map(({ position, type }) =>
      told.has(position)
        ? different("I17", `feed ${position} ${type}`, "was told after what came later")
        : lost("I17", `feed ${position} ${type}`, "was not told"),
    );
}

/** By type, what a message is described as. */
function validators() {
  const { messages } = asyncApi(PREFIX).components as { messages: Record<string, { payload: object }> };
  const made = new Map<string, Validator>();
  return (type: string): Validator | undefined => {
    const described = messages[type];
    if (described && !made.has(type)) made.set(type, new Validator(described.payload, "2020-12"));
    return made.get(type);
  };
}

/** A message says what the log says and what is described, on its subject, and nothing of people. */
function checkMessages(heard: Heard[], events: Recorded[]): Finding[] {
  const logged = new Map(events.map((event) => [event.position, event]));
  const validatorOf = validators();
  const names = namesFor(PREFIX);
  return heard.flatMap((message): Finding[] => {
    const { event, subject, text } = message;
    const name = about(message);
    const personal = [PERSONAL, CANARY].filter((word) => text.includes(word));
    const findings = personal.map((word) => different("I17", name, `tells what is personal (${word})`));
    const [kept] = KEPT.exec(JSON.stringify(event.data)) ?? [];
    if (kept) findings.push(different("I17", name, `tells ${kept.slice(1, -2)}, which stays in the house`));
    const recorded = logged.get(event.position);
    if (!recorded || !isPublished(recorded.type)) return [...findings, different("I17", name, "is nothing to be told")];
    if (!isDeepStrictEqual(event, messageOf(recorded)))
      findings.push(different("I17", name, `says ${text.slice(0, 300)}, the log something else`));
    if (validatorOf(event.type)?.validate(event).valid !== true)
      findings.push(different("I17", name, "is not what /asyncapi.json describes"));
    if (subject !== names.event(recorded)) findings.push(different("I17", name, `was told on ${subject}`));
    return findings;
  });
}

/** I17: whoever keeps the highest position hears all that is published, in the order of the log, as the log has it, and nothing of people. */
export function checkFeed({ told, listened, events }: Pick<Evidence, "told" | "listened" | "events">): Finding[] {
  if (!listened) return [lost("I17", "feed", "nobody has listened to its end")];
  const heard = told.map((one): Heard => ({ ...one, event: JSON.parse(one.text) }));
  return [...checkComplete(heard, events, listened), ...checkMessages(heard, events)];
}
