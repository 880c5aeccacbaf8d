import type { Money } from "#events/money.ts";
import type { Principal, RecordedEvent } from "#events/envelope.ts";
import type { FramePayload } from "#events/ports.ts";
import type { Route } from "#events/route.ts";
import { actorOf, type Actor } from "#events/runOrigin.ts";
import type { PromptOrBlob, TurnAgent } from "#events/thread.ts";

/** One attempt at a turn. */
export interface TurnAttempt {
  organization_id: string;
  /** Stream of its thread. */
  thread: string;
  turn_id: string;
  attempt: number;
  request_id: string;
}

/** An attempt with everything needed to run it. */
export interface TurnToRun extends TurnAttempt {
  /** `provider/model`, or an alias. */
  model: string;
  /** The route of the alias: its models, and when the next one is tried. */
  route?: Route | undefined;
  streamed: boolean;
  agent: TurnAgent | undefined;
  /** The owner of its thread. */
  scope: string;
  /** The run that waits for it without a worker; null: none. */
  awaited_by: string | null;
  /** The sender of its command. */
  principal: Principal;
  /** Who asked. If self-approval is excluded, they may not decide about its tool calls. */
  asked_by: Actor;
  /** The project it is counted for. */
  project_id: string | null;
  /** The mark of the request's user. */
  user_mark: string | null;
  /** US dollars that budgets reserved at its start; null if no budget of money applies. */
  reserved: Money | null;
  /** Whether it has waited for a person, which released its reservation. */
  wasParked: boolean;
  ends_by: string;
  /** Version of TurnStarted in the thread; 1 means that the thread has no earlier turns. */
  version: number;
  /** Undefined when it was erased. */
  input: PromptOrBlob | undefined;
  /** Events of its thread, including the rounds, calls and failed targets recorded by earlier attempts. */
  steps: RecordedEvent[];
  /** Frames that readers received from the previous attempt. */
  receivedFrames: FramePayload[];
}

type StartedTurn = Pick<RecordedEvent, "organization_id" | "stream" | "version" | "data" | "personal"> & {
  meta: Pick<RecordedEvent["meta"], "request_id" | "principal">;
};

export const findTurnStart = (events: RecordedEvent[], turn_id: string): RecordedEvent | undefined =>
  events.find(({ type, data }) => type === "TurnStarted" && (data as { turn_id: string }).turn_id === turn_id);

/** Results of earlier attempts. `ends_by` moves when a turn resumes. */
type Progress = Pick<TurnToRun, "steps" | "receivedFrames" | "wasParked"> & { ends_by?: string };

/** An attempt at the turn that a TurnStarted event describes. */
export function turnFromEvent(
  started: StartedTurn,
  attempt: number,
  { steps, receivedFrames, wasParked, ends_by }: Progress = { steps: [], receivedFrames: [], wasParked: false },
): TurnToRun {
  const data = started.data as Pick<TurnToRun, "turn_id" | "scope" | "model" | "streamed" | "ends_by"> & {
    agent?: TurnAgent;
    route?: Route;
    project_id?: string;
    user_mark?: string;
    reserved?: Money;
    awaited_by?: string;
    asked_by?: Actor;
  };
  const { turn_id, scope, model, route, streamed, agent } = data;
  return {
    organization_id: started.organization_id,
    thread: started.stream,
    turn_id,
    attempt,
    model,
    route,
    streamed,
    agent,
    scope,
    awaited_by: data.awaited_by ?? null,
    principal: started.meta.principal,
    asked_by: data.asked_by ?? actorOf(started.meta.principal),
    project_id: data.project_id ?? null,
    user_mark: data.user_mark ?? null,
    reserved: data.reserved ?? null,
    wasParked,
    ends_by: ends_by ?? data.ends_by,
    request_id: started.meta.request_id,
    version: started.version,
    input: (started.personal as { input: TurnToRun["input"] } | undefined)?.input,
    steps,
    receivedFrames,
  };
}
