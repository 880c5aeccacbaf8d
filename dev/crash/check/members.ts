import type { RecordedEvent } from "#events/envelope.ts";
import type { Operation, OperationKind } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

const memberOf = ({ asked, got }: Operation): string | undefined => asked["member_id"] ?? got["member_id"];

type Known = boolean | "perhaps";
/** What a member's only manager knows at a moment; an undefined role is unknown. */
interface KnownMemberState {
  active: Known;
  role: string | undefined;
  /** By token, whether the session lives. */
  sessions: Map<string, Known>;
}

/** Whether an operation ends every session of the member. */
const endsSessions = ({ what, asked }: Operation): boolean =>
  what === "member.delete" || what === "member.password" || (what === "member.change" && asked["active"] === false);

function after(before: KnownMemberState, operation: Operation): KnownMemberState {
  const { what, asked, got, outcome } = operation;
  if (outcome === "refused") return before;
  const certain = outcome === "done";
  let { active, role } = before;
  const sessions = new Map(before.sessions);
  if (endsSessions(operation))
    for (const [token, lives] of sessions) sessions.set(token, certain ? false : lives && "perhaps");
  if (what === "member.login" && certain) sessions.set(got["token"], true);
  const begins = what === "member.delete" ? false : (asked["active"] as boolean | undefined);
  if (begins !== undefined && begins !== active) active = certain ? begins : "perhaps";
  if (asked["role"] !== undefined && asked["role"] !== role) role = certain ? asked["role"] : undefined;
  return { active, role, sessions };
}

/** An active member can sign in; a session works until it ends, with the member's current role. */
function checkUse(operation: Operation, { active, role, sessions }: KnownMemberState): Finding[] {
  const { what, outcome, code, asked, got } = operation;
  if (outcome === "unknown" || code === "too_many_attempts") return [];
  const may = what === "member.login" ? active : (sessions.get(asked["token"]) ?? "perhaps");
  const works = outcome === "done";
  if (may !== "perhaps" && may !== works)
    return [
      works
        ? different("I16", operation, "works although it was ended")
        : lost("I16", operation, `is refused with ${code}`),
    ];
  return works && role !== undefined && got["role"] !== role
    ? [different("I16", operation, `shows the role ${got["role"]}, last given was ${role}`)]
    : [];
}

const CHANGES = new Set<OperationKind>(["member.create", "member.change", "member.password", "member.delete"]);

function checkHistory(history: Operation[]): Finding[] {
  let known: KnownMemberState = { active: false, role: undefined, sessions: new Map() };
  return history.flatMap((operation) => {
    const isUse = operation.what === "member.login" || operation.what === "member.use";
    const findings = isUse ? checkUse(operation, known) : [];
    known = after(known, operation);
    return findings;
  });
}

interface MemberState {
  role: string | undefined;
  active: boolean | undefined;
}
const applyEvent = (state: MemberState, { type, data }: RecordedEvent<any>): MemberState =>
  type === "UserRegistered"
    ? { role: data.role, active: true }
    : { role: data.role ?? state.role, active: data.active ?? state.active };

/** I1: an acknowledged change is in the log at most once; a change without effect has no event. */
function checkChange(change: Operation, before: RecordedEvent[], own: RecordedEvent[]): Finding[] {
  const { asked } = change;
  const state = [...before, ...own].reduce(applyEvent, { role: undefined, active: undefined });
  const isAsRequested = Object.entries({ role: asked["role"], active: asked["active"] }).every(
    ([name, value]) => value === undefined || state[name as keyof MemberState] === value,
  );
  return [
    ...(own.length > 1 ? [doubled("I3", change, `UserChanged is in the log ${own.length} times`)] : []),
    ...(isAsRequested ? [] : [lost("I1", change, `the log says ${JSON.stringify(state)}`)]),
  ];
}

function checkChanges(member: string, history: Operation[], { events, eventsOf }: Evidence): Finding[] {
  const all = events.filter(({ type, data }: RecordedEvent<any>) => type.startsWith("User") && data.user_id === member);
  return history.flatMap((change, n) => {
    if (change.what !== "member.change" || change.outcome !== "done") return [];
    const earlier = new Set(history.slice(0, n).map(({ id }) => id));
    const own = (eventsOf.get(change.id) ?? []).filter(({ type }) => type === "UserChanged");
    const before = all.filter((event) => [...earlier].some((id) => eventsOf.get(id)?.includes(event)));
    return checkChange(change, before, own);
  });
}

/** Addresses are unique: a taken address was taken by the same request. */
const checkRepeated = ({ operations }: Evidence): Finding[] =>
  operations
    .filter(({ what, code }) => what === "member.create" && code === "email_taken")
    .map((made) => doubled("I3", made, "was refused because of itself"));

/** A key created for a project belongs to it. */
const checkKeys = ({ operations, eventsOf }: Evidence): Finding[] =>
  operations
    .filter(({ what, outcome }) => what === "key.create" && outcome === "done")
    .flatMap((made) => {
      const [event] = (eventsOf.get(made.id) ?? []).filter(({ type }) => type === "KeyCreated") as RecordedEvent<any>[];
      const project = made.asked["project_id"] ?? null;
      return !event || (event.data.project_id ?? null) === project
        ? []
        : [different("I1", made, `the key is of the project ${event.data.project_id}, asked was ${project}`)];
    });

/** I1 and I16 for people and projects: acknowledged changes hold, and ended credentials stay ended. */
export function checkMembers(evidence: Evidence): Finding[] {
  const mine = evidence.operations.filter(
    ({ what }) => CHANGES.has(what) || what === "member.login" || what === "member.use",
  );
  const histories = grouped(
    mine.filter((operation) => memberOf(operation) !== undefined),
    (operation) => memberOf(operation)!,
  );
  return [
    ...[...histories].flatMap(([member, history]) => [
      ...checkHistory(history),
      ...checkChanges(member, history, evidence),
    ]),
    ...checkRepeated(evidence),
    ...checkKeys(evidence),
  ];
}
