import type { RecordedEvent } from "#events/envelope.ts";
import type { AppendResult, ScannedEvent } from "#events/ports.ts";
import { createSizedCache } from "#events/sizedCache.ts";
import { decodeOpened } from "./decode.ts";
import type { EncodedAppend, EncodedEvent } from "./encode.ts";

const MAX_EVENTS = 1_000;
/** UTF-16 units of their fields. An event can have 256 KiB. */
const MAX_UNITS = 4 * 1024 * 1024;
/** Maximum age, because a restored or failed-over database may assign the same positions to other events. */
const MAX_AGE_MS = 1_000;

type CommittedAppend = Extract<AppendResult, { kind: "committed" }>;

interface RecentEvent {
  position: number;
  recorded_at: Date;
  command: EncodedAppend["command"];
  event: Omit<EncodedEvent, "sealed" | "thing">;
}

const unitsOf = ({ event, command }: RecentEvent): number =>
  event.data.length + (event.personal?.length ?? 0) + command.meta.length;

/** Reads one of these events as the database would return it. */
export const decodeRecent = ({ position, recorded_at, command, event }: RecentEvent): RecordedEvent => {
  const { organization_id, command_id, meta } = command;
  const { stream, version, type, shape, data, personal } = event;
  return decodeOpened(
    { position, stream, version, organization_id, type, shape, command_id, recorded_at, meta, data },
    personal,
  );
};

function toScanned({ position, recorded_at, command, event }: RecentEvent): ScannedEvent {
  const { organization_id, meta } = command;
  const { stream, version, type, data } = event;
  const { traceparent } = JSON.parse(meta) as RecordedEvent["meta"];
  const at = recorded_at.toISOString();
  return { position, type, stream, version, organization_id, recorded_at: at, traceparent, data: JSON.parse(data) };
}

/** Identifies an event by its stream and version. */
export const eventPlace = (stream: string, version: number): string => `${version} ${stream}`;

/** Consecutive events, of which the oldest are dropped, many at once. */
function createWindow() {
  let recent: RecentEvent[] = [];
  let units = 0;
  const shorten = (): void => {
    while (recent.length > 0 && (recent.length > MAX_EVENTS || units > MAX_UNITS / 2))
      units -= recent.splice(0, 100).reduce((sum, one) => sum + unitsOf(one), 0);
  };
  return {
    forget(): void {
      recent = [];
      units = 0;
    },
    add(event: RecentEvent): void {
      recent.push(event);
      units += unitsOf(event);
      if (recent.length > 2 * MAX_EVENTS || units > MAX_UNITS) shorten();
    },
    last: (): RecentEvent | undefined => recent.at(-1),
    at: (position: number): RecentEvent | undefined => (recent[0] ? recent[position - recent[0].position] : undefined),
    /** The events after a position. Undefined if one of them may be missing, or if there is none. */
    after(position: number): RecentEvent[] | undefined {
      const [first, last] = [recent[0], recent.at(-1)];
      if (!first || !last || position < first.position - 1 || position >= last.position) return undefined;
      return recent.slice(position + 1 - first.position);
    },
  };
}

/**
 * The events that this process committed recently, without gaps: followers in this process read them without a query, and without
 * opening what is sealed. With one process per deployment they include every new event.
 */
export function createRecentEvents() {
  const recent = createWindow();
  /** Public data by place, also from before a commit of another process. */
  const publicData = createSizedCache<string>({ entries: MAX_EVENTS, size: MAX_UNITS });
  let addedAt = -Infinity;
  const isUsable = (): boolean => performance.now() - addedAt <= MAX_AGE_MS;
  const after = (position: number) => (isUsable() ? recent.after(position) : undefined);
  return {
    add(
      { command, events, erasures }: Pick<EncodedAppend, "command" | "events" | "erasures">,
      { first, at: recorded_at }: CommittedAppend,
    ): void {
      // what it has destroyed must not be read any more
      if (erasures.length > 0) return recent.forget();
      if (first === 0) return;
      if (recent.last()?.position !== first - 1) recent.forget();
      for (const [n, { stream, version, type, shape, data, personal }] of events.entries()) {
        const event = { stream, version, type, shape, data, personal };
        recent.add({ position: first + n, recorded_at, command, event });
        publicData.set(eventPlace(stream, version), data, data.length);
      }
      addedAt = performance.now();
    },
    /** The time at which an event was recorded. Undefined if the database must answer. */
    recordedAt: (position: number): Date | undefined => (isUsable() ? recent.at(position)?.recorded_at : undefined),
    /** JSON of the public data of an event (`eventPlace`). Undefined if the database must answer. */
    publicData: (place: string): string | undefined => (isUsable() ? publicData.find(place) : undefined),
    /** The next events after a position, for `decodeRecent`. Undefined if the database must answer. */
    follow: (position: number, limit: number): RecentEvent[] | undefined => after(position)?.slice(0, limit),
    /** Like EventLog.scan. Undefined if the database must answer. */
    scan(position: number, types: string[], limit: number): { events: ScannedEvent[]; seen: number } | undefined {
      const found = after(position);
      if (!found) return undefined;
      const wanted = new Set(types);
      const events = found
        .filter(({ event }) => wanted.has(event.type))
        .slice(0, limit)
        .map(toScanned);
      return { events, seen: events.length === limit ? events.at(-1)!.position : found.at(-1)!.position };
    },
  };
}
