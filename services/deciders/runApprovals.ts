import {
  ApprovalLinkCreated,
  ApprovalLinkRevoked,
  type CreateApprovalLink,
  type RevokeApprovalLink,
} from "#events/approvalLinks.ts";
import type { EventFrom } from "#events/define.ts";
import type { CommandFrom } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import {
  ApprovalDecided,
  ApprovalEscalated,
  ApprovalExpired,
  ApprovalReminded,
  ApprovalVoted,
  type AdvanceRun,
  type DecideApproval,
  type RunEvent,
} from "#events/run.ts";
import { MAX_RUN_FILES, type Actor } from "#events/runOrigin.ts";
import { approvalNotPending, type OpenApproval } from "./openApprovals.ts";
import { dueEvent, failRun, type DueChange, type RunChanges } from "./runChanges.ts";
import { evolveAll, isLive, type LiveRun, type RunState } from "./runState.ts";
import { hasWork } from "./runWork.ts";

/** Maximum links of one approval, including revoked ones, because they are part of the run's state. */
const MAX_LINKS = 20;

export const alreadyVoted = (message: string) => new Rejection("already_voted", message);
const linkEnded = (why: string) => new Rejection("approval_link_ended", `This link ${why}.`);

/** Throws `approval_not_pending`. */
export function requirePending(state: RunState, approval_id: string, at: string): OpenApproval {
  const approval = isLive(state) ? state.approvals[approval_id] : undefined;
  if (!approval || Date.parse(approval.expires_at) <= Date.parse(at)) throw approvalNotPending();
  return approval;
}

/** Throws `too_many_run_files` if the run would have more files than people may hand to it. */
export function checkRoomForFiles(state: RunState, files: string[] = []): void {
  const handed = isLive(state) ? (state.files ?? []) : [];
  if (new Set([...handed, ...files]).size <= MAX_RUN_FILES) return;
  const message = `files: people hand at most ${MAX_RUN_FILES} files to one run, at its start, with decisions and with comments.`;
  throw new Rejection("too_many_run_files", message, { param: "files" });
}

const isSame = (a: Actor, b: Actor): boolean => a.type === b.type && a.id === b.id;
const person = (id: string): Actor => ({ type: "person", id });

type Ballot = Pick<CommandFrom<typeof DecideApproval>["data"], "by" | "in_place_of" | "files">;
/** Omits undefined fields. */
const ballotOf = ({ by, in_place_of, files }: Ballot): Ballot => ({
  by,
  ...(in_place_of && { in_place_of }),
  ...(files && { files }),
});

/**
 * The actors whose votes a ballot uses up, so that everybody votes once: a link uses its creator's vote, a substitute uses their
 * own and that of the person they replace.
 */
const votersOf = ({ links }: OpenApproval, { by, in_place_of }: Ballot): Actor[] => [
  by.type === "link" ? (links?.[by.id]?.created_by ?? by) : by,
  ...(in_place_of ? [person(in_place_of)] : []),
];

/** The vote of a person, cast by them or on their behalf. */
export const findVote = (approval: OpenApproval, voter: Actor) =>
  approval.votes?.cast.find((vote) => votersOf(approval, vote).some((one) => isSame(one, voter)));

/** Whether a person's vote was cast: by the person, a link or a substitute. A vote that the person casts as a substitute is another's. */
const isOwnVoteCast = (approval: OpenApproval, voter: Actor): boolean =>
  approval.votes?.cast.some((vote) => isSame(votersOf(approval, vote).at(-1)!, voter)) ?? false;

/**
 * Whether the nth delegation has ended: the person who delegated has voted or delegated again since. They could while it had no
 * effect.
 */
function hasEnded(approval: OpenApproval, n: number): boolean {
  const { delegations = [] } = approval;
  const { by } = delegations[n]!;
  // after that person receives a delegation, what they do concerns the received one
  const next = delegations.slice(n + 1).find((later) => later.by === by || later.to === by);
  return next ? next.by === by : isOwnVoteCast(approval, person(by));
}

/**
 * Whether the nth delegation has an effect. It has one if its receiver has voted. Otherwise it must not have ended, and the
 * receiver must be present, or have passed it on with a delegation that has an effect.
 */
function hasEffect(approval: OpenApproval, n: number, absent: string[]): boolean {
  const { delegations = [] } = approval;
  const { to } = delegations[n]!;
  if (findVote(approval, person(to))) return true;
  if (hasEnded(approval, n)) return false;
  if (!absent.includes(to)) return true;
  // what the receiver delegates after another delegation to them concerns that one
  const received = delegations.findIndex((later, at) => at > n && later.to === to);
  const isOwn = (at: number): boolean => at > n && (received === -1 || at < received);
  return delegations.some(({ by }, at) => isOwn(at) && by === to && hasEffect(approval, at, absent));
}

/**
 * Whether a person has delegated the approval and not received it back. A delegation to somebody in `absent` counts only once the
 * receiver has voted or passed it on, because that used the vote of the person who delegated.
 */
export function hasDelegated(approval: OpenApproval, { id }: Actor, absent: string[] = []): boolean {
  const { delegations = [] } = approval;
  const last = delegations.findLast(({ by, to }, n) => (by === id || to === id) && hasEffect(approval, n, absent));
  return last?.by === id;
}

/** Whether the approval reached this person by delegations of which one has ended. */
function hasLostDelegation(approval: OpenApproval, { id }: Actor): boolean {
  const { delegations = [] } = approval;
  let holder = id;
  for (let n = delegations.length - 1; n >= 0; n--) {
    const { by, to } = delegations[n]!;
    if (to !== holder) continue;
    if (by !== id && hasEnded(approval, n)) return true;
    holder = by;
  }
  return false;
}

/** Throws `approver_not_allowed`. */
function checkNotDelegated(approval: OpenApproval, ballot: Ballot & { absent?: string[] | undefined }): void {
  // a substitute decides with the rights of the person they replace, and no others
  const decider = votersOf(approval, ballot).at(-1)!;
  if (hasDelegated(approval, decider, ballot.absent))
    throw new Rejection("approver_not_allowed", "This approval was delegated to somebody else.");
  if (hasLostDelegation(approval, decider))
    throw new Rejection(
      "approver_not_allowed",
      "The person who delegated this approval has voted, or delegated it to somebody else, meanwhile.",
    );
}

/** Throws `approval_link_ended` if a link is revoked, expired or unknown. */
function checkLink({ links }: OpenApproval, by: Actor, at: string): void {
  if (by.type !== "link") return;
  const link = links?.[by.id];
  if (!link || link.revoked) throw linkEnded("was revoked");
  if (Date.parse(link.expires_at) <= Date.parse(at)) throw linkEnded("has expired");
}

/** The vote that a decision casts if the approval takes several; undefined otherwise. */
function castVote(
  approval: OpenApproval,
  { data: { run_id, approval_id, decision, data, comment, ...given }, at }: CommandFrom<typeof DecideApproval>,
): { events: RunEvent[]; decides: boolean } | undefined {
  const { key, votes } = approval;
  if (!votes) return undefined;
  const { by } = given;
  const ballot = ballotOf(given);
  const earlier = votersOf(approval, ballot)
    .map((voter) => findVote(approval, voter))
    .find((vote) => vote !== undefined);
  if (earlier && by.type === "link" && isSame(earlier.by, by)) throw linkEnded("was used");
  if (earlier && !isSame(earlier.by, by))
    throw alreadyVoted(
      "This vote was cast already: a person, their links and their substitute have one vote together.",
    );
  if (earlier?.decision === decision) return { events: [], decides: false };
  if (earlier) throw alreadyVoted("You have voted on this approval; a vote cannot be changed.");
  const equal = votes.cast.filter((vote) => vote.decision === decision).length + 1;
  const decides = equal >= votes.required || (decision === "reject" && votes.one_rejection_ends);
  const voted = ApprovalVoted.of({ run_id, approval_id, key, decision, ...ballot, at }, { data, comment });
  return { events: [voted], decides };
}

type Advance = (data: CommandFrom<typeof AdvanceRun>["data"], state: RunState) => RunEvent[];

/** A decision, and the worker's progress after it. */
export function decideApproval(
  command: CommandFrom<typeof DecideApproval>,
  state: RunState,
  advance: Advance,
): RunEvent[] {
  const { run_id, approval_id, decision, data, comment, seen = 1, parts = [] } = command.data;
  const approval = requirePending(state, approval_id, command.at);
  if (!isLive(state)) throw approvalNotPending();
  checkLink(approval, command.data.by, command.at);
  checkNotDelegated(approval, command.data);
  const votes = castVote(approval, command);
  if (!votes || votes.events.length > 0) checkRoomForFiles(state, command.data.files);
  if (votes && !votes.decides) return votes.events;
  // The worker that holds the run continues it. If there is none, this process takes it.
  const lease = hasWork(state)
    ? { epoch: state.epoch, worker: state.worker }
    : { epoch: state.epoch + 1, worker: command.worker ?? null };
  const ballot = { decision, ...ballotOf(command.data), at: command.at };
  const decided = ApprovalDecided.of(
    { run_id, approval_id, key: approval.key, ...ballot, ...lease },
    { data, comment },
  );
  const events = [...(votes?.events ?? []), decided];
  return [...events, ...advance({ run_id, epoch: lease.epoch, seen, parts }, evolveAll(state, events))];
}

export function createApprovalLink({ data, at }: CommandFrom<typeof CreateApprovalLink>, state: RunState): RunEvent[] {
  const { name, email, ...link } = data;
  const { links = {} } = requirePending(state, data.approval_id, at);
  if (Object.keys(links).length >= MAX_LINKS)
    throw new Rejection("too_many_approval_links", `An approval has ${MAX_LINKS} links at most, revoked ones too.`);
  return [ApprovalLinkCreated.of(link, { name, email })];
}

/** Has no effect on a link that is revoked already, or whose approval is not pending. */
export function revokeApprovalLink({ data }: CommandFrom<typeof RevokeApprovalLink>, state: RunState): RunEvent[] {
  const link = isLive(state) ? state.approvals[data.approval_id]?.links?.[data.link_id] : undefined;
  return link && !link.revoked ? [ApprovalLinkRevoked.of(data)] : [];
}

type ApprovalAt = EventFrom<typeof ApprovalExpired>["data"];

/** The expiry of an approval. With `on_expiry: "fail"` it ends the run. */
function expireApproval(changes: RunChanges, about: ApprovalAt, { on_expiry }: OpenApproval): void {
  changes.add(ApprovalExpired.of(about));
  if (on_expiry !== "fail") return;
  const error = { message: "An approval was not decided before it expired.", line: null };
  failRun(changes, about.run_id, about.at, { code: "approval_expired", key: about.key, error });
}

/** Expiries, reminders and escalations that are due. An approval that has expired at `at` causes no reminder. */
export const dueApprovals = ({ approvals }: LiveRun, run_id: string, at: string): DueChange[] =>
  Object.entries(approvals).flatMap(([approval_id, approval]): DueChange[] => {
    const { key, expires_at, remind_at, escalate_at } = approval;
    const about = { run_id, approval_id, key, at };
    if (Date.parse(expires_at) <= Date.parse(at))
      return [{ time: expires_at, apply: (changes) => expireApproval(changes, about, approval) }];
    return [
      ...(remind_at ? [dueEvent(remind_at, ApprovalReminded.of(about))] : []),
      ...(escalate_at ? [dueEvent(escalate_at, ApprovalEscalated.of(about))] : []),
    ];
  });
