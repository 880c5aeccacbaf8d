import type { RecordedEvent } from "#events/envelope.ts";
import { addMoney, toPicodollars } from "#events/money.ts";
import type { Operation } from "../journal.ts";
import { spentIn } from "./audit.ts";
import { grouped, turnsOf, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

/** The initial reservations of unfinished turns. Turns that wait for a person reserve nothing. */
function reservedIn(events: RecordedEvent<any>[]): string {
  const parked = new Set(events.filter(({ type }) => type === "TurnParked").map(({ data }) => data.turn_id));
  const open = new Set(
    turnsOf(events)
      .filter(({ to }) => to === undefined)
      .map(({ id }) => id),
  );
  return events
    .filter(({ type, data }) => type === "TurnStarted" && open.has(data.turn_id) && !parked.has(data.turn_id))
    .map(({ data }) => data.reserved ?? "0")
    .reduce(addMoney, "0");
}

/** The events of turns that name a model, and none of pages. */
function turnsNaming(model: string, events: RecordedEvent<any>[]): RecordedEvent<any>[] {
  const started = events.filter(({ type, data }) => type === "TurnStarted" && data.model === model);
  const ids = new Set(started.map(({ data }) => data.turn_id));
  return events.filter(({ data }) => (data.turn_id === undefined ? data.units === undefined : ids.has(data.turn_id)));
}

/** The expected figures of an organization's limits, by the unit with which their names begin. */
function expectedFigures(events: RecordedEvent<any>[], organization: string): Record<string, Record<string, string>> {
  const { turns, cost, prompt_tokens, completion_tokens, pages } = spentIn(events, organization);
  return {
    cost: { spent: cost ?? "0", reserved: reservedIn(events) },
    tokens: { spent: String(prompt_tokens + completion_tokens) },
    requests: { spent: String(turns) },
    pages: { spent: String(pages) },
  };
}

/**
 * Whether a reservation is plausible. It grows with the turn's rounds, in memory (docs/adr/0078-the-hold-of-a-turn-grows.md). The
 * tools of this load answer in a few words, so it grows by less than a quarter.
 */
function isHeldBack(reserved: string, began: string): boolean {
  const [now, before] = [toPicodollars(reserved), toPicodollars(began)];
  return now >= before && now * 4n <= before * 5n;
}

/**
 * I20: the spending of a budget is the sum over the log, in total and for one model, and its reservations are those with which open
 * turns began, or slightly more. A run is shorter than a week.
 */
function checkFigures({ what, id, outcome, code, asked, got }: Operation, events: RecordedEvent<any>[]): Finding[] {
  const about = `${what} ${id}`;
  if (outcome !== "done") return [lost("I20", about, `cannot be read: ${code}`)];
  const own = events.filter(({ organization_id }) => organization_id === asked["organization_id"]);
  return got["limits"].flatMap(({ name, model, ...limit }: Record<string, string>) => {
    const figures = expectedFigures(model ? turnsNaming(model, own) : own, asked["organization_id"]);
    return Object.entries(figures[name!.split("_")[0]!] ?? {})
      .filter(
        ([field, value]) => !(field === "reserved" ? isHeldBack(limit[field] ?? "0", value) : limit[field] === value),
      )
      .map(([field, value]) =>
        different("I20", about, `${name} of ${model ?? "all"}: ${field} is ${limit[field]}, in the log ${value}`),
      );
  });
}

/** I20: a threshold of a limit is reported once in its period, until the limit is set again. */
function checkSteps(events: RecordedEvent<any>[]): Finding[] {
  const ofBudgets = events.filter(({ stream }) => stream.startsWith("budget-"));
  return [...grouped(ofBudgets, ({ stream }) => stream).values()].flatMap((own) => {
    let reported = new Set<string>();
    return own.flatMap(({ type, data, position }) => {
      if (type !== "BudgetReached") {
        reported = new Set();
        return [];
      }
      const step = [data.limit, data.period, data.percent, data.at_most].join();
      if (reported.has(step)) return [doubled("I20", data.subject, `BudgetReached ${step} at ${position} again`)];
      reported.add(step);
      return [];
    });
  });
}

/** I20: budgets count everything once, and reserve nothing for ended turns. */
export const checkBudgets = ({ operations, events }: Evidence): Finding[] => [
  ...operations.filter(({ what }) => what === "audit.budget").flatMap((read) => checkFigures(read, events)),
  ...checkSteps(events),
];
