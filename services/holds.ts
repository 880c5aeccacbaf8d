import { AgentChanged, AgentCreated } from "#events/agent.ts";
import type { NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { holdStream } from "#events/hold.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import { KeyChanged, KeyCreated } from "#events/key.ts";
import type { EventLog } from "#events/ports.ts";
import { Rejection } from "#events/rejection.ts";
import { principalOf, type Actor, type StarterRun } from "#events/runOrigin.ts";
import { runOfScope } from "#events/scope.ts";
import type { AppendCheck } from "./appendPlan.ts";
import { hold, type HoldState } from "./deciders/hold.ts";
import { newestFirst } from "./newestFirst.ts";
import { findHead, readState } from "./states.ts";

type Log = Pick<EventLog, "heads" | "read" | "readNewest">;

/** Events that destroy what somebody stored. A hold prevents them. */
const ERASING = new Set([
  "ThreadDeleted",
  "TurnDeleted",
  "FileDeleted",
  "DocumentDeleted",
  "RunForgotten",
  "CollectionDeleted",
  "SourceDeleted",
  "AgentDeleted",
  "DefinitionDeleted",
  "ProjectDeleted",
  "ErasureStarted",
]);
/** Events that set the project of a key or an agent. Changes hold only the changed fields. */
const SETTINGS: string[] = [KeyCreated.type, KeyChanged.type, AgentCreated.type, AgentChanged.type];
const OPENING = ["TurnStarted", "FileUploaded", "DocumentUploaded", "RunCreated", "CollectionCreated", "SourceCreated"];

/** Owner fields of a stream's first event, for any aggregate. */
interface OwnerFields {
  project_id?: string | null;
  user_mark?: string | null;
  agent?: { agent_id: string } | null;
  started_by?: Actor;
  starter?: Partial<StarterRun>;
  scope?: string;
}

/** The project of a key or an agent, including deleted ones. */
async function projectsOf(log: Log, owner: string): Promise<string[]> {
  const [kind, id] = owner.split(":") as [string, string];
  if (kind !== "key" && kind !== "agent") return [];
  for await (const { data } of newestFirst(log, { stream: streamName(kind, id) }, SETTINGS)) {
    const { project_id } = data as OwnerFields;
    if (project_id !== undefined) return project_id === null ? [] : [`project:${project_id}`];
  }
  return [];
}

function ownersOf({ meta, data }: RecordedEvent): string[] {
  const { agent, started_by, starter, user_mark, project_id } = data as OwnerFields;
  return [
    meta.principal,
    ...(agent ? [`agent:${agent.agent_id}`] : []),
    ...(started_by ? [principalOf(started_by)] : []),
    // as for an erasure, a run that a run of somebody has started is theirs, too
    ...(starter?.by ? [principalOf(starter.by)] : []),
    ...(user_mark ? [`user:${user_mark}`] : []),
    ...(project_id ? [`project:${project_id}`] : []),
  ];
}

/** The subjects of holds that cover a stream. */
async function subjectsOf(log: Log, stream: string): Promise<string[]> {
  const { aggregate, id } = parseStreamName(stream);
  const [first] = await log.readNewest(stream, { before: 2, types: OPENING, limit: 1, bytes: 0 });
  const owners = first ? ownersOf(first) : [];
  const run = first && runOfScope((first.data as OwnerFields).scope ?? "");
  const itself = `${aggregate}:${id}`;
  const projects = await Promise.all([itself, ...owners].map((owner) => projectsOf(log, owner)));
  const ofRun = run ? await subjectsOf(log, streamName("run", run)) : [];
  return [itself, ...owners, ...projects.flat(), ...ofRun];
}

/**
 * Throws if a hold covers what these events of a stream would erase. Every erasure passes this check. Its append conflicts unless
 * the holds are unchanged (docs/adr/0042-a-deletion-conflicts-with-a-new-hold.md).
 */
export async function checkHolds(
  log: Log,
  organization: string,
  stream: string,
  events: NewEvent[],
): Promise<AppendCheck> {
  const erasing = events.find(({ type }) => ERASING.has(type));
  if (!erasing) return { unchanged: [] };
  const name = holdStream(organization);
  const head = await findHead(log, name);
  const holds: HoldState = head ? (await readState(log, head, hold)).state : [];
  const unchanged = [{ stream: name, version: head?.version ?? 0 }];
  const rejection = holds.length > 0 ? await findHold(log, stream, erasing, holds) : undefined;
  return { rejection, unchanged };
}

async function findHold(log: Log, stream: string, erasing: NewEvent, holds: HoldState): Promise<Rejection | undefined> {
  const { owner } = erasing.data as { owner?: string };
  const covered = owner === undefined ? await subjectsOf(log, stream) : [owner, ...(await projectsOf(log, owner))];
  const held = holds.find(({ subject }) => subject === "organization" || covered.includes(subject));
  if (!held) return undefined;
  return new Rejection(
    "legal_hold",
    `The hold ${JSON.stringify(held.name)} (${held.id}) of ${held.subject} forbids this until it is released.`,
  );
}
