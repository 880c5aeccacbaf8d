import { isDeepStrictEqual } from "node:util";
import type { RecordedEvent } from "#events/envelope.ts";
import { addMoney } from "#events/money.ts";
import type { Usage } from "#events/thread.ts";
import type { Operation } from "../journal.ts";
import { digestOf } from "../load/audit.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

/** Names of stored credentials, which no reader may see. */
const isKept = (name: string): boolean => /_hash$|^sealed_/.test(name);

const shownOf = (fields: object | undefined): unknown =>
  fields === undefined ? null : JSON.parse(JSON.stringify(fields, (name, value) => (isKept(name) ? undefined : value)));

/** An event in the form in which an owner must see it. */
function presented({ stream, version, type, recorded_at, command_id, meta, data, personal }: RecordedEvent) {
  const { principal, request_id } = meta;
  const at = recorded_at.toISOString();
  const shown = shownOf(personal as object | undefined);
  const fields = { data: shownOf(data as object), personal: shown && digestOf(shown) };
  return { stream, version, type, recorded_at: at, principal, request_id, command_id, ...fields };
}

function checkEvent(shown: any, event: RecordedEvent): Finding[] {
  const { erased: _, trace_id: _trace, cursor: _cursor, position: _position, sealed_hash: _hash, ...rest } = shown;
  return isDeepStrictEqual(rest, presented(event))
    ? []
    : [different("I18", `audit ${event.position} ${event.type}`, "is not shown as the log has it")];
}

const nameOf = ({ stream, version }: Pick<RecordedEvent, "stream" | "version">): string => `${stream}@${version}`;

/** Checks that the pages contain each of the organization's events once, in order, and no other. */
function checkPages(organization: string, pages: Operation[], events: RecordedEvent[]): Finding[] {
  const unread = pages.find(({ outcome }) => outcome !== "done");
  if (unread) return [lost("I18", unread, `the events of ${organization} cannot be read: ${unread.code}`)];
  const positions = new Map(events.map((event) => [nameOf(event), event.position]));
  const shown: any[] = pages.flatMap(({ got }) =>
    got["events"].map((event: any) => ({ ...event, position: positions.get(nameOf(event)) })),
  );
  const byPosition = new Map(shown.map((event) => [event.position, event]));
  const last = Math.max(pages[0]!.asked["head"], shown.at(-1)?.position ?? 0);
  const own = events.filter(({ organization_id, position }) => organization_id === organization && position <= last);
  const mine = new Set(own.map(({ position }) => position));
  const name = `audit of ${organization}`;
  return [
    ...(byPosition.size < shown.length ? [doubled("I18", name, "tells events twice")] : []),
    ...(shown.every(({ position }, n) => n === 0 || position > shown[n - 1].position)
      ? []
      : [different("I18", name, "does not tell events in their order")]),
    ...shown
      .filter(({ position }) => !mine.has(position))
      .map(({ position, type }) =>
        different("I18", name, `tells ${position} ${type}, which is not the organization's`),
      ),
    ...own.flatMap((event) => {
      const shown = byPosition.get(event.position);
      return shown ? checkEvent(shown, event) : [lost("I18", name, `leaves out ${event.position} ${event.type}`)];
    }),
  ];
}

const COUNTED = new Set(["TurnCompleted", "TurnFailed", "TurnStopped"]);
type Counts = Record<
  | "turns"
  | "prompt_tokens"
  | "completion_tokens"
  | "cached_tokens"
  | "reasoning_tokens"
  | "pages"
  | "turns_without_cost",
  number
>;
type Sums = Counts & { cost: string | null };
const NONE: Sums = {
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  pages: 0,
  turns_without_cost: 0,
  cost: null,
};
const plus = ({ cost: known, ...counts }: Sums, { cost = null, ...more }: Partial<Sums>): Sums => {
  const sums = Object.entries(counts).map(([name, sum]) => [name, sum + (more[name as keyof Counts] ?? 0)]);
  const costs = [known, cost].filter((each) => each !== null);
  return { ...(Object.fromEntries(sums) as Counts), cost: costs.length > 0 ? costs.reduce(addMoney) : null };
};
/** Turns with tokens but without a cost. */
const withoutCost = ({ cost, prompt_tokens, completion_tokens }: Usage): number =>
  cost === undefined && prompt_tokens + completion_tokens > 0 ? 1 : 0;

/** An organization's usage: its turns, including unfinished ones, and the pages that were read. */
export function spentIn(events: RecordedEvent<any>[], organization: string): Sums {
  const own = events.filter(({ organization_id }) => organization_id === organization);
  const ended = new Set(own.filter(({ type }) => COUNTED.has(type)).map(({ data }) => data.turn_id));
  return own.reduce((sums, { type, data }) => {
    if (COUNTED.has(type)) return plus(sums, { ...data.usage, turns: 1, turns_without_cost: withoutCost(data.usage) });
    if (type === "RoundRequested") return ended.has(data.turn_id) ? sums : plus(sums, data.usage);
    return data.units === undefined ? sums : plus(sums, { pages: data.units, cost: data.cost ?? null });
  }, NONE);
}

/** Checks that the usage reported to an organization is the sum over its events. */
function checkUsage(read: Operation, events: RecordedEvent[]): Finding[] {
  const { outcome, code, asked, got } = read;
  if (outcome !== "done") return [lost("I18", read, `cannot be read: ${code}`)];
  const spent = spentIn(events, asked["organization_id"]);
  const wanted = { ...spent, total_tokens: spent.prompt_tokens + spent.completion_tokens };
  const rows = (got["rows"] as Sums[]).reduce(plus, NONE);
  const say = (what: string, is: object) =>
    different("I18", read, `${what} ${JSON.stringify(is)}, the log ${JSON.stringify(spent)}`);
  return [
    ...(isDeepStrictEqual(got["totals"], wanted) ? [] : [say("says", got["totals"])]),
    ...(got["rows"].length < got["total"] || isDeepStrictEqual(rows, spent) ? [] : [say("its rows add up to", rows)]),
  ];
}

/** Checks that an answered turn can be traced to its prompt and answer until it is deleted. */
function checkTrace(read: Operation, turns: Evidence["turns"]): Finding[] {
  const { outcome, code, asked, got } = read;
  const turn = turns.find(({ id }) => id === asked["turn_id"]);
  // another check reports a turn that is missing in the log
  if (!turn || outcome === "unknown") return [];
  const erased = turn.text === undefined;
  if (outcome === "refused") return erased ? [] : [lost("I18", read, `${code} for the turn ${turn.id}`)];
  if (erased) return [different("I18", read, `shows the turn ${turn.id}, which is deleted`)];
  const wanted = { id: turn.id, thread_id: turn.thread.replace("thread-", ""), status: turn.end, text: turn.text };
  const { asked: prompt, ...shown } = got;
  return isDeepStrictEqual(shown, wanted) && String(prompt).includes(`<${turn.operation}>`)
    ? []
    : [different("I18", read, `shows another turn than the log: ${JSON.stringify(got).slice(0, 300)}`)];
}

/** I18: an organization sees all its events and its usage, as the log has them, and nothing of others. */
export function checkAudit({
  operations,
  events,
  turns,
}: Pick<Evidence, "operations" | "events" | "turns">): Finding[] {
  const of = (what: Operation["what"]) => operations.filter((operation) => operation.what === what);
  const pages = grouped(of("audit.events"), ({ asked }) => asked["organization_id"]);
  const unread = new Set(events.map(({ organization_id }) => organization_id)).difference(new Set(pages.keys()));
  return [
    ...[...unread].map((organization) => lost("I18", `audit of ${organization}`, "was not read")),
    ...[...pages].flatMap(([organization, own]) => checkPages(organization, own, events)),
    ...of("audit.usage").flatMap((read) => checkUsage(read, events)),
    ...of("audit.trace").flatMap((read) => checkTrace(read, turns)),
  ];
}
