import type { ApprovalOptions } from "#services/workflows/tick.ts";

/* What `run()` may say of what it waits for, checked. Messages are for the one who wrote the script. */

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const LONGEST_MS = 365 * 86_400_000;
const LONGEST_NAME = 200;
const LONGEST_TITLE = 500;
const LONGEST_BODY = 16_384;
const LONGEST_FORM = 32_768;
const MOST_ASSIGNEES = 50;

/** What is not as it should be. The message names it. */
export class InvalidOption extends Error {}
const refuse = (message: string): never => {
  throw new InvalidOption(message);
};

/** Milliseconds of "2h", "90s", 1500; at most 365 days. */
export function durationOf(what: string, value: unknown): number {
  const [, count, unit] = typeof value === "string" ? (/^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(value) ?? []) : [];
  const ms = typeof value === "number" ? value : Math.round(Number(count) * UNITS[unit!]!);
  if (!Number.isFinite(ms))
    return refuse(`${what}: a duration is a number of milliseconds, or like "90s", "2h" or "3d".`);
  if (ms < 0 || ms > LONGEST_MS) return refuse(`${what}: a duration is from 0 to 365 days.`);
  return Math.round(ms);
}

/** RFC 3339 in UTC of a time with its zone. */
export function timeOf(what: string, value: unknown): string {
  const isTime =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value);
  const at = isTime ? new Date(value) : undefined;
  if (!at || Number.isNaN(at.getTime())) return refuse(`${what}: a time is a Date, or like "2030-01-31T09:00:00Z".`);
  const year = at.getUTCFullYear();
  return year < 0 || year > 9_999 ? refuse(`${what}: a time is in the years 0 to 9999, in UTC.`) : at.toISOString();
}

/** A word of an author's own. */
export function labelOf(what: string, value: string, longest = LONGEST_NAME, shortest = 1): string {
  if (value.length < shortest || value.length > longest)
    return refuse(`${what} must have ${shortest} to ${longest} characters.`);
  return value;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function text(what: string, value: unknown, longest: number): string {
  if (typeof value !== "string" || value.length > longest)
    return refuse(`awaitApproval: ${what} must be a string of at most ${longest} characters.`);
  return value;
}

function flag(what: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : refuse(`awaitApproval: ${what} must be true or false.`);
}

function assigneesOf(value: unknown): ApprovalOptions["assignees"] {
  if (!Array.isArray(value) || value.length > MOST_ASSIGNEES)
    return refuse(`awaitApproval: assignees must be a list of at most ${MOST_ASSIGNEES}.`);
  return value.map((one: unknown) => {
    const [[kind, name] = [], ...more] = isRecord(one) ? Object.entries(one) : [];
    const known = kind === "person" || kind === "group" || kind === "role";
    if (!known || more.length > 0 || typeof name !== "string" || name === "" || name.length > LONGEST_NAME)
      return refuse("awaitApproval: each of assignees is {person}, {group} or {role} with a string.");
    return { [kind]: name } as ApprovalOptions["assignees"][number];
  });
}

function formOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return refuse("awaitApproval: form must be a JSON Schema.");
  if (JSON.stringify(value).length > LONGEST_FORM)
    return refuse(`awaitApproval: form is longer than ${LONGEST_FORM} characters of JSON.`);
  return value;
}

const EXPIRY = ["return", "reject", "fail"] as const;
const expiryOf = (value: unknown): ApprovalOptions["on_expiry"] =>
  EXPIRY.find((each) => each === value) ?? refuse('awaitApproval: on_expiry must be "return", "reject" or "fail".');

const KNOWN = [
  "title",
  "body",
  "form",
  "assignees",
  "expires_in",
  "on_expiry",
  "self_approval",
  "api_key_may_decide",
  "required",
];

/** Options of awaitApproval, as they were given, with what they leave out. The title is the name where there is none. */
export function approvalOptions(name: string, given: unknown): ApprovalOptions {
  if (!isRecord(given)) return refuse("awaitApproval: the options must be an object.");
  const unknown = Object.keys(given).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) return refuse(`awaitApproval: ${unknown.slice(0, 100)} is no option.`);
  const { title, body, form, assignees, expires_in, on_expiry, self_approval, api_key_may_decide, required } = given;
  if ((required ?? 1) !== 1) return refuse("awaitApproval: required must be 1: one person decides.");
  return {
    title: text("title", title ?? name, LONGEST_TITLE),
    body: body == null ? null : text("body", body, LONGEST_BODY),
    form: form == null ? null : formOf(form),
    assignees: assigneesOf(assignees ?? []),
    expires_in_ms: expires_in == null ? null : durationOf("awaitApproval: expires_in", expires_in),
    on_expiry: expiryOf(on_expiry ?? "return"),
    self_approval: flag("self_approval", self_approval ?? true),
    api_key_may_decide: flag("api_key_may_decide", api_key_may_decide ?? true),
  };
}
