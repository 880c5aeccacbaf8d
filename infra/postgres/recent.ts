import type { Appended, ScannedEvent } from "#events/ports.ts";
import type { Command } from "#events/envelope.ts";
import type { EncodedAppend } from "./encode.ts";

const MOST = 1_000;
/** A database that was restored, or whose standby took over, may give positions out again; nobody follows so far behind. */
const KEPT_MS = 1_000;

type Committed = Extract<Appended, { kind: "committed" }>;
type Kept = Omit<ScannedEvent, "data"> & { json: string };

/**
 * Events that this process has committed lately, without a gap: whoever follows the log here is told of them without asking for
 * them. In a deployment of one process that is all of them.
 */
export function createRecent() {
  let kept: Kept[] = [];
  let addedAt = 0;
  return {
    add(
      { events }: Pick<EncodedAppend, "events">,
      { organization_id, traceparent }: Pick<Command, "organization_id" | "traceparent">,
      { first, at }: Committed,
    ): void {
      if (first === 0) return;
      if (kept.at(-1)?.position !== first - 1) kept = [];
      const recorded_at = at.toISOString();
      for (const [n, { type, stream, version, data }] of events.entries())
        kept.push({
          position: first + n,
          type: type as string,
          stream: stream as string,
          version: version as number,
          organization_id,
          recorded_at,
          traceparent,
          json: data as string,
        });
      if (kept.length > 2 * MOST) kept = kept.slice(-MOST);
      addedAt = performance.now();
    },
    /** As EventLog.scan; undefined where the log is to be asked. */
    scan(after: number, types: string[], limit: number): { events: ScannedEvent[]; seen: number } | undefined {
      const [first, last] = [kept[0], kept.at(-1)];
      if (!first || !last || after < first.position - 1 || after >= last.position) return undefined;
      if (performance.now() - addedAt > KEPT_MS) return undefined;
      const wanted = new Set(types);
      const events = kept
        .slice(after + 1 - first.position)
        .filter(({ type }) => wanted.has(type))
        .slice(0, limit)
        .map(({ json, ...event }) => ({ ...event, data: JSON.parse(json) }));
      return { events, seen: events.length === limit ? events.at(-1)!.position : last.position };
    },
  };
}
