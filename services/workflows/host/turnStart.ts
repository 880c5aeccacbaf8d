import type { Command, CommandResult, RecordedEvent } from "#events/envelope.ts";
import { blobFolder, streamName } from "#events/ids.ts";
import type { EventLog, Frames } from "#events/ports.ts";
import type { Vault } from "#events/vault.ts";
import { runScope } from "#events/scope.ts";
import { isAlias, type Route } from "#events/route.ts";
import type { TurnAgent, Prompt } from "#events/thread.ts";
import type { AskLimits } from "./admitTurn.ts";
import { invalidInput } from "./input.ts";
import type { TurnOwner } from "./step.ts";

/* What a turn that a run asks for starts with. */

/** Bytes of JSON of a prompt that an event holds; a longer one goes to a blob. */
const MAX_IN_EVENT = 128 * 1024;

/** What an alias stands for in a new turn; undefined when the organization has no alias of this name. */
export type FindRoute = (organization: string, alias: string) => Promise<Route | undefined>;

export interface TurnDeps {
  findRoute: FindRoute;
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  /** Handles a command in this process or another one. */
  handle(command: Command): Promise<CommandResult>;
  frames: Pick<Frames, "subscribe">;
  vault: Pick<Vault, "createKey" | "put">;
  askLimits: AskLimits;
  /** Milliseconds that a turn may take. */
  turn_ms: number;
  /** The time from which that counts. */
  now?(): number;
}

export interface TurnRequest {
  /** Identifies the call among all of the step's calls: equal in every attempt. */
  call: string[];
  model: string;
  prompt: Prompt;
  agent?: TurnAgent;
  /** A thread to continue; null: a new one. */
  thread_id: string | null;
}

type TurnStart = Omit<TurnRequest, "call">;

export interface TurnIds {
  thread_id: string;
  turn_id: string;
  command_id: string;
}

export const isTurnStart = ({ type, data }: RecordedEvent, turn_id: string): boolean =>
  type === "TurnStarted" && (data as { turn_id: string }).turn_id === turn_id;

/** The prompt for the command; a long one as a blob with its data key. */
async function storeInput({ vault }: TurnDeps, { organization_id }: TurnOwner, ids: TurnIds, prompt: Prompt) {
  const json = Buffer.from(JSON.stringify(prompt));
  if (json.length <= MAX_IN_EVENT) return { input: { prompt } };
  const thing = streamName("turn", ids.turn_id);
  const wrapped_key = vault.createKey(thing);
  const folder = blobFolder(organization_id, streamName("thread", ids.thread_id), thing);
  const prompt_blob = await vault.put({ thing, wrapped_key, folder }, json);
  return { input: { prompt_blob, bytes: json.length }, keys: { [thing]: wrapped_key } };
}

export async function findRoute(deps: TurnDeps, { organization_id }: TurnOwner, model: string) {
  if (!isAlias(model)) return undefined;
  const route = await deps.findRoute(organization_id, model);
  if (!route) throw invalidInput(`There is no model ${JSON.stringify(model)} for this organization.`);
  return route;
}

/** What is known of a turn when its limits have admitted it. */
export interface AdmittedStart {
  ids: TurnIds;
  route: Route | undefined;
  reserved: string | undefined;
}

/** The fields of StartTurn that every try of the command shares. */
export async function buildStart(deps: TurnDeps, owner: TurnOwner, request: TurnStart, start: AdmittedStart) {
  const { ids, route, reserved } = start;
  const { input, keys } = await storeInput(deps, owner, ids, request.prompt);
  const { turn_id, thread_id, command_id } = ids;
  const continues = request.thread_id !== null;
  return {
    id: command_id,
    stream: streamName("thread", thread_id),
    organization_id: owner.organization_id,
    request_id: owner.run_id,
    fresh: !continues,
    ...(keys && { keys }),
    data: {
      turn_id,
      // The thread belongs to the run alone, which may continue it.
      scope: runScope(owner.run_id),
      workflow_id: owner.workflow_id,
      asked_by: owner.asked_by,
      ...(owner.user_mark !== null && { user_mark: owner.user_mark }),
      ...(owner.project_id !== null && { project_id: owner.project_id }),
      model: request.model,
      ...(route && { route }),
      streamed: false,
      continues,
      input,
      ...(request.agent && { agent: request.agent }),
      ...(reserved !== undefined && { reserved }),
    },
  };
}
