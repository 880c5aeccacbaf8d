import type { NewEvent } from "#events/define.ts";
import type { EventFrom } from "#events/define.ts";
import {
  approvalAnswer,
  beginApproval,
  inOrderOfAnswers,
  voteAnswer,
  type ApprovalProgress,
  type InheritedCall,
} from "#events/inheritedCalls.ts";
import type { RunCreated, RunEvent } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";
import { evolve, type RunState } from "../deciders/runState.ts";
import { foldLink, newLinkHistory, sizeOfValue, type LinkHistory } from "./linkHistory.ts";
import type { MemoEntry } from "./tick.ts";

/** A scheduled step. Kept after its end for comparison with later calls of the same step. */
export interface KnownStep {
  name: string;
  args: StoredValue;
  batch: string | null;
}

/** A run's events, folded into the data that its coordinator needs. */
export interface History {
  organization_id: string;
  stream: string;
  created: EventFrom<typeof RunCreated>["data"];
  /** JSON. */
  args: string;
  /** Headers of the request that started the run. */
  headers: Record<string, string> | undefined;
  state: RunState;
  /** Number of folded events, including optimistic ones that are not recorded yet (openRun.ts). */
  version: number;
  memo: MemoEntry[];
  /** UTF-16 units of the JSON in the memo. */
  memoSize: number;
  /** Keys in the memo. */
  memoKeys: Set<string>;
  /** Keys of answers inherited from the parent run. */
  inheritedKeys: Set<string>;
  steps: Map<string, KnownStep>;
  /** UTF-16 units of the arguments of the steps. */
  stepSize: number;
  /** By step key: attempts that lost their script runner while this coordinator lived. */
  losses: Map<string, number>;
  /** Keys of steps waiting for their first or next start, oldest first. */
  queue: string[];
  /** By batch key: the number of open items, and how many may run at the same time. */
  batches: Map<string, { open: number; concurrency: number }>;
  /** By approval id. */
  approvals: Map<string, ApprovalProgress>;
  links: LinkHistory;
  /** Number of recorded log lines of `run()`. */
  logged: number;
  /** UTF-16 units of the recorded log lines of steps. */
  stepLogs: number;
  /** Identities of recorded warnings. */
  warned: Set<string>;
  /** Whether something has happened that `run()` has not seen. */
  needsTick: boolean;
}

const sizeOfAnswer = (value: MemoEntry["value"]): number =>
  "json" in value ? value.json.length : value.error.message.length;

/** The long texts of a run in memory, in UTF-16 units: its arguments, the inputs of its calls, and their answers. */
export const sizeOfRun = ({ args, memoSize, stepSize, links }: SizedHistory): number =>
  args.length + memoSize + stepSize + links.inputSize;
type SizedHistory = Pick<History, "args" | "memoSize" | "stepSize"> & { links: Pick<LinkHistory, "inputSize"> };

const measureLogs = (personal: { logs: string[] } | undefined): number =>
  personal?.logs.reduce((sum, line) => sum + line.length, 0) ?? 0;

/** Returns the JSON of an event's value. The caller must have loaded values in blobs before the fold. */
export type ReadJson = (value: StoredValue) => string;

const inheritedStep = ({ kind, key, name, args, batch }: InheritedCall): [string, KnownStep][] =>
  kind === "step" && name !== null && args !== null ? [[key, { name, batch, args: { json: args } }]] : [];

export function emptyHistory(
  { organization_id, stream }: { organization_id: string; stream: string },
  { data, personal }: EventFrom<typeof RunCreated>,
  args: string,
  inherited: readonly InheritedCall[] = [],
): History {
  const inheritedKeys = new Set(inherited.map(({ key }) => key));
  return {
    organization_id,
    stream,
    created: data,
    args,
    headers: personal?.headers,
    state: { status: "absent" },
    version: 0,
    memo: inOrderOfAnswers(inherited).map(({ key, answer }) => ({ key, value: answer })),
    memoSize: inherited.reduce((size, { answer }) => size + sizeOfAnswer(answer), 0),
    memoKeys: new Set(inheritedKeys),
    inheritedKeys,
    steps: new Map(inherited.flatMap(inheritedStep)),
    stepSize: inherited.reduce((size, { args: input }) => size + (input?.length ?? 0), 0),
    losses: new Map(),
    queue: [],
    batches: new Map(),
    approvals: new Map(),
    links: newLinkHistory(),
    logged: 0,
    stepLogs: 0,
    warned: new Set(),
    needsTick: true,
  };
}

/** Answers a call of `run()` for all later ticks. The first answer is final. */
function addToMemo(history: History, key: string, value: MemoEntry["value"]): void {
  if (history.memoKeys.has(key)) return;
  history.memoKeys.add(key);
  history.memo.push({ key, value });
  history.memoSize += sizeOfAnswer(value);
}

/** Closes a step. `run()` can continue after a single step, or after the last step of a batch. */
function closeStep(history: History, key: string, value: MemoEntry["value"]): void {
  addToMemo(history, key, value);
  const batch = history.steps.get(key)?.batch;
  const counts = batch ? history.batches.get(batch) : undefined;
  if (counts) counts.open -= 1;
  if (!counts || counts.open === 0) history.needsTick = true;
}

/** Searches from the front, where starting steps are. */
function leaveQueue({ queue }: History, key: string): void {
  const at = queue.indexOf(key);
  if (at !== -1) queue.splice(at, 1);
}

/** Equal for repeated warnings. */
export const warningIdentity = ({
  code,
  call,
  line,
}: {
  code: string;
  call: string | null;
  line: number | null;
}): string => [code, call, line].join("\n");

/** Folds an event into the history. `readJson` must know the values listed by `foldedValues`. */
export function foldEvent(history: History, newEvent: NewEvent, readJson: ReadJson): void {
  const event = newEvent as RunEvent;
  history.version += 1;
  history.state = evolve(history.state, event);
  switch (event.type) {
    case "StepsScheduled":
      return schedule(history, event);
    case "StepStarted":
      leaveQueue(history, event.data.key);
      return;
    case "StepAttemptLost":
      history.queue.push(event.data.key);
      return;
    case "StepAttemptFailed": {
      const { code, key } = event.data;
      history.stepLogs += measureLogs(event.personal);
      if (code === "runner_lost") history.losses.set(key, (history.losses.get(key) ?? 0) + 1);
      return;
    }
    case "StepCompleted":
      history.stepLogs += measureLogs(event.personal);
      return closeStep(history, event.data.key, { json: readJson(event.personal!.result) });
    case "StepFailed": {
      const { code, key } = event.data;
      history.stepLogs += measureLogs(event.personal);
      leaveQueue(history, key);
      return closeStep(history, key, { error: { code, message: event.personal!.error.message } });
    }
    case "TimerFired":
      addToMemo(history, event.data.key, { json: "null" });
      history.needsTick = true;
      return;
    case "ValueNoted":
      return addToMemo(history, event.data.key, { json: event.personal!.json });
    case "ApprovalRequested":
      history.approvals.set(event.data.approval_id, beginApproval(event));
      return;
    case "ApprovalVoted":
      history.approvals.get(event.data.approval_id)?.votes?.push(voteAnswer(event));
      return;
    case "ApprovalDecided":
    case "ApprovalExpired": {
      const { key, approval_id } = event.data;
      addToMemo(history, key, { json: approvalAnswer(event, history.approvals.get(approval_id)) });
      history.needsTick = true;
      return;
    }
    case "RunTaken":
      history.needsTick = true;
      return;
    case "RunWarned":
      history.warned.add(warningIdentity(event.data));
      return;
    case "RunLogged":
      history.logged += event.personal!.logs.length;
      return;
    default:
      return answerLink(history, event, readJson);
  }
}

function answerLink(history: History, event: RunEvent, readJson: ReadJson): void {
  const answered = foldLink(history.links, event, readJson);
  if (!answered) return;
  addToMemo(history, answered.key, answered.value);
  history.needsTick = true;
}

function schedule(history: History, { data, personal }: Extract<RunEvent, { type: "StepsScheduled" }>): void {
  data.steps.forEach(({ key, name, batch }, n) => {
    const args = personal!.args[n]!;
    history.steps.set(key, { name, batch, args });
    history.stepSize += sizeOfValue(args);
    history.queue.push(key);
  });
  const batch = data.steps[0]?.batch;
  if (batch)
    history.batches.set(batch, { open: data.steps.length, concurrency: data.concurrency ?? data.steps.length });
}

/** The values of an event that `foldEvent` reads; they may be in blobs. */
export function foldedValues(event: NewEvent): StoredValue[] {
  const { type, personal } = event as RunEvent;
  if (type === "StepCompleted") return [personal!.result];
  return type === "WaitAnswered" ? [personal!.answer] : [];
}
