import type { AppendResult, ScannedEvent } from "#events/ports.ts";
import type { Command } from "#events/envelope.ts";
import type { EncodedEvent } from "./encode.ts";

const MAX_EVENTS = 1_000;
/** Maximum age, because a restored or failed-over database may assign the same positions to other events. */
const MAX_AGE_MS = 1_000;

type CommittedAppend = Extract<AppendResult, { kind: "committed" }>;
type RecentEvent = Omit<ScannedEvent, "data"> & { json: string };

/**
 * The events that this process committed recently, without gaps: followers in this process read them without a query. With one
 * process per deployment they include every new event.
 */
export function createRecentEvents() {
  let recent: RecentEvent[] = [];
  let addedAt = 0;
  const isUsable = (): boolean => recent.length > 0 && performance.now() - addedAt <= MAX_AGE_MS;
  return {
    add(
      { events }: { events: Pick<EncodedEvent, "stream" | "version" | "type" | "data">[] },
      { organization_id, traceparent }: Pick<Command, "organization_id" | "traceparent">,
      { first, at }: CommittedAppend,
    ): void {
      if (first === 0) return;
      if (recent.at(-1)?.position !== first - 1) recent = [];
      const recorded_at = at.toISOString();
      for (const [n, { type, stream, version, data }] of events.entries())
        recent.push({
          position: first + n,
          type,
          stream,
          version,
          organization_id,
          recorded_at,
          traceparent,
          json: data,
        });
      if (recent.length > 2 * MAX_EVENTS) recent = recent.slice(-MAX_EVENTS);
      addedAt = performance.now();
    },
    /** The time at which an event was recorded. Undefined if the database must answer. */
    recordedAt(position: number): Date | undefined {
      const found = isUsable() ? recent[position - recent[0]!.position] : undefined;
      return found && new Date(found.recorded_at);
    },
    /** Like EventLog.scan. Undefined if the database must answer. */
    scan(after: number, types: string[], limit: number): { events: ScannedEvent[]; seen: number } | undefined {
      const [first, last] = [recent[0], recent.at(-1)];
      if (!first || !last || after < first.position - 1 || after >= last.position) return undefined;
      if (!isUsable()) return undefined;
      const wanted = new Set(types);
      const events = recent
        .slice(after + 1 - first.position)
        .filter(({ type }) => wanted.has(type))
        .slice(0, limit)
        .map(({ json, ...event }) => ({ ...event, data: JSON.parse(json) }));
      return { events, seen: events.length === limit ? events.at(-1)!.position : last.position };
    },
  };
}
