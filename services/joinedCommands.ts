import type { Decider } from "#events/decider.ts";
import type { Command } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import { claimStreams, decide, planAppend, type Decision, type Plan } from "./appendPlan.ts";
import type { StreamStates } from "./states.ts";

type AppendPlan = Extract<Plan, { kind: "append" }>;
type ParsedCommand = { command: Command; decider: Decider<any> };

const notJoined = ({ type, stream }: Command): Plan => ({
  kind: "retryLater",
  // The rejection is not recorded, so the command may be sent again, joined or alone.
  rejection: new Rejection("joined_command_refused", `${type} has no effect on ${stream} now.`, { retryable: true }),
});

/** Adds what a joined command appends. Keeps one head row per stream: the one after its last event. */
function merge({ append }: AppendPlan, more: AppendPlan["append"]): AppendPlan["append"] {
  const replaced = new Set(more.heads.map(({ stream }) => stream));
  const { things, streams } = append.erase;
  return {
    ...append,
    events: [...append.events, ...more.events],
    heads: [...append.heads.filter(({ stream }) => !replaced.has(stream)), ...more.heads],
    erase: { things: [...things, ...more.erase.things], streams },
  };
}

/** Whether a command needs what only a main command gets: claims, outcomes to delete, or a check for holds. */
function needsMainCommand(decider: Decider<any>, decision: Decision, { erase, forget }: AppendPlan["append"]): boolean {
  const things = decider.erasesWhenJoined ? [] : erase.things;
  return claimStreams(decision).length + things.length + erase.streams.length + forget.length > 0;
}

/** Adds one joined command. If it appends no events, the whole plan is dropped. */
async function joinOne(states: StreamStates, plan: AppendPlan, { command, decider }: ParsedCommand): Promise<Plan> {
  const { stream } = command;
  const earlier = plan.joined.findLast((other) => other.command.stream === stream);
  const before = earlier?.after ?? (await states.load(stream, decider, { fresh: false }));
  const decision = decide(decider, command, before.state);
  const more = planAppend({ command, decider, before, decision, claimHeads: new Map() });
  if (more.kind === "reload") return more;
  if (more.kind !== "append" || more.events.length === 0) return notJoined(command);
  if (decision instanceof Rejection || needsMainCommand(decider, decision, more.append))
    throw new Error(`${command.type} claims or destroys something: it cannot be joined`);
  const after = { ...more.after, ...(before.remembered && { remembered: true }) };
  const joined = [...plan.joined, { command, events: more.events, after }];
  return { ...plan, append: merge(plan, more.append), joined };
}

/**
 * Adds the joined commands to the plan of their main command: one commit applies all of them, or none
 * (docs/adr/0029-a-schedule-decides-before-it-starts.md).
 */
export async function joinCommands(
  states: StreamStates,
  main: Command,
  plan: Plan,
  joined: ParsedCommand[],
): Promise<Plan> {
  let whole = plan;
  if (joined.length > 0 && plan.kind === "append" && plan.events.length === 0) return notJoined(main);
  for (const command of joined) {
    if (whole.kind !== "append") return whole;
    whole = await joinOne(states, whole, command);
  }
  return whole;
}
