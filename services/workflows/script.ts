import type { DefinitionEvent, StepSettings } from "#events/definition.ts";
import { dropOldest } from "#events/dropOldest.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { openThingBlobs, type VaultDeps } from "../thingBlobs.ts";

type SavedEvent = Exclude<DefinitionEvent, { type: "DefinitionDeleted" }>;

/** The code of one version of a workflow. */
export interface Script {
  js: string;
  sha256: string;
  steps: Record<string, StepSettings>;
  /** `run()` may catch the signal that suspends it, so every tick must suspend it at the same calls. */
  catches: boolean;
  /** Answers reach `run()` in the order of the log, one after the other (ADR 58). */
  ordered: boolean;
  /** JSON Schema of the arguments of a run. */
  args_schema: Record<string, unknown>;
}

export interface DefinitionVersion {
  organization_id: string;
  definition_id: string;
  definition_version: number;
}

const MAX_CACHED = 200;

/** The definition, and its code, was deleted. */
export class ScriptGone extends Error {
  override name = "ScriptGone";
}

const definitionGone = () => new ScriptGone("The definition of this workflow was deleted.");

/** Reads versions of definitions from the log and caches them, because they are immutable. Throws ScriptGone. */
export function openScriptStore(deps: VaultDeps & { log: Pick<EventLog, "event"> }) {
  const cached = new Map<string, Promise<Script>>();

  async function read({ organization_id, definition_id, definition_version }: DefinitionVersion): Promise<Script> {
    const stream = streamName("definition", definition_id);
    // Each save is one event, so a definition's version is its version in the stream.
    const event = await deps.log.event(stream, definition_version);
    if (!event || event.type === "DefinitionDeleted" || event.organization_id !== organization_id)
      throw definitionGone();
    const saved = event as RecordedEvent<SavedEvent>;
    const blobs = await openThingBlobs(deps, { stream, organization_id });
    if (!blobs || !saved.personal) throw definitionGone();
    const { js } = JSON.parse((await blobs.get(saved.data.blob)).toString()) as { js: string };
    const { steps = {}, catches = true, ordered = false } = saved.personal.meta.workflow ?? {};
    return { js, sha256: saved.data.sha256, steps, catches, ordered, args_schema: saved.personal.meta.parameters };
  }

  return (version: DefinitionVersion): Promise<Script> => {
    const key = `${version.definition_id}/${version.definition_version}`;
    const known = cached.get(key);
    if (known) return known;
    const script = read(version);
    cached.set(key, script);
    script.catch(() => cached.delete(key));
    dropOldest(cached, MAX_CACHED);
    return script;
  };
}

export type ScriptStore = ReturnType<typeof openScriptStore>;
