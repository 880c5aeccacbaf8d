import type { DefinitionEvent, StepSettings } from "#events/definition.ts";
import type { Recorded } from "#events/envelope.ts";
import { streamOf } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { sealedBlobs, type SealedDeps } from "../sealed.ts";

type Saved = Exclude<DefinitionEvent, { type: "DefinitionDeleted" }>;

/** The code of a workflow in one version, as it runs. */
export interface Script {
  js: string;
  sha256: string;
  steps: Record<string, StepSettings>;
  /** `run()` may catch what suspends it: when it is suspended must not depend on what else goes on. */
  catches: boolean;
}

export interface Version {
  organization_id: string;
  definition_id: string;
  definition_version: number;
}

const KEPT = 200;

/** The code is gone: its definition was deleted. */
export class ScriptGone extends Error {
  override name = "ScriptGone";
}

const gone = () => new ScriptGone("The definition of this workflow was deleted.");

/** Reads versions of definitions from the log, each once: they never change. Throws ScriptGone. */
export function openScriptStore(deps: SealedDeps & { log: Pick<EventLog, "read"> }) {
  const kept = new Map<string, Promise<Script>>();

  async function read({ organization_id, definition_id, definition_version }: Version): Promise<Script> {
    const stream = streamOf("definition", definition_id);
    // each save is one event, so a version is a place in the stream
    const [event] = await deps.log.read(stream, definition_version);
    if (!event || event.type === "DefinitionDeleted" || event.organization_id !== organization_id) throw gone();
    const saved = event as Recorded<Saved>;
    const blobs = await sealedBlobs(deps, { stream, organization_id });
    if (!blobs || !saved.personal) throw gone();
    const { js } = JSON.parse((await blobs.get(saved.data.blob)).toString()) as { js: string };
    const { steps = {}, catches = true } = saved.personal.meta.workflow ?? {};
    return { js, sha256: saved.data.sha256, steps, catches };
  }

  return (version: Version): Promise<Script> => {
    const key = `${version.definition_id}/${version.definition_version}`;
    const known = kept.get(key);
    if (known) return known;
    const script = read(version);
    kept.set(key, script);
    script.catch(() => kept.delete(key));
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    return script;
  };
}

export type ScriptStore = ReturnType<typeof openScriptStore>;
