import type { Command, CommandResult, RecordedEvent } from "#events/envelope.ts";
import { blobFolder, streamName } from "#events/ids.ts";
import type { EventLog, Frames } from "#events/ports.ts";
import type { Vault } from "#events/vault.ts";
import { runScope } from "#events/scope.ts";
import { isAlias, type Route } from "#events/route.ts";
import type { TurnAgent, Prompt } from "#events/thread.ts";
import type { CheckTurnLimits } from "./admitTurn.ts";
import { invalidInput } from "./input.ts";
import type { TurnOwner } from "./step.ts";

/* Prepares the start of turns that runs ask for. */

/** Maximum bytes of a prompt's JSON in an event; longer ones go to a blob. */
const MAX_IN_EVENT = 128 * 1024;

/** The route of a new turn for an alias; undefined if the organization has no such alias. */
export type FindRoute = (organization: string, alias: string) => Promise<Route | undefined>;

export interface TurnDeps {
  findRoute: FindRoute;
  log: Pick<EventLog, "heads" | "read" | "readNewest">;
  /** Handles a command in this process or another one. */
  handle(command: Command): Promise<CommandResult>;
  frames: Pick<Frames, "subscribe">;
  vault: Pick<Vault, "createKey" | "put">;
  askLimits: CheckTurnLimits;
  /** Maximum duration of a turn in milliseconds. */
  turn_ms: number;
  /** The clock for that duration. */
  now?(): number;
}

export interface TurnRequest {
  /** Identifies the call among the step's calls: equal in every attempt. */
  call: string[];
  model: string;
  prompt: Prompt;
  agent?: TurnAgent;
  /** The thread to continue; null: a new one. */
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

/** The results of admission that a start needs. */
export interface AdmittedStart {
  ids: TurnIds;
  route: Route | undefined;
  reserved: string | undefined;
}

/** The fields of StartTurn that all tries of the command share. */
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
      // Only the run may read and continue the thread.
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
      ...("prompt_blob" in input && { stored_bytes: input.bytes }),
      ...(request.agent && { agent: request.agent }),
      ...(reserved !== undefined && { reserved }),
    },
  };
}
