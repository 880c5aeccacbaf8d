import { formatBytes, formatCost, formatNumber, formatPrice, withReadableTimes } from "./index.ts";
import { limitWords } from "./limitWords.ts";

/** The subject of a limit: `organization`, `each-user`, `<kind>:<id>` or `user:<mark>`. */
export interface NamedSubject {
  subject: string;
  /** The only model that counts; null means all. */
  model: string | null;
}

/** The parts of refusals by a budget or a limit, as the API writes them. */
const PATTERN = new RegExp(
  [
    String.raw`(?<lead>The budget |The limit (?<limit>[a-z_]+) of )(?<subject>organization|each-user|(?:project|key|person|agent):[0-9a-f-]{36}|user:[\w-]{43})(?: for (?<model>\S+))?(?= has | is )`,
    String.raw`(?<spent>[\d.]+) of (?<most>[\d.]+) US dollars`,
    String.raw`(?<reserved>[\d.]+) are reserved`,
    String.raw`(?<used>\d+) of (?<all>\d+) (?<unit>requests|tokens|pages|bytes|documents|runs|turns|streams)\b`,
    String.raw`\((?<name>[a-z]+(?:_[a-z]+)+|documents)\)`,
    String.raw`(?<turns>turns)(?= under way)`,
  ].join("|"),
  "g",
);

const leadOf = (limit: string | undefined): string =>
  limit === undefined ? "The budget of " : `The limit of ${limitWords(limit)} for `;

function amounts({ used = "", all = "", unit = "" }: Record<string, string | undefined>): string {
  if (unit === "bytes") return `${formatBytes(Number(used))} of ${formatBytes(Number(all))}`;
  return `${formatNumber(Number(used))} of ${formatNumber(Number(all))} ${unit === "turns" ? "requests" : unit}`;
}

function toParts(found: Record<string, string | undefined>): (string | NamedSubject)[] {
  const { subject, limit, model, spent, most, reserved, used, name } = found;
  if (subject !== undefined) return [leadOf(limit), { subject, model: model ?? null }];
  if (spent !== undefined) return [`${formatCost(spent)} of ${formatPrice(most!)}`];
  if (reserved !== undefined) return [`${formatCost(reserved)} are reserved`];
  if (used !== undefined) return [amounts(found)];
  return [name === undefined ? "requests" : `(${limitWords(name)})`];
}

/** A message of the service with readable times, amounts and limits. The subject is a separate part, because its name must be looked up. */
export function messageParts(message: string): (string | NamedSubject)[] {
  const parts: (string | NamedSubject)[] = [];
  let end = 0;
  for (const match of message.matchAll(PATTERN)) {
    parts.push(message.slice(end, match.index), ...toParts(match.groups!));
    end = match.index + match[0].length;
  }
  parts.push(message.slice(end));
  return parts.filter((part) => part !== "").map((part) => (typeof part === "string" ? withReadableTimes(part) : part));
}
