import { creationTime, parseStreamName, streamName, type Aggregate } from "#events/ids.ts";
import type { FoundThing, IdFinder } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";
import { lastPositionBefore } from "./lastPositionBefore.ts";

/** Aggregates whose streams are searched for an id. Turns and people have no stream of their own, so their data keys are searched. */
const AGGREGATES: Aggregate[] = [
  "agent",
  "alias",
  "budget",
  "collection",
  "definition",
  "document",
  "erasure",
  "extraction",
  "file",
  "group",
  "key",
  "message",
  "project",
  "provider",
  "run",
  "secret",
  "thread",
  "trigger",
  "workflow",
];
/** Maximum things that one search returns. A request may have started thousands. */
const MAX_FOUND = 20;
/** Maximum events that one search examines. */
const MAX_EVENTS = 50_000;
/** Maximum lead over the database of the clock that made an id. */
const MAX_CLOCK_LEAD_MS = 60_000;
/** The beginning of a version 7 UUID, which `newId` makes: it contains the time. */
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

const toThing = (stream: string): FoundThing => {
  const { aggregate, id } = parseStreamName(stream);
  return { kind: aggregate as FoundThing["kind"], id };
};

/** Whether an id contains its creation time. */
export const isTimedId = (id: string): boolean => UUID_V7.test(id);

/** The last position before an id's creation time. */
export const positionBeforeId = (db: Db, id: string): Promise<number> =>
  lastPositionBefore(db, new Date(creationTime(id) - MAX_CLOCK_LEAD_MS));

/** `seen` reads a bounded part of the organization's index. Most rows do not contain the id as text, and are not parsed. */
const ofRequest = (order: "position" | "position desc"): string => `
  with seen as materialized (
    select position, stream, meta, data from log.events where organization_id = $1 and position > $2
    order by ${order} limit ${MAX_EVENTS}
  )
  select thing from (
    select coalesce('turn-' || (data::json ->> 'turn_id'), stream) as thing, position from seen
    where case when strpos(meta, $3) = 0 then false
      else $3 in (meta::json ->> 'request_id', split_part(meta::json ->> 'traceparent', '-', 2)) end
  ) found group by thing order by min(position) limit ${MAX_FOUND}`;

export const openIdFinder = (db: Db): IdFinder => ({
  async things(organization, id) {
    // the log stores the data key of a turn or a person with its stream until it is deleted
    const rows = await db.query<{ thing: string }>(
      `(select stream as thing from log.streams where stream = any ($2) and organization_id = $1)
       union all (select k.thing from log.keys k join log.streams s on s.stream = k.stream
         where k.thing = any ($3) and s.organization_id = $1)
       union all (select k.thing from log.keys k join log.streams s on s.stream = k.stream
         where k.stream = $4 and k.thing like 'turn-%' and s.organization_id = $1 order by k.thing desc limit ${MAX_FOUND})`,
      [
        organization,
        AGGREGATES.map((aggregate) => streamName(aggregate, id)),
        [streamName("turn", id), streamName("user", id)],
        streamName("thread", id),
      ],
    );
    return rows.map(({ thing }) => toThing(thing));
  },
  async ofRequest(organization, id) {
    const isTimed = isTimedId(id);
    const after = isTimed ? await positionBeforeId(db, id) : 0;
    const sql = ofRequest(isTimed ? "position" : "position desc");
    const rows = await db.query<{ thing: string }>(sql, [organization, after, id]);
    return rows.map(({ thing }) => toThing(thing));
  },
});
