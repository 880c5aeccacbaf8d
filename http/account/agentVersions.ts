import type { z } from "zod";
import { AGENT_DEFAULTS, type AgentEvent } from "#events/agent.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import type { StreamPage } from "#events/ports.ts";
import { MAX_PAGE_BYTES } from "#projections/page.ts";
import type { Page } from "../base/pageResponse.ts";
import { presentSettings, type AgentVersion } from "./agentShape.ts";

type Version = z.infer<typeof AgentVersion>;
type RecordedAgentEvent<E extends AgentEvent = AgentEvent> = E extends E ? RecordedEvent<E> : never;

/**
 * A page of an agent's versions, newest first. An agent may have thousands with long instructions, so only those of the page are
 * kept in memory, at most MAX_PAGE_BYTES. `slugs`: the organization's collections by id.
 */
export async function readAgentVersions(
  stream: AsyncIterable<StreamPage>,
  newest: number,
  slugs: Map<string, string>,
  { limit, offset }: Page,
): Promise<{ rows: Version[]; total: number }> {
  const last = newest - offset;
  const kept: { row: Version; size: number }[] = [];
  let size = 0;
  let stored: Parameters<typeof presentSettings>[0] = { ...AGENT_DEFAULTS, name: "" };
  for await (const { events } of stream)
    for (const event of events as RecordedAgentEvent[]) {
      if (event.type === "AgentDeleted" || event.type === "AgentTurnsEnded") continue;
      stored = { ...stored, ...event.data, ...event.personal };
      const { version } = event.data;
      // versions grow, and the page needs no later one
      if (version > last) return { rows: kept.map(({ row }) => row).reverse(), total: newest };
      if (version <= last - limit) continue;
      const settings = presentSettings(stored, slugs);
      const row = { version, changed_by: event.meta.principal, created_at: event.recorded_at.toISOString(), settings };
      kept.push({ row, size: JSON.stringify(settings).length });
      size += kept.at(-1)!.size;
      while (size > MAX_PAGE_BYTES && kept.length > 1) size -= kept.shift()!.size;
    }
  return { rows: kept.map(({ row }) => row).reverse(), total: newest };
}
