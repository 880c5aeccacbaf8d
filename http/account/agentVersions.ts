import type { z } from "zod";
import { AGENT_DEFAULTS, type AgentEvent } from "#events/agent.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { presentSettings, type AgentVersion } from "./agentShape.ts";

type Version = z.infer<typeof AgentVersion>;
type Recorded<E extends AgentEvent = AgentEvent> = E extends E ? RecordedEvent<E> : never;

/** The versions in the stream of an agent, newest first. `slugs`: of the organization's collections by id. */
export function foldAgentVersions(events: readonly RecordedEvent[], slugs: Map<string, string>): Version[] {
  const versions: Version[] = [];
  let stored: Parameters<typeof presentSettings>[0] = { ...AGENT_DEFAULTS, name: "" };
  for (const event of events as readonly Recorded[]) {
    if (event.type === "AgentDeleted" || event.type === "AgentTurnsEnded") continue;
    stored = { ...stored, ...event.data, ...event.personal };
    versions.push({
      version: event.data.version,
      changed_by: event.meta.principal,
      created_at: event.recorded_at.toISOString(),
      settings: presentSettings(stored, slugs),
    });
  }
  return versions.toReversed();
}
