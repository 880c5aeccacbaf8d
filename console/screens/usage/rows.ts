import { shortId } from "../../format/index.ts";
import type { Grouping, Usage, UsageRow, UsageSums } from "../../api/usage.ts";

export const MEASURES = ["tokens", "cost", "requests", "pages"] as const;
export type Measure = (typeof MEASURES)[number];

/** The parameters in the address. Days are in UTC, both included. */
export interface UsageSearch {
  by?: Grouping | undefined;
  /** For the grouping by label: the label's name. */
  label?: string | undefined;
  measure?: Measure | undefined;
  from?: string | undefined;
  to?: string | undefined;
  page?: number | undefined;
}

const FIELDS = { tokens: "total_tokens", cost: "cost", requests: "turns", pages: "pages" } as const;
export const readMeasure = (sums: UsageSums, measure: Measure): number => Number(sums[FIELDS[measure]] ?? 0);

const DAY_MS = 24 * 60 * 60 * 1_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Both days are in UTC and inclusive. */
export const periodsUntil = (now: number): { name: string; from: string; to: string }[] => [
  { name: "Today", from: dayOf(now), to: dayOf(now) },
  { name: "Yesterday", from: dayOf(now - DAY_MS), to: dayOf(now - DAY_MS) },
  { name: "7 days", from: dayOf(now - 6 * DAY_MS), to: dayOf(now) },
  { name: "This month", from: `${dayOf(now).slice(0, 8)}01`, to: dayOf(now) },
];

/** Longer periods show only days with usage. */
const MAX_DAYS = 400;
const NOTHING: UsageSums = {
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  pages: 0,
  cost: null,
  turns_without_cost: 0,
};

/** Every day of the period, including days without usage. */
export function withEmptyDays({ data, from, to, total }: Usage): UsageRow[] {
  const [first, end] = [Math.floor(Date.parse(from) / DAY_MS), Math.ceil(Date.parse(to) / DAY_MS)];
  if (end - first > MAX_DAYS || data.length < total) return data;
  const used = new Map(data.map((row) => [row.day, row]));
  return Array.from({ length: end - first }, (_, n) => {
    const day = dayOf((first + n) * DAY_MS);
    return used.get(day) ?? { day, ...NOTHING };
  });
}

/** Sorts by usage, highest first. */
export const sortByMeasure = (rows: UsageRow[], measure: Measure): UsageRow[] =>
  rows.toSorted((a, b) => readMeasure(b, measure) - readMeasure(a, measure));

/** The console's name of a grouping, singular and plural. */
export const GROUP_WORDS: Record<Grouping, [one: string, many: string]> = {
  day: ["day", "days"],
  project: ["project", "projects"],
  key: ["key", "keys"],
  person: ["person", "people"],
  user: ["end user", "end users"],
  model: ["model", "models"],
  agent: ["agent", "agents"],
  workflow: ["workflow", "workflows"],
  label: ["value", "values"],
};

const NONE: Record<Grouping, string> = {
  day: "",
  project: "outside projects",
  key: "without an API key",
  person: "nobody signed in",
  user: "without an end user",
  model: "without a model (pages of files)",
  agent: "without an agent",
  workflow: "outside workflows",
  label: "without this label",
};

/** The names of removed people, by their id. */
export type FormerNames = ReadonlyMap<string, string>;

const nameOf = (id: string, name: string | null | undefined, former: FormerNames): string =>
  name ?? former.get(id) ?? `former member ${shortId(id)}`;

/** A signed-in person, a user that a request named, or both. */
function labelOfUser({ member, name, user }: UsageRow, former: FormerNames): string {
  const person = member ? nameOf(member, name, former) : null;
  return [person, user].filter(Boolean).join(", for ") || NONE.user;
}

/** The owner of the sums, as text. */
export function labelOf(row: UsageRow, by: Grouping, former: FormerNames): string {
  if (by === "user") return labelOfUser(row, former);
  const group = row[by] ?? null;
  if (group === null) return NONE[by];
  if (by === "person") return nameOf(group, row.name, former);
  // the id distinguishes people whose names are deleted
  return by === "day" || by === "model" || by === "label" ? group : (row.name ?? `deleted ${by} ${shortId(group)}`);
}
