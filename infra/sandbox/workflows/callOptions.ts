import { isUuid } from "#events/ids.ts";
import { isObject } from "#events/json.ts";
import type { ApprovalOptions } from "#services/workflows/tick.ts";

/* Checks the options of calls of `run()`. Messages are for the author of the script. */

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_DURATION_MS = 365 * 86_400_000;
/* Sizes of text are in UTF-16 units. */
const MAX_NAME = 200;
const MAX_TITLE = 500;
const MAX_BODY = 16_384;
const MAX_FORM = 32_768;
const MAX_ASSIGNEES = 50;
const MAX_REQUIRED = 50;
const MAX_ATTACHMENTS = 20;

/** A call has an invalid option. The message names it. */
export class InvalidOption extends Error {}
const refuse = (message: string): never => {
  throw new InvalidOption(message);
};

/** Milliseconds of durations such as "2h", "90s" or 1500; at most 365 days. */
export function parseDuration(what: string, value: unknown): number {
  const [, count, unit] = typeof value === "string" ? (/^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(value) ?? []) : [];
  const ms = typeof value === "number" ? value : Math.round(Number(count) * UNITS[unit!]!);
  if (!Number.isFinite(ms))
    return refuse(`${what}: a duration is a number of milliseconds, or like "90s", "2h" or "3d".`);
  if (ms < 0 || ms > MAX_DURATION_MS) return refuse(`${what}: a duration is from 0 to 365 days.`);
  return Math.round(ms);
}

/** Converts a time with a zone to RFC 3339 in UTC. */
export function parseTime(what: string, value: unknown): string {
  const isTime =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value);
  const at = isTime ? new Date(value) : undefined;
  if (!at || Number.isNaN(at.getTime())) return refuse(`${what}: a time is a Date, or like "2030-01-31T09:00:00Z".`);
  const year = at.getUTCFullYear();
  // PostgreSQL has no year 0, so a run that waits for it could not be stored
  return year < 1 || year > 9_999 ? refuse(`${what}: a time is in the years 1 to 9999, in UTC.`) : at.toISOString();
}

/** Checks and returns a name that the author chose. */
export function checkLabel(what: string, value: string, max = MAX_NAME, min = 1): string {
  if (value.length < min || value.length > max) return refuse(`${what} must have ${min} to ${max} characters.`);
  return value;
}

function checkText(what: string, value: unknown, max: number): string {
  if (typeof value !== "string" || value.length > max)
    return refuse(`awaitApproval: ${what} must be a string of at most ${max} characters.`);
  return value;
}

function checkFlag(what: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : refuse(`awaitApproval: ${what} must be true or false.`);
}

function parseAssignees(what: string, value: unknown): ApprovalOptions["assignees"] {
  if (!Array.isArray(value) || value.length > MAX_ASSIGNEES)
    return refuse(`awaitApproval: ${what} must be a list of at most ${MAX_ASSIGNEES}.`);
  return value.map((one: unknown) => {
    const [[kind, name] = [], ...more] = isObject(one) ? Object.entries(one) : [];
    const isKnown = kind === "person" || kind === "group" || kind === "role";
    if (!isKnown || more.length > 0 || typeof name !== "string" || name === "" || name.length > MAX_NAME)
      return refuse(`awaitApproval: each of ${what} is {person}, {group} or {role} with a string.`);
    return { [kind]: name } as ApprovalOptions["assignees"][number];
  });
}

function checkForm(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return refuse("awaitApproval: form must be a JSON Schema.");
  if (JSON.stringify(value).length > MAX_FORM)
    return refuse(`awaitApproval: form is longer than ${MAX_FORM} characters of JSON.`);
  return value;
}

const EXPIRY = ["return", "reject", "fail"] as const;
const checkExpiry = (value: unknown): ApprovalOptions["on_expiry"] =>
  EXPIRY.find((each) => each === value) ?? refuse('awaitApproval: on_expiry must be "return", "reject" or "fail".');

export const APPROVAL_OPTIONS = [
  "title",
  "body",
  "form",
  "assignees",
  "expires_in",
  "on_expiry",
  "self_approval",
  "api_key_may_decide",
  "required",
  "one_rejection_ends",
  "remind_after",
  "escalate",
  "attachments",
];

/** Ids of files, or values returned by `ctx.files.save`. */
function parseAttachments({ attachments }: Record<string, unknown>): Pick<ApprovalOptions, "attachments"> {
  if (attachments == null) return {};
  if (!Array.isArray(attachments) || attachments.length > MAX_ATTACHMENTS)
    return refuse(`awaitApproval: attachments must be a list of at most ${MAX_ATTACHMENTS} files.`);
  const ids = attachments.map((one: unknown) => {
    const id = isObject(one) ? one["file_id"] : one;
    return typeof id === "string" && isUuid(id)
      ? id.toLowerCase()
      : refuse("awaitApproval: each of attachments must be the file_id of a file of the run.");
  });
  return ids.length === 0 ? {} : { attachments: ids };
}

/** Additional people who may decide after some time. Without assignees, everybody may decide anyway. */
function parseEscalation({ escalate, assignees }: Record<string, unknown>): Pick<ApprovalOptions, "escalate"> {
  if (escalate == null) return {};
  if (!isObject(escalate) || Object.keys(escalate).some((key) => key !== "after" && key !== "to"))
    return refuse("awaitApproval: escalate must be {after, to}.");
  const to = parseAssignees("escalate.to", escalate["to"]);
  if (to.length === 0) return refuse("awaitApproval: escalate.to must name somebody.");
  if (!Array.isArray(assignees) || assignees.length === 0)
    return refuse("awaitApproval: escalate needs assignees; without them everybody may decide from the start.");
  return { escalate: { after_ms: parseDuration("awaitApproval: escalate.after", escalate["after"]), to } };
}

const parseReminder = ({ remind_after }: Record<string, unknown>): Pick<ApprovalOptions, "remind_after_ms"> =>
  remind_after == null ? {} : { remind_after_ms: parseDuration("awaitApproval: remind_after", remind_after) };

/** Options for several votes. If all assignees are named by id or e-mail address, they must be enough. */
function parseVotes({ required, one_rejection_ends, assignees }: Record<string, unknown>) {
  const count = required ?? 1;
  if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > MAX_REQUIRED)
    return refuse(`awaitApproval: required must be a whole number from 1 to ${MAX_REQUIRED}.`);
  const ends = checkFlag("one_rejection_ends", one_rejection_ends ?? true);
  const people = Array.isArray(assignees) ? (assignees as object[]) : [];
  if (people.length > 0 && people.length < (count as number) && people.every((one) => "person" in one))
    return refuse(`awaitApproval: required is ${count as number}, but assignees names ${people.length}.`);
  return count === 1 ? {} : { votes: { required: count as number, one_rejection_ends: ends } };
}

/** Options of awaitApproval with their defaults. The title defaults to the name. */
export function parseApprovalOptions(name: string, options: unknown): ApprovalOptions {
  if (!isObject(options)) return refuse("awaitApproval: the options must be an object.");
  const unknown = Object.keys(options).find((key) => !APPROVAL_OPTIONS.includes(key));
  if (unknown !== undefined) return refuse(`awaitApproval: ${unknown.slice(0, 100)} is not an option.`);
  const { title, body, form, assignees, expires_in, on_expiry, self_approval, api_key_may_decide } = options;
  return {
    title: checkText("title", title ?? name, MAX_TITLE),
    body: body == null ? null : checkText("body", body, MAX_BODY),
    form: form == null ? null : checkForm(form),
    assignees: parseAssignees("assignees", assignees ?? []),
    expires_in_ms: expires_in == null ? null : parseDuration("awaitApproval: expires_in", expires_in),
    on_expiry: checkExpiry(on_expiry ?? "return"),
    self_approval: checkFlag("self_approval", self_approval ?? true),
    api_key_may_decide: checkFlag("api_key_may_decide", api_key_may_decide ?? true),
    ...parseVotes(options),
    ...parseReminder(options),
    ...parseEscalation(options),
    ...parseAttachments(options),
  };
}
