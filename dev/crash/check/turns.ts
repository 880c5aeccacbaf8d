import type { RecordedEvent } from "#events/envelope.ts";
import type { Attempt, InjectedFault, Operation } from "../journal.ts";
import { grouped, type Evidence, type Turn } from "./evidence.ts";
import { different, doubled, lost, stuck, type Finding } from "./finding.ts";

const isReal = (turn: Turn): boolean => turn.end !== "refused";

/** I1: the answer that a client received is the one in the log, and there is only one such turn. */
function checkAnswered(operation: Operation, turns: Turn[]): Finding[] {
  const { got, asked, outcome } = operation;
  const id = String(got["ids"]?.[0] ?? "").slice("chatcmpl-".length);
  const turn = turns.find((one) => one.id === id);
  if (!turn) return [lost("I1", operation, `the answered turn ${id} is not in the log`)];
  const findings: Finding[] = [];
  const say = (what: string) => findings.push(different("I11", operation, what));
  if (turn.thread !== `thread-${got["thread_id"]}`)
    say(`answered with the thread ${got["thread_id"]}, but is in ${turn.thread}`);
  if (asked["leaves"] || outcome === "failed") return findings;
  if (turn.end !== "completed") say(`answered as complete, but the turn is ${turn.end ?? "open"}`);
  // an erased turn has no text to compare
  if (turn.text !== undefined && turn.text !== got["text"])
    say(`${got["text"].length} characters were answered, ${turn.text.length} are stored`);
  if (got["finishes"] !== 1 || !got["done"]) say(`the stream said ${got["finishes"]} times that it was finished`);
  const missing = (asked["files"] as string[]).filter((hash) => turn.files && !turn.files.includes(hash));
  if (missing.length > 0) say(`${missing.length} attachments are not those that were sent`);
  return findings;
}

/** Within this time after PostgreSQL is back, a process notes that a reader left meanwhile. */
const NOTED_MS = 10_000;

/**
 * Whether a retry came while PostgreSQL was stopped or its disk was slow, or just after. Then the service may not know the turn, or that
 * its reader left.
 */
const wasUnwritable = (retry: Attempt | undefined, faults: InjectedFault[]): boolean =>
  retry !== undefined &&
  faults.some(
    ({ what, target, at, until = at }) =>
      (what === "stop" || what === "slow") &&
      target === "postgres" &&
      at < retry.start &&
      until + NOTED_MS > retry.start,
  );

/** Whether the client got no answer of a turn, and its retry had to join that turn. */
const hadToBeJoined = (attempts: Attempt[], turn: Turn, faults: InjectedFault[]): boolean =>
  attempts.some(
    (attempt, n) =>
      `${attempt.operation}.${n}` === turn.request_id &&
      attempt.status === null &&
      !wasUnwritable(attempts[n + 1], faults),
  );

/**
 * I3: one request is one turn. With a key always; without a key if the client lost the connection and declared its retry as one, while
 * PostgreSQL took writes. A failed turn may be requested again.
 */
function checkOnce(operation: Operation, turns: Turn[], attempts: Attempt[], faults: InjectedFault[]): Finding[] {
  const real = turns.filter(isReal);
  if (real.length < 2) return [];
  if (operation.keyed)
    return [doubled("I3", operation, `${real.length} turns under one key: ${real.map(({ id }) => id).join(", ")}`)];
  const again = real.slice(0, -1).filter((turn) => turn.end === "completed" && hadToBeJoined(attempts, turn, faults));
  return again.length > 0
    ? [doubled("I3 without a key", operation, `${real.length} turns: ${real.map(({ id }) => id).join(", ")}`)]
    : [];
}

export function checkTurns({ operations, attempts, turns, faults }: Evidence): Finding[] {
  const byOperation = grouped(turns, (turn) => turn.operation);
  return operations
    .filter(({ what }) => what === "chat" || what === "agent.respond" || what === "agent.ask")
    .flatMap((operation) => {
      const mine = byOperation.get(operation.id) ?? [];
      const answered = operation.got["ids"]?.length > 0;
      return [
        ...(answered ? checkAnswered(operation, mine) : []),
        ...checkOnce(operation, mine, attempts.get(operation.id) ?? [], faults),
      ];
    });
}

/** I9: turns of a thread never overlap. */
export function checkOverlaps({ turns }: Evidence): Finding[] {
  return [...grouped(turns, (turn) => turn.thread)].flatMap(([thread, inThread]) => {
    const ordered = inThread.toSorted((a, b) => a.from - b.from);
    return ordered.slice(1).flatMap((turn, n) => {
      const before = ordered[n]!;
      return (before.to ?? Infinity) < turn.from
        ? []
        : [different("I9", thread, `the turns ${before.id} and ${turn.id} overlap`)];
    });
  });
}

/** I9: an attempt whose turn was taken over records nothing afterwards. */
export function checkAttempts({ events }: Pick<Evidence, "events">): Finding[] {
  const current = new Map<string, number>();
  return (events as RecordedEvent<any>[]).flatMap(({ type, data: { turn_id, attempt } }) => {
    if (turn_id === undefined || attempt === undefined) return [];
    const newest = Math.max(current.get(turn_id) ?? 0, attempt);
    current.set(turn_id, newest);
    return attempt < newest
      ? [doubled("I9", `turn ${turn_id}`, `attempt ${attempt} recorded ${type} after attempt ${newest} had begun`)]
      : [];
  });
}

/** I8: every turn has ended, or waits only for a person. */
export const checkEnded = ({ turns }: Evidence): Finding[] =>
  turns
    .filter(({ to, asking }) => to === undefined && asking === 0)
    .map(({ id, thread, takeovers }) => stuck("I8", `turn ${id}`, `open in ${thread} after ${takeovers} takeovers`));
